// Copies of files: the last one counts, and one that is damaged is none.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hashOf, makePlace, type Place } from './support/history.ts'

const PATH = Buffer.from([0x61, 0xff])

t.test('keeps the last content of each file', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { copy: 100 } })
  t.equal(await history.copyOf(PATH), null)
  for (const text of ['one', 'two', 'three']) {
    history.keepCopy(PATH, {
      edit_id: text,
      pieces: [Buffer.from(text.slice(0, 1)), Buffer.from(text.slice(1))],
      hash: hashOf(text)
    })
  }
  history.keepCopy(Buffer.from('large'), {
    edit_id: 'id',
    pieces: [Buffer.alloc(101)],
    hash: hashOf(Buffer.alloc(101))
  })
  t.strictSame(await history.copyOf(PATH), { edit_id: 'three', hash: hashOf('three'), bytes: Buffer.from('three') })
  t.equal(await history.copyOf(Buffer.from('large')), null)
  const other = await place.open()
  await history.flush()
  other.keepCopy(PATH, { edit_id: 'four', pieces: [Buffer.from('four')], hash: hashOf('four') })
  await other.close()
  t.equal((await history.copyOf(PATH))?.edit_id, 'four')
  t.equal(readdirSync(join(place.folder, 'copies')).length, 1)
  t.strictSame(place.events, [])
})

t.test('gives out what was kept then, whatever is kept of the file meanwhile', async t => {
  const place = makePlace(t)
  const history = await place.open()
  const texts = ['one', 'two', 'x'.repeat(5000), '', 'three', 'y'.repeat(4096)]
  const copies = []
  for (const text of texts) {
    history.keepCopy(PATH, {
      edit_id: 'id',
      pieces: [Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))],
      hash: hashOf(text)
    })
    copies.push(await history.copyOf(PATH))
  }
  t.strictSame(
    copies.map(copy => copy?.bytes.toString()),
    texts
  )
  await history.flush()
  t.equal((await history.copyOf(PATH))?.bytes.toString(), texts.at(-1))
})

t.test('gives out what waits to be written, without a look at the disk', async t => {
  const place = makePlace(t)
  const history = await place.open()
  t.equal(history.waitingCopy(PATH), null)
  history.keepCopy(PATH, { edit_id: 'id', pieces: [Buffer.from('one')], hash: hashOf('one') }, true)
  t.match(history.waitingCopy(PATH), { hash: hashOf('one'), bytes: Buffer.from('one') })
  await history.flush()
  t.equal(history.waitingCopy(PATH), null)
})

t.test('a copy that isn’t whole is none', async t => {
  const place = makePlace(t)
  const history = await place.open()
  history.keepCopy(PATH, { edit_id: 'id', pieces: [Buffer.from('text')], hash: hashOf('different') })
  await history.flush()
  t.equal(await history.copyOf(PATH), null)
  const [name = ''] = readdirSync(join(place.folder, 'copies'))
  for (const damaged of ['', 'text', 'x\n']) {
    writeFileSync(join(place.folder, 'copies', name), damaged)
    t.equal(await history.copyOf(PATH), null)
  }
  t.strictSame(place.events, [])
})

t.test('reports a copy that can’t be read, and takes it for none', async t => {
  const place = makePlace(t)
  const history = await place.open()
  history.keepCopy(PATH, { edit_id: 'id', pieces: [Buffer.from('text')], hash: hashOf('text') })
  await history.flush()
  const [name = ''] = readdirSync(join(place.folder, 'copies'))
  rmSync(join(place.folder, 'copies', name))
  mkdirSync(join(place.folder, 'copies', name))
  t.equal(await history.copyOf(PATH), null)
  t.match(place.events, [{ event: 'history_copy_unreadable', code: 'NOT_OURS' }])
})

t.test('drops what would wait beyond the bound, and says so once', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { waitingCopies: 1000 } })
  for (let i = 0; i < 10; i++) {
    const text = `${i}`.repeat(300)
    history.keepCopy(Buffer.from(`${i}`), { edit_id: 'id', pieces: [Buffer.from(text)], hash: hashOf(text) })
  }
  t.ok((await history.copyOf(Buffer.from('0'))) !== null)
  t.equal(await history.copyOf(Buffer.from('9')), null)
  t.strictSame(place.events, [{ event: 'history_copies_dropped' }])
  await history.flush()
  history.keepCopy(Buffer.from('9'), { edit_id: 'id', pieces: [Buffer.alloc(900)], hash: hashOf(Buffer.alloc(900)) })
  t.ok((await history.copyOf(Buffer.from('9'))) !== null, 'there is room again')
})

t.test('writes only the last copy of a file that is edited again and again, where no other server runs', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { waitingCopies: 1000 } })
  const { setTimeout } = globalThis
  t.teardown(() => {
    globalThis.setTimeout = setTimeout
  })
  const later: (() => void)[] = []
  const keep = (path: string, text: string, alone: boolean): void => {
    globalThis.setTimeout = ((work: () => void) => ({ unref: () => later.push(work) })) as never
    history.keepCopy(Buffer.from(path), { edit_id: text, pieces: [Buffer.from(text)], hash: hashOf(text) }, alone)
    globalThis.setTimeout = setTimeout
  }
  for (const text of ['one', 'two', 'three']) keep('a', text, true)
  await new Promise(resolve => setTimeout(resolve, 50))
  t.notOk(existsSync(join(place.folder, 'copies')), 'it waits')
  t.equal(later.length, 1)
  t.match(await history.copyOf(Buffer.from('a')), { edit_id: 'three', bytes: Buffer.from('three') }, 'and is known')
  later[0]!()
  await waitUntil(() => namesOf(place).length === 1)
  t.match(readFileSync(join(place.folder, 'copies', namesOf(place)[0]!)).toString(), /three$/)
  keep('a', 'four', true)
  keep('b', 'five', true)
  keep('c', 'x'.repeat(600), true)
  await waitUntil(() => namesOf(place).length === 3)
  t.pass('nor does any wait any longer where too much waits')
  keep('b', 'six', true)
  keep('d', 'seven', false)
  await waitUntil(() => namesOf(place).length === 4)
  t.pass('nor where other servers run')
  keep('a', 'eight', true)
  await history.close()
  const next = await place.open()
  for (const [path, id] of Object.entries({ a: 'eight', b: 'six', d: 'seven' })) {
    t.equal((await next.copyOf(Buffer.from(path)))?.edit_id, id, 'the end of the server waits for all')
  }
  t.strictSame(place.events, [])
})

t.test('a copy is known while it is written, and one that is removed before its turn is not written', async t => {
  const place = makePlace(t)
  const history = await place.open()
  for (const path of ['a', 'b']) {
    history.keepCopy(Buffer.from(path), { edit_id: path, pieces: [Buffer.from(path)], hash: hashOf(path) })
  }
  await new Promise(resolve => setImmediate(resolve))
  t.equal((await history.copyOf(Buffer.from('a')))?.edit_id, 'a')
  await history.forget(Buffer.from('b'))
  t.equal(await history.copyOf(Buffer.from('b')), null)
  t.equal((await history.copyOf(Buffer.from('a')))?.edit_id, 'a')
  await history.flush()
  t.equal(namesOf(place).length, 1)
})

t.test('a copy that is being made is forgotten too', async t => {
  const place = makePlace(t)
  const history = await place.open()
  history.keepCopy(PATH, { edit_id: 'id', pieces: [Buffer.from('x')], hash: hashOf('x') })
  await history.forget(PATH)
  t.equal(await history.copyOf(PATH), null)
})

t.test('a copy that is asked for is written at once, whatever else waits', async t => {
  const place = makePlace(t)
  const history = await place.open()
  const keep = (path: string, text: string, alone: boolean) =>
    history.keepCopy(Buffer.from(path), { edit_id: text, pieces: [Buffer.from(text)], hash: hashOf(text) }, alone)
  for (const path of ['a', 'b', 'c']) keep(path, 'one', true)
  await history.leave(PATH)
  t.equal(namesOf(place).length, 0, 'nothing to do where none waits')
  await history.leave(Buffer.from('b'))
  t.equal(namesOf(place).length, 1, 'the others wait on')

  keep('b', 'two', true)
  const both = [history.leave(Buffer.from('b')), history.leave(Buffer.from('b'))]
  keep('b', 'three', true)
  await Promise.all(both)
  t.match(readFileSync(join(place.folder, 'copies', namesOf(place)[0]!)).toString(), /three$/, 'the last that was kept')

  keep('a', 'two', true)
  const first = { is: '' }
  const written = history.leave(Buffer.from('a')).then(() => {
    first.is ||= 'written'
  })
  for (let i = 0; i < 500 && first.is === ''; i++) {
    for (let j = 0; j < 8; j++) keep(`other ${j}`, String(i), false)
    await new Promise(resolve => setImmediate(resolve))
  }
  t.equal(first.is, 'written', 'while others are always being written')
  await written

  const writing = history.leave(Buffer.from('c'))
  await history.flush()
  t.equal(namesOf(place).length, 3 + 8, 'the end waits for one that is being written')
  await writing
  t.strictSame(place.events, [])
})

/** The names of complete copies. */
function namesOf({ folder }: Place): string[] {
  const copies = join(folder, 'copies')
  return existsSync(copies) ? readdirSync(copies).filter(name => !name.endsWith('.tmp')) : []
}

async function waitUntil(condition: () => boolean, most = 5000): Promise<void> {
  const start = performance.now()
  while (!condition()) {
    if (performance.now() - start > most) throw new Error('waited in vain')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
