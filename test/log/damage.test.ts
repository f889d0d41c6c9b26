// Segments that are torn, cut, edited, replaced or removed: what can still be read is, and what can't is named.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { cutOff, hasLoop, isRoot, loop, onLinux } from '../folder/support/machine.ts'
import { DURABLE, FAST, hashOf, makePlace, recordOf, write } from './support/history.ts'
import { encodeLine } from '../../src/log/line.ts'

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
    const { records: left } = await history.ofPath(PATH)
    t.strictSame(
      left.map(({ record }) => record.edit_id),
      [records[1]!.edit_id],
      `round ${round}`
    )
  }
  t.equal(await history.byId(records[0]!.edit_id), null)
  t.match(place.events, [{ event: 'history_line_damaged', segment: 'one-1.ndjson' }])
})

t.test('tells whether what is damaged may be of a key', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const digests = ['a', 'b', 'c'].map(text => hashOf(text))
  const records = await write(
    history,
    digests.map(digest => ({ ...recordOf(history, 'a.txt'), key: { digest, fingerprint: '', outcome: null } }))
  )
  await history.close()
  const segment = join(place.folder, 'one-1.ndjson')
  const whole = readFileSync(segment)
  const at = whole.indexOf(digests[1]!)
  /** `damaged`: the segment as it is then; `expected`: for each key, whether it may be lost, of records after `after`. */
  const check = async (name: string, damaged: Buffer, expected: boolean[], after = ''): Promise<void> => {
    writeFileSync(segment, damaged)
    rmSync(`${segment}.index`, { force: true })
    const other = await place.open()
    place.gone.add('one')
    await other.unsettled()
    t.strictSame(await Promise.all(digests.map(digest => other.mayHaveLostKey(digest, after))), expected, name)
    await other.close()
  }
  const without = (...offsets: number[]): Buffer => {
    const bytes = Buffer.from(whole)
    for (const offset of offsets) bytes[offset]! ^= 1
    return bytes
  }
  await check('nothing', whole, [false, false, false])
  await check('elsewhere in its line', without(at - 20), [false, true, false])
  await check('of the digest', without(at, at + 17, at + 34), [false, true, false])
  await check('too much of the digest', without(at, at + 17, at + 34, at + 51), [false, false, false])
  await check('earlier than a record', without(at - 20), [false, false, false], records[2]!.edit_id)
  await check('later than a record', without(at - 20), [false, true, false], records[0]!.edit_id)
  await check('cut short', whole.subarray(0, at + 70), [false, false, false])
  const long = Buffer.concat([Buffer.alloc(256 * 1024 - 20, 'x'), Buffer.from(digests[1]!), Buffer.from('\n')])
  await check('a long line', Buffer.concat([long, whole]), [false, true, false])
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
  symlinkSync(target, join(place.folder, 'one-2.ndjson'))
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
  t.ok(readdirSync(place.folder).includes('one-3.ndjson'))
  t.equal(readFileSync(target, 'utf8'), 'untouched')
  t.strictSame(place.events.map(({ event, segment, code }) => [event, segment, code]).sort(), [
    ['history_segment_refused', 'one-2.ndjson', 'EEXIST'],
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

t.test('a good line that says nothing known is a gap', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const [record] = await write(history, [recordOf(history, 'a.txt')])
  const segment = join(place.folder, 'one-1.ndjson')
  const good = readFileSync(segment, 'utf8').split('\n')[0]!.slice(9)
  const wrong = [
    'no JSON',
    '[]',
    '{"settles":"one","as":"done"}',
    good.replace('"operation":"edit"', '"operation":"delete"'),
    good.replace('"lines_added":1', '"lines_added":"1"'),
    good.replace('"at":', '"at":null,"was":'),
    good.slice(0, 20) + ',"texts":null}'
  ]
  for (const json of wrong) writeFileSync(segment, encodeLine(json), { flag: 'a' })
  const [later] = await write(history, [recordOf(history, 'a.txt')])
  t.match(place.events, [{ event: 'history_segment_given_up', code: 'SEGMENT_CHANGED' }])
  for (const known of [history, await place.open()]) {
    const { records, gaps } = await known.ofPath(PATH)
    t.strictSame(
      records.map(({ record }) => record.edit_id),
      [record!.edit_id, later!.edit_id]
    )
    t.equal(gaps.length, 1, 'they are one gap')
  }
})

t.test('texts that aren’t as they were written are lost', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  const [record] = await write(history, [recordOf(history, 'a.txt', 'text')])
  const segment = join(place.folder, 'one-1.ndjson')
  const good = readFileSync(segment, 'utf8').split('\n')[0]!.slice(9)
  await history.close()
  const texts = [
    '{"splices":{},"places":null}',
    '{"splices":null,"places":[1]}',
    '{"splices":[["0","",""]],"places":null}',
    '{"splices":[[0,"",1]],"places":null}',
    '{"splices":[[0,"",{"blob":"../x"}]],"places":null}',
    '{"pack":7,"splices":[[0,1,1]],"places":null}'
  ]
  for (const [i, json] of texts.entries()) {
    const start = good.indexOf(',"texts":')
    writeFileSync(segment, encodeLine(`${good.slice(0, start)},"texts":${json}}`))
    const known = await place.open()
    t.match(await known.byId(record!.edit_id), { texts: 'lost', record: { splices: null } }, `${i}`)
  }
})

t.test('a segment that can’t be opened any more after it was read', async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one', limits: { segment: 1 } })
  const records = [recordOf(history, 'a.txt'), recordOf(history, 'a.txt'), recordOf(history, 'a.txt')]
  for (const record of records) await history.append(record, FAST)
  const ids = records.map(({ edit_id }) => edit_id)
  const other = await place.open({ limits: { indexes: 1 } })
  t.equal((await other.ofPath(PATH)).records.length, 3)
  for (const name of readdirSync(place.folder)) if (name.endsWith('.index')) rmSync(join(place.folder, name))
  t.equal((await other.ofPath(PATH)).records.length, 3, 'without the files of indexes')
  rmSync(join(place.folder, 'one-1.ndjson'))
  t.equal((await other.ofPath(PATH)).records.length, 2)
  rmSync(join(place.folder, 'one-2.ndjson'))
  symlinkSync('/etc/passwd', join(place.folder, 'one-2.ndjson'))
  const known = await place.open()
  t.strictSame(
    (await known.ofPath(PATH)).records.map(({ record }) => record.edit_id),
    ids.slice(2)
  )
  const { records: left, gaps } = await history.ofPath(PATH)
  t.strictSame(
    left.map(({ record }) => record.edit_id),
    ids.slice(2)
  )
  t.match(gaps, [], 'it is older than the first one that is left')
  t.strictSame(
    place.events.filter(({ code }) => code === 'ELOOP').map(({ event, segment }) => [event, segment]),
    [
      ['history_segment_unreadable', 'one-2.ndjson'],
      ['history_segment_unreadable', 'one-2.ndjson']
    ],
    'each server says so'
  )
})

t.test('gives up a segment whose descriptor fails, and writes to a new one', { skip: !onLinux }, async t => {
  const place = makePlace(t)
  const history = await place.open({ nonce: 'one' })
  await write(history, [recordOf(history, 'a.txt')])
  const fd = readdirSync('/proc/self/fd').find(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('one-1.ndjson')
    } catch {
      return false
    }
  })
  closeSync(Number(fd))
  const record = recordOf(history, 'a.txt')
  await history.append(record, DURABLE)
  t.match(place.events, [
    { event: 'history_segment_given_up', code: 'EBADF' },
    { event: 'history_close_failed', code: 'EBADF' }
  ])
  t.strictSame((await history.ofPath(PATH)).records.length, 2)
})

t.test('the file system gives up', { skip: !hasLoop('xfs') && 'needs xfs, root and a loop device' }, async t => {
  const base = mkdtempSync(join(tmpdir(), 'editd-history-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const { mounted } = loop(t, base, 'xfs')
  const place = makePlace(t, join(mounted, 'history'))
  const history = await place.open()
  await history.append(recordOf(history, 'a.txt'), DURABLE)
  cutOff(mounted)
  await t.rejects(history.append(recordOf(history, 'a.txt'), DURABLE), { code: 'EIO' })
})

t.test('an index with much in it, and blobs that go and come', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const paths = Array.from({ length: 3000 }, (_, i) => recordOf(history, `${i}`, 'x', { places: null }))
  await Promise.all(paths.map(record => history.append(record, FAST)))
  await history.close()
  for (const at of ['scanned', 'from its file']) {
    const known = await place.open()
    await known.unsettled()
    t.equal((await known.lastOf(Buffer.from('77')))?.edit_id, paths[77]!.edit_id, at)
  }
  const writer = await place.open({ limits: { text: 10 } })
  const [one, two] = [
    recordOf(writer, 'one', 'more than ten bytes'),
    recordOf(writer, 'two', 'more than ten bytes, too')
  ]
  await writer.append(one, FAST)
  await writer.append(two, FAST)
  const blobs = join(place.folder, 'blobs')
  for (const name of readdirSync(blobs)) copyFileSync(join(blobs, name), join(blobs, `${name}.going`))
  await writer.sweep({ days: 30, bytes: 1e9 })
  t.equal(readdirSync(blobs).length, 2)
  rmSync(blobs, { recursive: true })
  t.equal(await writer.forget(one.path), 1)
  mkdirSync(blobs)
  mkdirSync(join(blobs, hashOf('more than ten bytes, too')))
  mkdirSync(join(blobs, `${hashOf('more than ten bytes, too')}.going`))
  writeFileSync(join(blobs, `${hashOf('more than ten bytes, too')}.going`, 'x'), '')
  await t.rejects(writer.forget(two.path), { code: 'ENOTEMPTY' })
})
