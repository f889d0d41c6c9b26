// The bounds of what is kept: the oldest files go, whole, and what has to stay stays.
import fs, { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { Blobs } from '../../src/log/blobs.ts'
import { BlobFiles } from '../../src/log/files/blob-files.ts'
import { FAST, hashOf, makePlace, recordOf, write, DURABLE } from './support/history.ts'

const DAY = 86_400_000
const age = (path: string, days: number): void => {
  const at = new Date(Date.now() - days * DAY)
  utimesSync(path, at, at)
}
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)

t.test('removes closed segments that are too old, with their indexes; open ones stay', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one', limits: { segment: 1500 } })
  for (let i = 0; i < 10; i++) await write(history, [recordOf(history, `${i}.txt`)])
  const open = await place.open({ nonce: 'two' })
  await write(open, [recordOf(open, 'two.txt')])
  const names = readdirSync(place.folder).filter(name => name.endsWith('.ndjson'))
  for (const name of names) age(join(place.folder, name), 40)
  age(join(place.folder, 'one-2.ndjson'), 3)
  writeFileSync(join(place.folder, 'gone-1.ndjson.index'), '')
  writeFileSync(join(place.folder, 'x.tmp'), '')
  writeFileSync(join(place.folder, 'new.tmp'), '')
  age(join(place.folder, 'x.tmp'), 1)
  const { removed, bytes } = await open.sweep({ days: 30, bytes: 1e9 })
  const isMark = (name: string) => name.startsWith('swept-')
  const left = readdirSync(place.folder)
    .filter(name => !isMark(name))
    .sort()
  const last = names.filter(name => name.startsWith('one')).length
  t.equal(removed, last - 2)
  t.strictSame(left, ['new.tmp', 'one-2.ndjson', 'one-2.ndjson.index', `one-${last}.ndjson`, `two-${last + 1}.ndjson`])
  t.equal(bytes, sizeOf(place.folder))
  place.gone.add('one')
  const { removed: more } = await open.sweep({ days: 30, bytes: 1e9 })
  t.equal(more, 1, 'the last one of a server that is gone')
  t.equal(readdirSync(place.folder).filter(isMark).length, 1)
  t.ok((await open.list({}, 100)).records.length > 0)
  t.strictSame((await open.ofPath(Buffer.from('0.txt'))).records, [])
})

t.test('rejects where it can not be read how far it removed', async t => {
  const place = makePlace(t)
  const history = await place.open()
  renameSync(place.folder, `${place.folder}-away`)
  writeFileSync(place.folder, 'no folder')
  await t.rejects(history.sweptTo(), { code: 'HISTORY_UNREADABLE' })
  rmSync(place.folder)
  renameSync(`${place.folder}-away`, place.folder)
  t.equal(await history.sweptTo(), '')
})

t.test('removes the oldest beyond the size: blobs before the segment that names them', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { segment: 1500, text: 100 } })
  const records = []
  for (let i = 0; i < 20; i++) {
    const text = `${i}`.repeat(200)
    records.push(recordOf(history, 'a.txt', text))
    await write(history, records.slice(-1))
    history.keepCopy(Buffer.from(`${i}.txt`), { edit_id: 'id', pieces: [Buffer.from(text)], hash: hashOf(text) })
    await history.flush()
  }
  for (let bytes = sizeOf(place.folder) - 500; bytes > 0; bytes -= 1500) {
    const swept = await history.sweep({ days: 30, bytes })
    t.equal(swept.bytes, sizeOf(place.folder))
    if (swept.bytes > bytes) break
    const { records: left } = await history.ofPath(Buffer.from('a.txt'))
    t.strictSame(
      left.map(({ record }) => record.edit_id),
      records.slice(-left.length).map(({ edit_id }) => edit_id)
    )
    const lost = left.filter(({ texts }) => texts === 'lost').length
    t.ok(
      left.slice(lost).every(({ texts }) => texts === 'kept'),
      'the texts of the newest stay longest'
    )
  }
  t.equal((await history.list({}, 1)).oldest_kept_at === null, (await history.list({}, 1)).records.length === 0)
  t.strictSame(place.events, [])
})

t.test('removes copies before anything that an undo needs, however new they are', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { segment: 1, text: 100 } })
  const records = []
  for (let i = 0; i < 10; i++) {
    const text = `${i}`.repeat(2000)
    records.push(recordOf(history, `${i}.txt`, text))
    await write(history, records.slice(-1))
    history.keepCopy(Buffer.from(`${i}.txt`), {
      edit_id: records[i]!.edit_id,
      pieces: [Buffer.from(text)],
      hash: hashOf(text)
    })
    await history.flush()
    age(join(place.folder, 'blobs', hashOf(text)), 2)
  }
  const copies = join(place.folder, 'copies')
  // Which waits until the indexes are written.
  await history.sweep({ days: 30, bytes: 1e9 })
  const without = sizeOf(place.folder) - sizeOf(copies)
  await history.sweep({ days: 30, bytes: without })
  t.strictSame(readdirSync(copies), [])
  const { records: left } = await history.list({ texts: true }, 20)
  t.strictSame(
    left.map(({ record: { edit_id }, texts }) => [edit_id, texts]),
    records.map(({ edit_id }) => [edit_id, 'kept']).reverse()
  )
  t.strictSame(place.events, [])
})

t.test('servers that sweep at once remove no more than one would', async t => {
  const place = makePlace(t)
  const servers = []
  for (let i = 0; i < 8; i++) servers.push(await place.open({ limits: { segment: 1 } }))
  const copies = join(place.folder, 'copies')
  mkdirSync(copies, { recursive: true })
  const COUNT = 60
  for (let i = 0; i < COUNT; i++) {
    if (i % 3 === 0) await write(servers[0]!, [recordOf(servers[0]!, `${i}.txt`)])
    else writeFileSync(join(copies, `${i}`), Buffer.alloc(1000))
  }
  await servers[0]!.sweep({ days: 30, bytes: 1e9 })
  for (const [i, name] of readdirSync(copies).entries()) age(join(copies, name), 20 - i / 10)
  const bytes = sizeOf(place.folder) - 9500
  const swept = await Promise.all(servers.map(history => history.sweep({ days: 30, bytes })))
  t.equal(
    swept.reduce((sum, { removed }) => sum + removed, 0),
    10
  )
  t.equal(readdirSync(copies).length, 30)
  t.equal(sizeOf(place.folder), bytes - 500)
  for (const one of swept) t.equal(one.bytes, bytes - 500)
  t.strictSame(place.events, [])
})

t.test('leaves what is being written, and removes what was left half written an hour ago', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const text = 'more than ten bytes'
  await history.append(recordOf(history, 'a.txt', text), FAST)
  history.keepCopy(Buffer.from('a.txt'), { edit_id: 'id', pieces: [Buffer.from(text)], hash: hashOf(text) })
  await history.flush()
  for (const folder of ['blobs', 'copies'].map(name => join(place.folder, name))) {
    for (const name of ['old.tmp', 'new.tmp']) writeFileSync(join(folder, name), 'half')
    age(join(folder, 'old.tmp'), 1)
  }
  const { bytes } = await history.sweep({ days: 30, bytes: 0 })
  for (const name of ['blobs', 'copies']) t.strictSame(readdirSync(join(place.folder, name)), ['new.tmp'])
  t.equal(bytes, sizeOf(place.folder))
})

t.test('lets no record fail whose texts are written while it removes others', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const written = { all: false }
  const sweeping = (async () => {
    while (!written.all) await history.sweep({ days: 30, bytes: 0 })
  })()
  const texts = Array.from({ length: 200 }, (_, i) => `more than ten bytes ${i}`)
  const results = await Promise.allSettled(texts.map(text => history.append(recordOf(history, 'a.txt', text), DURABLE)))
  written.all = true
  await sweeping
  t.strictSame(
    results.filter(({ status }) => status === 'rejected'),
    []
  )
})

t.test('keys live a day, whatever the size', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const key = { digest: 'd', fingerprint: 'f', outcome: { fine: true } }
  const keyed = recordOf(history, 'a.txt', 'x', { key })
  const old = recordOf(history, 'a.txt', 'x', { key: { ...key, digest: 'old' }, at: Date.now() - 2 * DAY })
  for (const record of [keyed, old, recordOf(history, 'a.txt')]) await history.append(record, FAST)
  await history.sweep({ days: 30, bytes: 0 })
  t.strictSame((await history.byKey('d'))?.record.key, key)
  t.equal(await history.byKey('old'), null)
  t.equal((await history.list({}, 9)).records.length, 2, 'and the last segment, as long as there is another')
})

t.test('a blob that a new record needs again lives as long as that', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const text = 'more than ten bytes'
  await history.append(recordOf(history, 'a.txt', text), FAST)
  const blobs = join(place.folder, 'blobs')
  const [name = ''] = readdirSync(blobs)
  age(join(blobs, name), 40)
  const again = recordOf(history, 'a.txt', text)
  await history.append(again, DURABLE)
  age(
    join(
      place.folder,
      readdirSync(place.folder).find(file => file.endsWith('.ndjson'))!
    ),
    0
  )
  await history.sweep({ days: 30, bytes: 1e9 })
  t.equal((await history.byId(again.edit_id))?.texts, 'kept')
  // Left by a server that was killed while it looked.
  writeFileSync(join(blobs, `${'0'.repeat(64)}.going`), '')
  await history.sweep({ days: 30, bytes: 1e9 })
  t.strictSame(readdirSync(blobs).sort(), ['0'.repeat(64), name].sort())
})

t.test('a record written while its blob is being removed keeps it', async t => {
  const place = makePlace(t)
  const [one, two] = [await place.open({ limits: { text: 10 } }), await place.open({ limits: { text: 10 } })]
  const text = 'more than ten bytes'
  for (let i = 0; i < 60; i++) {
    const record = recordOf(one, 'a.txt', text)
    const other = recordOf(two, 'b.txt', text)
    await one.append(record, FAST)
    await Promise.all([one.forget(record.path), two.append(other, FAST), two.sweep({ days: 30, bytes: 1e9 })])
    if ((await one.byId(other.edit_id))?.texts !== 'kept') return t.fail(`round ${i}`)
  }
  t.pass()
})

t.test('what can’t be removed is reported', async t => {
  const place = makePlace(t)
  const history = await place.open()
  mkdirSync(join(place.folder, 'copies'))
  mkdirSync(join(place.folder, 'copies', 'folder'))
  age(join(place.folder, 'copies', 'folder'), 40)
  await history.sweep({ days: 30, bytes: 1e9 })
  t.match(place.events, [{ event: 'history_sweep_failed' }])
})

t.test('ends a segment that was begun a day ago', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'a.txt')])
  const now = Date.now
  Date.now = () => now() + 2 * DAY
  t.teardown(() => {
    Date.now = now
  })
  await history.sweep({ days: 30, bytes: 1e9 })
  Date.now = now
  await write(history, [recordOf(history, 'a.txt')])
  t.strictSame(readdirSync(place.folder).sort(), ['one-1.ndjson', 'one-1.ndjson.index', 'one-2.ndjson'])
  t.equal((await history.ofPath(Buffer.from('a.txt'))).records.length, 2)
})

t.test('a blob gets its name back where the file system has no links', async t => {
  const place = makePlace(t)
  const { link } = fs.promises
  fs.promises.link = async () => {
    throw Object.assign(new Error('no links here'), { code: 'EPERM' })
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.promises.link = link
    syncBuiltinESMExports()
  })
  mkdirSync(place.folder)
  const report = (event: { event: string }) => place.events.push(event)
  const places = new BlobFiles({ folder: place.folder, nonce: 'one', report })
  const blobs = new Blobs({ places, report })
  const bytes = Buffer.from('text')
  const name = hashOf(bytes)
  await blobs.keep([{ name, bytes }], true)
  t.equal(await places.removeIf(name, async () => false), false)
  t.strictSame(readdirSync(places.folder), [name])
  t.strictSame(await blobs.read(name), bytes)
  t.equal(await places.removeIf(name, async () => true), true)
  t.strictSame(place.events, [])
})
