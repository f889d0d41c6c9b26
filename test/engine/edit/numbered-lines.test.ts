// Single lines with a number: when it is the number of the line in the file, and when it may be meant.
import t from 'tap'
import { planTask, type TaskChange } from '../../../src/engine/task.ts'
import { Random, SEED } from '../../random.ts'
import { rounds } from '../rounds.ts'

const FILE = 'a\n  b\nc\nd\n'

function warningsOf(file: string, change: TaskChange) {
  const planned = planTask(
    Buffer.from(file),
    { change, max_result_size: 1 << 20, context_lines: 0, dry_run: false },
    { path: 'f', exists: true }
  )
  return planned.ok ? planned.value.description.plan.newTextWarnings : undefined
}

const text = (old_text: string, new_text: string): TaskChange => ({
  operation: 'edit',
  edits: [{ old_text, new_text }],
  line_endings: 'adapt'
})
const lines = (start_line: number, end_line: number, new_text: string): TaskChange => ({
  operation: 'edit_lines',
  edits: [{ start_line, end_line, new_text }],
  line_endings: 'adapt'
})

t.test('warns of a line with the number of the line that it replaces', async t => {
  const cases: [change: TaskChange, line: number | undefined, file?: string][] = [
    [text('c', '3\tx'), 1],
    [text('c', '3: x'), 1],
    [text('b', '2→x'), 1],
    [text('b\nc', '3 | x'), 1],
    [text('c\n', '\n  3\tx\n'), 2],
    [lines(3, 3, '3\tx\n'), 1],
    [lines(3, 2, '3\tx'), 1],
    [lines(5, 4, '5\tx'), 1],
    [text('c', '3\tx'), 1, FILE.replaceAll('\n', '\r\n')],
    [text('c', '3\tx'), 1, `\ufeff${FILE}`],
    // Another number, or none that a viewer shows.
    [text('c', '4\tx'), undefined],
    [text('c', '3. x'), undefined],
    [text('c', '3 x'), undefined],
    [text('c', 'x\n3\ty'), undefined],
    [text('c', ''), undefined],
    [text('c', `3\t${'x'.repeat(5000)}`), undefined],
    // Lines with numbers are around it.
    [text('c', '3\tx'), undefined, 'id\tname\n2\tb\nc\n'],
    [text('c', '3: x'), undefined, 'a\nb\nc\n4: d\n'],
    [text('3: c', '3: x'), undefined, 'a\nb\n3: c\n'],
    [lines(3, 2, '3: x'), undefined, 'a\n2: b\n'],
    // The whole content.
    [{ operation: 'create', content: '1\tx\n' }, undefined, '']
  ]
  for (const [change, line, file = FILE] of cases) {
    const found = warningsOf(file, change)
    t.match(found, line === undefined ? [] : [{ edit_index: 0, type: 'line_numbers', line }], JSON.stringify(change))
    t.equal(found?.length, line === undefined ? 0 : 1)
  }
  t.match(
    warningsOf(FILE, {
      operation: 'edit',
      edits: [
        { old_text: 'a', new_text: '1\tx' },
        { old_text: 'd', new_text: `4\t${'y'.repeat(200)}` }
      ],
      line_endings: 'adapt'
    }),
    [
      { edit_index: 0, text: '1\tx' },
      { edit_index: 1, text: /characters left out/ }
    ]
  )
})

t.test('law: warns where a viewer numbered the line, and only of its own number', async t => {
  for (const round of rounds(t, 600)) {
    const random = new Random(SEED * 90_007 + round)
    const eol = random.pick(['\n', '\r\n', '\r'])
    const file = Array.from({ length: 1 + random.int(20) }, (_, i) => `line ${'x'.repeat(i)}`)
    const at = 1 + random.int(file.length)
    const number = random.chance(50) ? at : at + 1 + random.int(5)
    const put = `${' '.repeat(random.int(4))}${number}${random.pick(['\t', '→', ': ', ' | '])}changed`
    const change = random.chance(50) ? lines(at, at, put) : text(file[at - 1]!.slice(random.int(5)) + eol, put + eol)
    const found = warningsOf(file.map(line => line + eol).join(''), change)
    // A text that isn't the only one of its kind is no edit.
    if (found !== undefined && found.length !== Number(number === at)) {
      t.fail(`${SEED} ${round} ${number} at ${at}: ${JSON.stringify(found)}`)
    }
  }
})
