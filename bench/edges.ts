// What must not happen in rare cases: a stalled event loop, a crafted pattern, a slow answer after a miss.
import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { planTextEdits } from '../src/engine/plan/replace-text.ts'
import { KB, makeCase, MB } from './corpora.ts'
import { cpuTime, walkLineFeeds } from './cpu-time.ts'
import { FAST, openProduct } from './product.ts'
import { short, time, type Row } from './row.ts'
import { median, quantile } from './statistics.ts'

export const CRAFTED = '1 MB, crafted pattern of 64 KB'
const OPTIONS = { line_endings: 'adapt', max_result_size: 1_000_000_000 } as const

export async function edges(base: string, quick: boolean, progress: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of quick ? [10 * MB] : [10 * MB, 100 * MB]) {
    progress(`stall, ${size / MB} MB`)
    rows.push(await stall(base, size, size > 10 * MB ? 5 : 15))
  }
  progress('crafted pattern')
  rows.push(crafted())
  progress('misses')
  return [...rows, ...misses(quick ? 5 : 15)]
}

/** How long an edit blocks everything else: the longest turn of the event loop in each edit. */
async function stall(base: string, size: number, rounds: number): Promise<Row> {
  const root = join(base, 'stall')
  mkdirSync(root)
  const it = makeCase('ASCII', size, 1)
  writeFileSync(join(root, 'file.ts'), it.bytes)
  const product = await openProduct(root, join(base, 'stall-state'), FAST)
  const longest: number[] = []
  for (let i = -2; i < rounds; i++) {
    const turns = watchTurns()
    await product.edit('file.ts', i % 2 === 0 ? it.there : it.back)
    const found = turns.end()
    // A file that changed less than 20 ms ago is read twice.
    await new Promise(resolve => setTimeout(resolve, 50))
    if (i >= 0) longest.push(found)
  }
  await product.close()
  await rm(root, { recursive: true })
  await rm(`${root}-state`, { recursive: true, force: true })
  return {
    what: `${it.name}, event loop`,
    edits: 1,
    variant: 'product, fast/local',
    figure: `stalls ${time(median(longest))}, at most ${time(Math.max(...longest))}`,
    value: median(longest),
    pairs: rounds
  }
}

/** ms that the loop sleeps in each turn, so that empty turns don't fill the heap. */
const REST = 0.1
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/**
 * Measures from the start of each turn to the start of the next, without the sleep. A loop that never sleeps makes 1 MB
 * of garbage for each edit of 10 MB, and its collection blocks for 1 ms. `monitorEventLoopDelay` measures from timer to
 * timer, and reports 1.07 ms for an idle loop.
 */
function watchTurns(): { end(): number } {
  let [last, longest] = [performance.now(), 0]
  const turn = () => {
    longest = Math.max(longest, performance.now() - last)
    Atomics.wait(NEVER, 0, 0, REST)
    last = performance.now()
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  return {
    /** The longest turn, in ms. */
    end: () => {
      clearImmediate(next)
      return Math.max(longest, performance.now() - last)
    }
  }
}

/**
 * A megabyte of one letter with a pattern of 64 KB that nearly matches everywhere, compared with a pattern that matches
 * nowhere.
 */
function crafted(): Row {
  const pattern = 'a'.repeat(32 * KB) + 'b' + 'a'.repeat(32 * KB)
  const text = Buffer.from('a'.repeat(MB) + pattern)
  const ordinary = Buffer.from(makeCase('ASCII', text.length, 1).bytes)
  const { old_text } = makeCase('ASCII', text.length, 1).there[0]!
  const usual = timed(15, () => planTextEdits(ordinary, [{ old_text, new_text: '' }], OPTIONS))
  const bad = timed(15, () => planTextEdits(text, [{ old_text: pattern, new_text: '' }], OPTIONS))
  const ratio = median(bad) / median(usual)
  return {
    what: CRAFTED,
    edits: 1,
    variant: 'engine in memory',
    figure: `${time(median(bad))}: ${short(ratio)} × an ordinary edit of as many bytes`,
    value: ratio,
    pairs: 15
  }
}

function misses(rounds: number): Row[] {
  const it = makeCase('ASCII', 10 * MB, 1)
  const { old_text } = it.there[0]!
  const walk = median(
    Array.from({ length: rounds }, () =>
      cpuTime(() => {
        walkLineFeeds(it.bytes)
      })
    )
  )
  const near = old_text.replace('lookup', 'look_up')
  const far = 'SELECT name FROM nobody\nWHERE nothing IS like this\n'
  return [['with a near counterpart', near] as const, ['with no counterpart', far] as const].map(([name, missing]) => {
    const miss = () => {
      if (planTextEdits(it.bytes, [{ old_text: missing, new_text: '' }], OPTIONS).ok) {
        throw new Error('there should be no match')
      }
    }
    // Until the code is compiled.
    for (let i = 0; i < 8; i++) miss()
    const took = Array.from({ length: rounds }, () => cpuTime(miss))
    return {
      what: `${it.name}, miss ${name}`,
      edits: 1,
      variant: 'engine in memory',
      figure: `CPU ${time(median(took))}, p90 ${time(quantile(took, 0.9))}; a walk from line feed to line feed ${time(walk)}`,
      value: quantile(took, 0.9),
      pairs: rounds
    }
  })
}

function timed(rounds: number, work: () => unknown): number[] {
  if (rounds > 1) work()
  return Array.from({ length: rounds }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
}
