// npm run bench:suggest -- cases.jsonl [--files DIR] [--sample N] [--inserts N]: how often the suggestion after a miss
// is right, by class; how often lines added to shifted text are put at the right depth; and the cost at 10 MB.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { lineNumbers } from '../src/engine/text/lines.ts'
import { leastScore, suggest } from '../src/engine/suggest/suggest.ts'
import { Text } from '../src/engine/text/text.ts'
import { casesIn, type Case, type Range } from './cases.ts'
import { cpuTime, walkLineFeeds } from './cpu-time.ts'
import { filesToShift, insertsIn, type InsertResult, judgeInsert } from './shifted-insert.ts'
import { quantile } from './statistics.ts'

interface Outcome {
  top1: boolean
  usable: boolean
  shown: boolean
}

const LARGE = 10_000_000

const {
  values: { files, sample, inserts },
  positionals: [list]
} = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    sample: { type: 'string', default: '120' },
    inserts: { type: 'string', default: '40' }
  }
})
const cases = casesIn(list)
const folder = files ?? dirname(resolve(list!))
const read = new Map<string, Buffer>()
for (const { file } of cases) if (!read.has(file)) read.set(file, readFileSync(join(folder, file)))

/** A range without the white space at its ends. */
function trimmed(text: Buffer, { start_byte, end_byte }: Range): Range {
  const isBlank = (at: number) => [9, 10, 13, 32].includes(text[at]!)
  let [start, end] = [start_byte, end_byte]
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return { start_byte: start, end_byte: end }
}

function judge(one: Case): Outcome {
  const text = read.get(one.file)!
  const [best] = suggest(text, one.old_text).candidates
  if (best === undefined) return { top1: false, usable: false, shown: false }
  const range = trimmed(text, { start_byte: best.start, end_byte: best.end })
  const found = text.subarray(best.start, best.end)
  const alone = text.indexOf(found) === best.start && text.indexOf(found, best.start + 1) === -1
  const lines = ({ start_byte, end_byte }: Range) =>
    lineNumbers(new Text([text]), [start_byte, Math.max(start_byte, end_byte - 1)]).lines.join()
  const hits = (truth: Range) => {
    const there = trimmed(text, truth)
    if (one.kind !== 'sub') return lines(range) === lines(there)
    const common = Math.min(range.end_byte, there.end_byte) - Math.max(range.start_byte, there.start_byte)
    return common / (Math.max(range.end_byte, there.end_byte) - Math.min(range.start_byte, there.start_byte)) >= 0.8
  }
  const truth = trimmed(text, one)
  const top1 = (one.alts ?? [one]).some(hits)
  return {
    top1,
    usable:
      one.alts !== undefined
        ? top1
        : alone && range.start_byte === truth.start_byte && range.end_byte === truth.end_byte,
    shown: true
  }
}

const percent = (outcomes: readonly Outcome[], of: keyof Outcome): string =>
  ((100 * outcomes.filter(outcome => outcome[of]).length) / Math.max(1, outcomes.length)).toFixed(1)
const columns = (name: string, n: string, top1: string, usable: string, fp: string): string =>
  `${name.padEnd(18)}${n.padStart(6)}${top1.padStart(7)}${usable.padStart(8)}${fp.padStart(7)}`
const row = (name: string, outcomes: readonly Outcome[], negative: boolean): string => {
  const n = String(outcomes.length)
  return negative
    ? columns(name, n, '-', '-', percent(outcomes, 'shown'))
    : columns(name, n, percent(outcomes, 'top1'), percent(outcomes, 'usable'), '-')
}

const byClass = new Map<string, Outcome[]>()
for (const one of cases) byClass.set(one.cls, [...(byClass.get(one.cls) ?? []), judge(one)])
const isNegative = new Map(cases.map(({ cls, kind }) => [cls, kind === 'none']))
const all = (negative: boolean) =>
  [...byClass].filter(([cls]) => isNegative.get(cls) === negative).flatMap(([, outcomes]) => outcomes)
process.stdout.write(`${columns('class', 'n', 'top1', 'usable', 'fp')}\n`)
for (const [cls, outcomes] of byClass) process.stdout.write(`${row(cls, outcomes, isNegative.get(cls)!)}\n`)
process.stdout.write(`${row('all', all(false), false)}\n${row('negatives', all(true), true)}\n`)
process.stdout.write(
  `Nothing is shown below a score of ${leastScore(10).toFixed(2)} for 10 characters, ${leastScore(100).toFixed(2)} for 100.\n`
)

const byShift = new Map<string, InsertResult[]>()
for (const [i, path] of filesToShift(folder).entries()) {
  const bytes = readFileSync(path)
  for (const insert of insertsIn(path, bytes, Number(inserts), i + 1)) {
    const result = judgeInsert(bytes, insert)
    const all = insert.isLost ? 'all, indentation lost' : 'all'
    for (const name of result === undefined ? [] : [insert.kind, insert.how, all]) {
      byShift.set(name, [...(byShift.get(name) ?? []), result!])
    }
  }
}
process.stdout.write(`\n${'shifted_insert'.padEnd(22)}     n  right  wrong  left out  no call  right when sent\n`)
for (const [name, results] of [...byShift].sort(([a], [b]) => a.localeCompare(b))) {
  const count = (one: InsertResult): number => results.filter(result => result === one).length
  const [right, wrong] = [count('right'), count('wrong')]
  const share = ((100 * right) / Math.max(1, right + wrong)).toFixed(2)
  const numbers = [results.length, right, wrong].map(number => String(number).padStart(6)).join(' ')
  const others = `${String(count('left_out')).padStart(9)}${String(count('none')).padStart(9)}${share.padStart(16)} %`
  process.stdout.write(`${name.padEnd(22)}${numbers}${others}\n`)
}
process.stdout.write('\n')

// Each text surrounded by 10 MB of the others.
const filler = Buffer.concat([...read.values()])
const whole = Buffer.alloc(LARGE, filler)
const step = Math.max(1, Math.floor(cases.length / Number(sample)))
const times: number[] = []
for (let i = 0; i < cases.length; i += step) {
  const { file, old_text } = cases[i]!
  const own = read.get(file)!
  const text = Buffer.concat([whole.subarray(0, LARGE / 2), own, whole.subarray(LARGE / 2 + own.length)])
  times.push(cpuTime(() => suggest(text, old_text)))
}
const scans = Array.from({ length: 9 }, () =>
  cpuTime(() => {
    walkLineFeeds(whole)
  })
)
const ms = (of: readonly number[], share: number): string => `${quantile(of, share).toFixed(1)} ms`
process.stdout.write(
  `CPU at 10 MB, ${times.length} cases: median ${ms(times, 0.5)}, p90 ${ms(times, 0.9)}, longest ${ms(times, 1)}; ` +
    `a walk from line feed to line feed ${ms(scans, 0.5)}\n`
)
