// A bounded number of splices for the same result.
import t from 'tap'
import { fewSplices } from '../../../src/engine/edit/few-splices.ts'
import { type Splice, Splices } from '../../../src/engine/edit/splice.ts'
import { randomSplices } from '../undo/random-history.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, randomFile, SEED } from '../../random.ts'

type Shown = [start: number, end: number, insert: string]

/** What becomes of splices where at most `most` are kept apart. */
function check(name: string, { text, list, most, few }: { text: string; list: Shown[]; most: number; few: Shown[] }) {
  t.test(name, t => {
    const splices = list.map(([start, end, insert]): Splice => ({ start, end, insert: Buffer.from(insert) }))
    const found = fewSplices(splices, Buffer.from(text), most)
    t.strictSame(
      found.map(({ start, end, insert }): Shown => [start, end, insert.toString()]),
      few
    )
    t.end()
  })
}

const SIX: Shown[] = [
  [0, 1, 'A'],
  [2, 3, 'B'],
  [4, 5, 'C'],
  [6, 7, 'D'],
  [8, 9, 'E'],
  [10, 11, 'F']
]
check('keeps as many as it may', { text: 'a-b-c-d-e-f', list: SIX, most: 6, few: SIX })
check('joins neighbours evenly where all are equally near', {
  text: 'a-b-c-d-e-f',
  list: SIX,
  most: 3,
  few: [
    [0, 7, 'A-B-C-D'],
    [8, 11, 'E-F']
  ]
})
check('joins the nearest first', {
  text: 'a----b-c----d',
  list: [
    [0, 1, 'A'],
    [5, 6, ''],
    [7, 8, 'CC'],
    [12, 13, 'D']
  ],
  most: 3,
  few: [
    [0, 1, 'A'],
    [5, 8, '-CC'],
    [12, 13, 'D']
  ]
})
check('joins insertions that touch what is replaced', {
  text: 'ab',
  list: [
    [0, 0, 'x'],
    [0, 1, 'A'],
    [1, 1, 'y']
  ],
  most: 1,
  few: [[0, 1, 'xAy']]
})

t.test('gives the same text, in no more splices than asked for, sorted and disjoint', t => {
  for (let round = 0; round < often(2000); round++) {
    const random = new Random(SEED * 50_023 + round)
    const { bytes, alphabet } = randomFile(random)
    const list = randomSplices(
      random,
      bytes,
      alphabet.map(text => Buffer.from(text))
    )
    const most = 1 + random.int(list.length + 1)
    const few = fewSplices(list, bytes, most)
    const [now, wanted] = [few, list].map(splices => Buffer.concat(new Splices(splices, bytes.length).apply(bytes)))
    if (few.length > most || !now!.equals(wanted!)) t.fail(`round ${round} with SEED=${SEED}`)
  }
  t.pass('all rounds')
  t.end()
})

t.test('keeps far ones apart of a million, and none of more than its share', { skip: ONLY_CI }, t => {
  const far = 100_000_000
  const list = Array.from({ length: 1_000_000 }, (_, i): Splice => {
    const start = i === 0 ? 0 : far - 2_000_000 + 2 * i
    return { start, end: start + 1, insert: Buffer.alloc(0) }
  })
  const few = fewSplices(list, Buffer.alloc(far))
  t.ok(few.length <= 10_000 && few.length >= 5000, `${few.length} splices`)
  t.strictSame([few[0]!.start, few[0]!.end], [0, 1])
  t.ok(few.every(({ start, end }) => end - start <= 400))
  t.end()
})
