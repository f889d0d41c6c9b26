// Why an edit can't be made to a text, whichever operation asks for it. Does not know statuses or files.
import type { CurrentOutcome, HunkFailure } from '../../engine/failure.ts'
import type { Descriptions } from './description.ts'
import { LINE_FAILURES } from './line-failure.ts'
import { PATCH_FAILURES } from './patch-failure.ts'
import { SECTION_FAILURES } from './section-failure.ts'
import { TEXT_FAILURES } from './text-failure.ts'

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
