// How many rows a question reads before something else has its turn.
import t from 'tap'
import { SegmentIndex } from '../../src/log/segment-index.ts'
import { FAST, makePlace, recordOf } from './support/history.ts'

t.test('lets others run while it reads rows of which none matches', async t => {
  const history = await makePlace(t).open()
  const records = Array.from({ length: 5000 }, () => recordOf(history, 'a.txt', 'x\n', { agent: 'ann' }))
  await Promise.all(records.map(record => history.append(record, FAST)))
  for (const { edit_id } of records) history.settle(edit_id, 'done')
  await history.flush()

  const [own, counts] = [SegmentIndex.prototype.row, [] as number[]]
  let isSameTurn = false
  SegmentIndex.prototype.row = function (row) {
    if (!isSameTurn) {
      counts.push(0)
      isSameTurn = true
      setImmediate(() => (isSameTurn = false))
    }
    counts[counts.length - 1]!++
    return own.call(this, row)
  }
  t.teardown(() => (SegmentIndex.prototype.row = own))
  t.match(await history.list({ agent: null }, 1), { records: { length: 0 } })
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    5000
  )
  t.ok(Math.max(...counts) <= 2000, `${counts.join()} rows in one turn`)
})
