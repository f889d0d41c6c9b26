// From which change on the history of a text is complete enough to be replayed.
import { isRecordedId, type RecordedChange } from './change.ts'
import type { Units } from './units.ts'

/**
 * The index of the oldest change from which on every change has its splices and toggles no older one; the number of
 * changes if the last one doesn't qualify.
 */
export function knownSince(changes: readonly RecordedChange[], units: Units): number {
  let since = 0
  for (const [at, { splices, toggles = [] }] of changes.entries()) {
    const reachesBack = toggles.some(({ edit_id }) => {
      const toggled = units.indexOf(edit_id)
      return toggled === undefined || toggled < since || toggled >= at
    })
    if (splices === null || reachesBack) since = at + 1
  }
  return since
}

/** How far back an answer reaches. */
export interface Reach {
  /** Older changes are unknown, or another program changed the text in an unknown way. */
  incomplete?: true
  /** The oldest known change; absent if all are known, or none. */
  reaches_back_to?: string
}

/** The reach of an answer if the changes are known from index `since` on. */
export function reachOf(changes: readonly RecordedChange[], since: number): Reach {
  if (since === 0) return {}
  const oldest = changes.find(({ edit_id }, at) => at >= since && isRecordedId(edit_id))
  return { incomplete: true, reaches_back_to: oldest?.edit_id }
}
