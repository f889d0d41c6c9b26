// What the history tells of changes: each once, over restarts, several servers, rotation, the sweep and `forget`.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Cursor } from '../../src/log/cursor.ts'
import { Feed } from '../../src/log/feed.ts'
import type { Segments } from '../../src/log/segments.ts'
import { FAST, makePlace, recordOf, write } from './support/history.ts'
import { again, feedBehaviours, idsOf, rest } from './behaviours/feed.ts'

feedBehaviours(t, makePlace)

t.test('does not look for what others write while it is alone', async t => {
  const place = makePlace(t)
  const [one, two] = [await place.open(), await place.open()]
  const seen = { calls: 0 }
  const stop = one.watch(() => seen.calls++)
  one.setAlone(true)
  await sleep(50)
  const before = seen.calls
  await write(two, [recordOf(two, 'a.txt')])
  await sleep(300)
  t.equal(seen.calls, before)
  one.setAlone(false)
  for (let i = 0; i < 500 && seen.calls === before; i++) await sleep(10)
  t.ok(seen.calls > before, 'it looks again')
  stop()
})

t.test('gives each segment a number of its own, higher than all before, however many begin at once', async t => {
  const place = makePlace(t)
  const servers = await Promise.all(Array.from({ length: 8 }, () => place.open()))
  const start = await servers[0]!.feedEnd()
  const records = servers.map(server => recordOf(server, 'a.txt'))
  await Promise.all(servers.map((server, i) => write(server, [records[i]!])))
  const numbers = readdirSync(place.folder).map(name => Number(/-(\d+)\.ndjson$/.exec(name)![1]))
  t.strictSame(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 8 }, (_, i) => i + 1)
  )
  t.strictSame((await rest(servers[3]!, start))!.ids.sort(), idsOf(records).sort())
})

t.test('takes no segment for read that a list lacks, which was made while it was begun', async t => {
  let lists: number[][] = []
  const source = {
    catchUp: async () => {},
    present: async () => lists.shift()!.map(number => ({ nonce: 'one', number })),
    get: () => undefined
  }
  const feed = new Feed(source as unknown as Segments)
  // The next segment may be begun by the time of the second list, and the one before it be missing again.
  lists = [
    [1, 3],
    [1, 2, 3, 5]
  ]
  t.equal((await feed.end()).toString(), '1.3-one.1-one-0.2-one-0.3-one-0')
  lists = [
    [1, 2, 4],
    [1, 2, 4]
  ]
  t.equal((await feed.end()).toString(), '1.4-one.1-one-0.2-one-0.4-one-0', 'what two lists lack was removed')
  lists = [[1, 2, 4, 5]]
  t.match((await feed.end()).toString(), /^1\.5-one/, 'which is known then')
})

t.test('says that a cursor is gone when what it has not told was removed', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const at: Cursor[] = [await history.feedEnd()]
  for (let i = 0; i < 5; i++) {
    await write(history, [recordOf(history, `${i}.txt`)])
    at.push(await history.feedEnd())
  }
  const name = (number: number) => join(place.folder, `one-${number}.ndjson`)
  // Each change is in one segment, and that it took place in the next.
  t.ok(existsSync(name(10)))
  const moved = `${name(7)}.away`
  const other = await place.open()
  renameSync(name(7), moved)
  for (const [i, cursor] of at.entries()) t.equal((await rest(other, again(cursor))) === null, i < 4, `after ${i}`)
  renameSync(moved, name(7))
  t.equal((await rest(other, again(at[0]!)))!.ids.length, 5)
})

t.test('never gives a number again that a cursor knows: the last segment goes when no other is left', async t => {
  const place = makePlace(t)
  const old = await place.open({ nonce: 'old' })
  await write(old, [recordOf(old, 'a.txt')])
  const history = await place.open({ nonce: 'new', limits: { segment: 1 } })
  const after = await history.feedEnd()
  await write(history, [recordOf(history, 'b.txt'), recordOf(history, 'c.txt')])
  const keepsLast = async () => {
    await history.sweep({ days: 30, bytes: 0 })
    return readdirSync(place.folder).filter(name => name.endsWith('ndjson'))
  }
  t.match((await keepsLast()).sort(), [/^new-[45].ndjson$/, 'old-1.ndjson'])
  t.equal(await rest(history, again(after)), null)
  place.gone.add('old')
  t.strictSame(await keepsLast(), [])
  t.equal(await rest(history, again(after)), null)
})

t.test('goes on while texts are forgotten, and past what is damaged', async t => {
  const place = makePlace(t)
  const one = await place.open({ nonce: 'one' })
  const two = await place.open()
  const start = await two.feedEnd()
  const records = await write(one, [recordOf(one, 'a.txt'), recordOf(one, 'b.txt')])
  const { next } = (await rest(two, start))!
  await one.forget(Buffer.from('a.txt'))
  t.strictSame((await rest(two, start))!.ids, idsOf(records))
  appendFileSync(join(place.folder, 'one-1.ndjson'), 'nothing of editd\n\n')
  t.strictSame((await rest(two, again(next)))!.ids, [])
  // Longer than what is read at once, and without an end.
  appendFileSync(join(place.folder, 'one-1.ndjson'), 'x'.repeat(700_000))
  const big = recordOf(two, 'big.txt', 'y'.repeat(60_000).repeat(1))
  await write(two, [big])
  place.gone.add('one')
  await two.sweep({ days: 30, bytes: 1e9 })
  t.strictSame((await rest(two, again(next)))!.ids, [big.edit_id])
  const other = await place.open()
  t.strictSame((await rest(other, start))!.ids, [...idsOf(records), big.edit_id])
})

t.test('knows a segment that was cut, removed while it is read, or is none', async t => {
  const place = makePlace(t)
  const one = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const empty = await one.feedEnd()
  await write(one, [recordOf(one, 'a.txt')])
  const first = (await rest(one, empty))!
  await write(one, [recordOf(one, 'b.txt')])
  const two = await place.open()
  writeFileSync(join(place.folder, 'other-5.ndjson'), '')
  t.equal((await rest(two, again(first.next)))!.ids.length, 1)
  const file = join(place.folder, 'one-1.ndjson')
  const beyond = Cursor.parse(`1.1-one.1-one-${(statSync(file).size + 1).toString(36)}`)!
  t.equal(await rest(two, beyond), null)
  t.equal((await rest(two, Cursor.parse(`1.2-one.2-one-5`)!))!.ids.length, 1, 'in the middle of a line')
  // Its file goes between two looks at the folder.
  const reading = two.readOn(empty, 10)
  truncateSync(file)
  rmSync(file)
  const page = await reading
  t.ok(!page.ok || page.value.events.length <= 2)
})

t.test('tells what is in a segment that couldn’t be read for a moment, when it can', async t => {
  const place = makePlace(t)
  const [one, two] = [await place.open({ nonce: 'one' }), await place.open()]
  const start = await two.feedEnd()
  const first = await write(one, [recordOf(one, 'a.txt')])
  await one.close()
  place.gone.add('one')
  await two.unsettled()
  const second = await write(two, [recordOf(two, 'b.txt')])
  const [file, aside] = ['one-1.ndjson', 'aside'].map(name => join(place.folder, name))
  renameSync(file!, aside!)
  mkdirSync(file!)
  const { ids, next } = (await rest(two, start))!
  t.strictSame(ids, idsOf(second))
  t.match(place.events, [{ event: 'history_segment_unreadable', segment: 'one-1.ndjson' }])
  rmdirSync(file!)
  renameSync(aside!, file!)
  t.strictSame((await rest(two, again(next)))!.ids, idsOf(first))
})

t.test('finds a record again by its line, and can not go on past one that is nowhere', async t => {
  const place = makePlace(t)
  const one = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const record = recordOf(one, 'a.txt')
  await one.append(record, FAST)
  await one.flush()
  const two = await place.open()
  const start = await two.feedEnd()
  two.settle(record.edit_id, 'done')
  await two.flush()
  const page = await two.readOn(start, 10)
  two.settle(two.nextId(), 'done')
  await two.flush()
  t.equal(await rest(two, start), null)
  t.match(page, {
    ok: true,
    value: { events: { length: 1, 0: { facts: { edit_id: record.edit_id, lines_added: 1 } } } }
  })
})

t.test('takes no text for a cursor that it did not make', async t => {
  const fine = ['1.', '1.1-one', '1.a-one.1-two-0.a-one-zz', '1.a-two.a-one-5']
  for (const text of fine) t.equal(Cursor.parse(text)?.toString(), text)
  const bad = [
    ['', '1.x', '2.', '1..', '1.1', '1.one', '1.1-', '1.1-a b', '1.1-one.', '1.1-one.1-one', '1.1-one.1-one-'],
    ['1.1-one.2-one-5', '1.1-one.1-two-5.1-one-5', '1.01-one', '1.1-one.1-one-05', '1.1-one.1-one--5', '1.A-one'],
    ['1.zzzzzzz-one', '1.1-one.1-one-zzzzzzz', '1.1-one-5', '1.1-é', `1.1-${'a'.repeat(65)}`, '1.1-one\n', ' 1.']
  ].flat()
  for (const text of bad) t.equal(Cursor.parse(text), null, JSON.stringify(text))
})
