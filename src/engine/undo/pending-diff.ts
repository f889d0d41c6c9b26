// The net difference between a text and its baseline, from the weave: whole lines, with the units that make the
// difference.
import { bomLength } from '../text/encoding.ts'
import { breakEndIn, isLineStart, lastBreakEndIn, markLength, textEndIn } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { LineHunk } from '../edit/line-hunks.ts'
import { BASE, bytesOf, type Span } from './spans.ts'
import { isVisibleIf, type Weave } from './weave.ts'

/**
 * Bytes that only one of the two texts has, or neither, if differing changes touched them: `from` to `to` of the
 * baseline, `otherFrom` to `otherTo` of the present text.
 */
export interface NetStretch extends LineHunk {
  /** Its units that are applied in only one of the two texts. */
  readonly units: readonly number[]
}

/** Lines of the baseline (`from` to `to`) that became lines of the present text. */
export interface NetHunk extends LineHunk {
  readonly stretches: readonly NetStretch[]
  /** Ascending, without duplicates. */
  readonly units: readonly number[]
}

export interface Net {
  baseline: Buffer
  /** In order; at least one equal line is between two hunks. */
  hunks: NetHunk[]
  /**
   * Units that are applied in only one of the two texts but belong to no hunk, because they have no visible effect.
   * Ascending.
   */
  unseen: number[]
}

/**
 * The net difference between the baseline, in which the `isKept` units are applied, and the present text. Units before
 * `first` count as part of both. Changes that were undone, and lines that are equal again, aren't included. Linear in
 * both texts and the spans.
 */
export function netOf({ present, spans, units }: Weave, first: number, isKept: (unit: number) => boolean): Net {
  const kept = Uint8Array.from({ length: units.count }, (_, unit) => (unit >= first && isKept(unit) ? 1 : 0))
  const differs = (unit: number): boolean => unit >= first && (kept[unit] === 1) !== units.isApplied(unit)
  const stretches: NetStretch[] = []
  const parts: Buffer[] = []
  let [at, now] = [0, 0]
  for (const span of spans) {
    const wasVisible = isVisibleIf(span, unit => kept[unit] === 1)
    const [from, otherFrom] = [at, now]
    if (wasVisible) {
      parts.push(span.visible ? present.subarray(now, now + span.length) : bytesOf(span))
      at += span.length
    }
    if (span.visible) now += span.length
    if (wasVisible && span.visible) continue
    const own = unitsOf(span).filter(differs)
    if (own.length > 0) stretches.push({ from, to: at, otherFrom, otherTo: now, units: own })
  }
  const baseline = stretches.some(hasBytes) ? Buffer.concat(parts) : present
  const hunks = withStretches(linesOf(baseline, present, stretches.filter(hasBytes)), stretches)
  const seen = new Set(hunks.flatMap(hunk => hunk.units))
  const unseen = Array.from({ length: units.count - first }, (_, i) => first + i).filter(
    unit => differs(unit) && !seen.has(unit)
  )
  return { baseline, hunks, unseen }
}

const unitsOf = ({ inserter, deleters }: Span): number[] =>
  inserter === BASE ? [...deleters] : [inserter, ...deleters]

/** Whether it holds bytes that only one of the texts has. */
export const hasBytes = ({ from, to, otherFrom, otherTo }: LineHunk): boolean => to > from || otherTo > otherFrom

/** The lines that hold differences, except lines that are equal anyway. */
function linesOf(baseline: Buffer, present: Buffer, differences: readonly LineHunk[]): LineHunk[] {
  const edges = new Edges(baseline, present, differences[0])
  const hunks: LineHunk[] = []
  let last: LineHunk | undefined
  /** The equal bytes from the last hunk to the next. */
  const runTo = (to: number): Run => ({
    from: last?.to ?? 0,
    otherFrom: last?.otherTo ?? 0,
    length: to - (last?.to ?? 0)
  })
  for (const { from, to, otherFrom, otherTo } of differences) {
    const run = runTo(from)
    const tail = edges.lastIn(run)
    const head = last === undefined ? 0 : edges.firstIn(run)
    if (last !== undefined && (head === undefined || tail === undefined || head >= tail)) {
      last.to = to
      last.otherTo = otherTo
      continue
    }
    extend(last, head)
    const back = run.length - (tail ?? 0)
    hunks.push((last = { from: from - back, to, otherFrom: otherFrom - back, otherTo }))
  }
  // At the end of both texts, if not before.
  extend(last, edges.firstIn(runTo(baseline.length)))
  return hunks.filter(
    ({ from, to, otherFrom, otherTo }) => baseline.compare(present, otherFrom, otherTo, from, to) !== 0
  )
}

function extend(hunk: LineHunk | undefined, by: number | undefined): void {
  if (hunk === undefined) return
  hunk.to += by ?? 0
  hunk.otherTo += by ?? 0
}

/** Adds to each hunk the stretches that are in it or touch it. */
function withStretches(hunks: readonly LineHunk[], stretches: readonly NetStretch[]): NetHunk[] {
  let i = 0
  return hunks.map(hunk => {
    const { from, to, otherFrom, otherTo } = hunk
    while (i < stretches.length && (stretches[i]!.from < from || stretches[i]!.otherFrom < otherFrom)) i++
    const first = i
    while (i < stretches.length && stretches[i]!.to <= to && stretches[i]!.otherTo <= otherTo) i++
    const own = stretches.slice(first, i)
    return { ...hunk, stretches: own, units: [...new Set(own.flatMap(({ units }) => units))].sort((a, b) => a - b) }
  })
}

/** Bytes that both texts have. */
interface Run {
  from: number
  otherFrom: number
  length: number
}

/**
 * Where a line begins, or the text ends, in both texts, within bytes that both have. Offsets are relative to the run.
 */
class Edges {
  readonly #baseline: Buffer
  readonly #texts: readonly Text[]
  /** Length of the byte-order mark, if both have one. If only one of them has it, it belongs to line 1. */
  readonly #mark: number

  /** `first`: the first difference. */
  constructor(baseline: Buffer, present: Buffer, first: LineHunk | undefined) {
    this.#baseline = baseline
    this.#texts = [new Text([baseline]), new Text([present])]
    const mark = bomLength(baseline)
    this.#mark = first !== undefined && Math.min(first.from, first.otherFrom) >= mark ? mark : 0
  }

  /** Undefined if there is none. */
  firstIn(run: Run): number | undefined {
    if (this.#isEdge(run, 0)) return 0
    const bytes = this.#bytesOf(run)
    const at = textEndIn(bytes, 0)
    const end = at === bytes.length ? at : breakEndIn(bytes, at)
    return end < bytes.length || this.#isEdge(run, end) ? end : undefined
  }

  lastIn(run: Run): number | undefined {
    const { length } = run
    if (this.#isEdge(run, length)) return length
    // A `\r` at the end is half of a break in at least one of the texts.
    const bytes = this.#bytesOf(run).subarray(0, Math.max(0, length - 1))
    const end = lastBreakEndIn(bytes)
    if (end > 0) return end
    if (run.from === 0 && this.#mark > 0 && length >= this.#mark) return this.#mark
    return this.#isEdge(run, 0) ? 0 : undefined
  }

  #bytesOf({ from, length }: Run): Buffer {
    return this.#baseline.subarray(from, from + length)
  }

  #isEdge({ from, otherFrom }: Run, at: number): boolean {
    return [from + at, otherFrom + at].every((offset, i) => {
      const text = this.#texts[i]!
      if (offset === text.length) return true
      const mark = offset > 0 && offset === markLength(text)
      return mark ? this.#mark > 0 : isLineStart(text, offset)
    })
  }
}
