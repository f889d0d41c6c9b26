// The weave of a text: its recorded changes replayed into spans, of which the present text holds what is visible. Does
// not know conflicts or what is to be undone.
import { fail, ok, type Result } from '../../result.ts'
import { Splices } from '../edit/splice.ts'
import type { HistoryGone } from '../failure.ts'
import type { RecordedChange, RecordedSplice } from './change.ts'
import { BASE, bytesOf, type Span, Spans, type Toggled } from './spans.ts'
import type { Units } from './units.ts'

/** A text with all that it was since one of its changes. */
export interface Weave {
  present: Buffer
  spans: Spans
  units: Units
}

/**
 * Replays the changes from index `from` on, all of which have their splices; what they toggle are changes from there
 * on. Toggles `units`, of which none is toggled yet. Fails with the first change that doesn't fit those before it, or
 * that can't be placed as later ones don't fit; or the last where `present` isn't what they come to. The bytes that the
 * text began with aren't needed: what is left of them is in `present`, and what isn't is in the changes.
 */
export function replay(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  from: number
): Result<Weave, HistoryGone> {
  let length = present.length
  for (let at = from; at < changes.length; at++) {
    for (const { old, insert } of changes[at]!.splices!) length += old.length - insert.length
  }
  const inconsistent = (at: number) =>
    fail<HistoryGone>({ code: 'HISTORY_GONE', edit_ids: [changes[at]!.edit_id], reason: 'inconsistent' })
  if (length < 0) return inconsistent(changes.length - 1)
  let base: Buffer | null | undefined
  const spans = new Spans(length, () => (base === undefined ? (base = baseOf(present, changes, from, length)) : base))
  for (let at = from; at < changes.length; at++) {
    if (!carryOut(spans, changes[at]!, units, at)) return inconsistent(at)
  }
  return holds(present, spans) ? ok({ present, spans, units }) : inconsistent(changes.length - 1)
}

/**
 * The bytes that the text began with, as many as `length`; null where the changes don't fit. Undos count as the splices
 * that they came to: which bytes are visible when doesn't depend on where hidden ones are.
 */
function baseOf(present: Buffer, changes: readonly RecordedChange[], from: number, length: number): Buffer | null {
  const spans = new Spans(length)
  for (let at = from; at < changes.length; at++) {
    const { splices } = changes[at]!
    if (!isInOrder(splices!) || !replaceAll(spans, splices!, () => at)) return null
  }
  const base: Buffer[] = []
  let now = 0
  for (const span of spans) {
    if (span.inserter === BASE) base.push(span.visible ? present.subarray(now, now + span.length) : bytesOf(span))
    if (span.visible) now += span.length
  }
  return Buffer.concat(base)
}

/** Carries out one change; false where it doesn't fit the text as it was then. */
function carryOut(spans: Spans, { splices, toggles, existence }: RecordedChange, units: Units, at: number): boolean {
  if (!isInOrder(splices!)) return false
  if (toggles !== undefined) {
    units.toggle(toggles, at)
    const changes = spans.show(span => stands(span, unit => units.stands(unit)))
    return isSameChange(changes.map(recorded), splices!)
  }
  if (existence === 'made' && spans.length > 0) return false
  const [first] = units.of(at)
  return replaceAll(spans, splices!, index => first + index)
}

/** Carries out the splices of one change; false where one doesn't fit. */
function replaceAll(spans: Spans, splices: readonly RecordedSplice[], unitOf: (index: number) => number): boolean {
  let shift = 0
  for (const [index, splice] of splices.entries()) {
    if (!spans.replace({ ...splice, start: splice.start + shift }, unitOf(index))) return false
    shift += splice.insert.length - splice.old.length
  }
  return true
}

function isInOrder(splices: readonly RecordedSplice[]): boolean {
  let end = 0
  for (const splice of splices) {
    // Not the other way round: what was read from a file may be no number.
    if (!(splice.start >= end)) return false
    end = endOf(splice)
  }
  return true
}

/** Whether a span is visible where units stand as `isStanding` says. */
export const stands = ({ inserter, deleters }: Span, isStanding: (unit: number) => boolean): boolean =>
  (inserter === BASE || isStanding(inserter)) && (deleters.length === 0 || !deleters.some(isStanding))

/** A stretch of an earlier text: its bytes, and the unit that inserted them. */
export interface EarlierSpan {
  bytes: Buffer
  inserter: number
  /** Where it is in the present text, or where it was removed from. */
  now: number
  /** The present text has it. */
  remains: boolean
}

/** The text right after the change with the index `at`; before all changes where that is the one before the first. */
export function textAfter({ present, spans, units }: Weave, at: number): EarlierSpan[] {
  const stood = (unit: number): boolean => units.changeOf[unit]! <= at && units.stoodAfter(unit, at)
  const earlier: EarlierSpan[] = []
  let now = 0
  for (const span of spans) {
    const { inserter, visible: remains } = span
    if (stands(span, stood)) {
      const bytes = remains ? present.subarray(now, now + span.length) : bytesOf(span)
      earlier.push({ bytes, inserter, now, remains })
    }
    if (remains) now += span.length
  }
  return earlier
}

/** Whether `present` has what is known of the visible bytes; their number is right. */
function holds(present: Buffer, spans: Spans): boolean {
  let at = 0
  for (const span of spans) {
    if (!span.visible) continue
    const end = at + span.length
    if (span.bytes !== null && present.compare(span.bytes, span.at, span.at + span.length, at, end) !== 0) return false
    at = end
  }
  return true
}

const recorded = ({ start, old, insert }: Toggled): RecordedSplice => ({
  start,
  old: Buffer.concat(old.map(bytesOf)),
  insert: Buffer.concat(insert.map(bytesOf))
})

/** Whether two lists of splices of one text give the same text, and agree about what they replace. */
function isSameChange(a: readonly RecordedSplice[], b: readonly RecordedSplice[]): boolean {
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    // Splices of both that meet replace one range together: the rest of it is what the others say is there.
    const start = Math.min(a[i]?.start ?? Infinity, b[j]?.start ?? Infinity)
    const [fromA, fromB] = [i, j]
    let end = start
    for (let grown = true; grown;) {
      grown = false
      for (; i < a.length && a[i]!.start <= end; i++, grown = true) end = Math.max(end, endOf(a[i]!))
      for (; j < b.length && b[j]!.start <= end; j++, grown = true) end = Math.max(end, endOf(b[j]!))
    }
    const before = Buffer.alloc(end - start)
    const [ofA, ofB] = [a.slice(fromA, i), b.slice(fromB, j)]
    for (const splice of [...ofA, ...ofB]) splice.old.copy(before, splice.start - start)
    const results = [ofA, ofB].map(list => resultOf(before, list, start))
    if (results[0] === undefined || results[1]?.equals(results[0]) !== true) return false
  }
  return true
}

const endOf = ({ start, old }: RecordedSplice): number => start + old.length

/** `before`, which begins at `start`, after splices; undefined where it isn't what they replace. */
function resultOf(before: Buffer, list: readonly RecordedSplice[], start: number): Buffer | undefined {
  const splices = list.map(({ start: at, old, insert }) => ({
    start: at - start,
    end: at - start + old.length,
    insert
  }))
  if (list.some(({ old }, i) => !before.subarray(splices[i]!.start, splices[i]!.end).equals(old))) return undefined
  return Buffer.concat(new Splices(splices, before.length).apply(before))
}
