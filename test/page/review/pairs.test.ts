// Which lines stand beside each other, and what differs between them.
import t from 'tap'
import { differing, pairsOf } from '../../../page/review/pairs.ts'

const marked = (left: string, right: string) => {
  const found = differing(left, right)
  return found === null ? null : [left.slice(found.start, found.left_end), right.slice(found.start, found.right_end)]
}

t.strictSame(marked('const port = 8080', 'const port = 9090'), ['808', '909'])
t.strictSame(marked('listen(port)', 'await listen(port)'), ['', 'await '])
t.strictSame(marked('aaa', 'aaaa'), ['', 'a'], 'what is common is counted once')
t.strictSame(marked('const a = 😀 here', 'const a = 😁 here'), ['😀', '😁'], 'both halves of a character')
t.strictSame(
  marked('const a = \u{1f600} b', 'const a = \u{1fa00} b'),
  ['\u{1f600}', '\u{1fa00}'],
  'with equal last halves'
)
t.equal(marked('one', 'two'), null, 'nothing in common')
t.equal(marked('    a quite long line of text', '    another one, with x'), null, 'hardly anything in common')
t.strictSame(marked('same', 'same'), ['', ''])

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
