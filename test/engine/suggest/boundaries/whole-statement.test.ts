// Regions for a single line of old_text: where they begin and end.
import t from 'tap'
import { similarContent } from '../../../../src/engine/explain/similar-content.ts'
import { Haystack } from '../../../../src/engine/suggest/haystack.ts'
import { MARGIN, suggest } from '../../../../src/engine/suggest/suggest.ts'
import { rankedByEdges, wholeStatement } from '../../../../src/engine/suggest/boundaries/whole-statement.ts'

/** `file` has the region that was found between « and ». */
const check = (name: string, sought: string, file: string, expected: string, isCut = false): void => {
  const start = Buffer.byteLength(file.slice(0, file.indexOf('«')))
  const plain = file.replace(/[«»]/g, '')
  const end = Buffer.byteLength(file.slice(0, file.indexOf('»')).replace('«', ''))
  const statement = wholeStatement(new Haystack(Buffer.from(plain)), start, end, sought)
  t.strictSame(
    [Buffer.from(plain).subarray(statement.start, statement.end).toString(), statement.isCut],
    [expected, isCut],
    name
  )
}

const CALL = 'const x = compute(a, b, { strict: true })'
check(
  'to the end where brackets stay open',
  'const x = compute(a, b)',
  `«const x = compute(a, b», { strict: true })\ny\n`,
  CALL
)
check('to the end where the last word is another', 'f(a);', '«f(a»).then(b);\n', 'f(a).then(b);')
check('to the start where brackets close', 'a && f(a)', '  if («a === b) f(a)»\n', 'if (a === b) f(a)')
check(
  'to the start where the first word is another',
  '_type = [A of:b];',
  '\t[self «setType:[A of:b]]»;\n',
  '[self setType:[A of:b]];'
)
check(
  'with the indentation that old_text has',
  '  _type = [A of:b];',
  '\t[self «setType:[A of:b]]»;\n',
  '\t[self setType:[A of:b]];'
)
check('with the blanks that old_text has', 'f(a); ', '«f(a»).g(); \r\n', 'f(a).g(); ')
check('not where both ends are the same', 'f(a)', 'x = «f(b)» + 1\n', 'f(b)')
check('not where a word is only mistyped', 'recieve(x)', 'y = «receive(x)» + 1\n', 'receive(x)')
check('not beyond an arrow', 'a => b', 'f(«a => b»)\n', 'a => b')
check('not where the line is very long', 'f(a);', `«f(b»).c(${'x '.repeat(150)})\n`, 'f(b', true)
check(
  'to both ends where what one is moved over opens what the other closes',
  ": fixed(first, 'what that leaves', call)",
  "      : withLater(first, «fixed(first, 'what that leaves', call)», naming)\n",
  ": withLater(first, fixed(first, 'what that leaves', call), naming)"
)
check(
  'to the end where brackets of another kind stay open',
  'const isWhole = isOne || call.length <= LONGEST',
  'const isWhole = «isOne || isShown(call, LONGEST»)\n',
  'const isWhole = isOne || isShown(call, LONGEST)'
)
check(
  'not from within a word',
  'limit: top,',
  '  limit: segment«Limit(top, size),»\n',
  'limit: segmentLimit(top, size),'
)
check('not to within a word', 'x = ab', '«x = Ab»Limit\n', 'x = AbLimit')
check('within a word where old_text is', 'imit: top', '  l«imit: tap»\n', 'imit: tap')
check('within a word where old_text ends there', 'top: lim', '«tap: lim»it\n', 'tap: lim')
check(
  'to both ends where old_text has an indentation',
  '    onGone?.(() => end())',
  '    client?.«onGone(() => end())».then(f)\n',
  '    client?.onGone(() => end()).then(f)'
)
check('to both ends where old_text has a tab', '\tf(a)', '\tg.«f(b)».h()\n', '\tg.f(b).h()')
check('to both ends where old_text ends a line', 'f(a)\n', '  g.«f(b)».h()\nx\n', 'g.f(b).h()')
check('not where that line is very long', '  f(a)', `  «f(b)».h(${'x '.repeat(150)})\n`, 'f(b)')
check('not for one blank', ' f(a)', '  g. «f(b)».h()\n', 'f(b)')
check('to the end of the file', 'f(a);', '«f(a»).g()', 'f(a).g()')
check('without another line before', 'declare type A = B;', 'ReactNode;\n«C;\ntype A = B;»\n', 'type A = B;')
check('without another line after', '//! by someone', '«//! by some-one\r\n\r\nimport»\n', '//! by some-one')
check(
  'without another line that has one of two',
  'if (a[k] !== b[k]) {',
  '«if (a[k] !== b) {\nc[k]»\n',
  'if (a[k] !== b) {'
)
check('without a line of signs before', '* ### Range', '«*\n * Range»\n', ' * Range')
check('with a line that begins it', '"a": { "b": c', '«"a": {\n"b": c»\n', '"a": {\n"b": c')
check('with another line that has a word of it', 'f(a, b)', '«f(a,\n  b)»\n', 'f(a,\n  b)')
check('with another line that ends like it', 'x = `a b`', '«x = `a\nb\n`»\n', 'x = `a\nb\n`')
check('with the break that it ends with', 'f(a)\n', '«f(a)\n»g\n', 'f(a)\n')
check('as it is for several lines', 'a\nb', '(«a\nc»)\n', 'a\nc')

t.test('prefers the line that begins and ends as old_text does', async t => {
  const bonus = (source: string, line: string, end = 1): number =>
    rankedByEdges(new Haystack(Buffer.from(`${line}\nend\n`)), [{ start: 0, end, rank: 0, old: { source } }])[0]!.rank
  t.equal(bonus('color: $a;', 'color: var(--a);'), 0.13)
  t.equal(bonus('color: $a;', 'color: var(--a)'), 0.1)
  t.equal(bonus('color: $a;', '--a: $a;'), 0.03)
  t.equal(bonus('color: $a;', '--a: $a'), 0)
  t.equal(bonus('a b', 'a b'), 0, 'two words say little')
  t.equal(bonus('  a b', 'a b'), 0.13, 'two words that begin a line say where it is')
  t.equal(bonus('color: $a;\nb', 'color: $a;'), 0, 'of several lines none is judged')
  t.equal(bonus('color: $a;', `color: ${'x'.repeat(300)};`), 0, 'a very long line begins as many do')
  t.equal(bonus('color: $a;', 'color: a\nb;', 11), 0, 'several lines are none')
  const file = ['--popover-header-bg: #{$popover-header-bg};', 'background-color: var(--popover-header-bg);', ''].join(
    '\n'
  )
  const [best] = suggest(Buffer.from(file), 'background-color: $popover-header-bg;').candidates
  t.equal(file.slice(best!.start, best!.end), 'background-color: var(--popover-header-bg);')
})

t.test('prefers the whole line to a part of another where old_text is indented', async t => {
  const file = '// The local time, and more.\n    time,\n'
  const { candidates, margin } = suggest(Buffer.from(file), '\t\ttime,')
  t.equal(file.slice(candidates[0]!.start, candidates[0]!.end), '    time,')
  t.ok(margin >= MARGIN)
})

t.test('is never sure of a region that is cut', async t => {
  const candidate = {
    start: 0,
    end: 1,
    score: 0.95,
    isCut: true,
    isBlock: false,
    differences: [],
    read: String,
    cause: { type: 'stale' as const }
  }
  const text = { slice: () => Buffer.from('a') }
  const confidence = (isCut: boolean): string | undefined =>
    similarContent(text, { candidates: [{ ...candidate, isCut }], margin: 1, truncated: false }, () => [1, 1])[0]
      ?.confidence
  t.equal(confidence(true), 'medium')
  t.equal(confidence(false), 'high')
})
