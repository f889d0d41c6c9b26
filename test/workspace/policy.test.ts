// Which paths somebody may use, by patterns that begin at the root; which are protected, by patterns that are found at
// every depth. What else policy.ts does is shown in root.test.ts.
import t from 'tap'
import { PATH_PATTERN, PATTERN } from '../../src/config/value-kinds.ts'
import { limitPolicy, makePolicy, matcher, pathPatternFault, patternFault } from '../../src/workspace/policy.ts'

const WIDE = makePolicy({
  protect: ['.git'],
  readProtect: [],
  allowExtensions: null,
  stateDir: Buffer.from('/state')
})

/** `yes`: covered; `leads`: something below it may be; `no`: neither. */
type Answer = 'yes' | 'leads' | 'no'

function answerTo(patterns: readonly string[], path: string | Buffer): Answer {
  const policy = limitPolicy(WIDE, patterns)
  const relative = Buffer.from(path as string)
  const real = Buffer.concat([Buffer.from('/root/'), relative])
  const allows = (use: 'read' | 'list') => policy.judge(use, real, relative) === null
  return allows('read') ? 'yes' : allows('list') ? 'leads' : 'no'
}

const CASES: [pattern: string, path: string | Buffer, expected: Answer][] = [
  ['docs', 'docs', 'yes'],
  ['docs', 'docs/a/b', 'yes'],
  ['docs', 'docs2', 'no'],
  ['docs', 'src/docs', 'no'],
  ['docs', '', 'leads'],
  ['docs/**', 'docs', 'leads'],
  ['docs/**', 'docs/a/b', 'yes'],
  ['docs/*', 'docs', 'leads'],
  ['docs/*', 'docs/a/b', 'yes'],
  ['docs/a*c*e.md', 'docs/abcde.md', 'yes'],
  ['docs/a*c*e.md', 'docs/ae.md', 'no'],
  ['docs/a*c*e.md', 'docs/aece.md', 'yes'],
  ['docs/a*c*e.md', 'docs/a/c/e.md', 'no'],
  ['aa*aa', 'aaa', 'no'],
  ['aa*aa', 'aaaa', 'yes'],
  ['a*b*b', 'ab', 'no'],
  ['src/*/x', 'src', 'leads'],
  ['src/*/x', 'src/a', 'leads'],
  ['src/*/x', 'src/a/x/y', 'yes'],
  ['src/*/x', 'src/a/y', 'no'],
  ['**', '', 'leads'],
  ['**', 'a', 'yes'],
  ['**/*.md', 'a.md', 'yes'],
  ['**/*.md', 'a/b/c.md', 'yes'],
  ['**/*.md', 'a/b/c.ts', 'leads'],
  ['a/**/b/**/c', 'a/b/c', 'yes'],
  ['a/**/b/**/c', 'a/x/b/y/z/c', 'yes'],
  ['a/**/b/**/c', 'a/c', 'leads'],
  ['a/**/b/**/c', 'b', 'no'],
  ['a/**/**', 'a/x', 'yes'],
  ['a/**/**', 'a', 'leads'],
  // What other patterns take for something else is itself.
  ['pages/[id].ts', 'pages/[id].ts', 'yes'],
  ['a.b', 'axb', 'no'],
  ['a?', 'ab', 'no'],
  // Byte by byte.
  ['docs/**', 'Docs/a', 'no'],
  ['docs/**', 'DOCS/a', 'no'],
  ['caf\u00e9', 'caf\u00e9/a', 'yes'],
  ['caf\u00e9', 'cafe\u0301/a', 'no'],
  ['do\u200ccs', 'docs', 'no'],
  ['do\u00adcs', 'docs', 'no'],
  ['do\u{e0100}cs', 'docs', 'no'],
  ['*', Buffer.from([0xff, 0xfe]), 'yes'],
  ['a*', Buffer.from([0x61, 0xff]), 'yes'],
  ['\ufffd', Buffer.from([0xff]), 'no'],
  ['\u00ff', Buffer.from([0xff]), 'no']
]

t.test('covers paths from the root on, byte by byte', async t => {
  for (const [pattern, path, expected] of CASES) {
    t.equal(answerTo([pattern], path), expected, `${pattern} ${path.toString()}`)
  }
  t.equal(answerTo([], 'a'), 'no')
  t.equal(answerTo([], ''), 'no')
  t.equal(answerTo(['a', 'b/**'], 'b/c'), 'yes')
})

t.test('covers a path in no time, whatever the pattern', async t => {
  t.equal(answerTo([`${'*a'.repeat(120)}b`], 'a'.repeat(255)), 'no')
  t.equal(answerTo([`${'**/a/'.repeat(100)}b`], 'a/'.repeat(1000) + 'c'), 'leads')
})

t.test('allows no more than a wider limit does, and leaves protected what is', async t => {
  const narrow = limitPolicy(limitPolicy(WIDE, ['docs']), ['**/*.md'])
  const judge = (path: string) => narrow.judge('edit', Buffer.from(`/root/${path}`), Buffer.from(path))
  t.equal(judge('docs/a.md'), null)
  const refused = { code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths: ['**/*.md'] }
  for (const path of ['docs/a.ts', 'a.md', '.git/a.md', '.git/config']) t.strictSame(judge(path), refused, path)
  t.strictSame(judge('docs/.git/a.md'), { code: 'PROTECTED_PATH', pattern: '.git' })
})

t.test('says what is wrong with a pattern', async t => {
  for (const [pattern, expected] of [
    ['', /must not be empty/],
    ['a\0', /NUL/],
    ['docs\\a', /no \\/],
    ['/docs', /without \//],
    ['docs/', /after a last \//],
    ['docs//a', /empty name/],
    ['./docs', /\. or \.\./],
    ['docs/../src', /\. or \.\./],
    ['docs/a**', /whole name/],
    ['***', /whole name/]
  ] as const) {
    t.match(pathPatternFault(pattern), expected, JSON.stringify(pattern))
    t.match(PATH_PATTERN.parse(pattern), { ok: false, failure: expected })
  }
  for (const [pattern] of CASES) t.strictSame(PATH_PATTERN.parse(pattern), { ok: true, value: pattern })
})

const PROTECTED: [pattern: string, covered: string[], others: string[]][] = [
  ['build', ['build', 'build/a', 'x/build/a', 'BUILD'], ['builds', 'x']],
  ['build/', ['build', 'x/build/a'], ['builds']],
  ['./build/o', ['build/o', 'x/build/o/p'], ['build', 'o']],
  ['/build', ['build', 'x/build'], ['builds']],
  ['.claude/**', ['.claude/a', 'x/.claude/a/b'], ['.claude', 'x/.claude']],
  ['*.lock', ['a.lock', 'x/a.lock'], ['a.lock2']],
  ['**/*.lock', ['a.lock', 'x/a.lock', 'x/y/a.lock/z'], ['a.lock2']],
  ['src/**/gen.ts', ['src/gen.ts', 'src/a/gen.ts', 'x/src/a/b/gen.ts'], ['gen.ts', 'src', 'a/gen.ts', 'src/a']],
  ['a/**/b/**', ['a/b/c', 'a/x/b/c', 'a/b/b'], ['a/b', 'a/x', 'b/a/x']],
  ['a/b/**/a/c', ['a/b/a/c', 'a/a/b/x/a/a/c'], ['a/b/c', 'a/b/a']],
  ['**', ['a', 'a/b'], []],
  ['/**', ['a', 'a/b'], []],
  ['a**', ['ab', 'x/a'], ['ba']]
]

t.test('covers paths at every depth by other patterns, any number of names by **', async t => {
  for (const [pattern, covered, others] of PROTECTED) {
    const covers = matcher([pattern])
    t.equal(patternFault(pattern), null, pattern)
    for (const path of covered) t.ok(covers(Buffer.from(path)), `${pattern} covers ${path}`)
    for (const path of others) t.notOk(covers(Buffer.from(path)), `${pattern} does not cover ${path}`)
  }
})

t.test('says which of these patterns would cover nothing', async t => {
  for (const [pattern, expected] of [
    ['', /must name something/],
    ['/', /must name something/],
    ['./', /must name something/],
    ['docs/../src', /must not have \.\./]
  ] as const) {
    t.match(patternFault(pattern), expected, JSON.stringify(pattern))
    t.match(PATTERN.parse(pattern), { ok: false })
  }
})
