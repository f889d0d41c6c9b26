// The weave of a text: its recorded changes replayed into spans; the visible spans are the present text.
import { fail, ok, type Result } from '../../result.ts'
import { Splices } from '../edit/splice.ts'
import { isBreakByte } from '../text/lines.ts'
import type { HistoryGone } from '../failure.ts'
import { type RecordedChange, type RecordedSplice, spliceOf } from './change.ts'
import { breaksChange, layoutParts } from './layout.ts'
import { BASE, bytesOf, type LayoutOwner, type Span, Spans, type Toggled } from './spans.ts'
import type { Units } from './units.ts'

/** A text with everything that it held since one of its changes. */
export interface Weave {
  present: Buffer
  spans: Spans
  units: Units
  /** Changes that count as layout of lines written by others, and have no unit: see `replay`. */
  layout: Layout
}

/** Layout changes that were set aside. */
interface Layout {
  /** Indexes of the changes with such parts. */
  readonly changes: Set<number>
  /** Such a change altered the kind of line breaks. */
  breaks: boolean
  /** An undo or redo resulted in another layout than that of the bytes it restored. */
  isMended: boolean
}

/**
 * Replays the changes from index `from` on; all of them have their splices and toggle only changes from there on.
 * Toggles `units`; none may be toggled yet. In `relaid` changes, line breaks and the white space before them count as
 * part of the original lines and cause no conflict. By default that is tried only if the changes don't fit otherwise,
 * because something was undone across them. An undo or redo may have resulted in another layout than the restored bytes
 * had. Fails with the first change that contradicts earlier ones or can't be placed because later ones don't fit; or
 * with the last change if the result isn't `present`. The bytes of the initial text aren't needed: what is left of them
 * is in `present`, and the rest is in the changes.
 */
export function replay(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  from: number,
  { relaid = relaidBy(changes), first = 'recorded' }: LayoutRule = {}
): Result<Weave, HistoryGone> {
  const asRecorded = (): boolean => false
  const rules = first === 'recorded' ? [asRecorded, relaid] : [relaid, asRecorded]
  const weave = replayOnce(present, changes, units, from, rules[0]!)
  if (weave.ok || !changes.some((_, at) => relaid(at))) return weave
  units.untoggle()
  const other = replayOnce(present, changes, units, from, rules[1]!)
  return other.ok ? other : weave
}

/** Which changes may be `relaid` (nothing toggles any of them), and which way is tried first. */
interface LayoutRule {
  relaid?: (at: number) => boolean
  first?: 'recorded' | 'relaid'
}

/** Whether a change with an index is by another program, and no part of it was ever toggled. */
export function relaidBy(changes: readonly RecordedChange[]): (at: number) => boolean {
  const toggled = new Set(changes.flatMap(({ toggles = [] }) => toggles.map(({ edit_id }) => edit_id)))
  return at => {
    const { edit_id, outside, existence } = changes[at]!
    return outside === true && existence === undefined && !toggled.has(edit_id)
  }
}

function replayOnce(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  from: number,
  relaid: (at: number) => boolean
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
  const layout: Layout = { changes: new Set(), breaks: false, isMended: false }
  const weave = { present, spans, units, layout }
  for (let at = from; at < changes.length; at++) {
    if (!carryOut(weave, changes[at]!, at, relaid)) return inconsistent(at)
  }
  return holds(present, spans) ? ok(weave) : inconsistent(changes.length - 1)
}

/**
 * The `length` bytes that the text began with; null if the changes don't fit. Undos count as their splices: which bytes
 * are visible doesn't depend on where hidden ones are.
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

/** Applies one change; false if it doesn't fit the text at that time. */
function carryOut(
  { spans, units, layout }: Weave,
  { splices, toggles, existence }: RecordedChange,
  at: number,
  relaid: (at: number) => boolean
): boolean {
  if (!isInOrder(splices!)) return false
  if (toggles !== undefined) {
    units.toggle(toggles, at)
    const changes = spans.show(span => isVisibleIf(span, unit => units.isApplied(unit)))
    const others = differences(changes.map(recorded), splices!)
    if (others !== undefined && others.length > 0) layout.isMended = true
    return others !== undefined && relayAll(spans, others)
  }
  if (existence === 'made' && spans.length > 0) return false
  const [first] = units.of(at)
  if (!relaid(at)) return replaceAll(spans, splices!, index => first + index)
  layout.breaks ||= splices!.some(breaksChange)
  return replaceButLayout(spans, splices!, first, () => layout.changes.add(at))
}

/**
 * Applies splices as `replaceAll` does, but treats pure layout as part of the lines. `first`: unit of the first splice.
 */
function replaceButLayout(
  spans: Spans,
  splices: readonly RecordedSplice[],
  first: number,
  onLayout: () => void
): boolean {
  let shift = 0
  for (const [index, splice] of splices.entries()) {
    const shifted = { ...splice, start: splice.start + shift }
    const end = endOf(splice)
    // The text after it is about to be replaced as well.
    const isNextChanged = splices[index + 1]?.start === end
    const beside = besideOf(spans, shifted)
    const parts = layoutParts(shifted, isNextChanged ? { ...beside, behind: undefined } : beside)
    let moved = 0
    for (const part of parts ?? [{ ...shifted, isLayout: false }]) {
      const { old, insert, isLayout } = part
      const now = { start: part.start + moved, old, insert }
      const owner = isLayout ? ownerOf(now, spans) : undefined
      if (!(owner === undefined ? spans.replace(now, first + index) : spans.relay(now, owner))) return false
      if (owner !== undefined) onLayout()
      moved += insert.length - old.length
    }
    shift += moved
  }
  return true
}

/**
 * Whose history layout takes if it replaces nothing; undefined if it isn't pure layout, because deleted text is inside
 * it, or deleted lines follow the last break of the text.
 */
function ownerOf({ start, old, insert }: RecordedSplice, spans: Spans): LayoutOwner | undefined {
  const end = start + old.length
  if (old.length > 1 - Number(!endsLine(old)) && spans.hidesBetween(start, endsLine(old) ? end - 1 : end)) {
    return undefined
  }
  if (end < spans.length) return 'next'
  if (endsLine(old) === endsLine(insert)) return 'last'
  return spans.endsVisible ? 'text' : undefined
}

const endsLine = (bytes: Buffer): boolean => isBreakByte(bytes.at(-1) ?? -1)

const besideOf = (spans: Spans, splice: RecordedSplice) => ({
  before: spans.byteAt(splice.start - 1),
  behind: spans.byteAt(endOf(splice))
})

/** Gives stretches of the text another layout; false if they change more than that. */
function relayAll(spans: Spans, stretches: readonly RecordedSplice[]): boolean {
  let shift = 0
  for (const stretch of stretches) {
    const shifted = { ...stretch, start: stretch.start + shift }
    const beside = besideOf(spans, shifted)
    const parts = layoutParts(shifted, beside)
    if (parts === undefined) return false
    let moved = 0
    for (const { start, old, insert, isLayout } of parts) {
      const now = { start: start + moved, old, insert }
      const owner = isLayout ? ownerOf(now, spans) : undefined
      if (owner === undefined || !spans.relay(now, owner)) return false
      moved += insert.length - old.length
    }
    shift += moved
  }
  return true
}

/** Applies the splices of one change; false if one doesn't fit. */
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
    // Written this way round because a value read from a file may be NaN.
    if (!(splice.start >= end)) return false
    end = endOf(splice)
  }
  return true
}

/** Whether a span is visible if units are applied according to `isStanding`. */
export const isVisibleIf = ({ inserter, deleters }: Span, isApplied: (unit: number) => boolean): boolean =>
  (inserter === BASE || isApplied(inserter)) && (deleters.length === 0 || !deleters.some(isApplied))

/** A stretch of an earlier text: its bytes, and the unit that inserted them. */
export interface EarlierSpan {
  bytes: Buffer
  inserter: number
  /** The whole insertion that it is part of, and where it begins in that; null: unknown bytes of the first text. */
  inserted: Buffer | null
  from: number
  /** Its place in the present text, or the place it was removed from. */
  now: number
  /** The present text still has it. */
  remains: boolean
  /** It is the first part of what the inserter inserted. */
  isFirst: boolean
}

/**
 * The text right after the change with index `at`; if that is one less than the first index, the text before all
 * changes.
 */
export function textAfter({ present, spans, units }: Weave, at: number): EarlierSpan[] {
  const wasApplied = (unit: number): boolean => units.changeOf[unit]! <= at && units.wasAppliedAfter(unit, at)
  const earlier: EarlierSpan[] = []
  const seen = new Set<number>()
  let now = 0
  for (const span of spans) {
    const { inserter, visible: remains } = span
    if (isVisibleIf(span, wasApplied)) {
      const bytes = remains ? present.subarray(now, now + span.length) : bytesOf(span)
      earlier.push({ bytes, inserter, inserted: span.bytes, from: span.at, now, remains, isFirst: !seen.has(inserter) })
    }
    seen.add(inserter)
    if (remains) now += span.length
  }
  return earlier
}

/** Whether `present` agrees with the known visible bytes; the total length is already checked. */
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

/**
 * Where two lists of splices of one text give different results, as splices of the first result; undefined if they
 * disagree about what they replace.
 */
function differences(a: readonly RecordedSplice[], b: readonly RecordedSplice[]): RecordedSplice[] | undefined {
  const different: RecordedSplice[] = []
  let shift = 0
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    // Overlapping or touching splices of both lists replace one range together: bytes that one list doesn't cover come
    // from the other.
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
    const [old, insert] = [ofA, ofB].map(list => resultOf(before, list, start))
    if (old === undefined || insert === undefined) return undefined
    if (!insert.equals(old)) different.push({ start: start + shift, old, insert })
    shift += old.length - before.length
  }
  return different
}

const endOf = ({ start, old }: RecordedSplice): number => start + old.length

/** `before`, which begins at `start`, after the splices; undefined if it isn't what they replace. */
function resultOf(before: Buffer, list: readonly RecordedSplice[], start: number): Buffer | undefined {
  const splices = list.map(splice => spliceOf({ ...splice, start: splice.start - start }))
  if (list.some(({ old }, i) => !before.subarray(splices[i]!.start, splices[i]!.end).equals(old))) return undefined
  return Buffer.concat(new Splices(splices, before.length).apply(before))
}
