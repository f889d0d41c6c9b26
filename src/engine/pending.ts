// The pending changes of a text, those nobody has kept, as line hunks; each hunk names the changes that make the
// difference. A plain-data task that can run in another thread.
import { ok, type Result } from '../result.ts'
import type { HistoryGone } from './failure.ts'
import { baselineOf, type Verdict } from './undo/baseline.ts'
import { isRecordedId, type RecordedChange } from './undo/change.ts'
import { knownSince, reachOf, type Reach } from './undo/known.ts'
import { listHunks, type ListedHunk } from './undo/listed-hunks.ts'
import { netOf } from './undo/pending-diff.ts'
import { LineBudget } from './undo/shown-line.ts'
import { type ListedSelection, Units } from './undo/units.ts'
import { replay } from './undo/weave.ts'

export interface PendingTask {
  /** All known changes of the text, oldest first. */
  changes: readonly RecordedChange[]
  /** Verdicts on these changes, oldest first. */
  verdicts: readonly Verdict[]
  /** Unchanged lines on each side of a hunk. */
  context_lines: number
  /** How many lines all hunks may list together. */
  max_lines: number
}

export interface PendingText extends Reach {
  hunks: ListedHunk[]
  /** Includes hunks that aren't listed. */
  total_hunks: number
  /** Some hunks, or some of their lines, aren't listed. */
  truncated?: true
  /** Pending changes that are part of no hunk, because they have no visible effect. */
  unseen: ListedSelection[]
}

/**
 * The pending changes of `present`, the text after all changes. Fails if the record contradicts the text. Linear in the
 * text and in the record.
 */
export function pendingOf(present: Buffer, task: PendingTask): Result<PendingText, HistoryGone> {
  const { changes, verdicts, context_lines, max_lines } = task
  const units = new Units(changes)
  const since = knownSince(changes, units)
  const weave = replay(present, changes, units, since)
  if (!weave.ok) return weave
  const isKept = baselineOf(verdicts)
  const first = since < changes.length ? units.of(since)[0] : units.count
  const net = netOf(weave.value, first, unit => {
    const at = units.changeOf[unit]!
    return isKept(changes[at]!.edit_id, unit - units.of(at)[0])
  })
  const hunks = listHunks(net, present, { units, changes, context_lines, budget: new LineBudget(max_lines) })
  const isCut = hunks.length < net.hunks.length || hunks.at(-1)?.truncated === true
  return ok({
    hunks,
    total_hunks: net.hunks.length,
    ...(isCut && { truncated: true }),
    unseen: units.selection(net.unseen, changes).filter(({ edit_id }) => isRecordedId(edit_id)),
    ...reachOf(changes, since)
  })
}
