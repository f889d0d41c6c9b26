// Since when something is as it is.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { UnchangedSince } from '../../../src/bucket/log/unchanged-since.ts'

t.test('counts from when a name was first seen in its state, of as many names as may be', async t => {
  const since = new UnchangedSince(2)
  for (const name of ['a', 'b']) t.equal(since.age(name, 'one'), 0)
  await sleep(5)
  t.ok(since.age('a', 'one') > 0)
  t.equal(since.age('b', 'two'), 0, 'it has changed')
  since.forget('b')
  await sleep(5)
  t.equal(since.age('b', 'two'), 0)
  t.ok(since.age('a', 'one') > 0)
  t.equal(since.age('c'), 0)
  await sleep(5)
  t.ok(since.age('b', 'two') > 0)
  t.equal(since.age('a', 'one'), 0, 'it was seen first, and so forgotten')
})
