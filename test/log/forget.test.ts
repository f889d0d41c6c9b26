// The texts of a path can be removed for good, whichever servers wrote them or are still writing.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DURABLE, hashOf, makePlace, recordOf, write } from './support/history.ts'

const SECRET = 'a secret that nobody may read'
const PATH = Buffer.from('secret.txt')

/** All bytes in a folder. */
const allOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(name => statSync(name).isFile())
    .map(name => readFileSync(name, 'latin1'))
    .join()

t.test('removes texts from open and closed segments of all servers, blobs and copies, and nothing else', async t => {
  const place = makePlace(t)
  const limits = { segment: 4000, text: 100 }
  const one = await place.open({ nonce: 'one', limits })
  const two = await place.open({ nonce: 'two', limits })
  let secrets = 0
  const others: string[] = []
  for (let i = 0; i < 40; i++) {
    for (const history of [one, two]) {
      const text = SECRET.repeat(i % 2 === 0 ? 1 : 10 + (i % 4))
      const key = { digest: `key ${i}`, fingerprint: 'f', outcome: { text } }
      await write(history, [recordOf(history, 'secret.txt', text, { key })])
      secrets++
      const [other] = await write(history, [recordOf(history, 'other.txt', `other ${i} `.repeat(i))])
      others.push(other!.edit_id)
    }
  }
  one.keepCopy(PATH, { edit_id: 'id', pieces: [Buffer.from(SECRET)], hash: hashOf(SECRET) })
  await one.flush()
  t.ok((await one.copyOf(PATH)) !== null)
  t.match(allOf(place.folder), SECRET)
  // The other one goes on meanwhile.
  const more = Array.from({ length: 30 }, (_, i) => recordOf(two, 'other.txt', `more ${i}`))
  const [forgotten] = await Promise.all([one.forget(PATH), write(two, more)])
  t.equal(forgotten, secrets)
  t.notMatch(allOf(place.folder), SECRET)
  t.equal(await one.copyOf(PATH), null)
  t.equal(await one.forget(PATH), 0, 'a second time')
  for (const history of [one, two, await place.open()]) {
    const { records, gaps } = await history.ofPath(PATH)
    t.equal(records.length, secrets)
    t.ok(
      records.every(({ texts, record }) => texts === 'none' && record.splices === null && record.key?.outcome === null)
    )
    t.strictSame(gaps, [])
    const rest = (await history.ofPath(Buffer.from('other.txt'))).records
    t.strictSame(
      new Set(rest.map(({ record }) => record.edit_id)),
      new Set([...others, ...more.map(({ edit_id }) => edit_id)])
    )
    t.ok(rest.every(({ texts, settled }) => texts === 'kept' && settled === 'done'))
  }
  t.equal((await one.byKey('key 3'))?.record.path.toString(), 'secret.txt', 'the key still counts')
  t.strictSame(place.events, [])
})

t.test('keeps a blob that another record names', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const text = SECRET
  await history.append(recordOf(history, 'secret.txt', text), DURABLE)
  const other = recordOf(history, 'other.txt', text)
  await history.append(other, DURABLE)
  t.equal(readdirSync(join(place.folder, 'blobs')).length, 1, 'kept once')
  t.equal(await history.forget(PATH), 1)
  t.strictSame((await history.byId(other.edit_id))?.record, other)
  t.equal(await history.forget(other.path), 1)
  t.strictSame(readdirSync(join(place.folder, 'blobs')), [])
})

t.test('forgets what a server that is gone has left, without writing a record', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'secret.txt', SECRET)])
  await history.close()
  place.gone.add('one')
  const tool = await place.open({ nonce: 'tool' })
  t.equal(await tool.forget(PATH), 1)
  t.notMatch(allOf(place.folder), SECRET)
  t.equal(await tool.forget(Buffer.from('unknown')), 0)
  t.notOk(readdirSync(place.folder).some(name => name.startsWith('tool')))
})

t.test('keeps no texts of private files, or of any', async t => {
  const place = makePlace(t)
  const history = await place.open({ isPrivate: path => path.toString() === '.env', limits: { text: 10 } })
  const meta = await place.open({ level: 'meta' })
  for (const [from, path] of [
    [history, '.env'],
    [meta, 'a.txt']
  ] as const) {
    const record = recordOf(from, path, SECRET)
    await from.append(record, DURABLE)
    from.keepCopy(record.path, { edit_id: record.edit_id, pieces: [Buffer.from(SECRET)], hash: hashOf(SECRET) })
    await from.flush()
    t.equal(await from.copyOf(record.path), null)
    t.match(await from.byId(record.edit_id), {
      texts: 'none',
      record: { hash_after: record.hash_after, splices: null }
    })
  }
  t.notMatch(allOf(place.folder), SECRET)
})
