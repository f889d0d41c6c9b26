// Changes in lines and diffs, by example.
import t from 'tap'
import { describe } from '../../../src/engine/report/describe.ts'
import { unifiedDiff } from '../../../src/engine/report/diff.ts'
import { binaryEncodingOf, byteOfUtf16, decode, excerpt, utf16Length } from '../../../src/engine/text/encoding.ts'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import {
  countBreaks,
  isLineStart,
  lineAround,
  lineNumbers,
  nextBreakByte,
  previousBreakByte
} from '../../../src/engine/text/lines.ts'
import type { LineEndings } from '../../../src/engine/text/eol.ts'
import type { Plan } from '../../../src/engine/edit/plan.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { Text } from '../../../src/engine/text/text.ts'

function planOf(file: Buffer, edits: TextEdit[], line_endings: LineEndings = 'exact'): Plan {
  const planned = planTextEdits(file, edits, { line_endings, max_result_size: 1 << 24 })
  if (!planned.ok) throw new Error(planned.failure.code)
  return planned.value
}

const edit = (old_text: string, new_text: string, more: Partial<TextEdit> = {}): TextEdit => ({
  old_text,
  new_text,
  ...more
})

/** Plans, describes with the context asked for, and compares. */
function check(
  name: string,
  file: string | Buffer,
  edits: TextEdit | TextEdit[],
  expected: object,
  options: { context_lines?: number; dry_run?: boolean } = {}
): void {
  t.test(name, t => {
    const bytes = Buffer.from(file)
    t.match(describe(bytes, planOf(bytes, [edits].flat()), { context_lines: 0, dry_run: false, ...options }), expected)
    t.end()
  })
}

const span = (start_line: number, end_line: number, new_start_line: number, new_end_line: number) => ({
  start_line,
  end_line,
  new_start_line,
  new_end_line,
  lines_removed: end_line - start_line + 1,
  lines_added: new_end_line - new_start_line + 1,
  net_change: new_end_line - new_start_line - end_line + start_line
})

check('reports a change inside a line', 'a\nb c d\ne\n', edit('c', 'x'), {
  changes: [{ operation: 'replace', ...span(2, 2, 2, 2) }],
  total_lines_before: 3,
  total_lines_after: 3
})
check('reports a line that becomes two', 'a\nb\nc\n', edit('b', 'x\ny'), {
  changes: [span(2, 2, 2, 3)],
  total_lines_after: 4
})
check('reports a whole line that goes', 'a\nb\nc\n', edit('b\n', ''), {
  changes: [{ operation: 'delete', ...span(2, 2, 2, 1) }],
  total_lines_after: 2
})
check('reports a line that is joined with the next', 'a\nb\nc\n', edit('b\n', 'x'), {
  changes: [span(2, 3, 2, 2)],
  total_lines_after: 2
})
check('reports a line break that goes', 'a\nb\nc\n', edit('a\n', 'a'), { changes: [span(1, 2, 1, 1)] })
check('reports the last line that goes, with the break before it', 'a\nb', edit('\nb', ''), {
  changes: [span(2, 2, 2, 1)],
  total_lines_after: 1
})
check('reports a line that goes with the break before it', 'a\nb\nc\n', edit('\nb', ''), {
  changes: [span(2, 2, 2, 1)],
  total_lines_after: 2
})
check('reports a line that is put after another', 'a\nc\n', edit('a', 'a\nb'), { changes: [span(2, 1, 2, 2)] })
check('reports lines that are put at the end of a text without final break', 'a', edit('a', 'a\nb'), {
  changes: [span(2, 1, 2, 2)]
})
check('reports the last line that goes', 'a\nb\n', edit('b\n', ''), {
  changes: [span(2, 2, 2, 1)],
  total_lines_after: 1
})
check('reports a last line without break that goes', 'a\nb', edit('b', ''), {
  changes: [span(2, 2, 2, 1)],
  total_lines_before: 2,
  total_lines_after: 1
})
check('reports a final break that goes', 'a\nb\n', edit('b\n', 'b'), {
  changes: [span(2, 2, 2, 2)],
  total_lines_after: 2
})
check('reports the only break that goes', 'aa\n', edit('\n', ''), { changes: [span(1, 1, 1, 1)] })
check('reports all breaks that go', 'a\nb\n', edit('\n', '', { replace_all: true }), {
  changes: [span(1, 2, 1, 1), span(2, 2, 1, 1)]
})
check('reports a break that becomes another before an empty line', 'aa\n\n', edit('\n', '\r\n', { occurrence: 1 }), {
  changes: [span(1, 1, 1, 1)]
})
check('reports a text that becomes empty', 'a\nb', edit('a\nb', ''), {
  changes: [span(1, 2, 1, 0)],
  total_lines_after: 0
})
check('reports lines in the middle that are replaced whole', 'a\nb\nc\nd\n', edit('b\nc\n', 'x\ny\nz\n'), {
  changes: [span(2, 3, 2, 4)]
})
check('reports line numbers of the original for each edit', 'a\nb\nc\n', [edit('a', '1\n2\n3'), edit('c', 'x')], {
  changes: [span(1, 1, 1, 3), span(3, 3, 5, 5)]
})
check('reports a place that an earlier edit wrote', 'a\nb\n', [edit('b', 'x\ny'), edit('y', 'z')], {
  changes: [span(2, 2, 2, 3), { ...span(2, 2, 3, 3), inserted_by_edit: 0 }]
})
check('reports where a change went that a later one took over', 'a\nb\nc\n', [edit('b', 'x'), edit('a\nx\nc', 'q')], {
  changes: [span(2, 2, 1, 1), span(1, 3, 1, 1)]
})
check('reports a \\r that loses its \\n', 'a\r\nb', edit('\n', ''), {
  changes: [span(1, 1, 1, 1)],
  total_lines_after: 2
})
check('reports a \\r and a \\n that become one break', 'a\rX\nb', edit('X', ''), {
  changes: [span(1, 2, 1, 1)],
  total_lines_before: 3,
  total_lines_after: 2
})
check('leaves out the line before a change that has the same break', 'a\n\nb\n', edit('\n', '', { occurrence: 1 }), {
  changes: [span(2, 2, 2, 1)]
})
check(
  'reports the line before a change that gets another break',
  'o\na\n\r\nb\n',
  edit('\n', '', { occurrence: 2 }),
  { changes: [{ ...span(2, 3, 2, 2), context: { before_lines: ['o'], after_lines: ['b'] } }] },
  { context_lines: 1 }
)
check('reports a line that gets another break, and those after it', 'a\r\nb\r\nc\n', edit('\r\nb', '\n\n\n'), {
  changes: [span(1, 2, 1, 4)]
})
check('reports the line that loses its break, where the last goes with its own', 'a\nb\n', edit('\nb\n', ''), {
  changes: [span(1, 2, 1, 1)],
  total_lines_after: 1
})
// The first line has no line before it: there the other half of a \r\n is of another edit.
check(
  'names line 1 of the file where a later edit wrote the \\r before a change at the first byte',
  'ab',
  [edit('a', 'b\nb\r\na'), edit('\r\na', '\na\r\n'), edit('b', '\r\r', { occurrence: 1 })],
  { changes: [span(1, 1, 2, 3), span(1, 1, 3, 5), span(1, 1, 1, 2)] }
)
check(
  'names line 1 of the result where a later edit removed the \\r before a change',
  '\r\nb',
  [edit('\nb', 'c'), edit('\r', '')],
  { changes: [span(1, 2, 1, 1), span(1, 1, 1, 1)] }
)
check(
  'begins line 1 after the byte-order mark',
  '\ufeffa\nb',
  edit('a', 'x'),
  { changes: [{ ...span(1, 1, 1, 1), context: { before_lines: [], after_lines: ['b'] } }] },
  { context_lines: 1 }
)
check(
  'shows the lines around a change',
  '1\n2\n3\nb\n5\n6\n7\n',
  edit('b', 'x\ny'),
  { changes: [{ context: { before_lines: ['2', '3'], after_lines: ['5', '6'] } }] },
  { context_lines: 2 }
)
check(
  'shows the lines around a deletion',
  '1\n2\nb\n4\n',
  edit('b\n', ''),
  { changes: [{ context: { before_lines: ['2'], after_lines: ['4'] } }] },
  { context_lines: 1 }
)
check(
  'shows no line that another change touches',
  '1\na\na\n4\n',
  edit('a', 'b', { replace_all: true }),
  {
    changes: [
      { context: { before_lines: ['1'], after_lines: [] } },
      { context: { before_lines: [], after_lines: ['4'] } }
    ]
  },
  { context_lines: 3 }
)
check(
  'shows none for a change inside another',
  'a\nb\nc\n',
  [edit('b', '1\n2\n3'), edit('2', 'x')],
  {
    changes: [
      { context: { before_lines: ['a'], after_lines: ['c'] } },
      { context: { before_lines: [], after_lines: [] } }
    ]
  },
  { context_lines: 1 }
)
check(
  'shows the lines around a \\r that lost its \\n',
  'o\na\r\nb',
  edit('\r\n', '\r'),
  { changes: [{ ...span(2, 2, 2, 2), context: { before_lines: ['o'], after_lines: ['b'] } }] },
  { context_lines: 1 }
)
check(
  'shows the lines above a parted \\r\\n',
  'o\na\r\nb',
  edit('\n', '', { occurrence: 'last' }),
  { changes: [{ ...span(2, 2, 2, 2), context: { before_lines: ['o'] } }] },
  { context_lines: 1 }
)
check(
  'cuts long lines, and says when they are not UTF-8',
  Buffer.concat([Buffer.alloc(900, 'x'), Buffer.from([0xff, 10, 0x61])]),
  edit('a', 'b'),
  { changes: [{ context: { before_lines: [/^x+…\[501 characters left out\]…x+\ufffd$/], lossy: true } }] },
  { context_lines: 1 }
)
check('lists twenty changes', 'a\n'.repeat(25), edit('a', 'b', { replace_all: true }), {
  changes: { length: 20 },
  changes_truncated: true
})
check(
  'lists a thousand in a dry run, twenty with context',
  'a\n'.repeat(1001),
  edit('a', 'b', { replace_all: true }),
  {
    changes: { length: 1000, 19: { context: {} }, 20: { context: undefined, old_content: 'a', new_content: 'b' } },
    changes_truncated: true
  },
  { dry_run: true }
)
check(
  'adds what was and what would be, in a dry run',
  Buffer.from([0x61, 0xff]),
  [edit('a', 'b')],
  { changes: [{ old_content: 'a', new_content: 'b', lossy: undefined }] },
  { dry_run: true }
)
check(
  'cuts content at 4 KiB',
  `${'x'.repeat(9000)}`,
  edit('x'.repeat(9000), ''),
  { changes: [{ operation: 'delete', old_content: /^x{2048}…\[4904 characters left out\]…x{2048}$/ }] },
  { dry_run: true }
)

t.test('says when content is not UTF-8', t => {
  const bytes = Buffer.from([0x61, 0xff, 0x62])
  const plan = planOf(bytes, [edit('a', 'x')])
  const [placed] = plan.placements
  t.match(describe(bytes, { ...plan, placements: [{ ...placed!, old: bytes }] }, { context_lines: 0, dry_run: true }), {
    changes: [{ lossy: true, old_content: 'a\ufffdb' }]
  })
  t.end()
})

t.test('diffs', t => {
  const diff = (file: string | Buffer, edits: TextEdit[], max_lines = 100, path = 'f') => {
    const bytes = Buffer.from(file)
    return unifiedDiff(bytes, planOf(bytes, edits), { path, exists: true, max_lines })
  }
  const long = Array.from({ length: 40 }, (_, i) => `l${i}\n`).join('')
  t.strictSame(diff('a\nb\n', [edit('b', 'b')]), { diff: '', diff_truncated: false }, 'nothing for a text that stays')
  t.strictSame(diff('a\nb\nc\n', [edit('b', 'x')]), {
    diff: '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n',
    diff_truncated: false
  })
  t.strictSame(diff('a\nb', [edit('b', 'x\n')]), {
    diff: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+x\n',
    diff_truncated: false
  })
  t.strictSame(diff('a', [edit('a', '')]), {
    diff: '--- a/f\n+++ b/f\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n',
    diff_truncated: false
  })
  t.match(
    diff('a\nb\nc\nd\n', [edit('a\nb\nc\nd', 'x\nb\nc\ny')]),
    { diff: '--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-a\n+x\n b\n c\n-d\n+y\n' },
    'only the lines that differ'
  )
  t.match(
    diff(long, [edit('l5\n', ''), edit('l30', 'x')]),
    { diff: /@@ -3,7 \+3,6 @@[^]*@@ -28,7 \+27,7 @@/ },
    'two hunks'
  )
  t.match(
    diff(long, [edit('l5', 'x'), edit('l11', 'y')]),
    { diff: /^(?![^]*@@[^]*@@[^]*@@)/ },
    'one hunk where contexts meet'
  )
  t.match(diff('a b', [edit('a', 'x')], 100, 'with space'), { diff: /^--- a\/with space\t\n\+\+\+ b\/with space\t\n/ })
  t.match(diff('a b', [edit('a', 'x')], 100, 'é"'), { diff: /^--- "a\/\\303\\251\\""\n/ })
  t.match(diff(Buffer.from([0xff, 0x0a, 0x61]), [edit('a', 'b')]), { diff_unavailable: 'not_utf8' })
  t.match(
    diff(long, [edit('l5', 'x'), edit('l30', 'y')], 7),
    {
      diff: /^(.*\n){7}… 13 more lines of this diff left out: raise max_diff_lines to see them\n$/,
      diff_truncated: true
    },
    'cut in a hunk'
  )
  t.match(
    diff(long, [edit('l5', 'x')], 2),
    { diff: /^--- a\/f\n\+\+\+ b\/f\n… 9 more lines/, diff_truncated: true },
    'cut before the first hunk'
  )
  const many = 'a\n'.repeat(600)
  t.match(
    diff(many + 'b\n', [edit(many, 'c\n'.repeat(300))], 2000),
    { diff: /@@ -1,601 \+1,301 @@/ },
    'a large block is shown whole'
  )
  t.end()
})

t.test('bytes as text', t => {
  for (const [bytes, encoding] of [
    [[0x61], null],
    [[0xc3, 0xa9], null],
    [[0xff], null],
    [[0x61, 0], 'binary'],
    [[0xff, 0xfe, 0x61, 0], null],
    [[0xfe, 0xff], null],
    [[0xff, 0xfe, 0x61], 'utf-16le'],
    [[0xfe, 0xff, 0xd8, 0, 0, 0x61], 'utf-16be'],
    [[0xff, 0xfe, 0, 0], 'binary'],
    [[], null]
  ] as const) {
    t.equal(binaryEncodingOf(Buffer.from(bytes)), encoding)
  }
  t.equal(utf16Length(Buffer.from('aé😀')), 4)
  const odd = Buffer.concat([Buffer.from('é😀字'), Buffer.from([0xe5, 0xad, 0xf5])])
  t.equal(utf16Length(odd), 7)
  t.equal(byteOfUtf16(odd, 3), 6)
  t.equal(byteOfUtf16(odd, 99), odd.length)
  t.strictSame(decode(Buffer.from('a')), { text: 'a' })
  t.equal(excerpt('abc', 3), 'abc')
  t.equal(excerpt('x'.repeat(9) + '😀' + 'y'.repeat(9), 20), 'x'.repeat(9) + '😀' + 'y'.repeat(9))
  t.equal(excerpt('x'.repeat(4) + '😀' + 'y'.repeat(40), 10), 'xxxx…[37 characters left out]…yyyyy')
  t.equal(excerpt('x'.repeat(36), 10), 'x'.repeat(36), 'to say how much is left out would be as long')
  t.equal(excerpt('x'.repeat(37), 10), 'xxxxx…[27 characters left out]…xxxxx')
  t.end()
})

t.test('texts in pieces read as one', t => {
  const text = new Text(['a', '\r', '', '\nb\r', 'c', '', '\n'].map(part => Buffer.from(part)))
  const whole = new Text([text.slice(0, text.length)])
  t.equal(text.length, 7)
  t.equal(text.byteAt(-1), -1)
  t.equal(text.byteAt(7), -1)
  for (let from = 0; from <= text.length; from++) {
    t.equal(text.byteAt(from), whole.byteAt(from))
    t.equal(nextBreakByte(text, from), nextBreakByte(whole, from))
    t.equal(previousBreakByte(text, from), previousBreakByte(whole, from))
    t.equal(isLineStart(text, from), isLineStart(whole, from))
    t.strictSame(lineAround(text, from), lineAround(whole, from))
    for (let to = from; to <= text.length; to++) t.equal(countBreaks(text, from, to), countBreaks(whole, from, to))
    for (let to = 0; to <= text.length; to++) {
      t.equal(text.slice(from, to).toString(), to < from ? '' : 'a\r\nb\rc\n'.slice(from, to), `${from} to ${to}`)
    }
    for (const needle of ['\r\nb', 'a', '\n', 'b\rc\n', 'zz']) {
      t.equal(
        text.indexOf(Buffer.from(needle), from),
        whole.indexOf(Buffer.from(needle), from),
        `${needle} from ${from}`
      )
    }
  }
  t.strictSame(lineNumbers(text, [7, 0, 3]), { lines: [4, 1, 2], total: 3 })
  t.end()
})
