// The baseline of a text: the changes that a person has kept, according to the verdicts on them.
import type { Selection } from './change.ts'
import { IndexSet, representatives } from './index-set.ts'

/** What a verdict is about. `stood`: whether it was applied (not undone) when the verdict was given. */
export interface ReviewedSelection extends Selection {
  readonly stood: boolean
}

/** kept: these changes should stay as they are, applied or undone. pending: nobody has kept them yet. */
export interface Verdict {
  readonly verdict: 'kept' | 'pending'
  readonly of: readonly ReviewedSelection[]
}

/**
 * The review state of an edit. pending: one of its changes is applied and not in the baseline, or the reverse. kept:
 * its applied changes are in the baseline.
 */
export type ReviewState = 'pending' | 'kept'

/**
 * The changes in the baseline, by edit id; an edit without an entry has none. `verdicts`: of one file, oldest first.
 * The last verdict on a change decides: the change is in the baseline if that verdict is `kept` and the change was
 * applied at the time.
 */
export function keptOf(verdicts: readonly Verdict[]): Map<string, IndexSet> {
  const kept = new Map<string, IndexSet>()
  for (const { verdict, of } of verdicts) {
    for (const { edit_id, change_indexes, stood } of of) {
      const own = kept.get(edit_id) ?? new IndexSet()
      kept.set(edit_id, own)
      own.put(verdict === 'kept' && stood, change_indexes)
    }
  }
  return kept
}

/**
 * Returns a test for whether a change (`change_index` of its edit; 0 for an edit without splices) is in the baseline,
 * as in `keptOf`. Text older than all known changes always is, and isn't asked about.
 */
export function baselineOf(verdicts: readonly Verdict[]): (edit_id: string, change_index: number) => boolean {
  const kept = keptOf(verdicts)
  return (edit_id, change_index) => kept.get(edit_id)?.has(change_index) === true
}

/** Undefined if no change is applied or in the baseline. `count`: the edit's changes, at least 1. */
export function reviewOf(undone: IndexSet, kept: IndexSet, count: number): ReviewState | undefined {
  let review: ReviewState | undefined
  for (const index of representatives([undone, kept], count)) {
    const isApplied = !undone.has(index)
    if (isApplied !== kept.has(index)) return 'pending'
    if (isApplied) review = 'kept'
  }
  return review
}

/**
 * What a verdict on an edit, or on some of its changes, adds: an empty list if the baseline already agrees. `undone`,
 * `kept`, `count`: what is known of its changes; if their number is unknown, the verdict must cover the whole edit.
 */
export function reviewed(
  verdict: Verdict['verdict'],
  { edit_id, change_indexes }: Selection,
  { undone, kept, count }: { undone: IndexSet; kept: IndexSet; count: number }
): ReviewedSelection[] {
  const isNew = (index: number): boolean => kept.has(index) !== (verdict === 'kept' && !undone.has(index))
  const meant = change_indexes ?? [...representatives([undone, kept], count)]
  if (!meant.some(isNew)) return []
  const all = change_indexes ?? (count === Infinity ? [0] : Array.from({ length: count }, (_, index) => index))
  return [true, false].flatMap(isNowApplied => {
    const indexes = [...new Set(all)].filter(index => undone.has(index) !== isNowApplied)
    if (indexes.length === 0) return []
    const isWhole = change_indexes === undefined && indexes.length === all.length
    return [{ edit_id, ...(!isWhole && { change_indexes: indexes }), stood: isNowApplied }]
  })
}
