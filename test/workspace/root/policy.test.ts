// Which paths somebody may use, by patterns that begin at the root. What else policy.ts does is shown in root.test.ts.
import t from 'tap'
import { PATH_PATTERN } from '../../../src/config/value-kinds.ts'
import { limitPolicy, makePolicy, pathPatternFault } from '../../../src/workspace/root/policy.ts'

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
