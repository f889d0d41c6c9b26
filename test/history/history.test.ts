// Records are written, settled and read back, by one server and by several.
import t from 'tap'
import { DURABLE, makePlace, recordOf, write } from './support/history.ts'

t.test('gives back what was written, settled, and by whom', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const record = recordOf(history, 'a.txt')
  await history.append(record, DURABLE)
  t.strictSame(await history.byId(record.edit_id), { record, texts: 'kept', nonce: 'one', settled: null })
  history.settle(record.edit_id, 'done')
  t.equal((await history.byId(record.edit_id))?.settled, 'done', 'before it is written')
  t.equal((await history.lastOf(record.path))?.settled, 'done')
  const other = await place.open({ nonce: 'two' })
  t.strictSame((await other.ofPath(record.path)).records, [{ record, texts: 'kept', nonce: 'one', settled: null }])
  await history.flush()
  t.strictSame((await other.ofPath(record.path)).records, [{ record, texts: 'kept', nonce: 'one', settled: 'done' }])
  t.equal((await other.lastOf(record.path))?.edit_id, record.edit_id)
  t.ok(other.nextId() > record.edit_id)
  t.strictSame(place.events, [])
})

t.test('lists the newest first, in pages', async t => {
  const place = makePlace(t)
  const [one, two] = [await place.open(), await place.open({ limits: { segment: 600 } })]
  const ids: string[] = []
  for (let i = 0; i < 10; i++) {
    const history = i % 2 === 0 ? one : two
    await history.refresh()
    const [record] = await write(history, [recordOf(history, `${i}.txt`)])
    ids.push(record!.edit_id)
  }
  t.strictSame(ids, [...ids].sort())
  const first = await one.list({}, 4)
  t.strictSame(
    first.records.map(({ record }) => record.edit_id),
    ids.toReversed().slice(0, 4)
  )
  t.equal(first.records[0]?.texts, 'unread')
  const rest = await two.list({ before: first.next_before! }, 100)
  t.strictSame(
    rest.records.map(({ record }) => record.edit_id),
    ids.toReversed().slice(4)
  )
  t.equal(rest.next_before, null)
  t.strictSame(place.events, [])
})
