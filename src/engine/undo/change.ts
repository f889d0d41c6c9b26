// A recorded change of a text.
import type { Splice } from '../edit/splice.ts'

/**
 * `insert` replaced `old` at byte `start` of the text before the change. The splices of a change are sorted and
 * disjoint.
 */
export interface RecordedSplice {
  readonly start: number
  readonly old: Buffer
  readonly insert: Buffer
}

/** A recorded splice without what it replaced. */
export const spliceOf = ({ start, old, insert }: RecordedSplice): Splice => ({ start, end: start + old.length, insert })

/** A change, or some of its splices by index. */
export interface Selection {
  readonly edit_id: string
  readonly change_indexes?: readonly number[]
}

/** The distinct ids of a set of selections, in order. */
export const editIdsOf = (set: readonly Selection[]): string[] => [...new Set(set.map(({ edit_id }) => edit_id))]

/** One change of a text. */
export interface RecordedChange {
  readonly edit_id: string
  /** Null if unknown. */
  readonly splices: readonly RecordedSplice[] | null
  /** With unknown splices: how many there are, if known. */
  readonly change_count?: number
  /**
   * Set for an undo or redo: the changes that it toggled; these are never undos or redos themselves. `splices` holds
   * the effect on the text.
   */
  readonly toggles?: readonly Selection[]
  /** The change created the text where there was none, or removed it. With `toggles`: a toggled change did. */
  readonly existence?: 'made' | 'removed'
  /** Made by another program, not by the service. */
  readonly outside?: true
  /** It is recorded only together with a later change: until then no caller can name it by its id. */
  readonly unrecorded?: true
}

/** A change by another program; we know only that it happened. */
export const UNKNOWN_CHANGE: RecordedChange = { edit_id: '', splices: null, outside: true }

/** The id by which callers can name a change, or the id of an unknown change if they can't. */
export const askableId = ({ edit_id, unrecorded }: RecordedChange): string =>
  unrecorded === true ? UNKNOWN_CHANGE.edit_id : edit_id

/** Whether this is the id of a recorded change. */
export const isRecordedId = (edit_id: string): boolean => edit_id !== UNKNOWN_CHANGE.edit_id
