// Records are written, settled and read, by one server and by several. Does not know where they are kept.
import type { Test } from 'tap'
import type { RecordQuery } from '../../../src/log/api.ts'
import type { EditRecord } from '../../../src/log/record.ts'
import { DURABLE, FAST, hashOf, recordOf, write, type MakePlace } from '../support/history.ts'

export function recordBehaviours(t: Test, makePlace: MakePlace): void {
  t.test('gives back what was written, settled, and by whom', async t => {
    const place = await makePlace(t)
    const history = await place.open({ nonce: 'one' })
    const record = recordOf(history, 'a.txt')
    await history.append(record, DURABLE)
    const other = await place.open({ nonce: 'two' })
    for (const known of [history, other]) {
      t.strictSame(await known.byId(record.edit_id), { record, texts: 'kept', nonce: 'one', settled: null })
    }
    history.settle(record.edit_id, 'done')
    t.equal((await history.byId(record.edit_id))?.settled, 'done', 'before it is written')
    t.equal((await history.lastOf(record.path))?.settled, 'done')
    await history.flush()
    t.strictSame((await other.ofPath(record.path)).records, [{ record, texts: 'kept', nonce: 'one', settled: 'done' }])
    t.equal((await other.lastOf(record.path))?.edit_id, record.edit_id)
    t.ok(other.nextId() > record.edit_id)
    t.strictSame(place.events, [])
  })

  t.test('lists the newest first, in pages', async t => {
    const place = await makePlace(t)
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

  t.test('finds by path, folder, batch, token, agent, session, time and id', async t => {
    const place = await makePlace(t)
    const history = await place.open({ limits: { segment: 900 } })
    const agents = ['one', 'two', 'é']
    const batches = [history.nextId(), history.nextId()] as const
    const records = Array.from({ length: 30 }, (_, i) =>
      recordOf(history, ['a', 'a/b', 'a/b/c', 'ab'][i % 4]!, `${i}`, {
        at: i * 1000,
        agent: agents[i % 3]!,
        ...(i % 4 > 1 && { token: agents[i % 4 === 2 ? 0 : 2]! }),
        ...(i > 15 && i < 24 && { batch_id: batches[i % 2]! }),
        ...(i % 2 === 0 && { session: agents[i % 5]! })
      })
    )
    await write(history, records)
    const other = await place.open({ limits: { indexes: 1 } })
    const check = async (query: RecordQuery, is: (record: EditRecord) => boolean) => {
      const { records: found } = await other.list(query, 100)
      t.strictSame(
        found.map(({ record }) => record.edit_id),
        records
          .filter(is)
          .map(({ edit_id }) => edit_id)
          .reverse(),
        JSON.stringify(query)
      )
    }
    await check({}, () => true)
    await check({ path: Buffer.from('a') }, ({ path }) => path.equals(Buffer.from('a')))
    await check({ path: Buffer.from('unknown') }, () => false)
    await check({ under: Buffer.from('a') }, ({ path }) => path.toString().startsWith('a/'))
    await check({ token: 'é' }, ({ token }) => token === 'é')
    await check({ token: 'one', agent: 'é' }, ({ token, agent }) => token === 'one' && agent === 'é')
    await check({ token: 'two' }, () => false)
    await check({ agent: 'é' }, ({ agent }) => agent === 'é')
    await check({ agent: 'one', session: 'two' }, ({ agent, session }) => agent === 'one' && session === 'two')
    await check({ batch_id: batches[1] }, ({ batch_id }) => batch_id === batches[1])
    await check(
      { batch_id: batches[0], agent: 'one' },
      ({ batch_id, agent }) => batch_id === batches[0] && agent === 'one'
    )
    await check({ batch_id: history.nextId() }, () => false)
    await check({ since: 3000, until: 7000 }, ({ at }) => at >= 3000 && at <= 7000)
    const ids = [records[3]!.edit_id, records[20]!.edit_id, '0'.repeat(26)]
    await check({ edit_ids: ids }, ({ edit_id }) => ids.includes(edit_id))
    const { records: shown, oldest_kept_at } = await other.list({ texts: true }, 1)
    t.strictSame(shown[0]?.record, records.at(-1))
    t.equal(oldest_kept_at, 0)
    t.strictSame(await other.list({ before: records[0]!.edit_id }, 1), {
      records: [],
      next_before: null,
      oldest_kept_at: 0
    })
    t.equal(await other.byId('0'.repeat(26)), null)
  })

  t.test('an empty history has nothing', async t => {
    const history = await (await makePlace(t)).open()
    t.strictSame(await history.list({}, 1), { records: [], next_before: null, oldest_kept_at: null })
    t.strictSame(await history.ofPath(Buffer.from('a')), { records: [], gaps: [] })
    t.equal(await history.lastOf(Buffer.from('a')), null)
    t.equal(await history.byKey('a'), null)
    t.strictSame(await history.unsettled(), [])
    t.strictSame(await history.sweep({ days: 0, bytes: 0 }), { removed: 0, bytes: 0 })
    t.equal(await history.sweptTo(), '')
  })

  t.test('knows up to which record a sweep removed all, also where none is left', async t => {
    const place = await makePlace(t)
    const history = await place.open({ nonce: 'one', limits: { segment: 1 } })
    const written = []
    for (let i = 0; i < 3; i++) written.push(...(await write(history, [recordOf(history, `${i}.txt`)])))
    const ids = written.map(({ edit_id }) => edit_id)
    t.equal(await history.sweptTo(), '')
    await history.sweep({ days: 0, bytes: 0 })
    const { records } = await history.list({}, 10)
    t.equal(await history.sweptTo(), ids.at(-1 - records.length))
    await history.close()
    place.gone.add('one')
    await (await place.open({ nonce: 'two' })).sweep({ days: 0, bytes: 0 })
    const last = await place.open({ nonce: 'three' })
    t.strictSame((await last.list({}, 10)).records, [])
    t.equal(await last.sweptTo(), ids.at(-1))
    t.strictSame(place.events, [])
  })

  t.test('forgets the texts of one path, and keeps a long one that another record names', async t => {
    const place = await makePlace(t)
    const [history, other] = [await place.open({ limits: { text: 10 } }), await place.open({ limits: { text: 10 } })]
    const text = 'a text of more than ten bytes'
    const [secret] = await write(history, [recordOf(history, 'secret.txt', text)])
    const [kept] = await write(other, [recordOf(other, 'other.txt', text)])
    t.equal(await history.forget(secret!.path), 1)
    t.match(await other.byId(secret!.edit_id), { texts: 'none', settled: 'done' })
    t.strictSame((await history.byId(kept!.edit_id))?.record, kept)
    t.equal(await other.forget(kept!.path), 1)
    t.match(await history.byId(kept!.edit_id), { texts: 'none', settled: 'done' })
    t.equal(await history.forget(secret!.path), 0)
    t.strictSame(place.events, [])
  })

  t.test('the last record of a path is the last that isn’t void', async t => {
    const place = await makePlace(t)
    const [one, two] = [await place.open(), await place.open()]
    const path = Buffer.from('a.txt')
    t.equal(await one.lastOf(path), null)
    const [first] = await write(one, [recordOf(one, 'a.txt', '1')])
    t.match(await one.lastOf(path), { edit_id: first!.edit_id, hash_after: first!.hash_after, settled: 'done' })
    await two.refresh()
    const second = recordOf(two, 'a.txt', '2')
    await two.append(second, FAST)
    await one.refresh()
    t.match(await one.lastOf(path), { edit_id: second.edit_id, settled: null })
    two.settle(second.edit_id, 'void')
    t.match(await two.lastOf(path), { edit_id: first!.edit_id })
    await two.flush()
    await one.refresh()
    t.match(await one.lastOf(path), { edit_id: first!.edit_id })
    t.equal((await one.ofPath(path)).records[1]?.settled, 'void')
    const [third] = await write(one, [recordOf(one, 'a.txt', '3')])
    t.equal((await (await place.open()).lastOf(path))?.edit_id, third!.edit_id)
  })

  t.test('knows paths that it hasn’t kept in mind', async t => {
    const place = await makePlace(t)
    const history = await place.open()
    const [record] = await write(history, [recordOf(history, 'a.txt')])
    await history.lastOf(record!.path)
    for (let i = 0; i < 10_001; i++) await history.lastOf(Buffer.from(`${i}`))
    t.equal((await history.lastOf(record!.path))?.edit_id, record!.edit_id)
  })

  t.test('finds the newest record of a key that isn’t void', async t => {
    const place = await makePlace(t)
    const history = await place.open({ limits: { segment: 700 } })
    const keyed = (digest: string, outcome: unknown) =>
      recordOf(history, 'a.txt', 'x', { key: { digest, fingerprint: 'f', outcome } })
    const [one, two, three] = [keyed('a', { n: 1 }), keyed('a', { n: 2 }), keyed('b', undefined)]
    const noop = { ...keyed('c', 'same'), splices: null, places: null, hash_after: hashOf('') }
    for (const record of [one, two, three, noop]) await history.append(record, FAST)
    t.strictSame((await history.byKey('a'))?.record.key, two.key)
    history.settle(two.edit_id, 'void')
    t.strictSame((await history.byKey('a'))?.record.key, one.key)
    t.equal((await history.byKey('b'))?.record.key?.outcome, null)
    t.match(await history.byKey('c'), { texts: 'none', record: { key: { outcome: 'same' } } })
    t.equal(await history.byKey('d'), null)
    await history.flush()
    const other = await place.open()
    t.strictSame((await other.byKey('a'))?.record.key, one.key)
  })

  t.test('tells a later server of what a gone one has not settled, until somebody does', async t => {
    const place = await makePlace(t)
    const gone = await place.open({ nonce: 'gone', limits: { segment: 1500 } })
    const records = Array.from({ length: 6 }, (_, i) => recordOf(gone, `${i}.txt`))
    for (const [i, record] of records.entries()) {
      await gone.append(record, FAST)
      if (i === 3) gone.settle(records[0]!.edit_id, 'done')
    }
    await gone.flush()
    const alive = await place.open()
    await alive.append(recordOf(alive, 'alive.txt'), FAST)
    const later = await place.open()
    t.strictSame(await later.unsettled(), [], 'it may still be running')
    place.gone.add('gone')
    const left = await later.unsettled()
    t.strictSame(
      left.map(({ record }) => record.edit_id),
      records.slice(1).map(({ edit_id }) => edit_id)
    )
    t.equal(left[0]?.texts, 'unread')
    later.settle(records[1]!.edit_id, 'uncertain')
    later.settle(records[1]!.edit_id, 'done')
    later.settle(records[2]!.edit_id, 'void')
    later.settle(records[3]!.edit_id, 'done')
    later.settle(records[4]!.edit_id, 'uncertain')
    await later.flush()
    for (const history of [later, await place.open(), await place.open()]) {
      t.strictSame(
        (await history.unsettled()).map(({ record }) => record.edit_id),
        [records[5]!.edit_id]
      )
      t.equal((await history.byId(records[1]!.edit_id))?.settled, 'done')
      t.equal((await history.byId(records[4]!.edit_id))?.settled, 'uncertain')
      t.equal(await history.lastOf(Buffer.from('2.txt')), null)
    }
    t.strictSame(place.events, [])
  })

  t.test('gives ids after those of others, whatever their clocks and whoever wrote first', async t => {
    const place = await makePlace(t)
    const [ahead, one] = [await place.open(), await place.open()]
    const now = Date.now
    Date.now = () => now() + 1e9
    const [early, late] = [recordOf(ahead, 'a.txt'), recordOf(ahead, 'b.txt')]
    Date.now = now
    await ahead.append(late, FAST)
    await ahead.append(early, FAST)
    await ahead.append(recordOf(ahead, 'long.txt', 'x'.repeat(300_000), { places: null, splices: [] }), FAST)
    t.ok(one.nextId() < late.edit_id, 'it has not looked')
    await one.refresh('then')
    t.ok(one.nextId() > late.edit_id, 'what was written before it was alone')
    Date.now = () => now() + 2e9
    const later = recordOf(ahead, 'a.txt')
    Date.now = now
    await ahead.append(later, FAST)
    await one.refresh('then')
    t.ok(one.nextId() < later.edit_id, 'it was told that it is still alone')
    await one.refresh('now')
    t.ok(one.nextId() > later.edit_id, 'it was not alone meanwhile')
    for (let i = 0; i < 3000; i++) ahead.settle(early.edit_id, 'done')
    await ahead.flush()
    const last = await place.open()
    await last.refresh()
    t.ok(last.nextId() > late.edit_id, 'behind many settlements')
  })

  t.test('reads no more texts of a path than may be', async t => {
    const history = await (await makePlace(t)).open({ limits: { texts: 20 } })
    await write(
      history,
      Array.from({ length: 5 }, () => recordOf(history, 'a.txt', 'ten bytes.'))
    )
    const { records } = await history.ofPath(Buffer.from('a.txt'))
    t.strictSame(
      records.map(({ texts }) => texts),
      ['unread', 'unread', 'unread', 'kept', 'kept']
    )
  })

  t.test('reads no more texts of a page than may be, and says of the others how many changes they have', async t => {
    const history = await (await makePlace(t)).open({ limits: { pageTexts: 20 } })
    await write(
      history,
      Array.from({ length: 5 }, () => recordOf(history, 'a.txt', 'ten bytes.'))
    )
    const { records } = await history.list({ texts: true }, 4)
    t.strictSame(
      records.map(({ texts, record }) => [texts, record.splices?.length, record.change_count]),
      [
        ['kept', 1, undefined],
        ['kept', 1, undefined],
        ['unread', undefined, 1],
        ['unread', undefined, 1]
      ]
    )
  })

  t.test('finds what callers without a name or session did', async t => {
    const history = await (await makePlace(t)).open()
    const whose = [{}, { agent: 'ann' }, { session: 's' }, { agent: 'ann', session: 's' }]
    const made = await write(
      history,
      whose.map(author => recordOf(history, 'a.txt', '', author))
    )
    const indexes = async (query: RecordQuery) => {
      const { records } = await history.list(query, 10)
      return records.map(({ record }) => made.findIndex(({ edit_id }) => edit_id === record.edit_id))
    }
    t.strictSame(await indexes({ agent: null }), [2, 0])
    t.strictSame(await indexes({ agent: null, session: null }), [0])
    t.strictSame(await indexes({ agent: 'ann', session: null }), [1])
    t.strictSame(await indexes({ agent: 'ann' }), [3, 1])
  })
}
