// Which lines stand beside each other, and what differs between them.
import t from 'tap'
import { differing, pairsOf, shownParts, withoutSpace, type Stretch } from '../../../page/review/pairs.ts'

const marked = (left: string, right: string) => {
  const found = differing(left, right)
  const cut = (text: string, stretches: readonly Stretch[]) => stretches.map(({ start, end }) => text.slice(start, end))
  return found === null ? null : [cut(left, found.left), cut(right, found.right)]
}

t.strictSame(marked('const port = 8080', 'const port = 9090'), [['8080'], ['9090']])
t.strictSame(marked('listen(port)', 'await listen(port)'), [[''], ['await ']])
t.strictSame(marked('f(a, b, c)', 'f(x, b)'), [
  ['a', ', c'],
  ['x', '']
])
t.strictSame(marked('const a = 😀 here', 'const a = 😁 here'), [['😀'], ['😁']], 'both halves of a character')
t.strictSame(
  marked('const a = \u{1f600} b', 'const a = \u{1fa00} b'),
  [['\u{1f600}'], ['\u{1fa00}']],
  'with equal last halves'
)
t.strictSame(marked('\tif (x) ', '  if (x)'), [
  ['\t', ' '],
  ['  ', '']
])
t.equal(marked('one', 'two'), null, 'nothing in common')
t.equal(marked('    a quite long line of text', '    another one, with x'), null, 'hardly anything in common')
t.strictSame(marked('same', 'same'), [[], []])

t.test('finds each difference of a long line, or all between the first and the last of too many', async t => {
  const words = (count: number, word: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => word(i)).join(' ')
  const long = words(5000, i => `w${i}`)
  t.strictSame(marked(long, long.replace('w100 ', 'x ').replace('w4900 ', 'y ')), [
    ['w100', 'w4900'],
    ['x', 'y']
  ])
  const half = words(2000, i => (i > 500 && i < 1000 ? `x${i}` : `w${i}`))
  const found = differing(
    words(2000, i => `w${i}`),
    half
  )
  t.equal(found?.right.length, 1)
  t.match(half.slice(found?.right[0]?.start, found?.right[0]?.end), /^x501 .* x999$/)
})

t.test('cuts a long line around each difference', async t => {
  const text = 'a'.repeat(10_000)
  const check = (at: [number, number][], shown: [number, number][], of = text) =>
    t.strictSame(
      shownParts(
        of,
        at.map(([start, end]) => ({ start, end }))
      ).map(({ start, end }) => [start, end]),
      shown
    )
  check([], [[0, 1000]], 'a'.repeat(1000))
  check([], [[0, 500]])
  check([[5000, 5000]], [[4900, 5100]])
  check(
    [
      [50, 60],
      [300, 310],
      [9000, 9001],
      [9950, 9960]
    ],
    [
      [0, 410],
      [8900, 9101],
      [9850, 10_000]
    ]
  )
  check(
    [[2000, 5000]],
    [
      [1900, 2500],
      [4500, 5100]
    ]
  )
  // Each 😀 has two units.
  check([[5001, 5001]], [[4900, 5100]], '😀'.repeat(5000))
})

t.test('leaves out changes of white space only', async t => {
  const check = (lines: [string, string][], shown: string[]) => {
    const kinds = { '-': 'removed', '+': 'added', ' ': 'same' } as const
    const signs = { removed: '-', added: '+', same: ' ' }
    const given = lines.map(([sign, text], i) => ({ kind: kinds[sign as '-'], text, line: i, base_line: i }))
    t.strictSame(
      withoutSpace(given).map(({ kind, text }) => `${signs[kind]}${text}`),
      shown
    )
  }
  check(
    [
      ['-', 'a b'],
      ['-', 'c'],
      ['+', '  a  b'],
      ['+', 'd']
    ],
    ['   a  b', '-c', '+d']
  )
  check(
    [
      [' ', 'x'],
      ['+', ''],
      ['-', '  '],
      ['+', 'y']
    ],
    [' x', ' ', '-  ', '+y']
  )
  check(
    [
      ['-', '\ufeffa\r'],
      ['+', 'a']
    ],
    [' a']
  )
})

const lines = (text: string) =>
  [...text].map((sign, i) => ({
    kind: sign === '-' ? ('removed' as const) : sign === '+' ? ('added' as const) : ('same' as const),
    i
  }))
const pairs = (text: string) => pairsOf(lines(text)).map(({ left, right }) => [left?.i ?? null, right?.i ?? null])

t.strictSame(pairs(' -+ '), [
  [0, 0],
  [1, 2],
  [3, 3]
])
t.strictSame(pairs('--+'), [
  [0, 2],
  [1, null]
])
t.strictSame(pairs('+-'), [
  [null, 0],
  [1, null]
])
t.strictSame(pairs('++'), [
  [null, 0],
  [null, 1]
])
