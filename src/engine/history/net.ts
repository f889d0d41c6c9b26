// What a text and its baseline differ in, from the weave: whole lines, with the units that make the difference. Does not
// know how a baseline is chosen, or how lines are shown.
import { bomLength } from '../text/encoding.ts'
import { breakEndIn, isLineStart, lastBreakEndIn, markLength, textEndIn } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { LineHunk } from '../edit/line-hunks.ts'
import { BASE, bytesOf, type Span } from './spans.ts'
import { stands, type Weave } from './weave.ts'

/**
 * Bytes that only one of the two texts has, or neither, where changes that differ had to do with them: `from` to `to` of
 * the baseline, `otherFrom` to `otherTo` of the present text.
 */
export interface NetStretch extends LineHunk {
  /** Those of its units that stand only in one of the two. */
  readonly units: readonly number[]
}

/** Lines of the baseline (`from` to `to`) that became lines of the present text. */
export interface NetHunk extends LineHunk {
  readonly stretches: readonly NetStretch[]
  /** Rising, each once. */
  readonly units: readonly number[]
}

export interface Net {
  baseline: Buffer
  /** In order; between two of them at least one line is the same. */
  hunks: NetHunk[]
  /** Units that stand only in one of the two and are of no hunk: nothing is to be seen of them. Rising. */
  unseen: number[]
}

/**
 * The net difference between the baseline, in which the units stand that are `isKept`, and the present text. Units before
 * `first` count as parts of both. What was undone in between, and lines that are the same again, aren't in it. Linear in
 * both texts and the spans.
 */
export function netOf({ present, spans, units }: Weave, first: number, isKept: (unit: number) => boolean): Net {
  const kept = Uint8Array.from({ length: units.count }, (_, unit) => (unit >= first && isKept(unit) ? 1 : 0))
  const differs = (unit: number): boolean => unit >= first && (kept[unit] === 1) !== units.stands(unit)
  const stretches: NetStretch[] = []
  const parts: Buffer[] = []
  let [at, now] = [0, 0]
  for (const span of spans) {
    const wasVisible = stands(span, unit => kept[unit] === 1)
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

/** Whether only one of the texts has them. */
export const hasBytes = ({ from, to, otherFrom, otherTo }: LineHunk): boolean => to > from || otherTo > otherFrom

/** The lines in which there are differences; without those that are the same nevertheless. */
function linesOf(baseline: Buffer, present: Buffer, differences: readonly LineHunk[]): LineHunk[] {
  const edges = new Edges(baseline, present, differences[0])
  const hunks: LineHunk[] = []
  let last: LineHunk | undefined
  /** What is the same, from the last hunk to the next. */
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
  // Where both end, if nowhere before.
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

/** Each hunk with the stretches that are in it or touch it. */
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

/** Where in both texts a line begins, or they end: among bytes that both have. Offsets are those in the run. */
class Edges {
  readonly #baseline: Buffer
  readonly #texts: readonly Text[]
  /** Length of the byte-order mark that both have. One that only one of them has belongs to its line 1. */
  readonly #mark: number

  /** `first`: where they differ first. */
  constructor(baseline: Buffer, present: Buffer, first: LineHunk | undefined) {
    this.#baseline = baseline
    this.#texts = [new Text([baseline]), new Text([present])]
    const mark = bomLength(baseline)
    this.#mark = first !== undefined && Math.min(first.from, first.otherFrom) >= mark ? mark : 0
  }

  /** Undefined where there is none. */
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
    // A `\r` at the end is half of a break, in one of the texts at least.
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
