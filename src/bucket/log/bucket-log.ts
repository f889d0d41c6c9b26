// Assembles the history of one bucket from its parts. Does not know files, HTTP or S3.
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
  /** Tells which servers are alive; replaces LivingServers. */
  servers?: Pick<LivingServers, 'begin' | 'look' | 'isGone' | 'sweep' | 'end'>
}

/**
 * In bytes: the size at which a log ends, which is what has to be read to find one record in an ended log. Chosen, not
 * measured.
 */
const LOG = 2 * 1024 * 1024
/** In ms, between two looks at what other servers have written: each is a request. Chosen, not measured. */
const LOOK = 1000
/**
 * In ms: how long a copy waits for later edits of its file, as each write takes two requests. Until it is written,
 * other servers know that another program changed the file, but not how; if this server is killed first, no server ever
 * does. Chosen, not measured.
 */
const LATER = 2000
/** In ms: how long it takes to write the copies that have waited. Chosen, not measured. */
const WRITTEN = 1000

/**
 * Opens the history without reading it. Rejects with StoreUnavailable or StoreRefused if the store can't be asked. Each
 * record takes some 100 bytes of memory, plus its path and names once for each log. For ended logs, `limits.indexes`
 * indexes are kept; for the rest of them, 8 bytes for each path and key.
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
