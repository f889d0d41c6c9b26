// Since when all of a text's changes are known, so that they can be replayed. Does not know what they are replayed for.
import { isRecordedId, type RecordedChange } from './change.ts'
import type { Units } from './units.ts'

/**
 * The index of the oldest change from which on all have their splices and toggle none that is older; how many there are
 * if the last one hasn't.
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
  /** Older changes aren't known, or another program changed the text and nobody knows how. */
  incomplete?: true
  /** The oldest change that is known; absent where all are, or none is. */
  reaches_back_to?: string
}

/** The same, where the changes are known from index `since` on. */
export function reachOf(changes: readonly RecordedChange[], since: number): Reach {
  if (since === 0) return {}
  const oldest = changes.find(({ edit_id }, at) => at >= since && isRecordedId(edit_id))
  return { incomplete: true, reaches_back_to: oldest?.edit_id }
}
