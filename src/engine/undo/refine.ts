// Reduces a change to what it really replaced, in recorded form.
import { changedSplices } from '../edit/changed-splices.ts'
import { fewSplices } from '../edit/few-splices.ts'
import { placedBytes, type Splice, Splices } from '../edit/splice.ts'
import { type RecordedSplice, spliceOf } from './change.ts'

/**
 * The recorded form of splices from `changedSplices`: applied to `original` they give the same text. At most
 * `MOST_SPLICES`; beyond that, close ones are merged. The buffers are copies.
 */
export const recordedSplices = (original: Buffer, changed: readonly Splice[]): RecordedSplice[] =>
  fewSplices(changed, original).map(({ start, end, insert }) => ({
    start,
    old: Buffer.from(original.subarray(start, end)),
    insert: Buffer.from(insert)
  }))

/** The recorded splices of a change if only the texts before and after it are known. */
export const differing = (before: Buffer, after: Buffer): RecordedSplice[] =>
  recordedSplices(before, changedSplices(before, [{ start: 0, end: before.length, insert: after }]).list)

/** The text before recorded splices; null if `after` is too short to be their result. */
export function textBefore(after: Buffer, splices: readonly RecordedSplice[]): Buffer | null {
  const places = placedBytes(splices.map(spliceOf))
  if (places.some(({ new_end }) => new_end > after.length)) return null
  const back = places.map(({ new_start, new_end }, i) => ({ start: new_start, end: new_end, insert: splices[i]!.old }))
  return Buffer.concat(new Splices(back, after.length).apply(after))
}
