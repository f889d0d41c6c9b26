// Keeps a history within its limits by removing whole files or objects: copies first, as no undo needs them, then the
// oldest. Does not know what records say, or where they are stored.
import { codeOf } from '../error-code.ts'
import type { HistoryOptions, Retention, Swept } from './api.ts'
import { compare } from './cursor.ts'
import { segmentName } from './segment-name.ts'
import type { Segment } from './segment.ts'
import type { Segments } from './segments.ts'

/** The outcome: this server removed it, another already had, or it is still needed. */
export type KeptRemoval = 'removed' | 'gone' | 'needed'

export interface Kept {
  /** In bytes. */
  size: number
  /** When it was last changed, in ms since 1970. */
  at: number
  /** Rejects with an error that has a code. Null: it must stay. */
  remove: (() => Promise<KeptRemoval>) | null
}

/** The parts of a history, where they are stored. All methods reject with an error that has a code. */
export interface KeptPlaces {
  /** A segment with all that belongs to it, whatever its age; null: it is gone. */
  segment(segment: Segment): Promise<(Kept & { remove: () => Promise<KeptRemoval> }) | null>
  blobs(): Promise<Kept[]>
  copies(): Promise<Kept[]>
  /** Removes leftovers of servers that are gone. */
  tidy(): Promise<void>
}

interface Sweeping {
  segments: Segments
  kept: KeptPlaces
  /** In ms since 1970: the time used for ages. */
  now(): number
  report: HistoryOptions['report']
}

const DAY = 24 * 60 * 60 * 1000

/** Needs no disk space. What can't be removed is reported. Rejects if the parts can't be listed. */
export async function sweepHistory({ days, bytes }: Retention, sweeping: Sweeping): Promise<Swept> {
  const { segments, kept, report } = sweeping
  const failed = (error: unknown) => report({ event: 'history_sweep_failed', code: codeOf(error) })
  await segments.catchUp()
  await segments.askWhoIsGone()
  // Drops segments that others have removed.
  await segments.present()
  const now = sweeping.now()
  const [ofSegments, blobs, copies] = await Promise.all([keptSegments(sweeping, now), kept.blobs(), kept.copies()])
  const all = [...copies.toSorted(byAge), ...[...ofSegments, ...blobs].sort(byAge)]
  const swept = { removed: 0, bytes: all.reduce((sum, { size }) => sum + size, 0) }
  for (const { size, at, remove } of all) {
    if (remove === null || (at >= now - days * DAY && swept.bytes <= bytes)) continue
    try {
      const done = await remove()
      if (done === 'needed') continue
      if (done === 'removed') swept.removed++
      // Another server's sweep, which follows the same order, may have removed it: that freed the space too.
      swept.bytes -= size
    } catch (error) {
      failed(error)
    }
  }
  await kept.tidy().catch(failed)
  return swept
}

const byAge = (a: Kept, b: Kept): number => a.at - b.at

/**
 * The segment with the highest number is removed only when no other is left: numbering continues from it, and readers
 * tell by the numbers whether what they haven't read still exists (cursor.ts).
 */
async function keptSegments({ segments, kept }: Sweeping, now: number): Promise<Kept[]> {
  const all: Kept[] = []
  // If two were changed in one tick of the clock, the lower number is older.
  const known = segments.known().toSorted(compare)
  const highest = known.at(-1)
  let last: Kept | undefined
  for (const segment of known) {
    const found = await kept.segment(segment)
    if (found === null) continue
    const { name, isClosed, overview } = segment
    const hasKeys = (overview?.keyedAt ?? -Infinity) > now - DAY
    const isOther = (one: { nonce: string; number: number }) => segmentName(one.nonce, one.number) !== name
    const removeLast = async () => ((await segments.present()).some(isOther) ? 'needed' : found.remove())
    const one = { ...found, remove: !isClosed || hasKeys ? null : segment === highest ? removeLast : found.remove }
    if (segment === highest) last = one
    all.push(one)
  }
  if (last !== undefined) last.at = Math.max(...all.map(({ at }) => at))
  return all
}
