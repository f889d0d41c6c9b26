// Why the past of a file isn't known, as a failure of an operation. Does not know the operations.
import type { HistoryGone } from '../engine/failure.ts'
import type { TextsGone } from './operation.ts'

/** `goal`: what the request names, if that isn't what is gone. */
export const textsGone = (
  { reason, edit_ids, unrecorded }: HistoryGone,
  goal: TextsGone['goal'] | undefined
): TextsGone => ({
  code: 'HISTORY_GONE',
  reason: reason === 'not_kept' ? 'no_texts' : reason,
  edit_ids,
  goal,
  unrecorded
})
