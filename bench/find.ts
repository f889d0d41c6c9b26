// Finding a text in 10,000 files compared with ripgrep alone; and an edit while twenty finds run, without HTTP.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { ok } from '../src/result.ts'
import type { FindQuery, Planner, Workspace } from '../src/workspace/api.ts'
import { KB, makeCase } from './corpora.ts'
import { FAST, openPlain } from './product.ts'
import { measure, type RoundOptions } from './rounds.ts'
import { rowsOf, type Row } from './row.ts'

const FILES = 10_000
/** Files with the text, in a thousand. */
const HOLDING = 20
const FINDS = 20
const EDITS = 50
const TEXT = 'wanted here'
export const FIND = `${FILES.toLocaleString('en')} files of 10 KB, ${HOLDING / 10} % with the text`
export const BESIDE = `10 KB, beside ${FINDS} finds in them`
const RIPGREP = 'rg --json'
export const FOUND = 'find'
const ALONE = 'an edit alone'
export const EDIT_BESIDE = 'an edit beside the finds'

export async function find(base: string, options: RoundOptions, progress: (line: string) => void): Promise<Row[]> {
  progress('find')
  const folder = join(base, 'find')
  const root = join(folder, 'root')
  const { bytes } = makeCase('ASCII', 10 * KB, 1)
  for (let i = 0; i < FILES; i++) {
    const path = join(root, `d${i % 25}`, `e${i % 20}`, `f${i}.txt`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, i % 1000 < HOLDING ? Buffer.concat([bytes, Buffer.from(`\n${TEXT}\n`)]) : bytes)
  }
  writeFileSync(join(root, 'edited'), bytes)
  const workspace = await openPlain(root, folder, FAST)
  try {
    const holding = (FILES * HOLDING) / 1000
    const found = await measure(
      [
        { name: RIPGREP, against: RIPGREP, run: () => ripgrep(root) },
        { name: FOUND, against: RIPGREP, run: () => findOnce(workspace, holding) }
      ],
      { ...options, budget: 4 * options.budget }
    )
    let turn = 0
    const edits = async (): Promise<{ operations: number }> => {
      for (let i = 0; i < EDITS; i++) {
        const done = await workspace.edit({ path: 'edited' }, { dry_run: false }, change(turn++))
        if (!done.ok) throw new Error(done.failure.code)
      }
      return { operations: EDITS }
    }
    let ended: Promise<unknown> = Promise.resolve()
    const beside = await measure(
      [
        { name: ALONE, against: ALONE, run: edits },
        {
          name: EDIT_BESIDE,
          against: ALONE,
          run: async () => {
            await ended
            const ends: (() => void)[] = []
            let isGone = false
            const client = { isGone: () => isGone, onGone: (end: () => void) => ends.push(end) }
            ended = Promise.all(Array.from({ length: FINDS }, () => workspace.find(queryOf(client), USE)))
            const done = await edits()
            isGone = true
            for (const end of ends) end()
            return done
          }
        }
      ],
      { ...options, budget: 4 * options.budget }
    )
    await ended
    return [...rowsOf(FIND, 1, found), ...rowsOf(BESIDE, 1, beside)]
  } finally {
    await workspace.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const USE = { cut: (_: Buffer, matches: readonly unknown[]) => matches.length }

const queryOf = (client?: FindQuery['client']): FindQuery => ({
  path: '.',
  text: { pattern: TEXT, regex: false, ignore_case: false, whole_word: false },
  include: [],
  exclude: [],
  ignored: false,
  sort: 'path',
  max_files: 100,
  client
})

async function findOnce(workspace: Workspace, holding: number): Promise<{ operations: number }> {
  const found = await workspace.find(queryOf(), USE)
  if (!found.ok || found.value.total_matches !== holding) throw new Error(JSON.stringify(found))
  return { operations: 1 }
}

function ripgrep(root: string): Promise<{ operations: number }> {
  const child = spawn(rgPath, ['--no-config', '--hidden', '--json', '--fixed-strings', '--regexp', TEXT, './'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  child.stdout.resume()
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve({ operations: 1 }))
  })
}

/** Replaces the text's first bytes; the next call puts them back. */
const change =
  (turn: number): Planner<null, never> =>
  original =>
    ok({ pieces: [Buffer.from(turn % 2 === 0 ? 'even' : 'odd.'), original.subarray(4)], description: null })
