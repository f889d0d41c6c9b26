// What the page says of a problem: its own words, without ids, routes and names of fields. Does not know the DOM.
import type { PageProblem } from './wire.ts'

const CHANGED = 'The file was changed meanwhile, so nothing was done. It is shown as it is now: look again.'
const BUSY = 'The server is busy. Try again in a moment.'

/** By code. What isn't listed means that the page or the server has a fault. */
const WORDS: Record<string, string> = {
  UNREACHABLE: 'The server gives no answer. What was asked for may have been done. The page looks again by itself.',
  UNAUTHORIZED: 'The server does not accept the token.',
  FORBIDDEN_SCOPE: 'The token may not do this.',
  READ_ONLY: 'The server is read-only, so nothing was done.',
  STALE_FILE: CHANGED,
  EXPECTED_TEXT_MISMATCH: CHANGED,
  NO_MATCH: CHANGED,
  WRONG_COUNT: CHANGED,
  LINE_OUT_OF_RANGE: CHANGED,
  ALREADY_EXISTS: 'Another file is there now, so nothing was done.',
  PRECONDITION_REQUIRED: 'The server takes no such change from this page.',
  UNDO_CONFLICT: 'Later changes stand in the way.',
  NOTHING_TO_UNDO: 'The history has nothing of this that could be done: it was done already, or is forgotten.',
  HISTORY_GONE: 'The server keeps no history of this: it is forgotten by now, or the history is off (--history off).',
  TOO_MANY_EDITS: 'These are too many edits for one request: take them by file.',
  FILE_NOT_FOUND: 'There is no such file now.',
  NOT_A_FILE: 'This is no file.',
  FILE_TOO_LARGE: 'The file is too large.',
  RESULT_TOO_LARGE: 'The file would be too large.',
  BINARY_FILE: 'The file is not text.',
  UNENCODABLE_TEXT: 'The file can not hold this text in its encoding.',
  SYNTAX_ERROR: 'The file would have a syntax error, which the server refuses.',
  PROTECTED_PATH: 'The file is protected.',
  PATH_NOT_ALLOWED: 'The file is outside of what the server serves.',
  PERMISSION_DENIED: 'The server may not read or write this file.',
  DELETE_NOT_ALLOWED: 'The server may not delete files.',
  BATCH_NOT_SUPPORTED: 'The server changes only one file at a time here.',
  FILE_LOCKED: 'The file is being edited. Try again in a moment.',
  NO_SPACE: 'The disk is full.',
  NOT_READY: BUSY,
  RATE_LIMITED: BUSY,
  REQUEST_IN_FLIGHT: BUSY,
  REQUEST_TIMEOUT: BUSY
}

export const wordsFor = ({ code }: Pick<PageProblem, 'code'>): string =>
  WORDS[code] ?? `The server refused this (${code.toLowerCase().replaceAll('_', ' ')}).`
