// Records are written, settled and read back, by one server and by several.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FAST, makePlace, recordOf, write } from './support/history.ts'
import { recordBehaviours } from './behaviours/history.ts'

recordBehaviours(t, makePlace)

t.test('what was appended at once is written together, and each is told', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const records = Array.from({ length: 50 }, (_, i) => recordOf(history, `${i}.txt`))
  await Promise.all(records.map((record, i) => history.append(record, { durable: i % 2 === 0 })))
  t.equal((await history.list({}, 100)).records.length, 50)
  const large = Array.from({ length: 20 }, (_, i) =>
    recordOf(history, `${i}.txt`, 'x', { reason: 'x'.repeat(1024 * 1024) })
  )
  await Promise.all(large.map(record => history.append(record, FAST)))
  t.equal((await (await place.open()).list({}, 100)).records.length, 70)
  t.strictSame(readdirSync(place.folder).filter(name => name.endsWith('.ndjson')).length, 3, 'rotated in between')
})

t.test('indexes that are missing, damaged or of another segment are made again', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one', limits: { segment: 1500 } })
  const records = await write(
    history,
    Array.from({ length: 6 }, (_, i) => recordOf(history, 'a.txt', `${i}`))
  )
  await history.close()
  const indexes = readdirSync(place.folder).filter(name => name.endsWith('.index'))
  const ids = records.map(({ edit_id }) => edit_id)
  const good = readFileSync(join(place.folder, indexes[0]!))
  const wrong = (at: number): Buffer => {
    const bytes = Buffer.from(good)
    bytes[at]! ^= 1
    return bytes
  }
  const damages = [
    Buffer.alloc(0),
    wrong(0),
    wrong(3),
    wrong(8),
    wrong(11),
    wrong(20),
    wrong(good.length - 1),
    good.subarray(0, -9),
    null
  ]
  for (const damaged of damages) {
    for (const name of indexes) {
      if (damaged === null) rmSync(join(place.folder, name))
      else writeFileSync(join(place.folder, name), damaged)
    }
    const other = await place.open()
    t.strictSame(
      (await other.ofPath(Buffer.from('a.txt'))).records.map(({ record }) => record.edit_id),
      ids
    )
  }
  t.strictSame(place.events, [])
})

t.test('refuses a folder that isn’t one, and knows none that is gone', async t => {
  const place = makePlace(t)
  writeFileSync(place.folder, '')
  await t.rejects(place.open(), { code: 'EEXIST' })
  rmSync(place.folder)
  await t.rejects(makePlace(t, '/nowhere/at/all').open(), { code: 'ENOENT' })
  const history = await place.open({ isAlive: () => Promise.reject(new Error('no socket')) })
  const other = await place.open()
  await write(other, [recordOf(other, 'a.txt')])
  t.strictSame(await history.unsettled(), [], 'who can’t be asked may be running')
  t.match(place.events, [{ event: 'look_failed' }])
  rmSync(place.folder, { recursive: true })
  t.strictSame((await history.list({}, 1)).records, [])
})

t.test('reads on in a segment that another server has taken for ended, whose own goes on or has ended', async t => {
  for (const isGone of [false, true]) {
    const place = makePlace(t)
    const one = await place.open({ nonce: 'one' })
    // Of the next decades.
    const edit_id = one.nextId().replace(/^../, '02')
    await write(one, [recordOf(one, 'a.txt', 'text', { edit_id })])
    place.gone.add('one')
    const early = await place.open()
    t.equal((await early.list({}, 9)).records.length, 1)
    t.equal(readdirSync(place.folder).filter(name => name.endsWith('.index')).length, 1)
    if (!isGone) place.gone.delete('one')
    const late = await place.open()
    t.ok(late.nextId() > edit_id, 'knows the last id')
    for (let count = 2; count < 5; count++) {
      await write(one, [recordOf(one, 'a.txt')])
      t.equal((await (isGone ? await place.open() : late).list({}, 9)).records.length, count, `${isGone} ${count}`)
    }
    t.equal((await late.list({}, 9)).records.length, 4)
    t.strictSame(place.events, [])
  }
})
