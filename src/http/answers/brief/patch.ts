// The text of a hunk that can't be applied: why, and at the very end the diff to send instead, as it is. Does not know
// other failures.
import type { HunkAmbiguous, HunkFailure, HunkNotFound } from '../../../engine/failure.ts'
import { hunkAmbiguous, hunkNotFound } from '../patch-failure.ts'
import { span } from '../phrases.ts'
import { type Brief, type FailedCall, preview } from './call.ts'
import { hashLine } from './text.ts'

/** All diffs of one answer, in UTF-16 units; the first is shown in any case. */
const DIFFS_LENGTH = 4000

export const missedHunk = (failure: HunkNotFound, call: FailedCall): Brief => ({
  what: hunkNotFound(failure, call),
  ...toSend(failure, call),
  ...(failure.diffs.length === 0 && failure.file_preview.total_lines > 0 && { lines: preview(failure.file_preview) })
})

export const ambiguousHunk = (failure: HunkAmbiguous, call: FailedCall): Brief => ({
  what: hunkAmbiguous(failure, call.shown),
  ...toSend(failure, call)
})

function toSend({ diffs, too_long }: HunkFailure, { file_hash, naming }: FailedCall): Pick<Brief, 'next'> {
  const [first] = diffs
  if (first === undefined) {
    const tooLong = too_long === true ? 'The corrected diff is too long to be shown. ' : ''
    return { next: [`${tooLong}Read the file, and copy the lines around the change from it exactly.`] }
  }
  // The hash would come last.
  const next = [hashLine(file_hash, naming)]
  let length = 0
  for (const { diff, lines } of diffs) {
    length += diff.length
    if (length > DIFFS_LENGTH && diff !== first.diff) continue
    const when =
      diffs.length === 1 ? 'Send this corrected diff as it is' : `For ${span(lines)}, send this corrected diff`
    next.push(`${when}:`, diff.replace(/\n$/, ''))
  }
  return { next }
}
