// The text of a hunk that can't be applied: why, and at the very end the diff to send instead, as it is. Does not know
// other failures.
import type { DiffFix, HunkAmbiguous, HunkFailure, HunkNotFound, HunkPosition } from '../../../engine/failure.ts'
import { CUT_MARK } from '../../../engine/text/encoding.ts'
import { sentences } from '../phrases.ts'
import { alsoUnplaced, correctedIn, hunkAmbiguous, hunkNotFound, placeOf, readInstead } from '../problems/hunks.ts'
import type { Brief, FailedCall, ShownAs } from './call.ts'
import { preview, hashLine } from './layout.ts'

/** All diffs of one answer, in UTF-16 units; the first is shown in any case. */
const DIFFS_LENGTH = 4000

export function missedHunk(failure: HunkNotFound, call: FailedCall): Brief {
  const what = ofHunk(failure, sentences(hunkNotFound(failure, call, false), alsoUnplaced(failure)))
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
  what: ofHunk(failure, sentences(hunkAmbiguous(failure, call.shown, false), alsoUnplaced(failure))),
  next: failure.diffs.length > 0 ? toSend(failure, call) : readInstead(failure)
})

const ofHunk = ({ total_edits }: HunkPosition, what: string): string =>
  total_edits === 1 ? what : `No hunk was applied. ${what}`

/** Whether the lines that are shown are those to copy: all of the file, or all that was most likely meant. */
function showsPlace(failure: HunkNotFound): boolean {
  const {
    what,
    similar_content: [best],
    cause,
    applied_lines,
    also_unplaced,
    file_preview
  } = failure
  if (applied_lines !== undefined || !['lines', 'anchor'].includes(what)) return false
  const { preview_start_line, preview_end_line, total_lines, content } = file_preview
  const isWhole = preview_start_line === 1 && preview_end_line === total_lines && !CUT_MARK.test(content)
  if (isWhole) return true
  if (also_unplaced !== undefined) return false
  if (best === undefined || best.confidence === 'low' || cause?.type === 'near_duplicate') return false
  return best.lossy !== true && !CUT_MARK.test(best.content)
}

/** The corrected diffs. Nothing may come after them. */
function toSend(failure: HunkFailure, { file_hash, naming, part }: FailedCall): string[] {
  const { diffs } = failure
  const shown = shownDiffs(diffs).map(fix => [
    `${whenToSend(fix, diffs.length === 1 ? undefined : placeOf(fix, failure), part?.as)}:`,
    fix.diff.replace(/\n$/, '')
  ])
  return [hashLine(file_hash, naming), ...shown.flat()]
}

/** Those of an answer's diffs that are shown. */
export function shownDiffs<F extends { diff: string }>(diffs: readonly F[]): F[] {
  let length = 0
  return diffs.filter(({ diff }, i) => (length += diff.length) <= DIFFS_LENGTH || i === 0)
}

/** `place`: of several. */
function whenToSend(fix: DiffFix, place: string | undefined, as: ShownAs = 'whole'): string {
  const diff = fix.corrected.length === 1 ? 'corrected diff' : 'diff'
  const all = fix.corrected.length === 1 ? '' : `, ${correctedIn(fix)}`
  switch (as) {
    case 'whole':
      return place === undefined ? `Send this ${diff} as it is${all}` : `For ${place}, send this ${diff}${all}`
    case 'incomplete':
      return `${place === undefined ? 'W' : `For ${place}, w`}hen the rest is corrected as well, send this${all}`
    case 'part':
      return `The ${diff} of this file${place === undefined ? '' : `, for ${place}`}${all}`
  }
}
