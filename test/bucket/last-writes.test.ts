// What proves that an object is what an edit with a record has made of it, and what does not.
import t from 'tap'
import { LastWrites } from '../../src/bucket/last-writes.ts'
import { Ids, timeOf } from '../../src/log/ids.ts'
import { hashOf } from '../log/support/history.ts'

const PATH = Buffer.from('a.txt')
const NOW = Date.UTC(2026, 10, 25)
const secret = Buffer.alloc(32, 1)
const ids = new Ids()

/** An object as the write of this record leaves it. */
function written(edit_id: string, text = 'text\n') {
  const digest = hashOf(text)
  return {
    digest,
    landed: [{ attempt: edit_id, replaced: null }],
    metadata: new LastWrites(secret).metadata(PATH, edit_id, digest),
    modified_at: new Date(timeOf(edit_id) + 500)
  }
}

t.test('names the record that made an object what it is', async t => {
  const edit_id = ids.next(NOW)
  t.equal(timeOf(edit_id), NOW)
  t.equal(new LastWrites(secret).of(PATH, written(edit_id)), edit_id)
})

t.test('names none where anything else may have been', async t => {
  const edit_id = ids.next(NOW)
  const object = written(edit_id)
  const random = 'ab'.repeat(12)
  const at = (ms: number) => ({ modified_at: new Date(NOW + ms) })
  const cases: [string, object][] = [
    ['there is no object', { digest: null, landed: [], metadata: {} }],
    ['another program wrote it', { landed: [], metadata: {} }],
    ['a server without a history wrote it', { landed: [{ attempt: random, replaced: null }] }],
    ['another record is its last', { landed: [{ attempt: ids.next(NOW), replaced: 'x' }, ...object.landed] }],
    ['its content is another', { digest: hashOf('other\n') }],
    ['nothing proves it', { metadata: { 'editd-sha256': object.digest } }],
    [
      'it is of another workspace',
      { metadata: new LastWrites(Buffer.alloc(32)).metadata(PATH, edit_id, object.digest) }
    ],
    ['it was put there again later', at(61_000)],
    ['its time is before that of its record', at(-61_000)]
  ]
  for (const [why, difference] of cases) {
    t.equal(new LastWrites(secret).of(PATH, { ...object, ...difference }), undefined, why)
  }
  t.equal(new LastWrites(secret).of(Buffer.from('b.txt'), object), undefined, 'it is a copy of another')
  for (const ms of [-59_000, 59_000]) {
    t.equal(new LastWrites(secret).of(PATH, { ...object, ...at(ms) }), edit_id, 'clocks differ by less')
  }
})

t.test('names none that is older than one it knows', async t => {
  const [first, second, third] = [ids.next(NOW), ids.next(NOW), ids.next(NOW)]
  const own = new LastWrites(secret)
  own.wrote(PATH, second)
  own.wrote(PATH, first)
  t.equal(own.of(PATH, written(first)), undefined)
  t.equal(own.of(Buffer.from('a.txt'), written(second)), second)
  t.equal(own.of(PATH, written(third)), third)
  t.equal(own.of(PATH, written(second)), undefined, 'it has seen a later one')
})
