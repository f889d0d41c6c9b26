import t from 'tap'
import { AROUND, placesOf } from '../../../src/engine/undo/places.ts'
import { recordedSplices } from '../../../src/engine/undo/refine.ts'
import { LineIndex } from '../../../src/engine/text/line-index.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { randomSplices } from './random-history.ts'

/** Replaces the first `old` of `text` by `insert`; shows the place with its texts. */
function check(name: string, text: string, old: string, insert: string, expected: object): void {
  t.test(name, async t => {
    const original = Buffer.from(text)
    const [place] = placesOf(original, [
      { start: original.indexOf(old), old: Buffer.from(old), insert: Buffer.from(insert) }
    ])
    const { before, after, ...lines } = place!
    t.strictSame({ ...lines, before: before.toString(), after: after.toString() }, expected)
  })
}

const at = (start_line: number, lines_removed: number, lines_added: number, before: string, after: string) => ({
  start_line,
  new_start_line: start_line,
  lines_removed,
  lines_added,
  before,
  after
})

check('counts a part of a line as the line', 'a\nb c d\ne\n', 'c', 'X', at(2, 1, 1, 'a\nb ', ' d\ne\n'))
check('counts whole lines', 'a\nb\nc\n', 'b\n', 'X\nY\n', at(2, 1, 2, 'a\n', 'c\n'))
check('counts inserted lines', 'a\nb\n', '', 'X\n', at(1, 0, 1, '', 'a\nb\n'))
check('counts deleted lines', 'a\nb\nc\n', 'b\n', '', at(2, 1, 0, 'a\n', 'c\n'))
check('counts a line that is joined to the next', 'a\nb\nc\n', 'a\n', 'X', at(1, 2, 1, '', 'b\nc\n'))
check('counts two lines that become one', 'ab\nc\n', 'b\n', '', at(1, 2, 1, 'a', 'c\n'))
check('counts a lone \\r as the end of a line', 'a\rb\rc', 'b', 'X', at(2, 1, 1, 'a\r', '\rc'))
check('counts \\r\\n as one end', 'a\r\nb\r\nc', 'b', 'X', at(2, 1, 1, 'a\r\n', '\r\nc'))
check('begins line 1 after a byte-order mark', '\ufeffa\nb', 'a', 'X', at(1, 1, 1, '\ufeff', '\nb'))
check(
  'keeps three lines on each side',
  '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
  '5',
  'X',
  at(5, 1, 1, '2\n3\n4\n', '\n6\n7\n8\n')
)

t.test('keeps fewer lines where they are long, and a part of a line that is too long itself', async t => {
  const long = 'x'.repeat(AROUND + 10)
  const shown = (text: string) => {
    const original = Buffer.from(text)
    const [place] = placesOf(original, [
      { start: original.indexOf('@'), old: Buffer.from('@'), insert: Buffer.from('#') }
    ])
    return { before: place!.before.toString(), after: place!.after.toString() }
  }
  t.strictSame(shown(`${long}\na\n@\nb\n${long}\n`), { before: 'a\n', after: '\nb\n' })
  t.strictSame(shown(`${long}@${long}`), { before: 'x'.repeat(AROUND), after: 'x'.repeat(AROUND) })
})

t.test('numbers each place after the ones before it', async t => {
  const places = placesOf(Buffer.from('a\nb\nc\n'), [
    { start: 0, old: Buffer.alloc(0), insert: Buffer.from('X\nY\n') },
    { start: 4, old: Buffer.from('c\n'), insert: Buffer.from('Z\n') }
  ])
  t.strictSame(
    places.map(({ start_line, new_start_line }) => [start_line, new_start_line]),
    [
      [1, 1],
      [3, 5]
    ]
  )
})

t.test('keeps no text twice, however near each other the splices are', async t => {
  const splice = (start: number) => ({ start, old: Buffer.from('a'), insert: Buffer.from('b') })
  const kept = (text: string, starts: number[]) =>
    placesOf(Buffer.from(text), starts.map(splice)).map(({ before, after }) => [before.toString(), after.toString()])
  t.strictSame(kept('x a y a z\nend\n', [2, 6]), [
    ['x ', ' y '],
    ['', ' z\nend\n']
  ])
  t.strictSame(kept('a\n1\n2\n3\n4\n5\n6\n7\n8\n9\na\n', [0, 20]), [
    ['', '\n1\n2\n3\n'],
    ['7\n8\n9\n', '\n']
  ])
  t.strictSame(kept('a\n1\n2\n3\n4\n5\na\n', [0, 12]), [
    ['', '\n1\n2\n3\n'],
    ['4\n5\n', '\n']
  ])
  const line = Buffer.from('a '.repeat(5000))
  const places = placesOf(
    line,
    Array.from({ length: 5000 }, (_, i) => splice(2 * i))
  )
  t.equal(
    places.map(({ before, after }) => before.length + after.length).reduce((a, b) => a + b),
    5000
  )
})

t.test('counts the same from lines that are known', async t => {
  const alphabet = ['a', 'é', '\n', '\r\n', '\r'].map(text => Buffer.from(text))
  for (let round = 0; round < often(4000, 400); round++) {
    const random = new Random(SEED * 90_001 + round)
    const mark = Buffer.from(random.chance(10) ? '\ufeff' : '')
    const original = Buffer.concat([mark, ...Array.from({ length: random.int(60) }, () => random.pick(alphabet))])
    const list = randomSplices(random, original, alphabet)
    const splices = recordedSplices(original, list)
    const offsets = list.map(({ start }) => start).filter(() => random.chance(70))
    const { lines } = new LineIndex(original).lineNumbers(offsets)
    const known = offsets.map((offset, i) => ({ offset, line: lines[i]! }))
    const same = t.strictSame(placesOf(original, splices, known), placesOf(original, splices))
    if (!same) return t.fail('counted differently', { seed: SEED, round })
  }
})
