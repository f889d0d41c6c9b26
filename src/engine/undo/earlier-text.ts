// An earlier state of a text, and where its bytes are in the present one.
import type { Splice } from '../edit/splice.ts'
import { isLineEnd, isLineStart } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { RecordedChange } from './change.ts'
import { knownSince } from './known.ts'
import { Units } from './units.ts'
import { type EarlierSpan, replay, textAfter, type Weave } from './weave.ts'

/**
 * An earlier text: right after the change with index `at`, where all changes end in the present text; -1 means before
 * all changes.
 */
export interface EarlierState {
  changes: readonly RecordedChange[]
  at: number
}

/** Bytes, end exclusive. */
export type ByteRange = Pick<Splice, 'start' | 'end'>

export interface EarlierText {
  /** In order. */
  spans: readonly EarlierSpan[]
  text: Text
  /** The changes replayed to the present text. */
  weave: Weave
}

/**
 * The text of an earlier state. Undefined if unknown: the record doesn't reach back, or is inconsistent. Linear in the
 * text and in the record.
 */
export function earlierText(present: Buffer, { changes, at }: EarlierState): EarlierText | undefined {
  const units = new Units(changes)
  const since = knownSince(changes, units)
  if (at < since - 1) return undefined
  const weave = replay(present, changes, units, since)
  if (!weave.ok) return undefined
  const spans = textAfter(weave.value, at)
  return { spans, text: new Text(spans.map(({ bytes }) => bytes)), weave: weave.value }
}

/** Where the bytes of a range (at least one) are now; undefined if one is gone, or others are between them. */
export function stretchOf({ spans, text }: EarlierText, { start, end }: ByteRange): ByteRange | undefined {
  const first = text.pieceAt(start)
  const from = spans[first]!.now + start - text.startOf(first)
  let at = from
  for (let i = first; text.startOf(i) < end; i++) {
    const { now, remains } = spans[i]!
    const offset = Math.max(start, text.startOf(i))
    if (!remains || now + offset - text.startOf(i) !== at) return undefined
    at += Math.min(end, text.startOf(i + 1)) - offset
  }
  return { start: from, end: at }
}

/** Whether a range of a text is whole lines; the break of the last one needn't be in it. */
export const isWholeLines = (text: Text, { start, end }: ByteRange): boolean =>
  isLineStart(text, start) && (isLineStart(text, end) || isLineEnd(text, end))
