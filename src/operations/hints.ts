// Hints for fields that the definitions of several tools share, and the fields that a definition has. Does not know any
// operation.
import type { TObject } from 'typebox'
import { CALL_FIELDS } from '../../schemas/change-fields.ts'

export const PATH_HINT = 'Relative to the workspace root.'

/** Hints for the fields that every change takes. */
export const CHANGE_HINTS = {
  path: PATH_HINT,
  expected_hash: 'file_hash from your last answer about the file.',
  dry_run: 'true: only show what would change.'
}

/** The fields of a request that a tool's definition has: a model hears of `hidden` ones only where it needs them. */
export const fieldsBut = (request: TObject, ...hidden: string[]): string[] =>
  Object.keys(request.properties).filter(field => ![...CALL_FIELDS, ...hidden].includes(field))
