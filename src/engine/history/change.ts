// A change of a text as it is remembered. Does not know files or who made it.
import type { Splice } from '../edit/splice.ts'

/** `old`, at byte `start` of the text before the change, was replaced by `insert`. Sorted and disjoint in a change. */
export interface RecordedSplice {
  readonly start: number
  readonly old: Buffer
  readonly insert: Buffer
}

/** A recorded splice without what it replaced. */
export const spliceOf = ({ start, old, insert }: RecordedSplice): Splice => ({ start, end: start + old.length, insert })

/** A change, or some of its splices by their index. */
export interface Selection {
  readonly edit_id: string
  readonly change_indexes?: readonly number[]
}

/** The ids in a set of selections, each once, in its order. */
export const editIdsOf = (set: readonly Selection[]): string[] => [...new Set(set.map(({ edit_id }) => edit_id))]

/** One change of a text. */
export interface RecordedChange {
  readonly edit_id: string
  /** Null: what it replaced is not known. */
  readonly splices: readonly RecordedSplice[] | null
  /** Then, how many there are, if that is known. */
  readonly change_count?: number
  /**
   * Of an undo or redo: the changes that it took back or made again, none of which is an undo or redo itself. Its
   * splices are what that came to.
   */
  readonly toggles?: readonly Selection[]
  /** It made the text, where there was none; or removed it. With `toggles`: a change that it toggles did. */
  readonly existence?: 'made' | 'removed'
  /** Made by others than the service. */
  readonly outside?: true
  /** It is recorded only with a change that follows it: until then nobody can ask for it by its id. */
  readonly unrecorded?: true
}

/** A change by others of which nothing is known but that it took place. */
export const UNKNOWN_CHANGE: RecordedChange = { edit_id: '', splices: null, outside: true }

/** The id under which a change can be asked for; that of an unknown one where it can't. */
export const askableId = ({ edit_id, unrecorded }: RecordedChange): string =>
  unrecorded === true ? UNKNOWN_CHANGE.edit_id : edit_id

/** Whether this is the id of a change that is recorded, and not of an unknown one. */
export const isRecordedId = (edit_id: string): boolean => edit_id !== UNKNOWN_CHANGE.edit_id
