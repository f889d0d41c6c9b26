// What servers of one bucket tell while objects are written, put together and read at the same time: in a store that
// answers late, where much of that happens within each request. feed.test.ts asks the same of a real Ceph.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { openBucketHistory } from '../../../src/bucket/history/history.ts'
import type { History } from '../../../src/history/api.ts'
import { tellsInOrder } from '../../history/behaviours/feed.ts'
import type { AnyPlace } from '../../history/support/history.ts'
import { slowStore } from './support/slow-store.ts'

function makeSlowPlace(t: Test): AnyPlace {
  const store = slowStore()
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

tellsInOrder(t, makeSlowPlace)
