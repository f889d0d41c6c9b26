// Which lines of two texts differ, where there are too many lines to compare the texts as a whole.
import t from 'tap'
import { lineHunks, stepsOfComparison } from '../../../src/engine/edit/line-hunks.ts'

t.test('finds each line that differs among very many, also beside lines that occur again and again', async t => {
  const groups = Array.from({ length: 1100 }, (_, i) => i)
  const text = (changed: string): Buffer =>
    Buffer.from(groups.map(i => `begin ${i}\n${i % 10 === 0 ? `${changed} ${i}` : 'same'}\n}\n`).join(''))
  const [old, now] = [text('old'), text('new')]
  const found = lineHunks(old, now, stepsOfComparison())
  t.strictSame(
    found.map(({ from, to, otherFrom, otherTo }) => [
      `${old.subarray(from, to)}`,
      `${now.subarray(otherFrom, otherTo)}`
    ]),
    groups.filter(i => i % 10 === 0).map(i => [`old ${i}\n`, `new ${i}\n`])
  )
})
