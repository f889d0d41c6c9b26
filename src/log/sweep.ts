// Keeps the history within its bounds by removing whole files: copies first, as no undo needs them, then the oldest. Writes
// no bytes, so it works where the disk is full. Does not know what records say.
import { join } from 'node:path'
import { codeOf } from '../error-code.ts'
import type { AgeClock } from './files/age-clock.ts'
import type { HistoryOptions, Retention, Swept } from './api.ts'
import type { Blobs } from './blobs.ts'
import type { CopyFiles } from './files/copy-files.ts'
import { compare } from './cursor.ts'
import { look, namesIn, remove } from './files/files.ts'
import { asTheyGo } from './limits.ts'
import { indexedBy, indexName, parseSegment } from './segment-name.ts'
import type { Segments } from './segments.ts'
import { markSwept, sweptFiles } from './swept.ts'

export interface Sweeping {
  segments: Segments
  blobs: Blobs
  copies: CopyFiles
  clock: AgeClock
  report: HistoryOptions['report']
}

interface Kept {
  path: string
  size: number
  /** When it was last changed, in ms since 1970. */
  at: number
  /** Whether this server removed it; null: it has to stay. */
  remove: (() => Promise<boolean>) | null
}

const DAY = 24 * 60 * 60 * 1000
/** In ms: temp files that are older were left behind by a server that was killed. */
const LEFT = 60 * 60 * 1000

export async function sweepHistory({ days, bytes }: Retention, sweeping: Sweeping): Promise<Swept> {
  const { segments, clock, report } = sweeping
  await segments.catchUp()
  await segments.askWhoIsGone()
  const now = clock.now()
  const failed = (error: unknown) => report({ event: 'history_sweep_failed', code: codeOf(error) })
  const [segmentsKept, blobsKept, copiesKept] = await Promise.all([
    segmentFiles(sweeping, now, failed),
    blobFiles(sweeping, now),
    copyFiles(sweeping, now)
  ])
  const all = asTheyGo(copiesKept, [...segmentsKept, ...blobsKept])
  const swept = { removed: 0, bytes: all.reduce((sum, { size }) => sum + size, 0) }
  for (const { path, size, at, remove } of all) {
    if (remove === null || (at >= now - days * DAY && swept.bytes <= bytes)) continue
    try {
      if (await remove()) swept.removed++
      // Else another server's sweep, which goes by the same list, may have been faster: that made room too.
      else if ((await look(path)) !== null) continue
      swept.bytes -= size
    } catch (error) {
      failed(error)
    }
  }
  clock.keep()
  return swept
}

/**
 * Each with its index. The one with the highest number goes when no other is left: the numbers go on from it, and by them
 * it is known whether what a reader hasn't read yet is still there (cursor.ts). An index without its segment goes at once.
 */
async function segmentFiles({ segments }: Sweeping, now: number, failed: (error: unknown) => void): Promise<Kept[]> {
  const { folder } = segments
  const kept: Kept[] = []
  // Where two were changed in one tick of the file system's clock, the lower number is the older one.
  const known = segments.known().toSorted(compare)
  const highest = known.at(-1)
  let last: Kept | undefined
  for (const segment of known) {
    const { name, isClosed, overview } = segment
    const [path, index] = [join(folder, name), join(folder, indexName(name))]
    const [stats, indexStats] = await Promise.all([look(path), look(index)])
    if (stats === null) continue
    const hasKeys = (overview?.keyedAt ?? -Infinity) > now - DAY
    const removeBoth = async () => {
      if (segment === highest && (await hasOther(folder, name))) return false
      // Without it, its edits seem never to have been made; that the disk gets space is worth more.
      await markSwept(sweptFiles(folder), overview?.highest ?? '').catch(failed)
      const isMine = await remove(path)
      await remove(index)
      segments.drop(name)
      return isMine
    }
    const size = stats.size + (indexStats?.size ?? 0)
    const file = { path, size, at: stats.mtimeMs, remove: isClosed && !hasKeys ? removeBoth : null }
    if (segment === highest) last = file
    kept.push(file)
  }
  if (last !== undefined) last.at = Math.max(...kept.map(({ at }) => at))
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const segment = indexedBy(name)
    if (name.endsWith('.tmp')) await removeLeft(path, now)
    else if (segment !== null && (await look(join(folder, segment))) === null) await remove(path)
  }
  return kept
}

const hasOther = async (folder: string, segment: string): Promise<boolean> =>
  (await namesIn(folder)).some(name => name !== segment && parseSegment(name) !== null)

async function blobFiles({ blobs }: Sweeping, now: number): Promise<Kept[]> {
  return filesIn(blobs.folder, now, async (name, at) => {
    if (await blobs.restore(name)) return null
    // Younger than before: a new record needs it.
    return () => blobs.removeIf(name, async going => ((await look(going))?.mtimeMs ?? 0) <= at)
  })
}

async function copyFiles({ copies }: Sweeping, now: number): Promise<Kept[]> {
  return filesIn(copies.folder, now, async name => () => remove(join(copies.folder, name)))
}

async function filesIn(
  folder: string,
  now: number,
  removal: (name: string, at: number) => Promise<Kept['remove']>
): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const stats = await look(path)
    if (stats === null) continue
    const { size, mtimeMs: at } = stats
    if (!name.endsWith('.tmp')) kept.push({ path, size, at, remove: await removal(name, at) })
    // A younger one is being written.
    else if (!(await removeLeft(path, now))) kept.push({ path, size, at, remove: null })
  }
  return kept
}

async function removeLeft(path: string, now: number): Promise<boolean> {
  const stats = await look(path)
  return stats !== null && stats.mtimeMs < now - LEFT && remove(path)
}
