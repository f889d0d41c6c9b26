// Why an edit can't be made to a text, whichever operation asks for it. Does not know statuses or files.
import type { CurrentOutcome } from '../../engine/failure.ts'
import type { Descriptions } from './description.ts'
import { LINE_FAILURES } from './line-failure.ts'
import { SECTION_FAILURES } from './section-failure.ts'
import { TEXT_FAILURES } from './text-failure.ts'

/** Why an edit can't be made to a text. */
export type EditFailure = Extract<CurrentOutcome, { fits: false }>['failure']

export const EDIT_FAILURES: Descriptions<EditFailure> = { ...TEXT_FAILURES, ...LINE_FAILURES, ...SECTION_FAILURES }
