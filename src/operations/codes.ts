// The problem codes that several operations share; each adds its own. Does not know statuses, or the codes that any
// request can have.
import type { ProblemCode } from '../../schemas/problem.ts'

/** Codes of every operation on a file. */
export const FILE_CODES: readonly ProblemCode[] = [
  'INVALID_PATH',
  'PATH_NOT_ALLOWED',
  'PROTECTED_PATH',
  'PERMISSION_DENIED',
  'FILE_NOT_FOUND',
  'NOT_A_FILE',
  'FILE_TOO_LARGE',
  'STALE_FILE'
]

/** Codes of an operation that changes a file. */
export const CHANGE_CODES: readonly ProblemCode[] = [
  ...FILE_CODES,
  'READ_ONLY',
  'BINARY_FILE',
  'RESULT_TOO_LARGE',
  'SYNTAX_ERROR',
  'UNENCODABLE_TEXT',
  'FILE_LOCKED',
  'PRECONDITION_REQUIRED',
  'NO_SPACE'
]

/** Codes of an operation that reads a file and its past. */
export const RECALL_CODES: readonly ProblemCode[] = [...FILE_CODES, 'HISTORY_GONE']

/** Codes of an undo or redo. */
export const UNDO_CODES: readonly ProblemCode[] = [
  ...CHANGE_CODES.filter(code => code !== 'SYNTAX_ERROR'),
  'TOO_MANY_EDITS',
  'DELETE_NOT_ALLOWED',
  'BATCH_NOT_SUPPORTED',
  'UNDO_CONFLICT',
  'NOTHING_TO_UNDO',
  'HISTORY_GONE'
]

/** Codes of an operation that takes one edit or a list of edits. */
export const EDITS_CODES: readonly ProblemCode[] = [...CHANGE_CODES, 'MIXED_MODES', 'NO_EDITS', 'TOO_MANY_EDITS']

/** Codes of an operation that removes files, which the history must be able to bring back. */
export const REMOVAL_CODES: readonly ProblemCode[] = [
  ...CHANGE_CODES.filter(code => code !== 'SYNTAX_ERROR' && code !== 'BINARY_FILE' && code !== 'UNENCODABLE_TEXT'),
  'TOO_MANY_OPERATIONS',
  'DELETE_NOT_ALLOWED',
  'BATCH_NOT_SUPPORTED'
]
