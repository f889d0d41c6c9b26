// The weave of a text: its recorded changes replayed into spans, of which the present text holds what is visible. Does
// not know conflicts or what is to be undone.
import { fail, ok, type Result } from '../../result.ts'
import { Splices } from '../edit/splice.ts'
import { isBreakByte } from '../text/lines.ts'
import type { HistoryGone } from '../failure.ts'
import { type RecordedChange, type RecordedSplice, spliceOf } from './change.ts'
import { breaksChange, layoutParts } from './layout.ts'
import { BASE, bytesOf, type LayoutOwner, type Span, Spans, type Toggled } from './spans.ts'
import type { Units } from './units.ts'

/** A text with all that it was since one of its changes. */
export interface Weave {
  present: Buffer
  spans: Spans
  units: Units
  /** What of its changes counts as the layout of lines that others wrote, and has no unit: see `replay`. */
  layout: Layout
}

/** Layout that was set aside. */
interface Layout {
  /** The changes, by their index, of which parts were. */
  readonly changes: Set<number>
  /** Such changes gave lines other line breaks. */
  breaks: boolean
  /** An undo or redo came to other layout than that of the bytes that it brought back. */
  isMended: boolean
}

/**
 * Replays the changes from index `from` on, all of which have their splices; what they toggle are changes from there
 * on. Toggles `units`, of which none is toggled yet. Of changes that are `relaid`, what concerns only line breaks and the
 * white space before them counts as part of the lines as they were written: it stands in nobody's way. By default they
 * are so only where the changes don't fit otherwise, as something was undone over them. An undo or redo may have come to
 * other layout than the bytes that it brought back had. Fails with the first change that doesn't fit those before it, or
 * that can't be placed as later ones don't fit; or the last where `present` isn't what they come to. The bytes that the
 * text began with aren't needed: what is left of them is in `present`, and what isn't is in the changes.
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

/** Which changes may be `relaid`, none of which anything toggles, and whether it is first tried with them so. */
interface LayoutRule {
  relaid?: (at: number) => boolean
  first?: 'recorded' | 'relaid'
}

/** Whether a change with an index is by another program, and nothing of it was ever toggled. */
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
function carryOut(
  { spans, units, layout }: Weave,
  { splices, toggles, existence }: RecordedChange,
  at: number,
  relaid: (at: number) => boolean
): boolean {
  if (!isInOrder(splices!)) return false
  if (toggles !== undefined) {
    units.toggle(toggles, at)
    const changes = spans.show(span => stands(span, unit => units.stands(unit)))
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

/** The same as `replaceAll`, with what is layout alone as part of the lines. `first`: unit of the first splice. */
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
    // What is behind it is about to be replaced as well.
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
 * Whose layout is where none was; undefined: it isn't layout, as deleted text is inside it, or deleted lines are behind the
 * last break of the text.
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

/** Gives stretches of the text another layout; false where it is more than that. */
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
  /** It begins what the inserter put in. */
  isFirst: boolean
}

/** The text right after the change with the index `at`; before all changes where that is the one before the first. */
export function textAfter({ present, spans, units }: Weave, at: number): EarlierSpan[] {
  const stood = (unit: number): boolean => units.changeOf[unit]! <= at && units.stoodAfter(unit, at)
  const earlier: EarlierSpan[] = []
  const seen = new Set<number>()
  let now = 0
  for (const span of spans) {
    const { inserter, visible: remains } = span
    if (stands(span, stood)) {
      const bytes = remains ? present.subarray(now, now + span.length) : bytesOf(span)
      earlier.push({ bytes, inserter, now, remains, isFirst: !seen.has(inserter) })
    }
    seen.add(inserter)
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

/**
 * Where two lists of splices of one text give different texts, as splices of the first one's; undefined: they don't agree
 * about what they replace.
 */
function differences(a: readonly RecordedSplice[], b: readonly RecordedSplice[]): RecordedSplice[] | undefined {
  const different: RecordedSplice[] = []
  let shift = 0
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
    const [old, insert] = [ofA, ofB].map(list => resultOf(before, list, start))
    if (old === undefined || insert === undefined) return undefined
    if (!insert.equals(old)) different.push({ start: start + shift, old, insert })
    shift += old.length - before.length
  }
  return different
}

const endOf = ({ start, old }: RecordedSplice): number => start + old.length

/** `before`, which begins at `start`, after splices; undefined where it isn't what they replace. */
function resultOf(before: Buffer, list: readonly RecordedSplice[], start: number): Buffer | undefined {
  const splices = list.map(splice => spliceOf({ ...splice, start: splice.start - start }))
  if (list.some(({ old }, i) => !before.subarray(splices[i]!.start, splices[i]!.end).equals(old))) return undefined
  return Buffer.concat(new Splices(splices, before.length).apply(before))
}
