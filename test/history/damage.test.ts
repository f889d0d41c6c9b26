// Segments that are torn, cut, edited, replaced or removed: what can still be read is, and what can't is named.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { isRoot, onLinux } from '../workspace/support/machine.ts'
import { DURABLE, FAST, makePlace, recordOf, write } from './support/history.ts'
import { encodeLine } from '../../src/history/line.ts'

const PATH = Buffer.from('a.txt')

t.test('skips a damaged line, and names the gap to those whom it may concern', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const records = await write(
    history,
    [1, 2, 3].map(i => recordOf(history, 'a.txt', `${i}`))
  )
  const [later] = await write(history, [recordOf(history, 'later.txt')])
  await history.close()
  const segment = join(place.folder, 'one-1.ndjson')
  const bytes = readFileSync(segment)
  const at = bytes.indexOf(`"insert"`) < 0 ? bytes.indexOf(records[1]!.edit_id) : 0
  bytes[at] = 0x58
  writeFileSync(segment, bytes)
  rmSync(`${segment}.index`)
  const other = await place.open()
  const { records: left, gaps } = await other.ofPath(PATH)
  t.strictSame(
    left.map(({ record }) => record),
    [records[0], records[2]]
  )
  t.equal(gaps.length, 1)
  t.match(gaps[0], { segment: 'one-1.ndjson', after: records[0]!.edit_id, before: records[2]!.edit_id })
  t.strictSame((await other.ofPath(Buffer.from('later.txt'))).gaps, [], 'it was before its first record')
  t.equal((await other.lastOf(later!.path))?.edit_id, later!.edit_id)
})

t.test('a line damaged after it was indexed is a gap, and found when the segment is read again', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const records = await write(
    history,
    [1, 2].map(i => recordOf(history, 'a.txt', `${i}`))
  )
  t.equal((await history.ofPath(PATH)).gaps.length, 0)
  const segment = join(place.folder, 'one-1.ndjson')
  const bytes = readFileSync(segment)
  bytes[3]! ^= 1
  writeFileSync(segment, bytes)
  for (const round of [1, 2]) {
    const { records: left, gaps } = await history.ofPath(PATH)
    t.strictSame(
      left.map(({ record }) => record.edit_id),
      [records[1]!.edit_id],
      `round ${round}`
    )
  }
  t.equal(await history.byId(records[0]!.edit_id), null)
  t.match(place.events, [{ event: 'history_line_damaged', segment: 'one-1.ndjson' }])
})

t.test('a last line without end is a gap once its server is gone', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const [record] = await write(history, [recordOf(history, 'a.txt')])
  const segment = join(place.folder, 'one-1.ndjson')
  const line = encodeLine('{"settles":1}')
  writeFileSync(segment, line.subarray(0, 9), { flag: 'a' })
  const other = await place.open()
  t.strictSame((await other.ofPath(PATH)).gaps, [])
  place.gone.add('one')
  await other.unsettled()
  t.match((await other.ofPath(PATH)).gaps, [{ length: 9, after: record!.edit_id, before: null }])
  const third = await place.open()
  t.equal((await third.ofPath(PATH)).gaps.length, 1, 'from the index')
})

t.test('reads again what was cut or replaced', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'a.txt'), recordOf(history, 'a.txt')])
  const other = await place.open()
  t.equal((await other.ofPath(PATH)).records.length, 2)
  const segment = join(place.folder, 'one-1.ndjson')
  truncateSync(segment, 20)
  t.equal((await other.ofPath(PATH)).records.length, 0)
  t.match(place.events, [{ event: 'history_segment_changed', segment: 'one-1.ndjson' }])
  const [again] = await write(history, [recordOf(history, 'a.txt')])
  t.match(place.events[1], { event: 'history_segment_given_up', code: 'SEGMENT_CHANGED' })
  await other.refresh()
  t.equal((await other.lastOf(PATH))?.edit_id, again!.edit_id)
  t.equal((await other.ofPath(PATH)).records.length, 1, 'with what is in the new segment')
})

t.test('writes again what was written to a segment, or a folder, that is gone', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'a.txt')])
  rmSync(join(place.folder, 'one-1.ndjson'))
  const record = recordOf(history, 'a.txt')
  await history.append(record, DURABLE)
  t.match(readFileSync(join(place.folder, 'one-2.ndjson'), 'utf8'), record.edit_id)
  rmSync(place.folder, { recursive: true })
  const next = recordOf(history, 'a.txt')
  await history.append(next, DURABLE)
  t.strictSame(
    (await (await place.open()).list({}, 10)).records.map(({ record }) => record.edit_id),
    [next.edit_id]
  )
})

t.test('refuses what is in the way of a segment, and never follows or waits for it', { skip: !onLinux }, async t => {
  const place = makePlace(t)
  mkdirSync(place.folder)
  const target = join(place.folder, '..', 'target')
  writeFileSync(target, 'untouched')
  symlinkSync(target, join(place.folder, 'one-1.ndjson'))
  symlinkSync(target, join(place.folder, 'two-1.ndjson'))
  execFileSync('mkfifo', [join(place.folder, 'three-1.ndjson')])
  mkdirSync(join(place.folder, 'four-1.ndjson'))
  writeFileSync(join(place.folder, 'five-1.ndjson'), '')
  truncateSync(join(place.folder, 'five-1.ndjson'), 2 ** 31)
  writeFileSync(join(place.folder, 'six-1.ndjson.index'), 'no index')
  writeFileSync(join(place.folder, 'something else'), '')
  const history = await place.open({ nonce: 'one' })
  const record = recordOf(history, 'a.txt')
  await history.append(record, DURABLE)
  t.strictSame((await history.ofPath(PATH)).records.length, 1)
  t.ok(readdirSync(place.folder).includes('one-2.ndjson'))
  t.equal(readFileSync(target, 'utf8'), 'untouched')
  t.strictSame(place.events.map(({ event, segment, code }) => [event, segment, code]).sort(), [
    ['history_segment_refused', 'one-1.ndjson', 'EEXIST'],
    ['history_segment_unreadable', 'five-1.ndjson', 'NOT_OURS'],
    ['history_segment_unreadable', 'four-1.ndjson', 'NOT_OURS'],
    ['history_segment_unreadable', 'three-1.ndjson', 'NOT_OURS'],
    ['history_segment_unreadable', 'two-1.ndjson', 'ELOOP']
  ])
})

t.test('says what it may not read', { skip: isRoot && 'root may read anything' }, async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'a.txt')])
  chmodSync(join(place.folder, 'one-1.ndjson'), 0)
  const other = await place.open()
  t.strictSame((await other.ofPath(PATH)).records, [])
  t.match(place.events, [{ event: 'history_segment_unreadable', code: 'EACCES' }])
})

t.test('gives a blob that is missing or damaged as lost', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const record = recordOf(history, 'a.txt', 'more than ten bytes')
  await history.append(record, DURABLE)
  t.strictSame((await history.byId(record.edit_id))?.record.splices, record.splices)
  const [name = ''] = readdirSync(join(place.folder, 'blobs'))
  writeFileSync(join(place.folder, 'blobs', name), 'different')
  t.match(await history.byId(record.edit_id), { texts: 'lost', record: { splices: null, places: null } })
  t.match(place.events, [{ event: 'history_blob_damaged', blob: name }])
  renameSync(join(place.folder, 'blobs', name), join(place.folder, 'blobs', 'elsewhere'))
  t.match(await history.byId(record.edit_id), { texts: 'lost' })
  symlinkSync('elsewhere', join(place.folder, 'blobs', name))
  t.match(await history.byId(record.edit_id), { texts: 'lost' })
  t.match(place.events[1], { event: 'history_blob_unreadable', code: 'ELOOP' })
  rmSync(join(place.folder, 'blobs', name))
  const next = recordOf(history, 'a.txt', 'more than ten bytes')
  await history.append(next, FAST)
  t.match(await history.byId(record.edit_id), { texts: 'kept' }, 'until the same text is written again')
})
