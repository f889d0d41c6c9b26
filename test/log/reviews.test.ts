// Verdicts as records: written like any other, done at once, and no change of their file.
import { readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { decodeFacts } from '../../src/log/record-json.ts'
import { makePlace } from './support/history.ts'
import { durable, reviewBehaviours, reviewedEdit, reviewOf } from './behaviours/reviews.ts'

reviewBehaviours(t, makePlace)

t.test('is removed with its segment, and keeps no text', async t => {
  const place = makePlace(t)
  const history = await place.open({ limits: { segment: 1 } })
  const { review } = await reviewedEdit(history)
  const key = { digest: 'd', fingerprint: 'f', outcome: { kept: ['secret'] } }
  const keyed = reviewOf(history, 'a.txt', { verdict: 'pending', of: [] }, { key })
  await history.append(keyed, durable)
  t.match(await history.byKey('d'), { record: { key }, settled: 'done' })
  // The edit has texts, the answer names what was asked for.
  t.equal(await history.forget(Buffer.from('a.txt')), 2)
  t.match(await history.byKey('d'), { record: { key: { outcome: null }, review: { verdict: 'pending' } } })
  t.match(await history.byId(review.edit_id), { record: { review: { verdict: 'kept' } } })
  const segments = readdirSync(place.folder).filter(name => name.endsWith('.ndjson'))
  for (const name of segments) {
    t.notMatch(readFileSync(join(place.folder, name), 'utf8'), 'secret')
    utimesSync(join(place.folder, name), 0, 0)
  }
  await history.sweep({ days: 1, bytes: Infinity })
  t.equal(await history.byId(review.edit_id), null)
  t.match(await history.byKey('d'), { settled: 'done' }, 'a key is known for a day')
})

const line = { edit_id: '01KASMCX2G0000000000000000', at: 1, path: 'a', hash_before: null, hash_after: null }
const facts = { ...line, size_before: 0, size_after: 0, lines_added: 0, lines_removed: 0 }
const said = (more: object): unknown =>
  decodeFacts(Buffer.from(`${JSON.stringify({ ...facts, ...more }).slice(0, -1)},"texts":null}`))
const of = [{ edit_id: 'e', stood: true }]

t.test('is what it says, or nothing', async t => {
  t.match(said({ operation: 'review', review: { verdict: 'kept', of } }), {
    facts: { review: { verdict: 'kept', of } }
  })
  for (const review of [
    undefined,
    'kept',
    { verdict: 'keep', of },
    { verdict: 'kept' },
    { verdict: 'kept', of: ['e'] },
    { verdict: 'kept', of: [{ edit_id: 'e' }] },
    { verdict: 'kept', of: [{ stood: true }] }
  ]) {
    t.equal(said({ operation: 'review', review }), null, JSON.stringify(review))
  }
  t.equal(said({ operation: 'edit', review: { verdict: 'kept', of } }), null, 'an edit has no verdict')
})
