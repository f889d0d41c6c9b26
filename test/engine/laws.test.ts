// Laws of the engine on seeded random files: splices, changes and diffs.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { describe } from '../../src/engine/report/describe.ts'
import { unifiedDiff } from '../../src/engine/report/diff.ts'
import type { TextEdit } from '../../src/engine/edit/request.ts'
import { countLines } from '../../src/engine/text/lines.ts'
import { LineIndex } from '../../src/engine/text/line-index.ts'
import type { Plan } from '../../src/engine/edit/plan.ts'
import { planTextEdits } from '../../src/engine/plan/replace-text.ts'
import { Splices } from '../../src/engine/edit/splice.ts'
import { Text } from '../../src/engine/text/text.ts'
import { often } from '../often.ts'
import { Random, randomFile, SEED } from '../random.ts'

interface Sample {
  round: number
  bytes: Buffer
  edits: TextEdit[]
  plan: Plan
  result: Buffer
}

/** Random requests that succeed. */
function* samples(wanted: number): Generator<Sample> {
  for (let round = 0; wanted > 0; round++) {
    const random = new Random(SEED * 70_001 + round)
    const { bytes, alphabet } = randomFile(random)
    const edits = Array.from({ length: 1 + random.int(4) }, (): TextEdit => ({
      old_text: random.pick(alphabet) + random.text(alphabet, 1),
      new_text: random.text(alphabet, 5),
      ...random.pick([{ replace_all: true }, { occurrence: 'first' }, { occurrence: 'last' }])
    }))
    const planned = planTextEdits(bytes, edits, {
      line_endings: random.pick(['adapt', 'exact']),
      max_result_size: 1 << 24
    })
    if (!planned.ok) continue
    wanted--
    yield { round, bytes, edits, plan: planned.value, result: Buffer.concat(planned.value.pieces) }
  }
}

/** Holds a law against random samples; the first that breaks it is printed whole. */
function check(law: string, usual: number, holds: (sample: Sample) => boolean): void {
  const wanted = often(usual)
  t.test(law, t => {
    for (const sample of samples(wanted)) {
      if (holds(sample)) continue
      const { bytes, edits, round, plan } = sample
      t.fail('broken', { seed: SEED, round, file: bytes.toString('latin1'), edits, splices: plan.splices.list })
      break
    }
    t.pass(`${wanted} samples`)
    t.end()
  })
}

const lineCount = (bytes: Buffer): number => {
  const { lf, crlf, cr } = new LineIndex(bytes).endings()
  return countLines(new Text([bytes]), lf + crlf + cr)
}

check('changes no byte outside the splices', 1500, ({ bytes, plan, result }) => {
  let at = 0
  let from = 0
  for (const { start, end, insert } of plan.splices.list) {
    if (!result.subarray(at, at + start - from).equals(bytes.subarray(from, start))) return false
    at += start - from + insert.length
    from = end
  }
  return result.subarray(at).equals(bytes.subarray(from)) && result.length === plan.splices.lengthAfter
})

check('gives the original back when it is inverted', 1500, ({ bytes, plan, result }) =>
  Buffer.concat(plan.splices.invert(bytes).apply(result)).equals(bytes)
)

check('places each change where its text is, unless a later edit took it', 1500, ({ bytes, plan, result, edits }) =>
  plan.placements.every(
    ({ edit_index, start, end, new_start, new_end, insert }) =>
      start <= end &&
      end <= bytes.length &&
      new_start <= new_end &&
      new_end <= result.length &&
      (edit_index < edits.length - 1 || result.subarray(new_start, new_end).equals(insert))
  )
)

check('counts lines before and after as a recount does', 1500, ({ bytes, plan, result }) => {
  const described = describe(bytes, plan, { context_lines: 3, dry_run: false })
  return described.total_lines_before === lineCount(bytes) && described.total_lines_after === lineCount(result)
})

check('accounts for every line by the changes of a single edit on separate lines', 1500, ({ bytes, plan }) => {
  const described = describe(bytes, plan, { context_lines: 0, dry_run: true })
  const { changes } = described
  const separate = changes.every((change, i) => i === 0 || change.start_line > changes[i - 1]!.end_line)
  if (!separate || plan.edits_applied.length > 1 || described.changes_truncated) return true
  return (
    changes.reduce((sum, { net_change }) => sum + net_change, 0) ===
    described.total_lines_after - described.total_lines_before
  )
})

check('names lines that are there, and some for each change', 1500, ({ bytes, plan }) => {
  const { changes, total_lines_before, total_lines_after } = describe(bytes, plan, { context_lines: 0, dry_run: true })
  const isThere = (start: number, end: number, total: number) => start >= 1 && end <= total && start <= end + 1
  return changes.every(
    ({ start_line, end_line, new_start_line, new_end_line }) =>
      isThere(start_line, end_line, total_lines_before) &&
      isThere(new_start_line, new_end_line, total_lines_after) &&
      (start_line <= end_line || new_start_line <= new_end_line)
  )
})

check('shows lines of the result as context, and none that a change touches', 1500, ({ bytes, plan, result }) => {
  const lines = result
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
  const { changes } = describe(bytes, plan, { context_lines: 2, dry_run: false })
  const touched = new Set<number>()
  if (plan.placements.length > 20) return true
  for (const { new_start_line, new_end_line } of changes) {
    for (let line = new_start_line; line <= new_end_line; line++) touched.add(line)
  }
  return changes.every(({ new_start_line, new_end_line, context }) => {
    const above = context!.before_lines.map((text, i, all) => [new_start_line - all.length + i, text] as const)
    const below = context!.after_lines.map((text, i) => [new_end_line + 1 + i, text] as const)
    return [...above, ...below].every(
      ([line, text]) => !touched.has(line) && (lines[line - 1] === text || text.includes('characters left out'))
    )
  })
})

t.test('gives a diff that git apply and patch turn into the result', t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-diff-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const before = join(folder, 'git')
  const other = join(folder, 'patch')
  mkdirSync(before)
  mkdirSync(other)
  const expected: [string, Buffer, Sample][] = []
  const diffs: string[] = []
  let unavailable = 0
  for (const sample of samples(often(1200, 1200, 200))) {
    const name = `${sample.round % 3 === 0 ? 'a b ' : ''}${sample.round % 5 === 0 ? 'é"' : ''}${sample.round}.txt`
    const made = unifiedDiff(sample.bytes, sample.plan, { path: name, exists: true, max_lines: 100_000 })
    if ('diff_unavailable' in made) {
      unavailable++
      continue
    }
    t.notOk(made.diff_truncated)
    for (const side of [before, other]) writeFileSync(join(side, name), sample.bytes)
    diffs.push(made.diff)
    expected.push([name, sample.result, sample])
  }
  const input = diffs.join('')
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: folder, GIT_CONFIG_NOSYSTEM: '1', HOME: folder }
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: before, input, env })
  execFileSync('patch', ['-p1', '--binary', '-s'], { cwd: other, input })
  for (const [name, result, { round, bytes, edits }] of expected) {
    for (const side of [before, other]) {
      if (!readFileSync(join(side, name)).equals(result)) {
        t.fail('differs', {
          side,
          seed: SEED,
          round,
          file: bytes.toString('latin1'),
          edits,
          result: result.toString('latin1')
        })
      }
    }
  }
  t.ok(unavailable > 0 && unavailable < 600, `${unavailable} diffs not UTF-8`)
  t.end()
})

check('cuts a diff where it is to be cut, and counts every line that it leaves out', 1500, ({ bytes, plan }) => {
  const diff = (max_lines: number) => unifiedDiff(bytes, plan, { path: 'f', exists: true, max_lines })
  const whole = diff(100_000)
  if ('diff_unavailable' in whole || whole.diff === '') return true
  // What follows a last line without a break is no line of its own.
  const lines = (text: string) => text.replaceAll('\n\\ No newline at end of file', '').split('\n').slice(0, -1)
  const all = lines(whole.diff)
  return [2, 4, 9, 30].every(max_lines => {
    const cut = diff(max_lines)
    if ('diff_unavailable' in cut) return false
    if (!cut.diff_truncated) return cut.diff === whole.diff && all.length <= max_lines
    const shown = lines(cut.diff)
    const leftOut = Number(/^… (\d+) more lines/.exec(shown.pop()!)?.[1])
    return (
      shown.every((line, i) => line === all[i]) && shown.length <= max_lines && shown.length + leftOut === all.length
    )
  })
})

t.test('refuses splices that are not sorted, disjoint and inside', t => {
  const insert = Buffer.alloc(0)
  for (const list of [
    [{ start: 2, end: 1, insert }],
    [{ start: 0, end: 9, insert }],
    [
      { start: 2, end: 3, insert },
      { start: 1, end: 2, insert }
    ],
    [
      { start: 0, end: 2, insert },
      { start: 1, end: 3, insert }
    ]
  ]) {
    t.throws(() => new Splices(list, 4), RangeError)
  }
  t.strictSame(new Splices([{ start: 1, end: 1, insert }], 4).list, [], 'what changes nothing is dropped')
  t.end()
})

t.test('copies short stretches together and long ones not at all', t => {
  const original = Buffer.alloc(100_000, 'x')
  const splices = new Splices(
    Array.from({ length: 1000 }, (_, i) => ({ start: i * 10, end: i * 10 + 1, insert: Buffer.from('yy') })),
    original.length
  )
  const pieces = splices.apply(original)
  t.ok(pieces.length < 10)
  t.equal(pieces.at(-1)!.buffer, original.buffer)
  t.equal(Buffer.concat(pieces).length, splices.lengthAfter)
  t.end()
})
