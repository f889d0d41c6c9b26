// What servers of one bucket tell while objects are written, put together and read at the same time: in a store that
// answers late, where much of that happens within each request. feed.test.ts asks the same of a real Ceph.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { openBucketHistory } from '../../../src/bucket/log/bucket-log.ts'
import type { History } from '../../../src/log/api.ts'
import { LOGS } from '../../../src/bucket/log/names.ts'
import type { ObjectStore } from '../../../src/object-store/store.ts'
import { rest, tellsInOrder } from '../../log/behaviours/feed.ts'
import { FAST, recordOf, type AnyPlace } from '../../log/support/history.ts'
import { gate } from '../../gate.ts'
import { slowStore } from './support/slow-store.ts'

function makeSlowPlace(t: Test, store = slowStore()): AnyPlace {
  const opened: History[] = []
  t.teardown(() => Promise.all(opened.map(history => history.close())))
  const place: AnyPlace = {
    events: [],
    gone: new Set(),
    late: new Map(),
    open: async options => {
      const history = await openBucketHistory(store, {
        nonce: randomBytes(6).toString('hex'),
        level: 'full',
        isPrivate: () => false,
        report: event => place.events.push(event),
        ...options
      })
      opened.push(history)
      return history
    }
  }
  return place
}

tellsInOrder(t, (t: Test) => makeSlowPlace(t))

t.test('keeps what a server writes to its log while it reads the beginning of that', async t => {
  const store = slowStore()
  const [isWritten, isAsked, mayAnswer, mayRead] = [gate(), gate(), gate(), gate()]
  const held: ObjectStore = {
    ...store,
    async write(key, what) {
      const written = await store.write(key, what)
      if (!key.startsWith(LOGS)) return written
      isWritten.open()
      await mayAnswer.opened
      return written
    },
    async get(key) {
      if (key.startsWith(LOGS)) isAsked.open()
      await mayRead.opened
      return store.get(key)
    }
  }
  const history = await makeSlowPlace(t, held).open()
  const start = await history.feedEnd()
  const records = ['1', '2'].map(text => recordOf(history, 'a.txt', text))
  const first = history.append(records[0]!, FAST)
  await isWritten.opened
  const looked = history.refresh()
  await isAsked.opened
  mayAnswer.open()
  await first
  await history.append(records[1]!, FAST)
  mayRead.open()
  await looked
  const ids = records.map(({ edit_id }) => edit_id)
  t.strictSame(
    (await history.ofPath(Buffer.from('a.txt'))).records.map(({ record }) => record.edit_id),
    ids
  )
  for (const id of ids) history.settle(id, 'done')
  await history.flush()
  t.strictSame((await rest(history, start))?.ids, ids)
})
