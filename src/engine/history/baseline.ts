// The baseline of a text: what a person has kept of its changes, as the verdicts on them say. Does not know texts, files
// or who gave a verdict.
import type { Selection } from './change.ts'
import { IndexSet, tellingIndexes } from './index-set.ts'

/** What a verdict is about. `stood`: whether it wasn't undone when the verdict was given. */
export interface ReviewedSelection extends Selection {
  readonly stood: boolean
}

/** kept: these changes are to stay as they are, standing or undone. pending: nobody has kept them yet. */
export interface Verdict {
  readonly verdict: 'kept' | 'pending'
  readonly of: readonly ReviewedSelection[]
}

/**
 * What is to be reviewed of an edit. pending: a change of it stands and isn't in the baseline, or the reverse. kept: what
 * stands of it is in the baseline.
 */
export type ReviewState = 'pending' | 'kept'

/**
 * Which changes are part of the baseline, by the id of their edit; an edit that isn't there has none. `verdicts`: of one
 * file, oldest first. The last one on a change holds: the change is in the baseline if that is `kept` and it stood then.
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
 * Whether a change (`change_index` of its edit; 0 of one without splices) is part of the baseline: as `keptOf`. What was
 * there before all changes that are known is part of it, and isn't asked for.
 */
export function baselineOf(verdicts: readonly Verdict[]): (edit_id: string, change_index: number) => boolean {
  const kept = keptOf(verdicts)
  return (edit_id, change_index) => kept.get(edit_id)?.has(change_index) === true
}

/** Undefined where nothing stands and nothing is in the baseline. `count`: of the edit's changes, at least 1. */
export function reviewOf(undone: IndexSet, kept: IndexSet, count: number): ReviewState | undefined {
  let review: ReviewState | undefined
  for (const index of tellingIndexes([undone, kept], count)) {
    const stands = !undone.has(index)
    if (stands !== kept.has(index)) return 'pending'
    if (stands) review = 'kept'
  }
  return review
}

/**
 * What a verdict on an edit, or on some of its changes, says of it: nothing where it is what the baseline has already.
 * `units`: what is known of its changes; where their number isn't, the edit can only be meant as a whole.
 */
export function reviewed(
  verdict: Verdict['verdict'],
  { edit_id, change_indexes }: Selection,
  { undone, kept, count }: { undone: IndexSet; kept: IndexSet; count: number }
): ReviewedSelection[] {
  const isNew = (index: number): boolean => kept.has(index) !== (verdict === 'kept' && !undone.has(index))
  const meant = change_indexes ?? [...tellingIndexes([undone, kept], count)]
  if (!meant.some(isNew)) return []
  const all = change_indexes ?? (count === Infinity ? [0] : Array.from({ length: count }, (_, index) => index))
  return [true, false].flatMap(stood => {
    const indexes = [...new Set(all)].filter(index => undone.has(index) !== stood)
    if (indexes.length === 0) return []
    const isWhole = change_indexes === undefined && indexes.length === all.length
    return [{ edit_id, ...(!isWhole && { change_indexes: indexes }), stood }]
  })
}
