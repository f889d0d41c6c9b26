// The text of a hunk that can't be applied: why, and at the very end the diff to send instead, as it is. Does not know
// other failures.
import type { HunkAmbiguous, HunkFailure, HunkNotFound, HunkPosition } from '../../../engine/failure.ts'
import { CUT_MARK } from '../../../engine/text/encoding.ts'
import { hunkAmbiguous, hunkNotFound, placeOf, readInstead } from '../patch-failure.ts'
import type { Brief, FailedCall } from './call.ts'
import { preview } from './preview.ts'
import { hashLine } from './text.ts'

/** All diffs of one answer, in UTF-16 units; the first is shown in any case. */
const DIFFS_LENGTH = 4000

export function missedHunk(failure: HunkNotFound, call: FailedCall): Brief {
  const what = ofHunk(failure, hunkNotFound(failure, call, false))
  const { diffs, file_preview, similar_content } = failure
  if (diffs.length > 0) return { what, next: toSend(failure, call) }
  if (file_preview.total_lines === 0) return { what, next: readInstead(failure) }
  return {
    what,
    next: showsPlace(failure)
      ? ['Send all of it again, with the lines copied from the file exactly:']
      : readInstead(failure),
    lines: preview(file_preview, similar_content[0])
  }
}

export const ambiguousHunk = (failure: HunkAmbiguous, call: FailedCall): Brief => ({
  what: ofHunk(failure, hunkAmbiguous(failure, call.shown, false)),
  next: failure.diffs.length > 0 ? toSend(failure, call) : readInstead(failure)
})

const ofHunk = ({ total_edits }: HunkPosition, what: string): string =>
  total_edits === 1 ? what : `No hunk was applied. ${what}`

/** Whether the lines that are shown are those to copy: all of the file, or all that was most likely meant. */
function showsPlace({ what, similar_content: [best], cause, applied_lines, file_preview }: HunkNotFound): boolean {
  if (applied_lines !== undefined || !['lines', 'anchor'].includes(what)) return false
  const { preview_start_line, preview_end_line, total_lines, content } = file_preview
  const isWhole = preview_start_line === 1 && preview_end_line === total_lines && !CUT_MARK.test(content)
  if (isWhole) return true
  if (best === undefined || best.confidence === 'low' || cause?.type === 'near_duplicate') return false
  return best.lossy !== true && !CUT_MARK.test(best.content)
}

/** The corrected diffs. Nothing may come after them. */
function toSend(failure: HunkFailure, { file_hash, naming }: FailedCall): string[] {
  const { diffs } = failure
  const next = [hashLine(file_hash, naming)]
  let length = 0
  for (const [i, fix] of diffs.entries()) {
    length += fix.diff.length
    if (length > DIFFS_LENGTH && i > 0) continue
    const when =
      diffs.length === 1
        ? 'Send this corrected diff as it is'
        : `For ${placeOf(fix, failure)}, send this corrected diff`
    next.push(`${when}:`, fix.diff.replace(/\n$/, ''))
  }
  return next
}
