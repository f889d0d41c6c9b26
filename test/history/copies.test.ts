// Copies of files: the last one counts, and one that is damaged is none.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hashOf, makePlace } from './support/history.ts'

const PATH = Buffer.from([0x61, 0xff])

t.test('keeps the last content of each file', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { copy: 100 } })
  t.equal(await history.copyOf(PATH), null)
  for (const text of ['one', 'two', 'three']) {
    history.keepCopy(PATH, text, [Buffer.from(text.slice(0, 1)), Buffer.from(text.slice(1))], hashOf(text))
  }
  history.keepCopy(Buffer.from('large'), 'id', [Buffer.alloc(101)], hashOf(Buffer.alloc(101)))
  t.strictSame(await history.copyOf(PATH), { edit_id: 'three', hash: hashOf('three'), bytes: Buffer.from('three') })
  t.equal(await history.copyOf(Buffer.from('large')), null)
  const other = await place.open()
  other.keepCopy(PATH, 'four', [Buffer.from('four')], hashOf('four'))
  await other.close()
  t.equal((await history.copyOf(PATH))?.edit_id, 'four')
  t.equal(readdirSync(join(place.folder, 'copies')).length, 1)
  t.strictSame(place.events, [])
})

t.test('a copy that isn’t whole is none', async t => {
  const place = makePlace(t)
  const history = await place.open()
  history.keepCopy(PATH, 'id', [Buffer.from('text')], hashOf('different'))
  t.equal(await history.copyOf(PATH), null)
  const [name = ''] = readdirSync(join(place.folder, 'copies'))
  for (const damaged of ['', 'text', 'x\n']) {
    writeFileSync(join(place.folder, 'copies', name), damaged)
    t.equal(await history.copyOf(PATH), null)
  }
  t.strictSame(place.events, [])
})

t.test('drops what would wait beyond the bound, and says so once', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { waitingCopies: 1000 } })
  for (let i = 0; i < 10; i++) {
    const text = `${i}`.repeat(300)
    history.keepCopy(Buffer.from(`${i}`), 'id', [Buffer.from(text)], hashOf(text))
  }
  t.ok((await history.copyOf(Buffer.from('0'))) !== null)
  t.equal(await history.copyOf(Buffer.from('9')), null)
  t.strictSame(place.events, [{ event: 'history_copies_dropped' }])
  history.keepCopy(Buffer.from('9'), 'id', [Buffer.from('x')], hashOf('x'))
  t.ok((await history.copyOf(Buffer.from('9'))) !== null, 'there is room again')
})

t.test('a copy that is being made is forgotten too', async t => {
  const place = makePlace(t)
  const history = await place.open()
  history.keepCopy(PATH, 'id', [Buffer.from('x')], hashOf('x'))
  await history.forget(PATH)
  t.equal(await history.copyOf(PATH), null)
})
