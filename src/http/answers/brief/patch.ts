// The text of a hunk that can't be applied: why, and at the very end the diff to send instead, as it is. Does not know
// other failures.
import type { HunkAmbiguous, HunkFailure, HunkNotFound } from '../../../engine/failure.ts'
import { hunkAmbiguous, hunkNotFound, placeOf, readInstead } from '../patch-failure.ts'
import type { Brief, FailedCall } from './call.ts'
import { preview } from './preview.ts'
import { hashLine } from './text.ts'

/** All diffs of one answer, in UTF-16 units; the first is shown in any case. */
const DIFFS_LENGTH = 4000

export const missedHunk = (failure: HunkNotFound, call: FailedCall): Brief => ({
  what: hunkNotFound(failure, call),
  ...toSend(failure, call),
  ...(failure.diffs.length === 0 &&
    failure.file_preview.total_lines > 0 && {
      lines: preview(failure.file_preview, failure.similar_content[0])
    })
})

export const ambiguousHunk = (failure: HunkAmbiguous, call: FailedCall): Brief => ({
  what: hunkAmbiguous(failure, call.shown),
  ...toSend(failure, call)
})

function toSend(failure: HunkFailure, { file_hash, naming }: FailedCall): Pick<Brief, 'next'> {
  const { diffs } = failure
  const [first] = diffs
  if (first === undefined) return { next: readInstead(failure) }
  // Otherwise it would stand at the end.
  const next = [hashLine(file_hash, naming)]
  let length = 0
  for (const fix of diffs) {
    length += fix.diff.length
    if (length > DIFFS_LENGTH && fix !== first) continue
    const when =
      diffs.length === 1
        ? 'Send this corrected diff as it is'
        : `For ${placeOf(fix, failure)}, send this corrected diff`
    next.push(`${when}:`, fix.diff.replace(/\n$/, ''))
  }
  return { next }
}
