// The search after a miss: its parts by example, its causes in a table, its laws on random texts.
import t from 'tap'
import type { TextFailure } from '../../../src/engine/failure.ts'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { alignLines } from '../../../src/engine/suggest/align.ts'
import { anchorsOf, findAnchor } from '../../../src/engine/suggest/anchors.ts'
import { Budget } from '../../../src/engine/suggest/budget.ts'
import { mapByChain, mapInBand } from '../../../src/engine/suggest/characters.ts'
import type { CauseType } from '../../../src/engine/suggest/differences/classify.ts'
import { endsOfElided, endsOfLong } from '../../../src/engine/suggest/elided.ts'
import { fold, linesOf } from '../../../src/engine/suggest/fold.ts'
import { Haystack } from '../../../src/engine/suggest/haystack.ts'
import { hunksOf } from '../../../src/engine/suggest/differences/hunks.ts'
import { isPlaceholder } from '../../../src/engine/suggest/placeholders.ts'
import { oldTextOf, readings, withoutEntities, withoutLineNumbers } from '../../../src/engine/suggest/readings.ts'
import { findSeeds, seedsOf } from '../../../src/engine/suggest/seeds.ts'
import { findShort } from '../../../src/engine/suggest/short.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'
import { bestFit, likeness, patternOf, rawLikeness } from '../../../src/engine/suggest/verify.ts'
import { placesOf } from '../../../src/engine/suggest/votes.ts'
import { whyMissed } from '../../../src/http/answers/no-match-cause.ts'
import { MISSES } from '../../misses.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const plenty = () => new Budget(1e9)
const codes = (text: string) => fold(text).codes
const foldedText = (text: string) => String.fromCharCode(...codes(text))
const planned = (file: string, edit: TextEdit) =>
  planTextEdits(Buffer.from(file), [edit], { line_endings: 'adapt', max_result_size: 1 << 24 })

function missed(file: string, old_text: string, new_text = 'x'): Extract<TextFailure, { code: 'NO_MATCH' }> {
  const plan = planned(file, { old_text, new_text })
  if (plan.ok || plan.failure.code !== 'NO_MATCH') throw new Error('matches')
  return plan.failure
}

t.test('folds what often differs, and keeps the way back', async t => {
  t.equal(foldedText('A b\t\\n"\'`“’ –— ÉE\u0301 …ａ（\ufeff\u00a0\u3099'), 'abn"""""--ee...a(')
  const folded = fold('x É…')
  t.strictSame([...folded.offsets], [0, 2, 3, 3, 3])
  t.equal(foldedText('ΐ…😀'.repeat(50)).length, 50 * 6, 'grows where one sign becomes three')
  t.strictSame(
    linesOf(fold('a\r\n\nb c')).map(({ start, end, text }) => [start, end, text]),
    [
      [0, 1, 'a'],
      [3, 3, ''],
      [4, 7, 'bc']
    ]
  )
})

t.test('reads old_text as what it may stand for', async t => {
  t.equal(withoutLineNumbers('10→foo\n11→  bar\n\n12→baz'), 'foo\n  bar\n\nbaz')
  t.equal(withoutLineNumbers('10: foo\nbar\nbaz'), undefined)
  t.equal(withoutLineNumbers('5: a\n3: b\n1: c'), undefined, 'numbers that fall are no line numbers')
  const unescaped = (text: string) =>
    readings(text).flatMap(({ reading, source }) => (reading === 'escapes' ? source : []))
  t.equal(unescaped('a\\n\\"b\\u00e9\\q\\\\')[0], 'a\n"bé\\q\\')
  t.strictSame(unescaped('\\"a\\n\\"'), ['"a\n"', '"a\\n"'], 'and with quotes alone as they are meant')
  t.equal(withoutEntities('a &lt;&gt;&amp;&quot;&#39;&nbsp;'), 'a <>&"\' ')
  t.equal(withoutEntities('a & b'), undefined)
  t.strictSame(
    readings('```ts\nfoo\n```').map(({ reading }) => reading),
    ['as_sent', 'fence']
  )
  t.strictSame(
    readings('1: say(\\"a\\")\n2: b').map(({ source }) => source),
    ['1: say(\\"a\\")\n2: b', 'say(\\"a\\")\nb', 'say("a")\nb']
  )
  t.strictSame(
    readings('1: a\\n2: b').map(({ source }) => source),
    ['1: a\\n2: b', 'a\\n2: b', 'a\n2: b']
  )
})

t.test('knows lines that stand for others', async t => {
  for (const line of [
    '...',
    '  // ... existing code ...',
    '# …',
    '/* rest of the function */',
    '<!-- unchanged -->',
    '[...]'
  ]) {
    t.ok(isPlaceholder(line), line)
  }
  for (const line of ['foo(...args)', 'return existing', 'x = {', '']) t.notOk(isPlaceholder(line), line)
  t.strictSame(endsOfElided('a\nb\n...\nc\n// ...\nd\n'), { first: 'a\nb', last: 'd', reach: 20_000 })
  t.equal(endsOfElided('...\na\nb\n...'), undefined)
  t.equal(endsOfElided('\n...\nb'), undefined)
  const ends = endsOfLong(Array.from({ length: 999 }, (_, i) => `line ${i}`).join('\n') + '\n')
  t.match(ends.first, /^line 0\n[^]*\nline 2\d\d$/)
  t.match(ends.last, /^line 8\d\d\n[^]*\nline 998$/)
  t.strictSame(endsOfLong('a\nb'), { first: 'a\nb', last: 'a\nb', reach: 20_004 })
})

t.test('measures likeness, and stops when the budget is used up', async t => {
  t.strictSame(bestFit(patternOf(codes('hello')), codes('say helo there'), plenty()), { distance: 1, end: 7 })
  const long = 'the quick brown fox jumps over the lazy dog and runs'
  t.strictSame(bestFit(patternOf(codes(long)), codes(`xx${long.replace('fox', 'cat')}yy`), plenty()), {
    distance: 3,
    end: 2 + codes(long).length
  })
  t.equal(bestFit(patternOf(codes('hello')), codes('hello'), new Budget(3)), undefined)
  t.equal(likeness('abcd', 'abxd', 0, plenty()), 0.75)
  t.equal(likeness('abcd', 'ab', 0.8, plenty()), 0)
  t.equal(likeness('abcd', 'abxd', 0, new Budget(3)), 0)
  t.equal(rawLikeness('a\r\nb', 'a\nb', plenty()), 1)
})

t.test('finds pieces, and where they agree', async t => {
  const text = Buffer.from(`${'-'.repeat(4000)}const answer = compute(question, context)${'-'.repeat(4000)}`)
  const sought = Buffer.from('const answer = compute(QUESTION, other)')
  for (const length of [4, 8] as const) {
    const seeds = seedsOf([sought], length)
    const [place] = placesOf(findSeeds(text, seeds), seeds, sought.length, text.length, 3)
    t.ok(
      place!.start <= 4000 && place!.end >= 4040 && place!.end - place!.start < 400,
      `${length} bytes: ${place!.start} to ${place!.end}`
    )
  }
  t.equal(seedsOf([Buffer.from('a        b')], 8).count, 0, 'blanks say nothing')
  t.equal(findSeeds(Buffer.from('ab'), seedsOf([sought], 8)).count, 0)
  const many = seedsOf([Buffer.from('abcdabcdabcdabcdabcdabcdabcdabcdabcdabcd')], 4)
  t.equal(findSeeds(Buffer.alloc(40_000, 'abcd'), many).count, 600, 'a piece seen often is listed so often and no more')
  const crowd = new Random(1)
  t.ok(
    seedsOf(
      [Buffer.from(crowd.text(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '1', '2', '3', '4', '5', '6'], 300_000))],
      8
    ).count <= 300_000
  )
  const everywhere = seedsOf([sought], 4)
  t.ok(
    placesOf(findSeeds(Buffer.alloc(1 << 20, sought), everywhere), everywhere, sought.length, 1 << 20, 3).length <= 3
  )
})

t.test('finds short texts everywhere, and exact lines first', async t => {
  t.strictSame(findShort(Buffer.from('foo = bar; FOO=baz;'), codes('foo=baz'), 2), [17, 7])
  t.strictSame(findShort(Buffer.from('x'), codes('é'.repeat(40)), 2), [])
  t.strictSame(findShort(Buffer.from('x'), Uint16Array.of(233, 12354), 2), [])
  t.equal(findShort(Buffer.alloc(20_000, 'abc-'), codes('abcx'), 5).length, 5)
  const old = oldTextOf('  const longest = line(1)\nconst longer = 2\nx')
  const anchors = anchorsOf([old, old], 'utf8')
  t.strictSame(
    anchors.map(({ line, before, after }) => [line.toString(), before, after]),
    [
      ['const longest = line(1)', 2, 42],
      ['const longer = 2', 26, 18]
    ]
  )
  t.strictSame(findAnchor(new Haystack(Buffer.from('ab ab')), Buffer.from('ab'), plenty()), [0, 3])
  t.strictSame(
    anchorsOf([oldTextOf('different = line\n' + 'a'.repeat(60) + 'b')], 'utf8').map(({ line }) => line.toString()),
    ['different = line'],
    'not one that repeats itself'
  )
})

t.test('aligns lines', async t => {
  const align = (a: string, b: string, budget = plenty()) =>
    alignLines(
      linesOf(fold(a)).filter(({ text }) => text !== ''),
      linesOf(fold(b)).filter(({ text }) => text !== ''),
      budget
    )
  const pairs = (a: string, b: string) =>
    align(a, b)?.pairs.map(({ fromA, toA, fromB, toB }) => [fromA, toA, fromB, toB].join(''))
  t.strictSame(pairs('first line\nsecond line\nthird one', 'zero\nfirst line\nsecond lime\n\nthird one\nx'), [
    '0011',
    '1122',
    '2233'
  ])
  t.strictSame(
    pairs('call(alpha, beta, gamma)\nend of it', 'call(\n  alpha,\n  beta,\n  gamma)\nend of it'),
    ['0003', '1144'],
    'joined'
  )
  t.strictSame(
    pairs('call(\n  alpha,\n  beta,\n  gamma)\nend of it', 'call(alpha, beta, gamma)\nend of it'),
    ['0300', '4411'],
    'split'
  )
  t.strictSame(
    pairs('first line\nthird one', 'first line\nsecond, another\nthird one'),
    ['0000', '1122'],
    'a line more'
  )
  t.strictSame(
    pairs('first line\nsecond, another\nthird one', 'first line\nthird one'),
    ['0000', '2211'],
    'a line fewer'
  )
  t.strictSame(
    pairs(
      'first line of it\nsecond line\n}',
      `first line of it\nsecond line\n${'other stuff here 12345\n'.repeat(2)}x`
    ),
    ['0000', '1111']
  )
  t.equal(align('one line', 'one line'), undefined)
  t.equal(align('abc\ndef', '123\n456'), undefined)
  t.equal(align('first line\nsecond', 'first line\nsecond', new Budget(1)), undefined)
})

t.test('maps characters', async t => {
  const [a, b] = [codes('the quick brown fox'), codes('a thequick crown fox')]
  const fit = bestFit(patternOf(a), b, plenty())!
  t.strictSame([...mapInBand(a, b, fit, plenty())!].slice(0, 9), [1, 2, 3, 4, 5, 6, 7, 8, -1])
  t.strictSame([...mapByChain(a, b, plenty())!].slice(0, 10), [1, 2, 3, 4, 5, 6, 7, 8, -1, 10])
  t.equal(mapByChain(codes('abcdef'), codes('uvwxyz'), plenty()), undefined)
  t.equal(mapInBand(a, b, fit, new Budget(1)), undefined)
  const noise = new Random(2)
  const [x, y] = [noise.text(['ab', 'ba', 'aa', 'bb'], 4000), noise.text(['ab', 'ba', 'aa', 'bb'], 4000)]
  t.ok(mapByChain(codes(x), codes(y), plenty()), 'thousands of runs')
})

t.test('decodes stretches by whole lines and characters', async t => {
  const haystack = new Haystack(Buffer.from(`a\nbé\rc\n${'é'.repeat(1000)}`))
  const stretch = haystack.stretch(3, 5)
  t.strictSame([stretch.folded.source, stretch.startsLine, stretch.endsLine], ['bé', true, true])
  t.equal(haystack.stretch(3, 5), stretch)
  const cut = haystack.stretch(1009, 1011)
  t.strictSame([cut.startsLine, cut.endsLine, cut.folded.source.includes('\ufffd')], [false, false, false])
  t.equal(new Haystack(Buffer.from([0xff, 0x41])).text(0, 2), 'ÿA')
})

t.test('takes from new_text what it took from old_text, or says that it can’t', async t => {
  const check = (old_text: string, reading: string, new_text: string, expected: string | null): void => {
    const { read } = readings(old_text).find(one => one.reading === reading)!
    t.equal(read(new_text, 'new'), expected, JSON.stringify([reading, new_text]))
  }
  check('```ts\na\n```', 'fence', '```ts\nb\n```', 'b')
  check('```ts\na\n```', 'fence', 'b', 'b')
  check('```ts\na\n```', 'fence', '```ts\nb\n``` c', null)
  check('```ts\na\n```', 'fence', 'b\n```', null)
  check('```ts\na\n```', 'fence', 'b\n```\nc', null)
  check('1\ta\n2\tb', 'line_numbers', '1\tc\n2\td', 'c\nd')
  check('1\ta\n2\tb', 'line_numbers', 'c\nd', 'c\nd')
  check('1\ta\n2\tb', 'line_numbers', 'c\nd\ne\n4\tf', null)
  const prefixes = [
    'L%: ',
    '%:a1b|',
    '%#ZP:',
    '[%] ',
    '<line %>',
    '<line %> ',
    'p.py:%:',
    'src/p.py:%:7: ',
    '%. ',
    '%) '
  ]
  for (const prefix of [...prefixes, '%:', '% │ ', ' %┃', 'Line %: ', '%-', '%|', 'a-b.ts-%-']) {
    const at = (number: number, line: string) => prefix.replace('%', String(number)) + line
    check(`${at(9, 'a')}\n${at(10, 'b')}`, 'line_numbers', `${at(9, 'c')}\n${at(10, 'd')}`, 'c\nd')
    check(at(9, 'a'), 'line_numbers', 'c', 'c')
  }
  check('3:def\n4:    x', 'line_numbers', '3:def\n4:    y', 'def\n    y')
  check('3:def\n4:    x', 'line_numbers', '4:    y', '    y')
  check('1: a\n2: b', 'line_numbers', 'c\nd\ne\n4: f', 'c\nd\ne\n4: f')
  check('"re": "\\d+\n"', 'unescaped', '"re": "\\w+\n",', '"re": "\\\\w+\\n",')
  check('"re": "\\d+\n"', 'unescaped', '"re": 1', null)
  const diff = '@@ -1,2 +1,2 @@ f\n a\n-b\n+c'
  check(diff, 'diff', diff, 'a\nc')
  check(diff, 'diff', 'a\nc', 'a\nc')
  check(diff, 'diff', '', null)
  check(diff, 'diff', 'a\nd', null)
  check(`${diff}\n@@ -9 +9 @@\n-x`, 'diff', diff, null)
  check('@@ @@\n-b', 'diff', '@@ @@\n-b', '')
  check('-a\n-b', 'diff', '+c\n+d', 'c\nd')
  check('-a\n-b', 'diff', '  c', '  c')
  check('-a\n-b', 'diff', '', '')
  check('-a\n-b', 'diff', '-c\n-d', null)
  check('-b\n a', 'diff', '+c\n a\n\\ No newline at end of file', 'c\na')
  check('f\n-  b\n+  c\n  a', 'diff', 'f\n-  b\n+  c\n  a', 'f\n  c\n  a')
  const block = '<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE'
  check(block, 'markers', block, 'b')
  check(block, 'markers', 'b', 'b')
  check(block, 'markers', 'c', null)
  check(block, 'markers', '', null)
  check(`${block}\n${block}`, 'markers', block, null)
  check('<<<<<<< SEARCH\na', 'markers', '=======\nb\n>>>>>>> REPLACE', 'b')
  check('<<<<<<< SEARCH\na\n=======', 'markers', 'b\n>>>>>>> REPLACE', 'b')
  check('<<<<<<< SEARCH\na\n=======', 'markers', '<<<<<<< SEARCH\nb', null)
  check('<old_str>a</old_str>', 'markers', '<new_str>\nb\n</new_str>', 'b')
  check('<old_str>a</old_str>', 'markers', '<old_str>b</old_str>', null)
  check('<old_text>a</old_text><new_text>b</new_text>', 'markers', 'b', 'b')
  check('<old_text>a</old_text><old_text>c</old_text>', 'markers', 'b', null)
  check('a</old_string>', 'markers', 'b</new_string>', 'b')
  check('say(\\"a\\")', 'escapes', 'say(\\"b\\")', 'say("b")')
  check('a &lt; b', 'entities', 'a &gt; b', 'a > b')
  check('a &lt; b', 'entities', 'a > b', 'a > b')
})

t.test('reads the old text out of a diff, markers or tags, and takes other text as it is', async t => {
  const check = (text: string, expected: string[]): void => {
    const sources = readings(text).map(({ source }) => source)
    t.strictSame(sources, [text, ...expected], text)
  }
  check('--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n', ['a\n'])
  check('```diff\n-a\n+b\n```', ['-a\n+b', 'a'])
  check('@@ -1 +1 @@\n-a\n@@ -9 +9 @@\n-b', ['a'])
  check('before\n@@ -1 +1 @@\n-a', [])
  check('@@ -1 +1 @@\n a', [])
  check('- a\n- b', [])
  check('a\n-b', [])
  check('+a\nb', [])
  check('-right: 0', [])
  check('-- a\n--  b', [])
  check('-  a', ['  a'])
  check('-a\n b', ['a\nb'])
  check('+a', [])
  check('------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n', ['a'])
  check('a\n>>>>>>> REPLACE', ['a'])
  check('<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main', [])
  check('a\n<<<<<<< SEARCH\nb', [])
  check('>>>>>>> REPLACE\n<<<<<<< SEARCH\nb', [])
  check('<old_str>\n a\n</old_str>\n<new_str>b</new_str>', [' a'])
  check('<new_str>b</new_str>', [])
  check('<old_str>a</old_str> and b', [])
})

t.test('names the kind of each difference', async t => {
  const kinds = (a: string, b: string) =>
    hunksOf(a, b)
      .map(({ kind }) => kind)
      .join()
  t.equal(kinds('a b', 'a  b'), 'spacing')
  t.equal(kinds('a\nb', 'a\n\nb'), 'blank_lines')
  t.equal(kinds('x = [1, 2]', 'x = [1; 2]'), 'punctuation')
  t.equal(kinds('foo(a)', 'foo(a, b.c)'), 'content')
  t.equal(kinds('word '.repeat(4000), 'other '.repeat(4000)), 'content')
  t.equal(
    kinds(
      Array.from({ length: 900 }, (_, i) => `a${i}`).join(' '),
      Array.from({ length: 900 }, (_, i) => `b${i}`).join(' ')
    ),
    'content'
  )
})

const CODE = `import { alpha } from "../alpha"

export function compute(input, limit) {
\tconst result = alpha(input)
\tif (result > limit) {
\t\tthrow new RangeError("too large")
\t}
\treturn result * 2
}

export const other = () => compute(1, 2)
`
const LONG_LINE = Array.from({ length: 200 }, (_, i) => `.c${i}{margin:${i}px}`).join('')
const words = 'const naïve = café(“menu”, 3 – 2)\nplain line of text here\n'

const caused: CauseType[] = []
/** Misses `old_text` in `file`, and compares cause, sentence and the text of the first fix. */
function check(cause: CauseType, file: string, old_text: string, sentence: RegExp, fix?: string): void {
  caused.push(cause)
  t.test(`names the cause ${cause}: ${JSON.stringify(old_text.slice(0, 30))}`, async t => {
    const failure = missed(file, old_text)
    t.equal(failure.cause.type, cause)
    t.match(whyMissed(failure.cause), sentence)
    if (fix !== undefined) t.equal(failure.fixes[0]?.edit?.old_text, fix)
    const isThere = (content: string) =>
      content.split(/…\[\d+ characters left out\]…/).every(part => file.includes(part))
    t.ok(failure.similar_content.every(({ content }) => isThere(content)))
  })
}

check(
  'tabs',
  CODE,
  '    if (result > limit) {\n        throw',
  /indents with 1 tab, but old_text indents with 4 spaces/,
  '\tif (result > limit) {\n\t\tthrow'
)
check(
  'indentation',
  'a {\n    first(1);\n    second(2);\n}\n',
  '  first(1);\n  second(2);\n',
  /^the file indents every line by 2 more spaces than old_text$/,
  '    first(1);\n    second(2);\n'
)
check(
  'trailing_space',
  'first line  \nsecond line\n',
  'first line\nsecond line',
  /white space at the end of a line that old_text leaves out/,
  'first line  \nsecond line'
)
check(
  'trailing_space',
  'first line\nsecond line\n',
  'first line  \nsecond line',
  /that the file doesn't have/,
  'first line\nsecond line'
)
check(
  'blank_lines',
  'first line\n\nsecond line\n',
  'first line\nsecond line',
  /blank lines differ/,
  'first line\n\nsecond line'
)
check(
  'spacing',
  'let value  = compute( 1 )\n',
  'let value = compute(1)',
  /the spacing differs/,
  'let value  = compute( 1 )'
)
check(
  'quotes',
  CODE,
  "throw new RangeError('too large')",
  /quotation marks differ/,
  'throw new RangeError("too large")'
)
check(
  'dashes',
  words,
  'const naïve = café(“menu”, 3 - 2)',
  /dashes or symbols differ/,
  'const naïve = café(“menu”, 3 – 2)'
)
check(
  'nbsp',
  'some words here\u00a0and there\n',
  'some words here and there',
  /no-break/,
  'some words here\u00a0and there'
)
check(
  'unicode_form',
  words,
  'nai\u0308ve = cafe\u0301(“menu”, 3 – 2)',
  /composed differently/,
  'naïve = café(“menu”, 3 – 2)'
)
check('html_entities', CODE, 'if (result &gt; limit) {', /HTML entities/, 'if (result > limit) {')
check(
  'over_escaped',
  CODE,
  '\t\tthrow new RangeError(\\"too large\\")',
  /old_text has escapes .* that the file does not have/,
  '\t\tthrow new RangeError("too large")'
)
check(
  'over_escaped',
  'a\nsay(\\"hello\\")\nb\n',
  'say("hello")',
  /the file has escapes .* that old_text leaves out/,
  'say(\\"hello\\")'
)
check(
  'line_numbers',
  CODE,
  '4\t\tconst result = alpha(input)\n5\t\tif (result > limit) {',
  /line numbers/,
  '\tconst result = alpha(input)\n\tif (result > limit) {'
)
check(
  'markdown_fence',
  CODE,
  '```js\n\tconst result = alpha(input)\n\tif (result > limit) {\n```',
  /Markdown fence/,
  '\tconst result = alpha(input)\n\tif (result > limit) {'
)
check(
  'diff_hunk',
  CODE,
  '@@ -4,2 +4,2 @@\n \tconst result = alpha(input)\n-\tif (result > limit) {\n+\tif (result >= limit) {',
  /^old_text is a diff hunk; send the lines as the file has them: no @@ line, .* only the old lines in old_text/,
  '\tconst result = alpha(input)\n\tif (result > limit) {'
)
check(
  'diff_hunk',
  CODE,
  '-\tconst result = alpha(input)\n-\tif (result > limits) {',
  /is a diff hunk; .* \(and the file has "limit" where old_text has "limits"\)$/,
  '\tconst result = alpha(input)\n\tif (result > limit) {'
)
check(
  'edit_markers',
  CODE,
  '<<<<<<< SEARCH\n\tconst result = alpha(input)\n=======\n\tconst result = beta(input)\n>>>>>>> REPLACE',
  /^old_text has the markers of another edit format .* send only the old text in old_text and only the new text in/,
  '\tconst result = alpha(input)'
)
check('word', '# To do\n\n- alpha beta\n- delta 7\n', '- alpha beta\n- delta 8', /^the file has "7", old_text "8"$/)
check(
  'elided',
  CODE,
  'export function compute(input, limit) {\n\t// ... existing code ...\n\treturn result * 2\n}\n',
  /leaves out the middle/,
  CODE.slice(CODE.indexOf('export function'), CODE.indexOf('\nexport const'))
)
check('case', CODE, 'throw new rangeerror("too large")', /letter case differs/, 'throw new RangeError("too large")')
check('punctuation', CODE, 'const result = alpha[input]', /has "\(" where old_text has "\["/)
check('typo', CODE, 'const reslut = alpha(input)', /has "result", old_text "reslut"/, 'const result = alpha(input)')
check(
  'renamed',
  CODE,
  'export function calculate(input, limit) {',
  /has the name "compute", old_text "calculate"/,
  'export function compute(input, limit) {'
)
check(
  'lines_dropped',
  CODE,
  '\tconst result = alpha(input)\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result * 2\n',
  /old_text leaves out/
)
check(
  'lines_added',
  CODE,
  '\tif (result > limit) {\n\t\tlog(result)\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result * 2\n',
  /which is not in the file/
)
check(
  'comment',
  CODE,
  '\tif (result > limit) {\n\t\t// too much\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result * 2\n',
  /has the comment .* which is not in the file/
)
check(
  'comment',
  '\tif (result > limit) {\n\t\t// too much\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result\n',
  '\tif (result > limit) {\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result\n',
  /^old_text leaves out the comment/
)
check(
  'stale',
  CODE,
  'export function compute(input, limit) {\n\tconst result = alpha(input.x + 1)\n\tif (result > limit) {',
  /\(.*\+ 1|\.x \+ 1/
)
check(
  'stale',
  CODE,
  '\tif (result > limit) {\n\t\tthrow new RangeError()\n\t}\n\treturn result * 2\n',
  /: old_text leaves out/
)
check(
  'stale',
  CODE,
  '\tif (result > limit) {\n\t\tthrow new TypeError(big + 7)\n\t}\n\treturn result * 2\n}\n',
  /where old_text has/
)
check(
  'joined_or_split',
  CODE,
  '\tif (result > limit) { throw new RangeError("too large") }\n\treturn result * 2\n',
  /line breaks are in different places/,
  '\tif (result > limit) {\n\t\tthrow new RangeError("too large")\n\t}\n\treturn result * 2\n'
)
check(
  'long_line_part',
  LONG_LINE,
  '.c98{margin:98px}.c99{padding:1em;color:red}.c100{margin:100px}.c101{margin:101px}',
  /very long line/
)
check(
  'near_duplicate',
  'call( first, second )\nbetween them is text\ncall(  first,  second  )\n',
  'call(first,second)',
  /several places are equally likely/,
  'call( first, second )'
)
check('final_newline', 'one two\nthree four', 'one two\nthree four\n', /ends with a line break/, 'one two\nthree four')
check('invisible', 'I \u2764\ufe0f it all\n', 'I \u2764 it all', /file has "\[U\+FE0F .*\]" where old_text has nothing/)
check('invisible', 'a soft\u00adware one\n', 'a software one', /has "soft\[U\+00AD soft hyphen\]ware" where old_text/)
check('nbsp', 'some\u202fwords here\n', 'some words here', /"some\[U\+202F narrow no-break space\]words", old_text/)
check('byte_order_mark', CODE, `\ufeff${CODE.trimEnd()}`, /begins with a byte-order mark/, CODE.trimEnd())
for (const [title, bytes, old_text, sentence, found, differences] of [
  [
    'a character of Latin-1',
    'titre = "caf\xe9 au lait"\nport = 80\n',
    'titre = "café au lait"\nport = 80',
    /^the file is not UTF-8 \(it looks like Latin-1\), so old_text cannot match characters such as "é" there .*them$/,
    'titre = "caf\ufffd au lait"\nport = 80',
    [{ type: 'unicode', expected: 'é', found: '\ufffd' }]
  ],
  [
    'it before what else differs',
    'titre = "caf\xe9 au lait"\nport = 80\n',
    'titre = "café au lait"\nport = 81',
    /characters such as "é" .* \(and the file has "80" where old_text has "81"\)$/,
    'titre = "caf\ufffd au lait"\nport = 80',
    [
      { type: 'unicode', expected: 'é', found: '\ufffd' },
      { type: 'content', expected: '81', found: '80' }
    ]
  ],
  [
    'what was copied from an answer',
    'titre = "caf\xe9 au lait"\r\nport = 80\n',
    'titre = "caf\ufffd au lait"\nport = 80',
    /characters such as "é" there \(shown as U\+FFFD\); choose an old_text without them$/,
    'titre = "caf\ufffd au lait"\r\nport = 80',
    [{ type: 'content', expected: 'caf\ufffd', found: 'café' }]
  ],
  [
    'bytes of no known encoding',
    '\x93titre\x94 = "caf\xe9 au lait"\nport = 80\n',
    '= "café au lait"\nport = 80',
    /^the file has bytes there that are not UTF-8 \(shown as U\+FFFD\), which old_text cannot match; choose/,
    '= "caf\ufffd au lait"\nport = 80',
    [{ type: 'content', expected: 'café', found: 'caf\ufffd' }]
  ]
] as const) {
  caused.push('encoding')
  t.test(`names in a file that is not UTF-8 ${title}`, async t => {
    const plan = planTextEdits(Buffer.from(bytes, 'latin1'), [{ old_text, new_text: 'x' }], {
      line_endings: 'adapt',
      max_result_size: 1 << 20
    })
    if (plan.ok || plan.failure.code !== 'NO_MATCH') throw new Error('matches')
    const { cause, similar_content, fixes, missing_tokens } = plan.failure
    t.equal(cause.type, 'encoding')
    t.match(whyMissed(cause), sentence)
    t.match(similar_content[0], { content: found, lossy: true })
    t.strictSame(similar_content[0]!.differences, differences)
    t.match(fixes, [{ type: 'READ_FILE', lossy: true }])
    t.equal(missing_tokens, undefined)
  })
}
t.test('shows what was sent where a file is UTF-8 but for a byte, and offers what works', async t => {
  const file = Buffer.from(`${Buffer.from('café naïve').toString('latin1')}\xe9\nport = "80" caf\xc3\xa9\n`, 'latin1')
  for (const old_text of ['port = "81" café', '2\tport = "81" café']) {
    const plan = planTextEdits(file, [{ old_text, new_text: 'x' }], { line_endings: 'adapt', max_result_size: 1 << 20 })
    if (plan.ok || plan.failure.code !== 'NO_MATCH') throw new Error('matches')
    t.match(plan.failure.similar_content, [{ content: 'port = "80" café' }])
    t.strictSame(plan.failure.similar_content[0]!.differences.at(-1), { type: 'content', expected: '81', found: '80' })
    t.equal(plan.failure.fixes[0]?.edit?.old_text, 'port = "80" café')
  }
})
check('html_entities', '<p>a &lt; b</p>\n', '<p>a < b</p>', /the file has HTML entities \(such as &lt;\) that old_text/)
check(
  'html_entities',
  '<p>a &lt; b & c</p>\n',
  '<p>a &lt; b &amp; c</p>',
  /old_text has HTML entities \(such as &amp;\)/
)
check('word', '<p>a &lt; b &amp; c are fine</p>\n', '<p>a &lt; b &amp; d are fine</p>', /has "c", old_text "d"$/)
check(
  'word',
  '# Doc\n\n```javascript\nconst a = one(two)\n```\n\nend\n',
  '```js\nconst a = one(two)\n```',
  /^the file has "javascript", old_text "js"$/,
  '```javascript\nconst a = one(two)\n```'
)
check('word', 'const timeout = 3000\n', 'const timeout = 5000', /^the file has "3000", old_text "5000"$/)
check('word', 'const timeout = compute(a)\n', 'let timeout = compute(a)', /^the file has "const", old_text "let"$/)
check('word', 'f(x) // waits for the answer(s)\n', 'f(x) // waits for the reply(s)', /^the file has "answer", old/)
check(
  'word',
  "log('waits for items of it')\n",
  "log('waits for things of it')",
  /^the file has "items", old_text "things"$/
)
check('word', 'The quick brown fox jumps over it.\n', 'The quick brown cat jumps over it.', /^the file has "fox", /)
check(
  'over_escaped',
  'function f() {\n\tlet x = "a\\nb"\n\treturn x\n}\n',
  '\\tlet x = "a\\nb"\n\\treturn x',
  /old_text has escapes .* that the file does not have/,
  '\tlet x = "a\\nb"\n\treturn x'
)
check(
  'renamed',
  'total = getTotal(items)\nend\n',
  'total = fetchAll(items)',
  /has the name "getTotal", old_text "fetchAll"/
)
check(
  'typo',
  'open("C:\\temp\\some\\file")\n',
  'open("C:\\tamp\\some\\file")',
  /^the file has "temp", old_text "tamp"$/
)
const MANY = Array.from({ length: 1200 }, (_, i) => `const value${i} = compute(${i * 7}, ${i % 13})`)
for (const [last, cause, says] of [
  [400, 'word', /^the file has "const", old_text "let"$/],
  [1100, 'word', /^the file has "const", old_text "let"$/],
  [1101, 'stale', /^the file has changed, .*: it has "const value\d+ .*" where old_text has "let value\d+ /]
] as const) {
  const isChanged = (i: number) => (last === 1101 ? i % 40 === 0 : i === 277)
  const old = MANY.slice(100, last).map((line, i) => (isChanged(i + 100) ? line.replace('const', 'let') : line))
  check(cause, MANY.join('\n'), old.join('\n'), says)
}
check('never_there', CODE, 'class Walrus extends Mammal {', /nothing in the file is similar enough/)
t.match(
  whyMissed({ type: 'line_endings', expected: '\n', found: '\r\n' }),
  /ends lines with "\\r\\n", old_text with "\\n"/
)
t.match(
  whyMissed({ type: 'indentation', expected: 'a', found: '\t b' }),
  /indents with 1 tab and 1 space, but old_text has no indentation/
)
t.strictSame(
  MISSES.map(({ cause }) => cause).filter(cause => !caused.includes(cause)),
  ['line_endings'],
  'every cause but that of the next test is in the table'
)

t.test('takes numbers and names whole where it says which place was meant', async t => {
  const load = (name: string, limit: number, tab: string): string =>
    [
      `function ${name}(items) {`,
      `${tab}const limit = compute(items, ${limit})`,
      `${tab}for (const item of items) {`,
      `${tab}${tab}handle(item, limit)`,
      `${tab}}`,
      `${tab}return limit`,
      '}\n'
    ].join('\n')
  for (const [other, sought] of [
    [load('load', 20, '  '), load('load', 10, '  ')],
    [load('loadB', 10, '\t'), load('load', 10, '    ')]
  ] as const) {
    const { cause, similar_content } = missed(`${load('load', 10, '\t')}\n${other}`, sought)
    t.equal(cause.type, 'tabs')
    t.match(similar_content[0], { line_number: 1, confidence: 'high' })
  }
  const { cause } = missed(`${load('loadA', 10, '\t')}\n${load('loadB', 10, '\t')}`, load('loadC', 10, '\t'))
  t.equal(cause.type, 'near_duplicate', 'neither has the name')
})

t.test('says how many more differences there are, and lists them', async t => {
  const file = 'const a = one(two)\nconst b = three(four, five)\nconst c = six\nlog(a, b, c)\n'
  const { cause, similar_content } = missed(
    file,
    file.replace('two', 'tvo').replace('five', '5').replace(/ c.*/, ' d = 7')
  )
  t.match(whyMissed(cause), /it has "two" where old_text has "tvo" \(and 2 more lines\)$/)
  t.strictSame(
    similar_content[0]!.differences.map(({ expected, found }) => [expected, found]),
    [
      ['tvo', 'two'],
      ['5', 'five'],
      ['d', 'c'],
      ['7', 'six']
    ]
  )
  t.notOk(Object.hasOwn(similar_content[0]!, 'more_differences'))
  const says = (there: string, old: string) => whyMissed(missed(there, old).cause)
  t.match(says('one two\nthree four', 'one tvo\nthree four\n'), /old_text "tvo" \(and a line break at the end\)$/)
  t.match(
    says('one(two)\n\n\nthree(four)\nfive(six)', 'one(tvo)\nthree(four)\nfive(sixes)'),
    /old_text "tvo" \(and 1 more line and 2 blank lines\)$/
  )
  t.match(
    says('one(two, three) + f\n', 'one(tvo, thre) + 1'),
    /has "one\(two, three\) \+ f" where .* "one\(tvo, thre\) \+ 1"$/
  )
  const wide = `, ${'word '.repeat(20)}`
  t.match(says(`one(two, three) + f${wide}\n`, `one(tvo, thre) + 1${wide}`), /"tvo" \(and more in the same line\)$/)
  t.match(says('a = one(two)\nb = {\n  c: d\n}\n', 'a = one(tvo)\nb = { c: d }'), /old_text "tvo" \(and line breaks\)$/)
  t.match(
    says('one(two)\nthree(four)\nfive(four)\n', 'one(tvo)\nthree(for)\nfive(for)'),
    /\(and the file has "four" where old_text has "for"\)$/
  )
  const body = 'first(a)\nsecond(b)\nthird(c)\nfourth(d)\n'
  t.match(says(body, `${body}extra(e)\nmore(f)`.replace('(a)', '(aa)')), /\(and 2 more lines\)$/)
  t.match(
    says(CODE, '4\t\tconst result = alpha(output)\n5\t\tif (result > limit) {'),
    /line numbers .*\(and the file has "input" where old_text has "output"\)$/
  )
  t.notMatch(says('f("a", "b", "c")\n', "f('a', 'b', 'c')"), /more/, 'one sentence for all quotes')
  t.notMatch(says('\tone(1)\n\t\ttwo(2)\n\tthree(3)\n', '  one(1)\n    two(2)\n  three(3)'), /more/)
  const rows = Array.from({ length: 30 }, (_, i) => `row ${i}: {"name": "number ${i * 7}", "kept": true, "rest": 1}`)
  const [best] = missed(rows.join('\n'), rows.join('\n').replace(/number (\d+)/g, 'count 5$1')).similar_content
  t.match(best, { differences: { length: 20 }, more_differences: 11 })
})

t.test('tells a comment from code that has one, and from code that became one', t => {
  const kind = (a: string, b: string) => hunksOf(a, b)[0]!.kind
  t.equal(kind('a {\n  b: c\n}\n', 'a {\n  // why\n  b: c\n}\n'), 'comment')
  t.equal(kind('a {\n  b: c\n}\n', 'a {\n  d: e, /* why */\n  b: c\n}\n'), 'lines_dropped')
  t.equal(kind('a {\n  b: c\n}\n', 'a {\n  /** why */\n  d: e,\n  b: c\n}\n'), 'lines_dropped')
  t.equal(kind('a {\n  b()\n}\n', 'a {\n  // b()\n}\n'), 'comment')
  t.end()
})

t.test('says by how much the lines are indented', t => {
  const says = (there: string, old: string) => whyMissed(missed(there, old).cause)
  const there = 'def f():\n        first(one)\n        second(two)\n'
  t.equal(
    says(there, '    first(one)\n    second(two)\n'),
    'the file indents every line by 4 more spaces than old_text'
  )
  t.equal(
    says(there, '        first(one)\n         second(two)\n'),
    'the file indents 1 line by 1 fewer space than old_text'
  )
  t.match(
    says(there, '    first(one)\n  second(two)\n'),
    /^the file indents with 8 spaces, but old_text indents with 4/
  )
  t.end()
})

t.test('names line endings where they have to be exact', async t => {
  const plan = planTextEdits(
    Buffer.from('first line\r\nsecond line\r\n'),
    [{ old_text: 'first line\nsecond', new_text: 'x' }],
    { line_endings: 'exact', max_result_size: 1000 }
  )
  t.match(plan, {
    failure: {
      cause: { type: 'line_endings', expected: '\n', found: '\r\n' },
      similar_content: [{ differences: [{ type: 'line_endings' }] }]
    }
  })
})

t.test('offers what can be sent as it is', async t => {
  t.match(
    missed(
      CODE,
      '    if (result > limit) {\n        throw new RangeError("too large")\n',
      '    if (result > limit) {\n        return 0\n'
    ).fixes[0],
    { type: 'USE_EXACT_TEXT', lines: [5, 6], edit: { new_text: '\tif (result > limit) {\n\t\treturn 0\n' } }
  )
  t.notOk(Object.hasOwn(missed(CODE, 'const reslut = alpha(input)').fixes[0]!.edit!, 'new_text'))
  const duplicates = 'one {\n  same( line )\n}\ntwo {\n  same( line )\n}\n'
  t.match(missed(duplicates, 'same(line)', 'other(line)').fixes.slice(0, 2), [
    { type: 'ADD_CONTEXT', lines: [2, 2], edit: { old_text: 'one {\n  same( line )' } },
    { type: 'ADD_CONTEXT', lines: [5, 5], edit: { old_text: 'two {\n  same( line )' } }
  ])
  t.match(missed(CODE, 'class Walrus extends Mammal {').missing_tokens, ['class', 'Walrus', 'extends', 'Mammal'])
  t.equal(missed(CODE, Array.from({ length: 30 }, (_, i) => `gone${i}`).join(' ')).missing_tokens!.length, 10)
})

t.test('finds what begins or ends amid a line, or after a mark, or in a file of lone carriage returns', async t => {
  const first = (file: string, old: string) => missed(file, old).similar_content[0]?.content
  t.equal(first('This is a test of how words begin', 'hTis is a test of how'), 'This is a test of how')
  t.equal(
    first(
      'some_longer_prefix_here_and_there(&exprs[i])?.unwrap_or_else(|| next())',
      '&source[i])?.unwrap_or_else(|| next())'
    ),
    '&exprs[i])?.unwrap_or_else(|| next())'
  )
  t.equal(first('\ufeffconst  alpha = beta(gamma)\n', 'const alpha = beta(gamma)'), 'const  alpha = beta(gamma)')
  t.equal(first('one( 1 )\rtwo( 22222 )\rthree( 3 )\r', 'two(22222)'), 'two( 22222 )')
  t.equal(
    first('-- Table of contents\n\n  CREATE  TABLE x (y)\n', '— Table of contents\n\nCREATE TABLE x (y)'),
    '-- Table of contents\n\n  CREATE  TABLE x (y)'
  )
  t.equal(
    first('SELECT a -- and the rest of it\n', 'SELECT  a — and the rest  of it'),
    'SELECT a -- and the rest of it'
  )
  t.equal(first('let e = "cafe\u0301"\n', 'e  =  "café"'), 'e = "cafe\u0301"')
})

t.test('begins and ends between characters, though only half of one is like old_text', async t => {
  const first = (file: string, old: string) => missed(file, old).similar_content[0]
  for (const [there, old] of [
    ['the face of the reader is 😀', 'the fase of the reader is 😁'],
    ['🨀 the face of the reader is', '😀 the fase of the reader is'],
    ['🨀🨁the face of the reader is', '😀😁the fase of the reader is']
  ] as const) {
    t.match(first(`const a = show("${there}") + rest(of, it)\n`, old), { content: there, lossy: undefined })
  }
})

t.test('leaves out a backslash that the first line of old_text lacks', async t => {
  const rest = 'some text that is rather long and goes on'
  const file = `intro\n  \\section{Intro}\n${rest}\nend\n`
  for (const [old, content] of [
    [`section{Intro}\n${rest.replace('text', 'txt')}\n`, `section{Intro}\n${rest}\n`],
    [`  section{Intro}\n${rest.replace('text', 'txt')}\n`, `  \\section{Intro}\n${rest}\n`],
    [`\\section{Intro}\n${rest.replace('text', 'txt')}\n`, `  \\section{Intro}\n${rest}\n`]
  ] as const) {
    t.match(missed(file, old).similar_content[0], { content })
  }
})

t.test('finds long texts by their ends', async t => {
  const lines = Array.from({ length: 1200 }, (_, i) => `const value${i} = compute(${i * 7}, ${i % 13})`)
  for (const [from, to] of [
    [100, 400],
    [100, 1100]
  ] as const) {
    const sought =
      lines
        .slice(from, to)
        .map((line, i) => (i % 50 === 5 ? line.replace('const', 'let') : line))
        .join('\n') + '\n'
    const [best] = suggest(Buffer.from(lines.join('\n')), sought).candidates
    t.equal(lines.join('\n').slice(best!.start, best!.end), lines.slice(from, to).join('\n') + '\n')
  }
  t.strictSame(suggest(Buffer.from('abc'), 'xyz '.repeat(8000)).candidates, [])
})

t.test('gives the exact bytes, and what it offers gives the result that was wanted', async t => {
  let sent = 0
  for (let round = 0; round < often(400); round++) {
    const random = new Random(SEED * 70_001 + round)
    const word = () => random.pick(['alpha', 'beta', 'gamma', 'delta', 'run', 'stop'])
    const unit = random.pick(['\t', '  ', '    '])
    const lines = Array.from(
      { length: 30 },
      (_, i) => `${unit.repeat(1 + random.int(3))}${word()}${i} = ${word()}(${word()}, ${random.int(1000)})`
    )
    const file = lines.join('\n') + '\n'
    const from = random.int(25)
    const block = lines.slice(from, from + 2 + random.int(3))
    const other = random.pick(['\t', '  ', '    '].filter(indent => indent !== unit))
    const changed = (text: string) => text.replace(/^\s+/gm, indent => other.repeat(indent.length / unit.length))
    const wanted = block.map(line => line.replace('=', ':='))
    if (file.includes(changed(block.join('\n')))) continue
    const failure = missed(file, changed(block.join('\n')), changed(wanted.join('\n')))
    for (const { content } of failure.similar_content) if (!file.includes(content)) return t.fail("not the file's text")
    const fix = failure.fixes[0]!.edit
    if (fix?.new_text === undefined) continue
    sent++
    const again = planned(file, { old_text: fix.old_text, new_text: fix.new_text })
    if (
      !again.ok ||
      Buffer.concat(again.value.pieces).toString() !== file.replace(block.join('\n'), wanted.join('\n'))
    ) {
      return t.fail(`not what was wanted: ${JSON.stringify({ SEED, round, fix, block })}`)
    }
  }
  t.ok(sent > often(200, 3), `${sent} sent`)
})

t.test('says where it left out the end of too large a text', async t => {
  const large = Buffer.alloc((64 << 20) + 100, 'const value = compute(1)\n')
  t.equal(suggest(large, 'never there at all').truncated, true)
  t.equal(suggest(large.subarray(0, 1000), 'const valve = compute(1)').truncated, false)
})

t.test('finds in a large text what it finds in a small one, of every length', async t => {
  const line = (i: number) =>
    `\tconst entry${i} = table[${(i * 31) % 977}].find(item => item.key === ${i * 17}) ?? fallback(${i})`
  const own = Array.from({ length: 40 }, (_, i) => line(i + 50_000)).join('\n')
  const file = Buffer.from(`${Array.from({ length: 20_000 }, (_, i) => line(i)).join('\n')}\n${own}\n`)
  for (const lines of [1, 2, 8, 40]) {
    const sought = own.split('\n').slice(0, lines).join('\n')
    const [best] = suggest(file, sought.replaceAll('table', 'tables').replaceAll('\t', '    ')).candidates
    t.equal(file.toString('utf8', best?.start, best?.end), sought, `${lines} lines`)
  }
})

t.test('stays bounded on crafted texts', async t => {
  const random = new Random(3)
  const ab = (length: number) => random.text(['a', 'b'], length)
  const [MB, A] = [1 << 20, 'a']
  for (const [file, old] of [
    [A.repeat(MB), A.repeat(4900) + 'b' + A.repeat(50)],
    [A.repeat(MB), A.repeat(MB) + 'b'],
    [A.repeat(MB), 'b' + A.repeat(28)],
    [`${A.repeat(20)}\n`.repeat(20_000), `${A.repeat(19)}b\n`.repeat(240)],
    [ab(MB), ab(4990)],
    ['\n'.repeat(MB), 'a\n\n\nb'],
    ['}\n'.repeat(50_000), '}\n...\n}\n...\nx']
  ] as const) {
    const { user } = process.cpuUsage()
    const { candidates } = suggest(Buffer.from(file), old)
    t.ok(candidates.length <= 3)
    t.ok(process.cpuUsage().user - user < 6e6, `${Math.round((process.cpuUsage().user - user) / 1000)} ms`)
  }
})
