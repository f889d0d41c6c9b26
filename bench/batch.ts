// A batch of twenty small files compared with twenty edits in a row, without HTTP; and for how long some of its files
// are new and others old.
import fs, { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { ok } from '../src/result.ts'
import type { Planner } from '../src/workspace/api.ts'
import { KB, makeCase } from './corpora.ts'
import { FAST, FULL, openPlain, type Mode } from './product.ts'
import { measure, type RoundOptions } from './rounds.ts'
import { rowsOf, time, type Row } from './row.ts'
import { quartiles } from './statistics.ts'

const FILES = 20
export const BATCH = `${FILES} files of 10 KB, one change each`
export const SPAN = `${FILES} files of 10 KB, from the first rename to the last`
export const AS_BATCH = 'one batch'
const AS_EDITS = 'edits, one after the other'

/** Replaces the text's first bytes; the next call puts them back. */
const plan =
  (turn: number): Planner<null, never> =>
  original =>
    ok({ pieces: [Buffer.from(turn % 2 === 0 ? 'even' : 'odd.'), original.subarray(4)], description: null })

export async function batch(base: string, options: RoundOptions, progress: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, mode] of [
    ['full/shared', FULL],
    ['fast/local', FAST]
  ] as const) {
    progress(`batch, ${name}`)
    rows.push(...(await inMode(join(base, 'batch'), name, mode, options)))
  }
  return rows
}

async function inMode(base: string, name: string, mode: Mode, options: RoundOptions): Promise<Row[]> {
  const root = join(base, 'root')
  const { bytes: original } = makeCase('ASCII', 10 * KB, 1)
  const sets = ['batch', 'edits'].map(folder =>
    Array.from({ length: FILES }, (_, i) => {
      mkdirSync(join(root, folder), { recursive: true })
      writeFileSync(join(root, folder, String(i)), original)
      return `${folder}/${i}`
    })
  )
  const [together = [], apart = []] = sets
  const workspace = await openPlain(root, base, mode)
  const renames = watchRenames()
  const spans: number[] = []
  let [edited, batched] = [0, 0]
  try {
    const all = await measure(
      [
        {
          name: `${AS_EDITS}, ${name}`,
          against: `${AS_EDITS}, ${name}`,
          run: async () => {
            edited++
            for (const path of apart) await must(workspace.edit({ path }, { dry_run: false }, plan(edited)))
            return { operations: 1 }
          }
        },
        {
          name: `${AS_BATCH}, ${name}`,
          against: `${AS_EDITS}, ${name}`,
          run: async () => {
            batched++
            const steps = together.map(path => ({ operation: 'edit' as const, target: { path }, plan: plan(batched) }))
            renames.clear()
            await must(workspace.batch(steps, { dry_run: false }))
            spans.push(renames.span())
            return { operations: 1 }
          }
        }
      ],
      // A larger budget, for enough rounds: twenty edits take long.
      { ...options, budget: 4 * options.budget }
    )
    // The first ones run before the code is compiled.
    const { low, median, high } = quartiles(spans.slice(Math.floor(spans.length / 2)))
    const figure = `${time(median)} (${time(low)}–${time(high)})`
    const variant = `${AS_BATCH}, ${name}`
    return [
      ...rowsOf(BATCH, FILES, all),
      { what: SPAN, edits: FILES, variant, figure, value: median, pairs: spans.length }
    ]
  } finally {
    renames.stop()
    await workspace.close()
    await rm(base, { recursive: true, force: true })
  }
}

async function must(done: Promise<{ ok: boolean }>): Promise<void> {
  const answer = await done
  if (!answer.ok) throw new Error(JSON.stringify(answer))
}

/** Records when temp files are renamed. `span`: ms from before the first to after the last. */
function watchRenames(): { clear(): void; span(): number; stop(): void } {
  const { renameSync } = fs
  let times: number[] = []
  fs.renameSync = (from, to) => {
    if (!String(from).endsWith('.tmp')) return renameSync(from, to)
    times.push(performance.now())
    renameSync(from, to)
    times.push(performance.now())
  }
  syncBuiltinESMExports()
  return {
    clear: () => {
      times = []
    },
    span: () => {
      if (times.length !== 2 * FILES) throw new Error(`${times.length / 2} renames`)
      return times.at(-1)! - times[0]!
    },
    stop: () => {
      fs.renameSync = renameSync
      syncBuiltinESMExports()
    }
  }
}
