// Why the past of a file isn't known, as a failure of an operation. Does not know the operations.
import type { HistoryGone } from '../engine/failure.ts'
import type { TextsGone } from './operation.ts'

/** `asked`: what was asked for, if that isn't what is gone. */
export const textsGone = (
  { reason, edit_ids, unrecorded }: HistoryGone,
  asked: TextsGone['asked'] | undefined
): TextsGone => ({
  code: 'HISTORY_GONE',
  reason: reason === 'not_kept' ? 'no_texts' : reason,
  edit_ids,
  asked,
  unrecorded
})
