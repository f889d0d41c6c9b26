// Laws of the lines that are reported of a change, on random texts.
import t from 'tap'
import type { Plan } from '../../../src/engine/edit/plan.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { describe } from '../../../src/engine/report/describe.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

/** A plan of one edit that was asked for at random, or undefined where it fails. */
function randomPlan(random: Random, file: Buffer, alphabet: readonly string[]): Plan | undefined {
  const options = { line_endings: random.pick(['adapt', 'exact'] as const), max_result_size: 1 << 20 }
  const new_text = random.text(alphabet, 3)
  const total = linesOf(file).length
  const start_line = 1 + random.int(total + 1)
  const planned = random.chance(60)
    ? planTextEdits(
        file,
        [{ old_text: random.text(alphabet, 3) || 'a', new_text, occurrence: random.pick([1, 'last'] as const) }],
        options
      )
    : planLineEdits(
        file,
        [{ start_line, end_line: Math.min(total, start_line - 1 + random.int(3)), new_text }],
        options
      )
  return planned.ok ? planned.value : undefined
}

/** With their breaks. */
const linesOf = (bytes: Buffer): string[] => bytes.toString('latin1').match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []

/** Lines without those of some ranges; whether the last one has a break isn't looked at. */
function without(lines: readonly string[], ranges: readonly (readonly [start: number, end: number])[]): string[] {
  const rest = lines.filter((_, at) => !ranges.some(([start, end]) => at + 1 >= start && at + 1 <= end))
  return rest.map((line, at) => (at === rest.length - 1 ? line.replace(/[\r\n]+$/, '') : line))
}

t.test('law: every line whose bytes differ, its break included, is one of those reported', t => {
  for (let round = 0; round < often(100_000, 5_000, 1_500); round++) {
    const random = new Random(SEED + round)
    const alphabet = random.pick([
      ['a', 'b', '\n', '\r\n'],
      ['a', 'b', '\n'],
      ['a', '\r', '\n', 'b']
    ])
    const file = Buffer.from(random.text(alphabet, 7))
    const plan = randomPlan(random, file, alphabet)
    if (plan === undefined) continue
    const result = Buffer.concat(plan.pieces)
    const { changes } = describe(file, plan, { context_lines: 0, dry_run: false })
    const before = without(
      linesOf(file),
      changes.map(({ start_line, end_line }) => [start_line, end_line])
    )
    const after = without(
      linesOf(result),
      changes.map(({ new_start_line, new_end_line }) => [new_start_line, new_end_line])
    )
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      t.fail(`SEED=${SEED} round ${round}`, { file: String(file), result: String(result), changes })
      break
    }
  }
  t.end()
})

t.test('counts the lines of edits of lines again, where one of them makes one break of two', t => {
  const cases: [name: string, file: string, edits: [start: number, end: number, put: string][], spans: number[][]][] = [
    ['a line without a break of its own', 'a\r\rb', [[2, 2, '\n']], [[1, 2, 1, 1]]],
    ['a line whose break joins the next', '\n\na', [[1, 1, 'b\r']], [[1, 2, 1, 1]]],
    [
      'what comes after it',
      '\r\r\nb\n',
      [
        [2, 2, '\n'],
        [3, 3, 'c\n']
      ],
      [
        [1, 2, 1, 1],
        [3, 3, 2, 2]
      ]
    ]
  ]
  for (const [name, file, edits, spans] of cases) {
    const asked = edits.map(([start_line, end_line, new_text]) => ({ start_line, end_line, new_text }))
    const planned = planLineEdits(Buffer.from(file), asked, { line_endings: 'exact', max_result_size: 1 << 20 })
    if (!planned.ok) throw new Error(planned.failure.code)
    const { changes } = describe(Buffer.from(file), planned.value, { context_lines: 0, dry_run: false })
    const found = changes.map(change => [
      change.start_line,
      change.end_line,
      change.new_start_line,
      change.new_end_line
    ])
    t.strictSame(found, spans, name)
  }
  t.end()
})

t.test('names no line before the first, where an edit parts what another has put in there', t => {
  const file = Buffer.from('\ufeffa\n')
  const edits = [
    { old_text: 'a', new_text: 'b\r\n' },
    { old_text: '\n', new_text: '\n', replace_all: true }
  ]
  const planned = planTextEdits(file, edits, { line_endings: 'exact', max_result_size: 1 << 20 })
  if (!planned.ok) throw new Error(planned.failure.code)
  const { changes } = describe(file, planned.value, { context_lines: 0, dry_run: false })
  t.match(changes, [{ start_line: 1 }, { start_line: 1, end_line: 1 }, { start_line: 1 }])
  t.end()
})
