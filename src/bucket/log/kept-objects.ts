// The parts of a bucket's history that its sweep can remove. Also merges objects that dead servers left. Does not
// decide what is removed, or when.
import type { HistoryOptions } from '../../log/api.ts'
import type { Kept, KeptPlaces } from '../../log/sweep.ts'
import { markSwept, type SweptNames } from '../../log/swept.ts'
import { codeOf } from '../../error-code.ts'
import { newAttempt, type ObjectStore } from '../../object-store/store.ts'
import type { Logs } from './logs.ts'
import { listLog, mergeObjects } from './merge.ts'
import { BLOBS, COPIES, SWEPT } from './names.ts'
import type { LivingServers } from './servers.ts'
import { WROTE } from './appender.ts'

interface KeptObjectsOptions {
  store: ObjectStore
  logs: Logs
  servers: Pick<LivingServers, 'sweep'>
  report: HistoryOptions['report']
}

export function keptObjects({ store, logs, servers, report }: KeptObjectsOptions): KeptPlaces {
  return {
    segment: async segment => {
      const { number, nonce, isClosed } = segment
      const { parts = [], next = 0 } = logs.get(segment.name) ?? {}
      if (isClosed && parts.length > 1) {
        const merge = { store, log: number, range: { from: 0, to: next - 1 }, metadata: { [WROTE]: nonce } }
        // The next sweep will do it.
        await mergeObjects(merge).catch(error =>
          report({ event: 'history_merge_failed', log: number, code: codeOf(error) })
        )
      }
      const objects = await listLog(store, number)
      if (objects.length === 0) return null
      return {
        size: objects.reduce((sum, { size }) => sum + size, 0),
        at: Math.max(...objects.map(({ modified_at }) => modified_at.getTime())),
        remove: async () => {
          await markSwept(sweptObjects(store), segment.overview?.highest ?? '')
          // The end of the log goes last, so that no server can continue what is left.
          for (const { key } of objects) await store.remove(key)
          logs.drop(segment)
          return 'removed'
        }
      }
    },
    blobs: () => objectsIn(store, BLOBS),
    copies: () => objectsIn(store, COPIES),
    tidy: () => servers.sweep()
  }
}

export const sweptObjects = (store: ObjectStore): SweptNames => ({
  // Usually one name; more if several servers sweep at the same time.
  names: async () => (await store.list(SWEPT)).keys.map(({ key }) => key.slice(SWEPT.length)),
  add: async name => {
    const attempt = newAttempt()
    // If it exists already, another server was faster.
    await store.write(SWEPT + name, { bytes: Buffer.alloc(0), if: 'absent', attempt })
  },
  remove: name => store.remove(SWEPT + name)
})

/** The time in a list may be more exact than the one of a single object. */
const second = (date: Date): number => Math.floor(date.getTime() / 1000)

async function objectsIn(store: ObjectStore, prefix: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (let after: string | null = prefix; after !== null;) {
    const page = await store.list(prefix, { after })
    for (const { key, size, version, modified_at } of page.keys) {
      kept.push({
        size,
        at: modified_at.getTime(),
        remove: async () => {
          const now = await store.head(key)
          if (now === null) return 'gone'
          // It was written again meanwhile, as a new record needs it.
          if (now.version !== version || second(now.modified_at) !== second(modified_at)) return 'needed'
          await store.remove(key)
          return 'removed'
        }
      })
    }
    after = page.next_after
  }
  return kept
}
