// A history on a disk that is full: clear failures, nothing half kept, and room once there is some.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { History } from '../../src/log/api.ts'
import type { EditRecord } from '../../src/log/record.ts'
import { canMount } from '../folder/support/machine.ts'
import { DURABLE, FAST, hashOf, makePlace, recordOf, type Place } from './support/history.ts'

const SKIP = !canMount && 'needs root to mount a small file system'

const small = (t: { teardown(work: () => unknown): void }): string => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
  t.teardown(() => {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

interface FilledUp {
  place: Place
  history: History
  /** Not settled. */
  records: readonly [EditRecord, ...EditRecord[]]
  /** A file; without it there is room again. */
  filler: string
}

/** A history with a record of each of these files, on a disk that has no room for more. */
async function filledUp(t: Test, first: string, ...others: readonly string[]): Promise<FilledUp> {
  const folder = small(t)
  const place = makePlace(t, join(folder, 'history'))
  const history = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const records: [EditRecord, ...EditRecord[]] = [recordOf(history, first)]
  for (const path of others) records.push(recordOf(history, path))
  for (const record of records) await history.append(record, DURABLE)
  const filler = join(folder, 'filler')
  spawnSync('sh', ['-c', `cat /dev/zero > ${filler}`])
  return { place, history, records, filler }
}

t.test('rejects what finds no room, and goes on when there is some', { skip: SKIP }, async t => {
  const folder = small(t)
  const place = makePlace(t, join(folder, 'history'))
  const history = await place.open({ nonce: 'one', limits: { text: 1e6 } })
  const kept = recordOf(history, 'a.txt', 'kept')
  await history.append(kept, DURABLE)
  const filler = join(folder, 'filler')
  writeFileSync(filler, Buffer.alloc(150 * 1024))
  for (const options of [DURABLE, FAST]) {
    const record = recordOf(history, 'a.txt', 'x'.repeat(200 * 1024))
    await t.rejects(history.append(record, options), { code: 'ENOSPC' })
    t.equal(await history.byId(record.edit_id), null)
  }
  history.settle(kept.edit_id, 'done')
  rmSync(filler)
  const later = recordOf(history, 'a.txt', 'y'.repeat(100 * 1024))
  await history.append(later, DURABLE)
  const { records } = await (await place.open()).ofPath(kept.path)
  t.strictSame(
    records.map(({ record, settled }) => [record.edit_id, settled]),
    [
      [kept.edit_id, 'done'],
      [later.edit_id, null]
    ]
  )
  t.ok(place.events.some(({ event, code }) => event === 'history_segment_given_up' && code === 'ENOSPC'))
  t.equal(readdirSync(place.folder).filter(name => name.endsWith('.ndjson')).length, 2, 'no empty ones are left')
})

t.test('a blob or a copy that finds no room', { skip: SKIP }, async t => {
  const folder = small(t)
  const place = makePlace(t, join(folder, 'history'))
  const history = await place.open({ nonce: 'one' })
  const big = 'x'.repeat(400 * 1024)
  await t.rejects(history.append(recordOf(history, 'a.txt', big), DURABLE), { code: 'ENOSPC' })
  history.keepCopy(Buffer.from('a.txt'), { edit_id: history.nextId(), pieces: [Buffer.from(big)], hash: hashOf(big) })
  await history.flush()
  t.equal(await history.copyOf(Buffer.from('a.txt')), null)
  t.match(place.events, [{ event: 'history_copy_failed', code: 'ENOSPC' }])
  t.strictSame([readdirSync(join(place.folder, 'blobs')), readdirSync(join(place.folder, 'copies'))], [[], []])
})

t.test(
  'settlements that nobody can write are reported, and known as long as the server runs',
  { skip: SKIP },
  async t => {
    const { place, history, records } = await filledUp(t, 'a.txt')
    const [record] = records
    history.settle(record.edit_id, 'done')
    await history.flush()
    t.match(place.events.at(-1), { event: 'history_settlements_late', count: 1 })
    t.equal((await history.byId(record.edit_id))?.settled, 'done')
    t.ok((await history.sweep({ days: 30, bytes: 0 })).removed > 0, 'removing needs no room')
  }
)

t.test('settlements are written when there is room again, and reported once', { skip: SKIP }, async t => {
  const { place, history, records, filler } = await filledUp(t, 'a.txt', 'b.txt')
  for (const { edit_id } of records) {
    history.settle(edit_id, 'done')
    for (let i = 0; i < 3; i++) await history.flush()
  }
  const reported = place.events.filter(({ event }) => event.startsWith('history_settlements'))
  t.match(reported, [{ event: 'history_settlements_late', count: 1 }])
  const givenUp = place.events.filter(({ event }) => event === 'history_segment_given_up')
  t.ok(givenUp.length <= 2, 'the first attempt, and its second one in a new segment')
  rmSync(filler)
  const reader = await place.open()
  const settled = async () => (await reader.list({}, 9)).records.map(one => one.settled)
  const until = Date.now() + 20_000
  do {
    await setTimeout(50)
    await reader.refresh()
  } while ((await settled()).includes(null) && Date.now() < until)
  t.strictSame(await settled(), ['done', 'done'])
})

t.test('settlements that there never is room for are lost, and no memory with them', { skip: SKIP }, async t => {
  const { place, history, records } = await filledUp(t, 'a.txt')
  const [record] = records
  history.settle(record.edit_id, 'done')
  for (let i = 0; i < 9999; i++) history.settle(history.nextId(), 'done')
  await history.flush()
  t.equal((await history.byId(record.edit_id))?.settled, 'done')
  history.settle(history.nextId(), 'done')
  await history.flush()
  t.match(place.events.at(-1), { event: 'history_settlements_lost', count: 1 })
  t.equal((await history.byId(record.edit_id))?.settled, null, 'the oldest')
  await history.close()
  t.match(place.events.at(-1), { event: 'history_settlements_lost', count: 10_000 })
})

t.test('retention removes where there is no room at all', { skip: SKIP }, async t => {
  const folder = small(t)
  const place = makePlace(t, join(folder, 'history'))
  const history = await place.open({ limits: { segment: 1 } })
  for (let i = 0; i < 5; i++) await history.append(recordOf(history, `${i}.txt`), FAST)
  spawnSync('sh', ['-c', `cat /dev/zero > ${join(folder, 'filler')}`])
  await history.sweep({ days: 30, bytes: 0 })
  t.match(readdirSync(place.folder), [/^swept-/], 'what says how far')
})
