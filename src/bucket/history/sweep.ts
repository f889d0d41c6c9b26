// Keeps a bucket's history within its bounds by removing objects, copies first and then the oldest, and puts together what
// servers left that are gone. Does not know what records say.
import type { HistoryOptions, Retention, Swept } from '../../log/api.ts'
import { compare } from '../../log/cursor.ts'
import { asTheyGo } from '../../log/limits.ts'
import { markSwept } from '../../log/swept.ts'
import { codeOf } from '../../error-code.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import type { Logs } from './logs.ts'
import { listLog, mergeObjects } from './merge.ts'
import { BLOBS, COPIES } from './names.ts'
import type { LivingServers } from './servers.ts'
import { sweptObjects } from './swept.ts'
import { WROTE } from './writer.ts'

export interface SweepingLogs {
  store: ObjectStore
  logs: Logs
  servers: Pick<LivingServers, 'sweep'>
  report: HistoryOptions['report']
}

interface Kept {
  size: number
  /** When it was last changed, in ms since 1970 by the store's clock. */
  at: number
  /** Null: it has to stay. */
  remove: (() => Promise<Removal>) | null
}

/** What came of it: this server removed it, another had, or it is still needed. */
type Removal = 'removed' | 'gone' | 'needed'

const DAY = 24 * 60 * 60 * 1000

export async function sweepHistory({ days, bytes }: Retention, sweeping: SweepingLogs): Promise<Swept> {
  const { store, logs, servers, report } = sweeping
  await logs.catchUp()
  await logs.askWhoIsGone()
  await logs.present()
  const now = store.now()
  const needed = [...(await logObjects(sweeping, now)), ...(await others(sweeping, BLOBS))]
  const all = asTheyGo(await others(sweeping, COPIES), needed)
  const swept = { removed: 0, bytes: all.reduce((sum, { size }) => sum + size, 0) }
  for (const { size, at, remove } of all) {
    if (remove === null || (at >= now - days * DAY && swept.bytes <= bytes)) continue
    try {
      const done = await remove()
      if (done === 'needed') continue
      if (done === 'removed') swept.removed++
      swept.bytes -= size
    } catch (error) {
      report({ event: 'history_sweep_failed', code: codeOf(error) })
    }
  }
  await servers.sweep().catch(error => report({ event: 'history_sweep_failed', code: codeOf(error) }))
  return swept
}

/**
 * Whole logs. The one with the highest number goes when no other is left: the numbers go on from it, and by them it is
 * known whether what a reader hasn't read yet is still there (cursor.ts).
 */
async function logObjects({ store, logs, report }: SweepingLogs, now: number): Promise<Kept[]> {
  const kept: Kept[] = []
  // In their order: of those that were changed at the same time the highest goes last.
  const known = logs.known().toSorted(compare)
  const highest = known.at(-1)
  let last: Kept | undefined
  for (const log of known) {
    const { number, isClosed, overview, next } = log
    if (isClosed && log.parts.length > 1) {
      const metadata = { [WROTE]: log.nonce }
      const merge = { store, log: number, range: { from: 0, to: next - 1 }, metadata }
      // The next sweep does it.
      await mergeObjects(merge).catch(error =>
        report({ event: 'history_merge_failed', log: number, code: codeOf(error) })
      )
    }
    const objects = await listLog(store, number)
    const hasKeys = (overview?.keyedAt ?? -Infinity) > now - DAY
    const remove = async (): Promise<Removal> => {
      await markSwept(sweptObjects(store), overview?.highest ?? '')
      // Its end goes last: what is left is no log that somebody could go on with.
      for (const { key } of objects) await store.remove(key)
      logs.drop(log)
      return 'removed'
    }
    const removeLast = async (): Promise<Removal> =>
      (await logs.present()).some(other => other.number !== number) ? 'needed' : remove()
    const one = {
      size: objects.reduce((sum, { size }) => sum + size, 0),
      at: Math.max(...objects.map(({ modified_at }) => modified_at.getTime())),
      remove: !isClosed || hasKeys ? null : log === highest ? removeLast : remove
    }
    if (log === highest) last = one
    kept.push(one)
  }
  if (last !== undefined) last.at = Math.max(...kept.map(({ at }) => at))
  return kept
}

/** A list of objects may say it more exactly than a look at one. */
const second = (date: Date): number => Math.floor(date.getTime() / 1000)

async function others({ store }: SweepingLogs, prefix: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (let after: string | null = prefix; after !== null;) {
    const page = await store.list(prefix, { after })
    for (const { key, size, version, modified_at } of page.keys) {
      const at = modified_at.getTime()
      kept.push({
        size,
        at,
        remove: async () => {
          const now = await store.head(key)
          if (now === null) return 'gone'
          // Written again since: a new record needs it.
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
