// What the records of one file come to: which of them took place, and where a change by others lies between two. Does
// not know how records are kept.
import { type RecordedChange, UNKNOWN_CHANGE } from '../engine/history/change.ts'
import type { EditRecord, Settlement, Stored } from '../log/record.ts'
import type { ChangeRecord } from '../workspace/api.ts'

/** The changes of a file that took place. */
export interface Chain {
  /** Oldest first. */
  records: readonly ChangeRecord[]
  /** The same for the engine, and between them what is not known: a change by others. */
  changes: readonly RecordedChange[]
  /** What became of records about which their server hasn't said it. */
  settled: readonly { edit_id: string; settlement: Settlement }[]
}

type Known = Pick<Stored, 'record' | 'settled'>

/**
 * The chain of a file's records (oldest first) that ends in a text with the hash `present`; null: there is no file. To
 * be asked under the file's lock: then a record about which nothing was said is of a server that doesn't change the
 * file any more. It took place if the next change, or the present text, began with what it made.
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

/** Whether nobody changed the file after the last record. */
export const isEnd = ({ changes }: Chain): boolean => changes.at(-1) !== UNKNOWN_CHANGE

/** The same records, each with what became of it by `chainOf`. */
export function judge(stored: readonly Known[], present: string | null): { record: EditRecord; settled: Settlement }[] {
  const { settled } = chainOf(stored, present)
  const judged = new Map(settled.map(({ edit_id, settlement }) => [edit_id, settlement]))
  // What isn't in the chain's is no change.
  return stored.map(({ record, settled }) => ({ record, settled: settled ?? judged.get(record.edit_id) ?? 'done' }))
}

/**
 * The same records of an object, where those about which nothing was said took place only if the object comes from them
 * (`landed`: their ids): any other may still be under way.
 */
export const landedOf = <T extends Known>(stored: readonly T[], landed: readonly string[]): T[] =>
  stored.map(known =>
    known.settled !== null || isNote(known.record)
      ? known
      : { ...known, settled: landed.includes(known.record.edit_id) ? 'done' : 'uncertain' }
  )

/**
 * Whether it can be the last record of its file, after which others changed it: `Latest` of the history is one. As in the
 * chain, only what is known to have taken place is.
 */
export const counts = ({ operation }: Pick<EditRecord, 'operation'>, settled: Settlement): boolean =>
  operation !== 'review' && settled === 'done'

/** What became of a change, where the content after it has this hash. */
export function settlementOf(
  { hash_before, hash_after }: Pick<EditRecord, 'hash_before' | 'hash_after'>,
  after: string | null
): Settlement {
  if (hash_after === after) return 'done'
  return hash_before === after ? 'void' : 'uncertain'
}

type Traced = Pick<EditRecord, 'hash_before' | 'hash_after' | 'toggles'>

/** Its file is as it was before: in a folder, nothing is to be done after it was written. */
export const isTraceless = ({ hash_before, hash_after }: Traced): boolean => hash_before === hash_after

/**
 * A keyed request that changed nothing, of which only the answer is kept; or a review, which changes nothing either. An
 * undo or redo says which changes stand, even where no byte shows it.
 */
export const isNote = (record: Traced): boolean => isTraceless(record) && record.toggles === undefined

/** Whether it is of a change of its file. */
export const isChange = (record: EditRecord): record is ChangeRecord => !isNote(record)

/** A record that took place, for the engine. */
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
