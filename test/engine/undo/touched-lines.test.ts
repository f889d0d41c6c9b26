import t from 'tap'
import { conflictsAmong } from '../../../src/engine/undo/judge.ts'
import { visitLines } from '../../../src/engine/undo/touched-lines.ts'
import { Units } from '../../../src/engine/undo/units.ts'
import { replay } from '../../../src/engine/undo/weave.ts'

t.test('asks about each kind of units once, however many parts one line is to be made of', async t => {
  const count = 1000
  const every = (old: string, insert: string, apart: number) =>
    Array.from({ length: count }, (_, i) => ({ start: apart * i, old: Buffer.from(old), insert: Buffer.from(insert) }))
  const changes = [
    { edit_id: 'a', splices: every('a', 'b\n', 2) },
    { edit_id: 'b', splices: every('b', 'c', 3) }
  ]
  const units = new Units(changes)
  const weave = replay(Buffer.from('c\n '.repeat(count)), changes, units, 0)
  if (!weave.ok) return t.fail('does not fit')
  let asked = 0
  const unitsOfLines: number[] = []
  const set = { has: () => true }
  visitLines(
    weave.value,
    set,
    among => {
      asked += among.length
      return conflictsAmong(among, set, units).next().done !== true
    },
    line => unitsOfLines.push(line.units.length)
  )
  t.strictSame(unitsOfLines, [2 * count], 'one line again, of all')
  t.ok(asked > 0 && asked <= 3, `${asked} asked about`)
})
