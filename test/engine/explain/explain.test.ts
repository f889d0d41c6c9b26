// What a failed edit reports: places, previews, similar texts, and edits that work when sent as they are.
import t from 'tap'
import { PieceTable } from '../../../src/engine/edit/piece-table.ts'
import { undoneBy } from '../../../src/engine/explain/explain.ts'
import type { TextFailure } from '../../../src/engine/failure.ts'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import { breakStyleOf, type LineEndings } from '../../../src/engine/text/eol.ts'
import { LineIndex } from '../../../src/engine/text/line-index.ts'
import { locate, Needle } from '../../../src/engine/match/locate.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { often } from '../../often.ts'
import { Random, randomFile, SEED } from '../../random.ts'

const plan = (file: Buffer, edits: TextEdit[], line_endings: LineEndings = 'adapt') =>
  planTextEdits(file, edits, { line_endings, max_result_size: 1 << 24 })

function failureOf(file: string | Buffer, edits: TextEdit[], line_endings?: LineEndings): TextFailure {
  const planned = plan(Buffer.from(file), edits, line_endings)
  if (planned.ok) throw new Error('succeeded')
  return planned.failure
}

/** Fails one edit and compares the failure, or what `pick` takes of it. */
function check(
  name: string,
  file: string | Buffer,
  edit: TextEdit | TextEdit[],
  expected: object,
  absent: string[] = [],
  line_endings?: LineEndings
): void {
  t.test(name, t => {
    const failure = failureOf(file, [edit].flat(), line_endings)
    t.match(failure, expected)
    for (const member of absent) t.notOk(Object.hasOwn(failure, member), `no ${member}`)
    t.end()
  })
}

const edit = (old_text: string, new_text: string, more: Partial<TextEdit> = {}): TextEdit => ({
  old_text,
  new_text,
  ...more
})
const lines = (count: number, line = (n: number) => `line ${n}`) =>
  Array.from({ length: count }, (_, i) => line(i + 1) + '\n').join('')

const BLOCK = lines(30, n => `  step${n}(a, b)`)
const sentFor = (block: string): string => block.replace('step10(a, b)', 'step10(a,  b)')
const renamed = (text: string): string => text.replace('step20', 'last')
check(
  'offers the lines around the change of a long block too',
  `f {\n${BLOCK}}\n`,
  edit(sentFor(BLOCK), renamed(sentFor(BLOCK))),
  {
    fixes: [
      { type: 'USE_EXACT_TEXT', lines: [2, 31], edit: { old_text: BLOCK, new_text: renamed(BLOCK) } },
      {
        type: 'USE_EXACT_TEXT',
        lines: [20, 22],
        edit: {
          old_text: '  step19(a, b)\n  step20(a, b)\n  step21(a, b)',
          new_text: '  step19(a, b)\n  last(a, b)\n  step21(a, b)'
        }
      },
      { type: 'READ_FILE' }
    ]
  }
)
check(
  'offers them in the last edit of a request',
  `f {\n${BLOCK}}\n`,
  [edit('f {', 'g {'), edit(sentFor(BLOCK), renamed(sentFor(BLOCK)))],
  { fixes: [{ lines: [2, 31] }, { lines: [20, 22] }, { type: 'READ_FILE' }] }
)
check(
  'offers them beside later edits',
  `f {\n${BLOCK}}\n`,
  [edit(sentFor(BLOCK), renamed(sentFor(BLOCK))), edit('f {', 'g {')],
  { fixes: [{ lines: [2, 31] }, { lines: [20, 22] }, { type: 'READ_FILE' }] }
)
check(
  'names later edits that fail too once, and corrects them with the lines around the change',
  `f {\n${BLOCK}}\n${BLOCK.replaceAll('step', 'move')}`,
  [
    edit(sentFor(BLOCK), renamed(sentFor(BLOCK))),
    edit(sentFor(BLOCK).replaceAll('step', 'move').replace('move10(a, b)', 'move10(a,  b)'), 'x')
  ],
  { fixes: [{ lines: [2, 31] }, { lines: [20, 22] }, { type: 'READ_FILE' }] }
)
const FEW = lines(6, n => `  step${n}(a, b)`)
check(
  'offers them for a short block',
  `f {\n${FEW}}\n`,
  edit(FEW.replace('step1(a, b)', 'step1(a,  b)'), FEW.replace('step1(a, b)', 'step1(a,  b)').replace('step5', 'last')),
  {
    fixes: [
      { lines: [2, 7] },
      {
        lines: [5, 7],
        edit: {
          old_text: '  step4(a, b)\n  step5(a, b)\n  step6(a, b)',
          new_text: '  step4(a, b)\n  last(a, b)\n  step6(a, b)'
        }
      },
      { type: 'READ_FILE' }
    ]
  }
)
check(
  'offers them in the text that earlier edits make',
  `f {\n${FEW}}\n`,
  [
    edit('}', '  step5(a, b)\n}'),
    edit(
      FEW.replace('step1(a, b)', 'step1(a,  b)'),
      FEW.replace('step1(a, b)', 'step1(a,  b)').replace('step5', 'last')
    )
  ],
  { fixes: [{ lines: [2, 7] }, { lines: [5, 7] }, { type: 'READ_FILE' }] }
)
check(
  'offers them without a blank line beside them',
  `f {\n${FEW.replaceAll('\n', '\n\n')}}\n`,
  edit(
    FEW.replaceAll('\n', '\n\n').replace('step1(a, b)', 'step1(a,  b)'),
    FEW.replaceAll('\n', '\n\n').replace('step1(a, b)', 'step1(a,  b)').replace('step5', 'last')
  ),
  {
    fixes: [
      {},
      { lines: [10, 10], edit: { old_text: '  step5(a, b)', new_text: '  last(a, b)' } },
      { type: 'READ_FILE' }
    ]
  }
)
check(
  'keeps a blank line to find where lines are only added',
  `f {\n${FEW.replaceAll('\n', '\n\n')}}\n`,
  edit(
    FEW.replaceAll('\n', '\n\n').replace('step1(a, b)', 'step1(a,  b)'),
    FEW.replaceAll('\n', '\n\n').replace('step1(a, b)', 'step1(a,  b)').replace('step5', 'last()\n  step5')
  ),
  {
    fixes: [{}, { edit: { old_text: '\n  step5(a, b)', new_text: '\n  last()\n  step5(a, b)' } }, { type: 'READ_FILE' }]
  }
)
const SHORT = lines(3, n => `  step${n}(a, b)`)
const onlyWhole = { fixes: [{ type: 'USE_EXACT_TEXT' }, { type: 'READ_FILE' }] }
check(
  'offers the whole of a short one alone',
  SHORT,
  edit(SHORT.replace('step1(', 'step1 ('), SHORT.replace('step1(', 'step1 (').replace('step2', 'x')),
  onlyWhole
)
check(
  'offers the whole alone where the change is all over it',
  BLOCK,
  edit(sentFor(BLOCK), sentFor(BLOCK).replaceAll('step', 'do')),
  onlyWhole
)

t.test('law: the lines around a change do to a file what the whole block does', t => {
  let offered = 0
  for (let round = 0; round < often(2000, 60); round++) {
    const random = new Random(SEED * 17 + round)
    const eol = ['\n', '\r\n', '\r'][random.int(3)]!
    const all = Array.from({ length: 50 }, () => `  ${'abc'[random.int(3)]} = f(${random.int(12)}, x${random.int(4)})`)
    const from = random.int(20)
    const block = all.slice(from, from + 4 + random.int(26))
    const sent = block.with(2, block[2]!.replace('  ', '      '))
    const at = random.int(block.length)
    const now = random.chance(50)
      ? sent.with(at, '  new line')
      : sent.toSpliced(at, random.int(2), '  put in', '  here')
    const file = Buffer.from(all.join(eol) + (random.chance(50) ? eol : ''))
    const planned = plan(file, [edit(sent.join('\n'), now.join('\n'))])
    if (planned.ok || planned.failure.code !== 'NO_MATCH') continue
    const fixes = planned.failure.fixes.flatMap(({ edit: one }) =>
      one?.new_text === undefined ? [] : [one as TextEdit]
    )
    const results = fixes.map(fix => plan(file, [fix]))
    if (fixes.length < 2 || !results.every(result => result.ok)) continue
    const [whole, short] = results.map(result => (result.ok ? Buffer.concat(result.value.pieces).toString() : ''))
    offered++
    if (whole !== short) {
      t.fail(`SEED=${SEED}: round ${round}: ${JSON.stringify(fixes)}`)
      return t.end()
    }
  }
  t.ok(offered > 10, String(offered))
  t.end()
})

check('shows where the matches are', 'x a\ny\nfoo a a\nz\n', edit('a', 'b'), {
  code: 'WRONG_COUNT',
  expected_occurrences: 1,
  actual_occurrences: 3,
  match_lines: [1, 3],
  match_locations: [
    {
      line_number: 1,
      column_start: 3,
      column_end: 4,
      line_content: 'x a',
      context_before: [],
      context_after: ['y', 'foo a a']
    },
    {
      line_number: 3,
      column_start: 5,
      column_end: 6,
      line_content: 'foo a a',
      context_before: ['x a', 'y'],
      context_after: ['z']
    },
    { line_number: 3, column_start: 7, column_end: 8 }
  ]
})
check(
  'counts columns in UTF-16 units, after the byte-order mark',
  Buffer.concat([Buffer.from('\ufeff😀é'), Buffer.from([0xff]), Buffer.from('a a')]),
  edit('a', 'b'),
  {
    match_locations: [
      { column_start: 5, column_end: 6, lossy: true },
      { column_start: 7, column_end: 8 }
    ]
  }
)
check('ends the columns of a match with its first line', 'ab\ncd\nab\ncd\n', edit('b\nc', 'x'), {
  match_locations: [{ column_start: 2, column_end: 3, context_after: ['ab', 'cd'] }, { line_number: 3 }]
})
check(
  'shows of a long line what stands around the match',
  `${'a'.repeat(5000)}X${'b'.repeat(5000)}\nX`,
  edit('X', 'y'),
  {
    match_locations: [
      { column_start: 5001, line_content: /^…\[4850 characters left out\]…a+Xb+…\[4851 characters left out\]…$/ },
      { line_number: 2, line_content: 'X' }
    ]
  }
)
check(
  'lists at most ten places and fifty lines, and says how many matches there are besides',
  lines(1200, () => 'a'),
  edit('a', 'b'),
  { actual_occurrences: 1200, match_locations: { length: 10 }, match_lines: { length: 50 }, more_matches: 1150 }
)
check('lists a line once, however many matches it has', 'a '.repeat(1200), edit('a', 'b'), {
  match_lines: [1],
  more_matches: 200
})
check('offers context, a choice and a count, in this order', 'one\na\ntwo\na\n', edit('a', 'b'), {
  fixes: [
    { type: 'ADD_CONTEXT', lines: [2, 2], edit: { old_text: 'one\na', new_text: 'one\nb' } },
    { type: 'ADD_CONTEXT', lines: [4, 4], edit: { old_text: 'two\na', new_text: 'two\nb' } },
    { type: 'CHOOSE_OCCURRENCE', edit: { old_text: 'a', new_text: 'b', occurrence: 1 } },
    { type: 'ADJUST_COUNT', edit: { old_text: 'a', new_text: 'b', occurrences: 2 } }
  ]
})
check('offers the count first where a count was asked for', 'a\na\n', edit('a', 'b', { occurrences: 3 }), {
  fixes: [{ type: 'ADJUST_COUNT', edit: { occurrences: 2 } }]
})
check('offers no count of one where it overlaps itself', 'aaa', edit('aa', 'b', { occurrences: 2 }), {
  expected_occurrences: 2,
  actual_occurrences: 1,
  overlapping: true,
  fixes: [{ type: 'ADD_CONTEXT' }, { type: 'ADD_CONTEXT' }, { type: 'CHOOSE_OCCURRENCE' }]
})
check('offers no count where matches overlap', 'aaa', edit('aa', 'b'), {
  fixes: [
    { type: 'ADD_CONTEXT', edit: { old_text: 'aaa', new_text: 'ba' } },
    { type: 'ADD_CONTEXT', edit: { new_text: 'ab' } },
    { type: 'CHOOSE_OCCURRENCE' }
  ]
})
check(
  'edits the place that was meant, not another that has its text too',
  'bar(x, foo(a))\nfoo(a)\nb()\n',
  edit('Foo(a)', 'Foo(a, 1)'),
  {
    similar_content: [{ line_number: 2, content: 'foo(a)' }],
    fixes: {
      0: { lines: [2, 2], edit: { old_text: 'bar(x, foo(a))\nfoo(a)', new_text: 'bar(x, foo(a))\nfoo(a, 1)' } },
      1: { type: 'READ_FILE' }
    }
  }
)
check('takes the whole line before it takes more', 'foo(a)\nbar(a)\n', edit('a', 'b'), {
  fixes: [{ edit: { old_text: 'foo(a)', new_text: 'foo(b)' } }, { edit: { old_text: 'bar(a)' } }]
})
check('keeps the line break of a match that ends with one', 'x\na\ny\na\nz\n', edit('a\n', ''), {
  fixes: [{ edit: { old_text: 'x\na\n', new_text: 'x\n' } }, { edit: { old_text: 'y\na\n', new_text: 'y\n' } }]
})
check(
  'makes matches in a very long line unique by characters',
  `${'ab'.repeat(3000)}12X${'ab'.repeat(3000)}13X`,
  edit('X', 'y'),
  { fixes: [{ type: 'ADD_CONTEXT', edit: { old_text: 'ababababababab12X', new_text: 'ababababababab12y' } }] }
)
check(
  'offers no context where none makes a match unique',
  lines(100, () => 'a'),
  edit('a', 'b'),
  { fixes: [{ type: 'CHOOSE_OCCURRENCE' }, { type: 'ADJUST_COUNT' }] }
)
check('offers no context that is not UTF-8', Buffer.from([0xff, 0x61, 0x0a, 0xfe, 0x61]), edit('a', 'b'), {
  fixes: [{ type: 'CHOOSE_OCCURRENCE' }]
})
check('offers no edit too large to send back', `${'x'.repeat(20_000)} x`, edit('x', 'y'.repeat(20_000)), { fixes: [] })
check('finds context at the edges of the file', 'a\nb\na', edit('a', 'c'), {
  fixes: [{ edit: { old_text: 'a\nb', new_text: 'c\nb' } }, { edit: { old_text: 'b\na', new_text: 'b\nc' } }]
})
check(
  'gives up on context that costs too much',
  lines(400_000, () => 'a'),
  edit('a', 'b', { occurrences: 7 }),
  { actual_occurrences: 400_000, fixes: [{ type: 'ADJUST_COUNT' }, { type: 'CHOOSE_OCCURRENCE' }] }
)
check('offers the last of the occurrences there are', 'a\nb\na', edit('a', 'c', { occurrence: 5 }), {
  code: 'OCCURRENCE_OUT_OF_RANGE',
  occurrence: 5,
  fixes: [{ type: 'ADD_CONTEXT' }, { type: 'ADD_CONTEXT' }, { type: 'CHOOSE_OCCURRENCE', edit: { occurrence: 'last' } }]
})

check(
  'previews the file from the start where nothing is near',
  lines(30),
  edit('nowhere', 'x'),
  {
    code: 'NO_MATCH',
    similar_content: [],
    fixes: [{ type: 'READ_FILE', lines: [1, 20] }],
    file_preview: {
      total_lines: 30,
      preview_start_line: 1,
      preview_end_line: 20,
      content: lines(20).trimEnd(),
      highlights: []
    }
  },
  ['applied_lines', 'suggestions_truncated', 'undone_by_edit']
)
check('previews an empty file', '', edit('a', 'b'), {
  file_preview: { total_lines: 0, preview_start_line: 0, preview_end_line: 0, content: '' }
})
check('keeps the preview small', `${'x'.repeat(9000)}\n`.repeat(9), edit('nowhere', 'y'), {
  file_preview: { content: /^x+…\[7040 characters left out\]…x+$/ }
})
check('shows what is around the text that similar_content shows', lines(9), edit('line  5\nline  6', 'x'), {
  file_preview: {
    preview_start_line: 2,
    preview_end_line: 9,
    content: 'line 2\nline 3\nline 4\n[lines 5 to 6 are in similar_content]\nline 7\nline 8\nline 9',
    highlights: [{ start_line: 5, end_line: 6 }]
  }
})
check(
  'shows a line of which similar_content shows a part',
  `a\n${'x '.repeat(2000)}let FooBar = Baz\nb`,
  edit('foobar = baz', 'q'),
  {
    file_preview: { content: /^a\n…\[\d+ characters left out\]…[x ]+let FooBar = Baz$/ }
  }
)
check('says that the preview is not all UTF-8', Buffer.from([0xff, 0x61]), edit('b', 'c'), {
  file_preview: { lossy: true, content: '\ufffda' }
})
check('says when the change is there already', 'x\nconst a = 2\r\n', edit('const a = 1', 'const a = 2'), {
  applied_lines: [2, 2],
  fixes: [{ type: 'ALREADY_APPLIED', lines: [2, 2] }, { type: 'READ_FILE' }],
  file_preview: { highlights: [{ start_line: 2, end_line: 2 }] }
})
check(
  'does not take its own work for a change that was there',
  'a',
  [edit('a', 'b'), edit('a', 'b')],
  { undone_by_edit: 0 },
  ['applied_lines']
)
check(
  'does not blame an earlier edit for a text that was never there',
  'a',
  [edit('a', 'b'), edit('c', 'd')],
  { edit_index: 1 },
  ['undone_by_edit']
)
check('finds the text that differs in white space', 'if (x) {\n\treturn  1;\n}\n', edit('    return 1;', 'return 2;'), {
  similar_content: [
    {
      line_number: 2,
      end_line: 2,
      content: '\treturn  1;',
      similarity_score: 0.923,
      confidence: 'high',
      differences: [
        { type: 'indentation', expected: '    return', found: '\treturn' },
        { type: 'whitespace', expected: 'return 1', found: 'return  1' }
      ]
    }
  ],
  fixes: [{ type: 'USE_EXACT_TEXT', lines: [2, 2], edit: { old_text: '\treturn  1;' } }, { type: 'READ_FILE' }],
  file_preview: { preview_start_line: 1, preview_end_line: 3, highlights: [{ start_line: 2, end_line: 2 }] }
})
check('finds the text that differs in case, part of a line', 'let FooBar = Baz; // x', edit('foobar = baz', 'q'), {
  similar_content: [
    {
      content: 'FooBar = Baz',
      differences: [
        { type: 'case', expected: 'foobar', found: 'FooBar' },
        { type: 'case', expected: 'baz', found: 'Baz' }
      ]
    }
  ]
})
check(
  'finds lines that are indented otherwise, whole and with their last break',
  'a {\r\n\tfoo();\r\n\tbar();\r\n}\r\n',
  edit('  foo();\n  bar();\n', 'x\n'),
  {
    similar_content: [
      {
        line_number: 2,
        end_line: 3,
        content: '\tfoo();\r\n\tbar();\r\n',
        differences: [{ type: 'indentation' }, { type: 'indentation', expected: '  bar', found: '\tbar' }]
      }
    ]
  }
)
check('offers each of two places that are alike', 'foo( 1 )\nfoo(  1  )\n', edit('foo(1)', 'x'), {
  cause: { type: 'near_duplicate' },
  similar_content: [{ confidence: 'low' }, { confidence: 'low' }],
  fixes: [
    { type: 'ADD_CONTEXT', lines: [1, 1], edit: { old_text: 'foo( 1 )' } },
    { type: 'ADD_CONTEXT', lines: [2, 2], edit: { old_text: 'foo(  1  )' } },
    { type: 'READ_FILE' }
  ]
})
check(
  'shows at most three places',
  lines(9, () => 'foo( 123 )'),
  edit('foo(123)', 'x'),
  { similar_content: { length: 3 } }
)
check(
  'says that a short old_text has bytes that are not UTF-8',
  Buffer.from('na\xefve\nport\n', 'latin1'),
  edit('na\ufffdve', 'x'),
  { cause: { type: 'encoding' }, similar_content: { length: 0 } }
)
check('does not say so where the file is UTF-8', Buffer.from('naïve\nport\n'), edit('zz\ufffdyy', 'x'), {
  cause: { type: 'never_there' }
})
check('does not offer text that is not UTF-8', Buffer.from('foo(\xa012345678)', 'latin1'), edit('foo(12345678)', 'x'), {
  similar_content: [{ lossy: true }],
  fixes: [{ type: 'READ_FILE' }]
})
check('shows nothing for blank text', 'a', edit('\n\n', 'x'), { similar_content: [] })
check(
  'finds what earlier edits have written, and reports the lines of the file',
  'a\nb\n',
  [edit('b', 'some  longer text'), edit('some longer text', 'x')],
  { similar_content: [{ line_number: 2, content: 'some  longer text' }] }
)
check('compares letters that have one lower case', 'ÄÖÜ İx', edit('äöü  İx', 'q'), {
  similar_content: [{ content: 'ÄÖÜ İx' }]
})
check('prefers the part at whose sides other text stands', '(foo  bar)', edit('foo bar', 'x'), {
  similar_content: [{ content: 'foo  bar' }]
})

t.test('searches a bounded part of a very large text, and says so', t => {
  const large = Buffer.from(('x'.repeat(99) + '\n').repeat(680_000) + 'foo  bar')
  const { candidates, truncated } = suggest(large, 'foo bar')
  t.strictSame([candidates, truncated], [[], true])
  const options = { line_endings: 'exact', max_result_size: large.length } as const
  t.match(planTextEdits(large, [edit('foo  bar', 'y', { occurrences: 2 })], options), {
    failure: { code: 'WRONG_COUNT', actual_occurrences: 1, suggestions_truncated: true }
  })
  t.match(planLineEdits(large, [{ start_line: 1, end_line: 1, new_text: 'y', expected_text: 'foo bar' }], options), {
    failure: { code: 'EXPECTED_TEXT_MISMATCH', fixes: { length: 0 }, suggestions_truncated: true }
  })
  t.end()
})

check(
  'does not say which earlier edit undid a match that is not among the first thousand',
  lines(1500, n => (n === 1200 ? 'x here' : 'x')),
  [edit('x here', 'y'), edit('x', 'z', { occurrences: 1500 })],
  { code: 'WRONG_COUNT', actual_occurrences: 1499 },
  ['undone_by_edit']
)
for (const [line_endings, new_text] of [
  ['adapt', 'a\n\nb'],
  ['exact', 'a\r\nb']
] as const) {
  check(
    `offers context whose breaks would join as they would be written, where breaks are ${line_endings}`,
    'a\rX\nb\na\rX\nc\nd\rX\nb\n',
    edit('X', ''),
    { fixes: [{ type: 'ADD_CONTEXT', edit: { new_text } }] },
    [],
    line_endings
  )
}

t.test('offers context edits that succeed when sent as they are, each at its own place', t => {
  let sent = 0
  const textOf = (pieces: Buffer[]) => Buffer.concat(pieces).toString('latin1')
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 50_021 + round)
    const { bytes, alphabet } = randomFile(random)
    const line_endings: LineEndings = random.pick(['adapt', 'exact'])
    const failing = edit(random.pick(alphabet) + random.text(alphabet, 1), random.text(alphabet, 4))
    const earlier = random.chance(40)
      ? [edit(random.pick(alphabet), random.text(alphabet, 3), { occurrence: 'first' })]
      : []
    const planned = plan(bytes, [...earlier, failing], line_endings)
    if (planned.ok || planned.failure.code !== 'WRONG_COUNT' || planned.failure.edit_index !== earlier.length) continue
    for (const [index, fix] of planned.failure.fixes.filter(fix => fix.type === 'ADD_CONTEXT').entries()) {
      sent++
      const again = plan(bytes, [...earlier, fix.edit as TextEdit], line_endings)
      // The n-th fix is for the n-th match; with breaks kept, the result is that of choosing it.
      const chosen = plan(bytes, [...earlier, { ...failing, occurrence: index + 1 }], line_endings)
      // In a mixed file, which of two breaks stays when one goes is a matter of view.
      const mixed = breakStyleOf(bytes).ending === 'mixed'
      const right =
        again.ok &&
        (!chosen.ok ||
          planned.failure.overlapping ||
          planned.failure.fixes.filter(fix => fix.type === 'ADD_CONTEXT').length <
            Math.min(3, planned.failure.actual_occurrences) ||
          mixed ||
          textOf(again.value.pieces) === textOf(chosen.value.pieces))
      if (!right) {
        const result = (plan: typeof again) =>
          plan.ok ? Buffer.concat(plan.value.pieces).toString('latin1') : plan.failure
        const input = { seed: SEED, round, line_endings, file: bytes.toString('latin1'), earlier, failing, fix }
        t.fail(`the fix does not work: ${JSON.stringify({ ...input, again: result(again), chosen: result(chosen) })}`)
        return t.end()
      }
    }
  }
  t.ok(sent > often(300, 5), `${sent} fixes sent`)
  t.end()
})

t.test('offers exact texts that match when sent with a new text', t => {
  let sent = 0
  for (let round = 0; round < often(1500); round++) {
    const random = new Random(SEED * 30_011 + round)
    const words = () =>
      Array.from({ length: 2 + random.int(4) }, () =>
        random.pick(['alpha', 'beta', 'Gamma', 'delta()', '{', '}'])
      ).join(random.pick([' ', '  ', '\t']))
    const file = Array.from({ length: 8 }, () => random.pick(['', '  ', '\t', '    ']) + words()).join(
      random.pick(['\n', '\r\n'])
    )
    const present = file.slice(random.int(20), 40 + random.int(60))
    const failing = present
      .replace(/[ \t]+/g, () => random.pick([' ', '   ', '\t']))
      .replace(/[a-z]/gi, c => (random.chance(5) ? c.toUpperCase() : c))
    const planned = plan(Buffer.from(file), [edit(failing, 'x')])
    if (planned.ok || planned.failure.code !== 'NO_MATCH') continue
    const [fix] = planned.failure.fixes
    if (fix!.type !== 'USE_EXACT_TEXT') continue
    sent++
    const again = plan(Buffer.from(file), [{ old_text: fix!.edit!.old_text, new_text: 'x' }])
    if (!again.ok) {
      t.fail('does not match', { seed: SEED, round, file, failing, fix, failure: again.failure })
      return t.end()
    }
  }
  t.ok(sent > often(300, 5), `${sent} exact texts sent`)
  t.end()
})

const both = [edit('a', 'x'), edit('b', 'x'), edit('x', 'y')]
check('says which earlier edit added the matches that are too many', 'a\nb\nx\n', both, {
  code: 'WRONG_COUNT',
  edit_index: 2,
  actual_occurrences: 3,
  undone_by_edit: 0
})
check(
  'says which earlier edit took away a match',
  'a\na\n',
  [edit('a', 'b', { occurrence: 1 }), edit('a', 'c', { occurrences: 2 })],
  { code: 'WRONG_COUNT', edit_index: 1, actual_occurrences: 1, undone_by_edit: 0 }
)
check(
  'blames no earlier edit for a count that was wrong before',
  'a\na\nz\n',
  [edit('z', 'y'), edit('a', 'c')],
  { code: 'WRONG_COUNT', edit_index: 1 },
  ['undone_by_edit']
)
check(
  'blames no earlier edit where none changed the place',
  'a\nz\n',
  [edit('z', 'y'), edit('a', 'c', { occurrences: 2 })],
  { code: 'WRONG_COUNT', edit_index: 1 },
  ['undone_by_edit']
)
check(
  'shows what resembles the text where matches are missing',
  'const limit = compute(1)\nfoo()\nconst  limit  = compute(1)\n',
  edit('const limit = compute(1)', 'x', { occurrences: 2 }),
  { code: 'WRONG_COUNT', similar_content: [{ line_number: 3, end_line: 3, content: 'const  limit  = compute(1)' }] }
)
check(
  'shows nothing where nothing resembles the text',
  'alpha beta\nfoo()\n',
  edit('alpha beta', 'x', { occurrences: 2 }),
  { code: 'WRONG_COUNT' },
  ['similar_content']
)
check(
  'offers to read just the lines that were meant',
  lines(20, n => `const value${n} = compute(${n * 7}, "${n}")`),
  edit('const value9 = compute(64, "nine") // here', 'x'),
  { fixes: [{ type: 'READ_FILE', lines: [9, 9] }] }
)
check(
  'writes the breaks of the place where they are to be exact',
  'one\r\ntwo\r\n',
  edit('one\ntwo', 'one\nzwei'),
  { fixes: [{ edit: { old_text: 'one\r\ntwo', new_text: 'one\r\nzwei' } }] },
  [],
  'exact'
)
check(
  'leaves new_text to the caller where the place has several kinds of breaks',
  'one\r\ntwo\nthree\n',
  edit('one\ntwo\nthree', 'one\nzwei\nthree'),
  { fixes: [{ edit: { old_text: 'one\r\ntwo\nthree' } }] },
  [],
  'exact'
)

t.test('blames the edit that a look at each place and each change blames', t => {
  let blamed = 0
  for (let round = 0; round < often(1000); round++) {
    const random = new Random(SEED * 90_001 + round)
    const original = Buffer.from('a' + random.text(['a', 'b', 'x'], 40))
    const draft = new PieceTable(original)
    for (let edit_index = 0; edit_index < 1 + random.int(6); edit_index++) {
      let at = 0
      draft.replace(
        Array.from({ length: random.int(4) }, () => {
          const start = Math.min(draft.text.length, at + random.int(8))
          at = Math.min(draft.text.length, start + random.int(4))
          return {
            edit_index,
            operation: 'replace' as const,
            start,
            end: at,
            insert: Buffer.from(random.text(['a', 'b'], 3))
          }
        })
      )
    }
    const needle = new Needle(random.pick(['a', 'ab', 'aa', 'bax']))
    const { matches } = locate(new Text([original]), needle, 'exact', 'none')
    const expected = matches
      .slice(0, matches.count)
      .map(match => draft.placements.find(({ start, end }) => start < match.end && end > match.start)?.edit_index)
      .find(index => index !== undefined)
    const failed = {
      draft,
      line_index: new LineIndex(original),
      edit: { old_text: needle.text, new_text: '' },
      needle,
      line_endings: 'exact' as const,
      ending: 'none' as const,
      edit_index: 9,
      total_edits: 10
    }
    if (undoneBy(failed, new Text([original])) !== expected) {
      t.fail('differs', {
        seed: SEED,
        round,
        original: String(original),
        needle: needle.text,
        placements: draft.placements,
        expected
      })
      break
    }
    if (expected !== undefined) blamed++
  }
  t.ok(blamed > often(300, 5), `${blamed} times`)
  t.end()
})

check(
  'names the one place that is shown, though one that is too unlike to be shown is nearly as likely',
  'omega iota kappa sigma\nlambda beta iota zeta\nlambda lambda delta beta\n\n' +
    '--------\n'.repeat(61) +
    '\nkappa omega zeta sigma\nomega omega iota kappa\nzeta eta delta omega\n',
  edit('kappa omega sigma sigma\nlambda beta iota zeta\ngamma zeta delta iota', 'x'),
  { code: 'NO_MATCH', similar_content: { 0: { confidence: 'low' }, length: 1 }, cause: { type: 'stale' } }
)
