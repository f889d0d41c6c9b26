// The history of one bucket: puts its parts together. Does not know files, HTTP or S3.
import type { History, HistoryLimits } from '../../log/api.ts'
import { Blobs } from '../../log/blobs.ts'
import { Copies } from '../../log/copies.ts'
import { LogHistory, type LogHistoryOptions } from '../../log/log-history.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import { LogAppender } from './appender.ts'
import { BlobObjects } from './blob-objects.ts'
import { CopyObjects } from './copy-objects.ts'
import { keptObjects, sweptObjects } from './kept-objects.ts'
import { Logs } from './logs.ts'
import { LOGS } from './names.ts'
import { LivingServers, type ServerTimes } from './servers.ts'

export interface BucketHistoryOptions extends LogHistoryOptions {
  times?: Partial<ServerTimes>
  /** Who lives, where that is known otherwise. */
  servers?: Pick<LivingServers, 'begin' | 'look' | 'isGone' | 'sweep' | 'end'>
}

/** In bytes, of a log: what is read to find one record of a server that has ended its log. Chosen, not measured. */
const LOG = 2 * 1024 * 1024
/** In ms, between two looks at what other servers have written: each is a request. Chosen, not measured. */
const LOOK = 1000
/**
 * In ms: how long a copy waits for later edits of its file: each is two requests. Until then another server doesn't
 * know what another program did to the file, only that it did; and neither does any if this one is killed. Chosen, not
 * measured.
 */
const LATER = 2000
/** In ms: how long it takes to write those that have waited. Chosen, not measured. */
const WRITTEN = 1000

/**
 * Reads nothing yet. Rejects with StoreUnavailable or StoreRefused if the store can't be asked. A record takes some 100
 * bytes of memory, and its path and names once for each log; of ended logs, as many indexes are kept as
 * `limits.indexes` says, and of the others 8 bytes for each path and key.
 */
export async function openBucketHistory(store: ObjectStore, options: BucketHistoryOptions): Promise<History> {
  const { nonce, report } = options
  await store.list(LOGS, { limit: 1 })
  const limits: Partial<HistoryLimits> = { segment: LOG, ...options.limits }
  const servers =
    options.servers ?? new LivingServers({ store, nonce, report, ...(options.times && { times: options.times }) })
  return new LogHistory(
    { ...options, limits },
    ({ limits, ids, saw, sawIndex, wrote }) => {
      const logs = new Logs({ store, nonce, report, limits, ids, servers, saw, sawIndex })
      const appender = new LogAppender({
        store,
        nonce,
        report,
        limit: limits.segment,
        servers,
        written: (log, offset, lines) => logs.written(log, offset, lines),
        closed: (log, isWhole) => {
          logs.closed(log, isWhole)
          options.grown?.()
        }
      })
      return {
        segments: logs,
        blobs: new Blobs({ places: new BlobObjects(store), report }),
        copies: new Copies({ places: new CopyObjects({ store, limits }), wrote, report, limits, later: LATER }),
        late: LATER + WRITTEN,
        kept: keptObjects({ store, logs, servers, report }),
        appender,
        swept: sweptObjects(store),
        now: () => store.now()
      }
    },
    LOOK
  )
}
