// What of a text's changes nobody has kept, all together: as hunks of lines, each with the changes that make the
// difference. A task that can be sent to another thread. Does not know files, threads, or whose changes they are.
import { ok, type Result } from '../result.ts'
import type { HistoryGone } from './failure.ts'
import { baselineOf, type Verdict } from './history/baseline.ts'
import { isRecordedId, type RecordedChange } from './history/change.ts'
import { knownSince, reachOf, type Reach } from './history/known.ts'
import { listHunks, type ListedHunk } from './history/listed-hunks.ts'
import { netOf } from './history/net.ts'
import { LineBudget } from './history/shown-line.ts'
import { type ListedSelection, Units } from './history/units.ts'
import { replay } from './history/weave.ts'

export interface PendingTask {
  /** All that is known of the text's changes, oldest first. */
  changes: readonly RecordedChange[]
  /** On these, oldest first. */
  verdicts: readonly Verdict[]
  /** Lines that are the same, on each side of a hunk. */
  context_lines: number
  /** Lines of all hunks that are listed. */
  max_lines: number
}

export interface PendingText extends Reach {
  hunks: ListedHunk[]
  /** Also those that aren't listed. */
  total_hunks: number
  /** Not all hunks, or lines of them, are listed. */
  truncated?: true
  /** What is pending and of no hunk: nothing is to be seen of it. */
  unseen: ListedSelection[]
}

/**
 * What is pending of `present`, the text that the changes end in. Fails where what is recorded doesn't fit it. Linear in
 * the text and in what is recorded.
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
