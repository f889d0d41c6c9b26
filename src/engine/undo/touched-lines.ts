// The lines that a set of units touches, and the units that make up each line.
import { breakEndIn, isBreakByte, lastBreakEndIn, LF, textEndIn } from '../text/lines.ts'
import { BASE, bytesOf, type Span } from './spans.ts'
import { isVisibleIf, type Weave } from './weave.ts'

/** The units to toggle. */
export interface ToggleSet {
  has(unit: number): boolean
}

/** Bytes of a span on a line. `now`: their place in the present text, or where they would be. */
export interface Part {
  span: Span
  from: number
  to: number
  now: number
}

/**
 * One line of all the text that ever existed, or several that are one line in the present or the resulting text. A
 * hidden break ends a line too: otherwise the rest of a deleted line would belong to the next one, and edits of that
 * line would conflict.
 */
export interface TouchedLine {
  parts: readonly Part[]
  /** The units that inserted or deleted any of it, without duplicates. */
  units: readonly number[]
}

/**
 * Visits each line that a set touches. `isRefused`: whether the units of the current line are in conflict; if so, it
 * isn't joined with the next line, as toggling them would do.
 */
export function visitLines(
  weave: Weave,
  set: ToggleSet,
  isRefused: (units: readonly number[]) => boolean,
  visit: (line: TouchedLine) => void
): void {
  const { present, spans, units } = weave
  const isAppliedAfter = (unit: number): boolean => units.isApplied(unit) !== set.has(unit)
  let restAfter = 0
  for (const span of spans) if (isVisibleIf(span, isAppliedAfter)) restAfter += span.length
  let now = 0
  const line = new Line(weave, set, isRefused, visit)
  for (const span of spans) {
    const after = isVisibleIf(span, isAppliedAfter)
    const bytes = span.visible ? present.subarray(now, now + span.length) : bytesOf(span)
    line.add(span, bytes, { now, after, endsNow: now === present.length, endsAfter: restAfter === 0 })
    if (span.visible) now += span.length
    if (after) restAfter -= span.length
  }
  line.end()
}

/** The current line. */
class Line {
  readonly #weave: Weave
  readonly #set: ToggleSet
  readonly #isRefused: (units: readonly number[]) => boolean
  readonly #visit: (line: TouchedLine) => void
  #parts: Part[] = []
  #units: number[] = []
  /** For each unit, the number of the last line that it touches. */
  readonly #lineOf: Uint32Array
  #number = 1
  #isTouched = false
  /**
   * One unit of each kind among the first `#looked` units of the line. Units are of one kind if they have the same
   * change, were toggled by the same changes, and are all in the set or all outside. Units of a kind conflict with the
   * same others, and never with each other.
   */
  #kinds = new Map<string, number>()
  #looked = 0
  /** Whether these are in conflict; adding units doesn't resolve a conflict. */
  #isBlocked = false
  /** Whether it has text, not yet ended by a break, in the present text and in the resulting one. */
  #openNow = false
  #openAfter = false
  /** It ends with a `\r`; a `\n` may follow. */
  #endsWithCr = false

  constructor(
    weave: Weave,
    set: ToggleSet,
    isRefused: (units: readonly number[]) => boolean,
    visit: (line: TouchedLine) => void
  ) {
    this.#weave = weave
    this.#set = set
    this.#isRefused = isRefused
    this.#visit = visit
    this.#lineOf = new Uint32Array(weave.units.count)
  }

  /** `now`: the place; `after`: whether it will be visible. `ends…`: whether nothing visible follows from here on. */
  add(
    span: Span,
    bytes: Buffer,
    { now, after, endsNow, endsAfter }: { now: number; after: boolean; endsNow: boolean; endsAfter: boolean }
  ): void {
    const put = (from: number, to: number): void => this.#put(span, from, to, span.visible ? now + from : now)
    const open = (): void => {
      this.#openNow ||= span.visible
      this.#openAfter ||= after
    }
    const close = (): void => {
      this.#openNow &&= !span.visible
      this.#openAfter &&= !after
    }
    let at = 0
    if (this.#endsWithCr) {
      this.#endsWithCr = false
      if (bytes[0] === LF) {
        put(0, (at = 1))
        close()
      }
      this.#endLine()
      if (at === bytes.length) return
    }
    const lastEnd = lastBreakEndIn(bytes)
    // Only the first and last line of a span share text with others; the first one counts if either is touched.
    const textEnd = lastEnd > at ? textEndIn(bytes, at) : bytes.length
    if (textEnd < bytes.length) {
      const firstEnd = breakEndIn(bytes, textEnd)
      // Text appended after a last line without a break (now or in the past) begins with the break of that line; the
      // line itself is the same with and without it.
      const isAppended =
        textEnd === 0 &&
        !(span.visible && after) &&
        (span.visible || (endsNow && this.#openNow)) &&
        (after || (endsAfter && this.#isOpenAfter()))
      if (isAppended) this.#flush()
      put(at, firstEnd)
      if (textEnd > at) open()
      close()
      at = firstEnd
      if (at === bytes.length && this.#isHalf(bytes)) return
      if (!isAppended) this.#endLine()
    }
    if (at < lastEnd) {
      put(at, lastEnd)
      at = lastEnd
      if (at === bytes.length && this.#isHalf(bytes)) return
      this.#endLine()
    }
    if (at === bytes.length) return
    put(at, bytes.length)
    open()
  }

  /** The end of the text. */
  end(): void {
    this.#flush()
  }

  #isHalf(bytes: Buffer): boolean {
    this.#endsWithCr = bytes.at(-1) !== LF && isBreakByte(bytes.at(-1)!)
    return this.#endsWithCr
  }

  #put(span: Span, from: number, to: number, now: number): void {
    this.#parts.push({ span, from, to, now })
    if (span.inserter !== BASE) this.#count(span.inserter)
    for (const unit of span.deleters) this.#count(unit)
  }

  #count(unit: number): void {
    if (this.#lineOf[unit] === this.#number) return
    this.#lineOf[unit] = this.#number
    this.#units.push(unit)
    this.#isTouched ||= this.#set.has(unit)
  }

  /** Handles a break. The line goes on in a text where the break isn't visible. */
  #endLine(): void {
    if (this.#openNow) return
    if (!this.#isOpenAfter()) this.#flush()
  }

  /** Whether the line goes on in the resulting text, if the toggling will happen. */
  #isOpenAfter(): boolean {
    return this.#openAfter && !(this.#isTouched && this.#isInConflict())
  }

  /**
   * Called at each break inside a joined line, so it checks only one unit of each kind, and only when a new kind
   * appears.
   */
  #isInConflict(): boolean {
    const [{ units }, known] = [this.#weave, this.#kinds.size]
    for (; this.#looked < this.#units.length; this.#looked++) {
      const unit = this.#units[this.#looked]!
      const kind = `${this.#set.has(unit)} ${units.changeOf[unit]} ${units.toggledAt(unit).join()}`
      if (!this.#kinds.has(kind)) this.#kinds.set(kind, unit)
    }
    if (this.#kinds.size > known) this.#isBlocked ||= this.#isRefused([...this.#kinds.values()])
    return this.#isBlocked
  }

  #flush(): void {
    if (this.#isTouched) this.#visit({ parts: this.#parts, units: this.#units })
    this.#parts = []
    this.#units = []
    if (this.#looked > 0) this.#kinds = new Map()
    this.#looked = 0
    this.#isBlocked = false
    this.#number++
    this.#isTouched = this.#openNow = this.#openAfter = false
  }
}
