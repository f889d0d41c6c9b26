// The chain of one file's records: which of them happened, and where a change by another program lies between two. Does
// not know how records are kept.
import { type RecordedChange, UNKNOWN_CHANGE } from '../engine/undo/change.ts'
import type { EditRecord, Settlement, Stored } from '../log/record.ts'
import type { ChangeRecord } from '../workspace/api.ts'

/** The changes of a file that happened. */
export interface Chain {
  /** Oldest first. */
  records: readonly ChangeRecord[]
  /** The records as the engine takes them, with UNKNOWN_CHANGE where another program changed the file in between. */
  changes: readonly RecordedChange[]
  /** Settlements found for records that their server has left open. */
  settled: readonly { edit_id: string; settlement: Settlement }[]
}

type Known = Pick<Stored, 'record' | 'settled'>

/**
 * Builds the chain of a file's records (oldest first) that ends in a text with the hash `present`; null: there is no
 * file. Call it under the file's lock: then the server of an open record no longer changes the file, and its change
 * happened if the next change, or the present text, began with its result.
 */
export function chainOf(stored: readonly Known[], present: string | null): Chain {
  const records: ChangeRecord[] = []
  const changes: RecordedChange[] = []
  const settled: { edit_id: string; settlement: Settlement }[] = []
  let after = present
  for (const { record, settled: known } of stored.toReversed()) {
    if (!isChange(record)) continue
    const settlement = known ?? settlementOf(record, after)
    if (known === null) settled.push({ edit_id: record.edit_id, settlement })
    if (settlement !== 'done') continue
    if (record.hash_after !== after) changes.push(UNKNOWN_CHANGE)
    records.push(record)
    changes.push(changeOf(record))
    after = record.hash_before
  }
  return { records: records.reverse(), changes: changes.reverse(), settled: settled.reverse() }
}

/** Whether no other program changed the file after the last record. */
export const isEnd = ({ changes }: Chain): boolean => changes.at(-1) !== UNKNOWN_CHANGE

/** Returns the records, each with its settlement, found by `chainOf` if it was open. */
export function judge(stored: readonly Known[], present: string | null): { record: EditRecord; settled: Settlement }[] {
  const { settled } = chainOf(stored, present)
  const judged = new Map(settled.map(({ edit_id, settlement }) => [edit_id, settlement]))
  // Records that the chain doesn't judge change nothing.
  return stored.map(({ record, settled }) => ({ record, settled: settled ?? judged.get(record.edit_id) ?? 'done' }))
}

/**
 * Settles open records of an object: as done if their ids are in `landed`, the writes that the object comes from. All
 * others may still be under way, so they are uncertain.
 */
export const landedOf = <T extends Known>(stored: readonly T[], landed: readonly string[]): T[] =>
  stored.map(known =>
    known.settled !== null || isNote(known.record)
      ? known
      : { ...known, settled: landed.includes(known.record.edit_id) ? 'done' : 'uncertain' }
  )

/**
 * Whether a record can be the last change of its file, which later changes by others are compared with (`Latest` of the
 * history). Like the chain, it counts only changes that are known to have happened.
 */
export const counts = ({ operation }: Pick<EditRecord, 'operation'>, settled: Settlement): boolean =>
  operation !== 'review' && settled === 'done'

/** The settlement of a change, if the content after it has the hash `after`. */
export function settlementOf(
  { hash_before, hash_after }: Pick<EditRecord, 'hash_before' | 'hash_after'>,
  after: string | null
): Settlement {
  if (hash_after === after) return 'done'
  return hash_before === after ? 'void' : 'uncertain'
}

type Traced = Pick<EditRecord, 'hash_before' | 'hash_after' | 'toggles'>

/** The file's content is as it was before: in a folder, nothing is left to do once the record is written. */
export const isTraceless = ({ hash_before, hash_after }: Traced): boolean => hash_before === hash_after

/**
 * A keyed request that changed nothing and keeps only its answer, or a review. Undo and redo are no notes: they say
 * which changes are applied, even if no byte differs.
 */
export const isNote = (record: Traced): boolean => isTraceless(record) && record.toggles === undefined

/** Whether the record is of a change of its file. */
export const isChange = (record: EditRecord): record is ChangeRecord => !isNote(record)

/** Converts a record that happened for the engine. */
export function changeOf(record: EditRecord): RecordedChange {
  const { edit_id, splices, change_count, toggles, operation, hash_before, hash_after } = record
  return {
    edit_id,
    splices,
    ...(change_count !== undefined && { change_count }),
    ...(toggles !== undefined && { toggles }),
    ...(hash_before === null && hash_after !== null && { existence: 'made' as const }),
    ...(hash_before !== null && hash_after === null && { existence: 'removed' as const }),
    ...(operation === 'outside' && { outside: true as const })
  }
}
