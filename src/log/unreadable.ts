// The error that the history can't be read at present. Does not know where it is stored.
import { codeOf } from '../error-code.ts'
import type { HistoryOptions } from './api.ts'

/** Thrown if something can't be read now but may be later; `cause` is the error of the system or the store. */
export class HistoryUnreadable extends Error {
  readonly code = 'HISTORY_UNREADABLE'

  constructor(cause: unknown) {
    super(`the history cannot be read: ${String(cause)}`, { cause })
  }
}

/** Errors unrelated to what was read: it may be readable a moment later. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'STORE_UNAVAILABLE']

export const isPassing = (error: unknown): boolean => PASSING.includes(codeOf(error))

/** Reports an error, and returns the one to throw. */
export function unreadable(error: unknown, { report }: Pick<HistoryOptions, 'report'>): HistoryUnreadable {
  report({ event: 'history_unreadable', code: codeOf(error) })
  return new HistoryUnreadable(error)
}
