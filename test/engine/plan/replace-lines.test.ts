// The planner of /edit-lines against examples and against an independent model.
import t from 'tap'
import { describe } from '../../../src/engine/report/describe.ts'
import type { LineEdit } from '../../../src/engine/edit/request.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { often } from '../../often.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { Random, SEED } from '../../random.ts'

const LIMIT = 1 << 20

const line = (start_line: number, end_line: number, new_text: string, expected_text?: string): LineEdit => ({
  start_line,
  end_line,
  new_text,
  ...(expected_text !== undefined && { expected_text })
})

/** Plans the edits; compares the result, or the members of the failure or of the first change that are named. */
function check(
  name: string,
  file: string | Buffer,
  edits: LineEdit | LineEdit[],
  expected: string | object,
  change?: object,
  exact = false
): void {
  t.test(name, t => {
    const original = Buffer.from(file)
    const planned = planLineEdits(original, [edits].flat(), {
      line_endings: exact ? 'exact' : 'adapt',
      max_result_size: LIMIT
    })
    if (typeof expected === 'string') {
      t.match(planned, { ok: true })
      if (planned.ok) {
        t.equal(Buffer.concat(planned.value.pieces).toString(), expected)
        if (change !== undefined) {
          t.match(describe(original, planned.value, { context_lines: 1, dry_run: false }).changes[0], change)
        }
      }
    } else t.match(planned.ok ? planned.value : planned.failure, expected)
    t.end()
  })
}

const span = (
  operation: string,
  start_line: number,
  end_line: number,
  new_start_line: number,
  new_end_line: number
) => ({
  operation,
  start_line,
  end_line,
  new_start_line,
  new_end_line,
  lines_removed: end_line - start_line + 1,
  lines_added: new_end_line - new_start_line + 1
})

check('replaces lines', 'a\nb\nc\n', line(2, 2, 'x\ny\n'), 'a\nx\ny\nc\n', span('replace', 2, 2, 2, 3))
check(
  'adds the break that a following line needs',
  'a\nb\nc\n',
  line(2, 2, 'x'),
  'a\nx\nc\n',
  span('replace', 2, 2, 2, 2)
)
check('deletes lines', 'a\nb\nc\n', line(1, 2, ''), 'c\n', span('delete', 1, 2, 1, 0))
check('inserts before a line', 'a\nb\n', line(2, 1, 'x'), 'a\nx\nb\n', {
  ...span('insert', 2, 1, 2, 2),
  context: { before_lines: ['a'], after_lines: ['b'] }
})
check('inserts before the first line', 'a\n', line(1, 0, 'x\n'), 'x\na\n', span('insert', 1, 0, 1, 1))
check('inserts an empty line', 'a\n\nb\n', line(2, 1, '\n'), 'a\n\n\nb\n', span('insert', 2, 1, 2, 2))
check('inserts nothing for empty text', 'a\nb\n', line(2, 1, ''), 'a\nb\n')
check('appends', 'a\nb\n', line(3, 2, 'c'), 'a\nb\nc\n', span('append', 3, 2, 3, 3))
check('appends to a text without final break, and leaves it so', 'a\nb', line(3, 2, 'c'), 'a\nb\nc', {
  ...span('append', 3, 2, 3, 3),
  context: { before_lines: ['b'], after_lines: [] }
})
check('ends the text with the break that is given', 'a\nb', line(3, 2, 'c\n'), 'a\nb\nc\n', span('append', 3, 2, 3, 3))
check('appends to an empty text', '', line(1, 0, 'a'), 'a', span('append', 1, 0, 1, 1))
check(
  'appends to a text that is a byte-order mark',
  '\ufeff',
  line(1, 0, 'a\n'),
  '\ufeffa\n',
  span('append', 1, 0, 1, 1)
)
check('puts nothing into an empty text', '', line(1, 0, ''), '')
check('keeps the byte-order mark', '\ufeffa\nb', line(1, 1, 'x'), '\ufeffx\nb', span('replace', 1, 1, 1, 1))
check(
  'replaces the last line and leaves it without break',
  'a\nb',
  line(2, 2, 'x'),
  'a\nx',
  span('replace', 2, 2, 2, 2)
)
check('replaces the last line and gives it the break asked for', 'a\nb', line(2, 2, 'x\n'), 'a\nx\n')
check('replaces the last line and leaves it terminated', 'a\nb\n', line(2, 2, 'x'), 'a\nx\n')
check('deletes the last line of a text without final break', 'a\nb', line(2, 2, ''), 'a', {
  ...span('delete', 2, 2, 2, 1),
  context: { before_lines: ['a'], after_lines: [] }
})
check('deletes the last line of a CRLF text without final break', 'a\r\nb', line(2, 2, ''), 'a')
check('deletes the last line of a terminated text', 'a\nb\n', line(2, 2, ''), 'a\n', span('delete', 2, 2, 2, 1))
check('keeps an empty line that becomes the last', '\nb', line(2, 2, ''), '\n', span('delete', 2, 2, 2, 1))
check(
  'keeps an empty line that is put before the last, which goes',
  'a\nb',
  [line(2, 1, 'x\n\n'), line(2, 2, '')],
  'a\nx\n\n'
)
check('deletes everything', 'a\nb', line(1, 2, ''), '', span('delete', 1, 2, 1, 0))
check('deletes the last lines by several edits', 'a\nb\nc', [line(3, 3, ''), line(2, 2, '')], 'a')
check('deletes all lines by several edits', 'a\nb', [line(1, 1, ''), line(2, 2, '')], '')
check(
  'leaves a replaced line without break where the last one goes',
  'a\nb\nc',
  [line(3, 3, ''), line(2, 2, 'x\n')],
  'a\nx',
  span('delete', 3, 3, 3, 2)
)
check(
  'leaves an inserted line without break where the last one goes',
  'a\nb',
  [line(2, 1, 'x'), line(2, 2, '')],
  'a\nx'
)
check('replaces the last line by an appended one', 'a\nb', [line(2, 2, ''), line(3, 2, 'c')], 'a\nc')
check('appends behind a replaced last line', 'a\nb', [line(3, 2, 'c'), line(2, 2, 'x')], 'a\nx\nc')
check(
  'counts all lines in the original',
  'a\nb\nc\nd\n',
  [line(4, 4, 'x'), line(1, 2, ''), line(4, 3, 'y')],
  'c\ny\nx\n'
)
check(
  'puts insertions at one place in the order of the request',
  'a\nb\n',
  [line(2, 1, '1'), line(2, 2, 'x'), line(2, 1, '2')],
  'a\n1\n2\nx\n'
)
check('puts appended lines in the order of the request', 'a', [line(2, 1, '1'), line(2, 1, '2\n')], 'a\n1\n2\n')
check('writes the file’s breaks', 'a\r\nb\r\n', line(1, 1, 'x\ny'), 'x\r\ny\r\nb\r\n')
check('writes \\r where lines end so', 'a\rb', line(3, 2, 'x'), 'a\rb\rx')
check(
  'writes breaks as given where asked, and adds the file’s',
  'a\r\nb\r\n',
  line(1, 1, 'x\ny'),
  'x\ny\r\nb\r\n',
  undefined,
  true
)
check(
  'writes the break of the line in a mixed file',
  'a\nb\r\nc\n',
  [line(2, 2, '1\n2'), line(3, 2, '0\n')],
  'a\n1\r\n2\r\n0\nc\n'
)
for (const [file, edit, expected] of [
  // The case of the contract: the change starts on line 1.
  ['a\r\nb\nc\n', line(1, 2, 'X'), 'X\r\nc\n'],
  ['a\r\nb\nc\n', line(1, 2, 'X\n'), 'X\r\nc\n'],
  ['a\nb\r\nc\r\n', line(1, 2, 'X\nY\nZ'), 'X\nY\nZ\nc\r\n'],
  ['a\nb\r\nc\r\n', line(2, 2, 'X'), 'a\nX\r\nc\r\n'],
  // Lines that stay keep theirs; the change starts after them, and ends before those at the end.
  ['a\r\nb\nc\rd\n', line(1, 3, 'a\nX'), 'a\r\nX\nd\n'],
  ['a\r\nb\nc\rd\n', line(1, 3, 'X\nc'), 'X\r\nc\rd\n'],
  ['a\r\nb\nc\rd\n', line(1, 3, 'X\na\nb\nc'), 'X\r\na\r\nb\nc\rd\n'],
  ['a\r\nb\nc\rd\n', line(1, 3, 'a\nc'), 'a\r\nc\rd\n'],
  // What is put in before a line gets its break; at the end, the one before.
  ['a\r\nb\nc\n', line(2, 1, 'X'), 'a\r\nX\nb\nc\n'],
  ['a\nb\nc\r\n', line(4, 3, 'X\nY'), 'a\nb\nc\r\nX\r\nY\r\n'],
  ['a\nb\r\nc', line(4, 3, 'X\nY'), 'a\nb\r\nc\r\nX\r\nY'],
  ['a\r\nb\nc', line(2, 3, 'X\nY'), 'a\r\nX\nY'],
  // Nobody asked for two breaks to become one.
  ['a\rb\n\nc\n', line(1, 2, 'X'), 'X\n\nc\n']
] as const) {
  check(
    `writes the break of the line on which the change starts: ${JSON.stringify([file, edit.start_line, edit.end_line, edit.new_text])}`,
    file,
    edit,
    expected
  )
}
check('adds no break that would become one with the next', 'a\rb\n\nc\n', line(1, 2, 'X'), 'X\n\nc\n', undefined, true)
check(
  'adds no break that would become one with what is appended',
  'a\nb\rc',
  line(4, 3, '\nX\n'),
  'a\nb\rc\n\nX\n',
  undefined,
  true
)
check(
  'adds the break of the line where asked for exact bytes',
  'a\r\nb\nc\n',
  line(1, 2, 'X\nY'),
  'X\nY\r\nc\n',
  undefined,
  true
)
check(
  'keeps the breaks of the lines that stay in a mixed file',
  'a\r\nb\nc\r\n',
  line(1, 3, 'a\nX\nc'),
  'a\r\nX\nc\r\n'
)
check(
  'edits what is expected',
  'a\r\nb\r\nc',
  [line(2, 2, 'x', 'b'), line(1, 1, 'y', 'a\n'), line(3, 3, 'z', 'c')],
  'y\r\nx\r\nz'
)
check(
  'takes expected breaks as they are where asked',
  'a\r\nb',
  line(1, 1, 'x', 'a\n'),
  { code: 'EXPECTED_TEXT_MISMATCH' },
  undefined,
  true
)
check(
  'shows what is there where another text is expected',
  'a\nb\nfoo  bar\n',
  [line(1, 1, '', 'a'), line(2, 2, 'x', 'foo bar')],
  {
    code: 'EXPECTED_TEXT_MISMATCH',
    edit_index: 1,
    total_edits: 2,
    start_line: 2,
    end_line: 2,
    actual_text: 'b\n',
    found_at: [3, 3],
    file_preview: { preview_start_line: 1, preview_end_line: 3, highlights: [{ start_line: 2, end_line: 2 }] }
  }
)
check(
  'offers no edit of lines that are not UTF-8',
  Buffer.from('one\ntwo\ncaf\xe9 au lait for all of us\n', 'latin1'),
  line(1, 1, 'x', 'caf\xe9 au lait for all off us'),
  { code: 'EXPECTED_TEXT_MISMATCH', found_at: [3, 3], similar_content: [{ lossy: true }], fixes: { length: 0 } }
)
const block = Array.from({ length: 600 }, (_, i) => `const value${i} = compute(${i})`)
check(
  'offers no edit that is too long to be sent back',
  `first\n${block.map(text => `  ${text}\n`).join('')}`,
  line(1, 1, 'x', block.join('\n')),
  { code: 'EXPECTED_TEXT_MISMATCH', found_at: [2, 601], fixes: { length: 0 } }
)
check('expects nothing of an insertion', 'a\n', line(1, 0, 'x', 'a'), {
  code: 'EXPECTED_TEXT_MISMATCH',
  actual_text: ''
})
for (const [start, end] of [
  [0, 0],
  [-2, 1],
  [3, 3],
  [4, 3],
  [2, 0],
  [1, 3]
] as const) {
  check(`refuses lines ${start} to ${end} of two`, 'a\nb', [line(1, 1, 'x'), line(start, end, 'y')], {
    code: 'LINE_OUT_OF_RANGE',
    edit_index: 1,
    total_lines: 2,
    start_line: start,
    end_line: end
  })
}
check('names both edits that overlap', 'a\nb\nc\n', [line(2, 3, 'x'), line(1, 1, 'z'), line(1, 2, 'y')], {
  code: 'OVERLAPPING_EDITS',
  edit_index: 2,
  other_edit_index: 1,
  lines: [1, 2],
  other_lines: [1, 1]
})
check('refuses an insertion inside a replaced range', 'a\nb\nc\n', [line(1, 3, 'x'), line(2, 1, 'y')], {
  code: 'OVERLAPPING_EDITS',
  edit_index: 1,
  other_edit_index: 0
})
check('refuses a result that is too large', 'a', line(1, 1, 'x'.repeat(LIMIT + 1)), {
  code: 'RESULT_TOO_LARGE',
  what: 'bytes',
  limit: LIMIT,
  actual: LIMIT + 1
})

/** The model: a list of lines with their breaks. */
function model(file: string, edits: LineEdit[], ending: string): string {
  const lines = (file.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []) as string[]
  const breakOf = (text: string) => text.match(/(?:\r\n|\n|\r)$/)?.[0] ?? ''
  const terminated = lines.length > 0 && breakOf(lines.at(-1)!) !== ''
  const adapted = (text: string) => text.replace(/\r\n|\n|\r/g, ending)
  const out: string[] = []
  const put = (text: string) => {
    if (text !== '') out.push(adapted(text) + (breakOf(text) === '' ? ending : ''))
  }
  for (let number = 1; number <= lines.length + 1;) {
    for (const edit of edits) if (edit.start_line === number && edit.end_line === number - 1) put(edit.new_text)
    const range = edits.find(edit => edit.start_line === number && edit.end_line >= number)
    if (range !== undefined) put(range.new_text)
    else if (number <= lines.length) out.push(lines[number - 1]!)
    number = range === undefined ? number + 1 : range.end_line + 1
  }
  const kept = out.map((text, i) => (i < out.length - 1 && breakOf(text) === '' ? text + ending : text))
  const order = [...edits.entries()]
    .sort(
      ([i, a], [j, b]) =>
        a.start_line - b.start_line || Number(b.end_line < b.start_line) - Number(a.end_line < a.start_line) || i - j
    )
    .map(([, edit]) => edit)
  const tail = order.filter(edit => edit.end_line >= lines.length || edit.start_line > lines.length)
  const last = tail.findLast(edit => edit.new_text !== '')
  const strips =
    !terminated &&
    (last !== undefined ? breakOf(last.new_text) === '' : tail.some(edit => edit.end_line >= edit.start_line))
  return strips ? kept.join('').replace(/(?<=[^\r\n])(?:\r\n|\n|\r)$/, '') : kept.join('')
}

t.test('agrees with the model, and describes the lines that were asked for', t => {
  for (let round = 0; round < Number(process.env.LONG_ROUNDS ?? often(8000)); round++) {
    const random = new Random(SEED * 40_009 + round)
    const ending = random.pick(['\n', '\r\n', '\r'])
    const total = random.int(6)
    const file =
      Array.from({ length: total }, () => random.text(['a', 'b', ' '], 2) + ending).join('') +
      (random.chance(50) ? random.pick(['z', 'yy']) : '')
    const count = (file.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []).length
    const edits: LineEdit[] = []
    for (let number = 1; number <= count + 1; number++) {
      const put = () => (random.chance(25) ? '' : random.text(['x', '\n', 'w'], 3) + random.pick(['', '\n', 'q']))
      if (random.chance(20)) edits.push(line(number, number - 1, put()))
      if (number <= count && random.chance(40)) {
        const end = Math.min(count, number + random.int(2))
        edits.push(line(number, end, put()))
        number = end
      }
    }
    if (edits.length === 0) continue
    edits.sort(() => random.int(3) - 1)
    const original = Buffer.from(file)
    const planned = planLineEdits(original, edits, { line_endings: 'adapt', max_result_size: LIMIT })
    const expected = model(file, edits, count === 0 || !/[\r\n]/.test(file) ? '\n' : ending)
    const result = planned.ok ? Buffer.concat(planned.value.pieces).toString() : planned.failure
    const complain = (what: string, more: object) => {
      t.fail(`${what}: ${JSON.stringify({ seed: SEED, round, file, edits, expected, result, ...more })}`)
      t.end()
    }
    if (result !== expected) return complain('differs from the model', {})
    if (!planned.ok) continue
    const described = describe(original, planned.value, { context_lines: 2, dry_run: false })
    const net = described.changes.reduce((sum, change) => sum + change.net_change, 0)
    if (net !== described.total_lines_after - described.total_lines_before) return complain('net change', { described })
    const lines = expected.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
    for (const change of described.changes) {
      const asked = edits[change.edit_index]!
      if (change.start_line < asked.start_line || (change.lines_removed > 0 && change.end_line > asked.end_line)) {
        return complain('other lines', { change })
      }
      const there = lines
        .slice(change.new_start_line - 1, change.new_end_line)
        .join('')
        .replace(/\r\n|\r/g, '\n')
        .replace(/\n$/, '')
      const put = `\n${asked.new_text.replace(/\n$/, '')}\n`
      if (change.lines_added > 0 && !put.includes(`\n${there}\n`)) return complain('not where the text is', { change })
    }
  }
  t.pass('all rounds')
  t.end()
})

t.test('writes the breaks that the contract names into a mixed file, as /edit does', t => {
  let compared = 0
  const kinds = ['\n', '\r\n', '\r']
  for (let round = 0; round < often(4000); round++) {
    const random = new Random(SEED * 60_013 + round)
    // No empty lines: next to them a break may have to be another, so that two don't become one.
    const word = () => random.pick(['a', 'b', 'ab'])
    const there = Array.from({ length: 2 + random.int(6) }, () => ({ text: word(), end: random.pick(kinds) }))
    if (new Set(there.map(({ end }) => end)).size < 2) continue
    const first = random.int(there.length)
    const last = first + random.int(there.length - first)
    const old = there.slice(first, last + 1)
    const put = Array.from({ length: 1 + random.int(4) }, word)
    let lead = 0
    while (lead < Math.min(old.length, put.length) && old[lead]!.text === put[lead]) lead++
    let trail = 0
    while (trail < Math.min(old.length, put.length) - lead && old.at(-1 - trail)!.text === put.at(-1 - trail)) trail++
    const kind = (there[first + lead] ?? there.at(-1)!).end
    const now = put.map((text, i) => ({
      text,
      end: i < lead ? old[i]!.end : i >= put.length - trail ? old.at(i - put.length)!.end : kind
    }))
    const joined = (lines: readonly { text: string; end: string }[]) =>
      lines.map(({ text, end }) => text + end).join('')
    const [file, old_text] = [joined(there), joined(old)]
    const expected = joined(there.slice(0, first)) + joined(now) + joined(there.slice(last + 1))
    const original = Buffer.from(file)
    const options = { line_endings: 'adapt' as const, max_result_size: LIMIT }
    const ending = random.pick(kinds)
    const new_text = put.join(ending)
    const byLines = planLineEdits(
      original,
      [line(first + 1, last + 1, random.chance(50) ? new_text : new_text + ending)],
      options
    )
    const byText = planTextEdits(original, [{ old_text, new_text: new_text + ending }], options)
    const results = [byLines, ...(byText.ok ? [byText] : [])].map(planned =>
      planned.ok ? Buffer.concat(planned.value.pieces).toString() : planned.failure
    )
    if (byText.ok) compared++
    if (results.some(result => result !== expected)) {
      t.fail(JSON.stringify({ seed: SEED, round, file, lines: [first + 1, last + 1], new_text, expected, results }))
      break
    }
  }
  t.ok(compared > often(1000, 16), `${compared} of them with /edit`)
  t.end()
})
