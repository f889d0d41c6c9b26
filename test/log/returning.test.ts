// A server that was silent for so long that others took it for gone, and comes back: what it wrote before, and what it
// writes then, is known to all.
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { History } from '../../src/log/api.ts'
import { Cursor } from '../../src/log/cursor.ts'
import type { EditRecord } from '../../src/log/record.ts'
import { DURABLE, FAST, makePlace, recordOf, write, type Place } from './support/history.ts'

const A = Buffer.from('a.txt')
const NOTHING = { removed: 0 }

/** The changes after a cursor, and the next cursor as another server gets it: from its text. */
async function rest(history: History, after: Cursor): Promise<{ ids: string[]; next: Cursor }> {
  const page = await history.readOn(Cursor.parse(after.toString())!, 1000)
  if (!page.ok) throw new Error(page.failure.code)
  return { ids: page.value.events.map(({ facts }) => facts.edit_id), next: page.value.next }
}

const idsOf = (records: readonly EditRecord[]) => records.map(({ edit_id }) => edit_id)

const segmentsIn = (place: Place): string[] => readdirSync(place.folder).filter(name => name.endsWith('.ndjson'))

type Options = NonNullable<Parameters<Place['open']>[0]>

interface World {
  place: Place
  silent: History
  other: History
  /** A record that both know. */
  before: EditRecord
  /** From here on: of each of them. */
  starts: readonly Cursor[]
}

/** Two servers that know of each other; one of them then is taken for gone by the other, which looks for that. */
async function fresh(t: Test, options: Options = {}): Promise<World> {
  const place = makePlace(t)
  const [silent, other] = [await place.open({ nonce: 'silent', ...options }), await place.open({ nonce: 'other' })]
  const [before] = await write(silent, [recordOf(silent, 'a.txt')])
  const starts = [await silent.feedEnd(), await other.feedEnd()]
  return { place, silent, other, before: before!, starts }
}

async function takeForGone({ place, other }: Pick<World, 'place' | 'other'>): Promise<void> {
  place.gone.add('silent')
  t.match(await other.sweep({ days: 30, bytes: 1e9 }), NOTHING)
}

/** All that both know of a.txt, and are told after their cursors. */
async function check(
  t: Test,
  { silent, other, before, starts, place }: World,
  written: readonly EditRecord[]
): Promise<void> {
  const servers = { silent, other, new: await place.open() }
  for (const [name, history] of Object.entries(servers)) {
    const { records } = await history.ofPath(A)
    t.strictSame(
      records.map(({ record, settled }) => [record.edit_id, settled]),
      [before, ...written].map(({ edit_id }) => [edit_id, 'done']),
      `of the file: ${name}`
    )
    t.equal((await history.lastOf(A))?.edit_id, written.at(-1)?.edit_id, `last: ${name}`)
    for (const start of starts) t.strictSame((await rest(history, start)).ids, idsOf(written), `told: ${name}`)
  }
}

t.test('shows what a server writes after others took it for gone', async t => {
  const world = await fresh(t)
  await takeForGone(world)
  const written = [...(await write(world.silent, [recordOf(world.silent, 'a.txt', 'one')]))]
  await check(t, world, written)
  await takeForGone(world)
  written.push(...(await write(world.silent, [recordOf(world.silent, 'a.txt', 'two')])))
  written.push(...(await write(world.silent, [recordOf(world.silent, 'a.txt', 'three')])))
  await check(t, world, written)
  t.equal(segmentsIn(world.place).length, 3, 'one for each time')
  t.strictSame(world.place.events, [])
})

t.test('shows what a server was writing while others took it for gone', async t => {
  const LONG = 'x'.repeat(300_000)
  const cases = [
    { what: 'before the group was written', looks: 1, options: FAST, text: 'one' },
    { what: 'before a long one was', looks: 1, options: FAST, text: LONG },
    { what: 'before it was on the disk', looks: 2, options: DURABLE, text: 'one' },
    { what: 'when its segment was begun', looks: 1, options: FAST, text: 'one', limits: { segment: 1 } }
  ]
  for (const { what, looks, options, text, limits } of cases) {
    await t.test(what, async t => {
      const world = await fresh(t, { limits: { text: 1e6, ...limits } })
      const { place, silent, other } = world
      const sizes = () => new Map(segmentsIn(place).map(name => [name, statSync(join(place.folder, name)).size]))
      const sizesBefore = sizes()
      await takeForGone(world)
      place.late.set('silent', looks)
      const record = recordOf(silent, 'a.txt', text)
      await silent.append(record, options)
      silent.settle(record.edit_id, 'done')
      await silent.flush()
      for (const [name, size] of sizesBefore) t.equal(sizes().get(name), size, 'nothing is left where nobody reads')
      t.match(place.events, [{ event: 'history_segment_given_up', code: 'TAKEN_FOR_GONE' }])
      await check(t, world, [record])
      const more = recordOf(other, 'a.txt', 'two')
      await check(t, world, [record, ...(await write(other, [more]))])
    })
  }
})

t.test('knows what was cut off a segment, and written again to the next, however much it has read of it', async t => {
  const source = makePlace(t)
  const silent = await source.open({ nonce: 'silent' })
  const records = ['one', 'two'].map(text => recordOf(silent, 'a.txt', text))
  const file = (place: Place, number: number) => join(place.folder, `silent-${number}.ndjson`)
  await write(silent, records.slice(0, 1))
  const first = readFileSync(file(source, 1))
  await write(silent, records.slice(1))
  const all = readFileSync(file(source, 1))

  const place = makePlace(t)
  const [reader, closer] = [await place.open(), await place.open()]
  writeFileSync(file(place, 1), all)
  const beyond = await reader.feedEnd()
  place.gone.add('silent')
  await closer.sweep({ days: 30, bytes: 1e9 })
  const whole = await closer.feedEnd()
  truncateSync(file(place, 1), first.length)
  writeFileSync(file(place, 2), all.subarray(first.length))
  place.gone.delete('silent')
  for (const history of [reader, closer, await place.open()]) {
    const known = (await history.ofPath(A)).records
    t.strictSame(
      known.map(({ record, settled }) => [record.edit_id, settled, record.splices?.[0]?.insert.toString()]),
      records.map(({ edit_id }, i) => [edit_id, 'done', ['one', 'two'][i]])
    )
    t.strictSame((await history.ofPath(A)).gaps, [])
    t.notOk((await history.readOn(beyond, 10)).ok, 'it was read up to what isn’t there any more')
    t.ok((await history.readOn(whole, 10)).ok)
  }
})

t.test('reads what a segment got after it was taken for the last of a server that is gone', async t => {
  const world = await fresh(t)
  const { place, silent, other, before } = world
  // As on a file system where others see late what was written.
  const [late] = await write(silent, [recordOf(silent, 'a.txt', 'late')])
  const path = join(place.folder, 'silent-1.ndjson')
  const all = readFileSync(path)
  truncateSync(path, all.length - 50)
  await takeForGone(world)
  writeFileSync(path, all)
  const [next] = await write(silent, [recordOf(silent, 'a.txt', 'next')])
  t.strictSame(
    (await other.ofPath(A)).records.map(({ record, settled }) => [record.edit_id, settled]),
    [before, late, next].map(record => [record?.edit_id, 'done'])
  )
})

t.test('is removed by age while its server is taken for gone, and goes on in a new segment', async t => {
  const world = await fresh(t)
  const { place, silent, other } = world
  place.gone.add('silent')
  t.match(await other.sweep({ days: 30, bytes: 0 }), { removed: 1 })
  const [next] = await write(silent, [recordOf(silent, 'a.txt', 'next')])
  for (const history of [silent, other]) {
    t.strictSame(
      (await history.ofPath(A)).records.map(({ record }) => record.edit_id),
      [next?.edit_id]
    )
  }
  t.match(await other.sweep({ days: 30, bytes: 0 }), { removed: 0 }, 'it writes to it')
  t.equal(segmentsIn(place).length, 1)
})

t.test('writes nothing where it can’t be made sure that others see it, and goes on when it can', async t => {
  let fails = true
  const place = makePlace(t)
  const stayAlive = () => {
    if (fails) throw Object.assign(new Error('no'), { code: 'ENOSPC' })
    return 1
  }
  const history = await place.open({ nonce: 'silent', stayAlive })
  await t.rejects(history.append(recordOf(history, 'a.txt'), FAST), { code: 'ENOSPC' })
  t.strictSame(segmentsIn(place), [])
  fails = false
  await write(history, [recordOf(history, 'a.txt')])
  fails = true
  const refused = recordOf(history, 'a.txt')
  await t.rejects(history.append(refused, FAST), { code: 'ENOSPC' })
  history.settle(refused.edit_id, 'void')
  fails = false
  await history.flush()
  const { records } = await (await place.open()).ofPath(A)
  t.equal(records.length, 1)
})
