// That the history can't be read for now. Does not know where it is kept, or what an answer says of it.
import { codeOf } from '../error-code.ts'
import type { HistoryOptions } from './api.ts'

/** Thrown where what was asked for can't be read, and may be later; `cause` is the error of the system or the store. */
export class HistoryUnreadable extends Error {
  readonly code = 'HISTORY_UNREADABLE'

  constructor(cause: unknown) {
    super(`the history cannot be read: ${String(cause)}`, { cause })
  }
}

/** Errors that say nothing of what was to be read: a moment later it may be there. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'STORE_UNAVAILABLE']

export const isPassing = (error: unknown): boolean => PASSING.includes(codeOf(error))

/** What is to be thrown for an error, of which the log is told. */
export function unreadable(error: unknown, { report }: Pick<HistoryOptions, 'report'>): HistoryUnreadable {
  report({ event: 'history_unreadable', code: codeOf(error) })
  return new HistoryUnreadable(error)
}
