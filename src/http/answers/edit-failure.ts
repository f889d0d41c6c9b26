// Why an edit can't be made to a text, whichever operation asks for it. Does not know statuses or files.
import type { CurrentOutcome, HunkFailure } from '../../engine/failure.ts'
import type { Descriptions } from './problems/entry.ts'
import { LINE_FAILURES } from './problems/ranges.ts'
import { PATCH_FAILURES } from './problems/hunks.ts'
import { SECTION_FAILURES } from './problems/sections.ts'
import { TEXT_FAILURES } from './problems/text.ts'

/** Why an edit can't be made to a text. */
export type EditFailure = Extract<CurrentOutcome, { fits: false }>['failure']

export const EDIT_FAILURES: Descriptions<EditFailure> = {
  ...TEXT_FAILURES,
  ...LINE_FAILURES,
  ...SECTION_FAILURES,
  // Of a text that is replaced, or of a hunk.
  NO_MATCH: (failure, request) =>
    isOfHunk(failure) ? PATCH_FAILURES.NO_MATCH(failure, request) : TEXT_FAILURES.NO_MATCH(failure, request),
  WRONG_COUNT: (failure, request) =>
    isOfHunk(failure) ? PATCH_FAILURES.WRONG_COUNT(failure, request) : TEXT_FAILURES.WRONG_COUNT(failure, request)
}

/** Whether it is a hunk of a patch that failed. */
export const isOfHunk = <F extends EditFailure>(failure: F): failure is F & HunkFailure => 'diff_line' in failure
