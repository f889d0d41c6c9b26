// The lines that a set of units touches, and the units that each of them is made of. Does not know which of these are
// in conflict.
import { breakEndIn, isBreakByte, lastBreakEndIn, LF, textEndIn } from '../text/lines.ts'
import { BASE, bytesOf, type Span } from './spans.ts'
import { stands, type Weave } from './weave.ts'

/** Which units are to be toggled. */
export interface ToggleSet {
  has(unit: number): boolean
}

/** Bytes of a span on a line. `now`: where they are in the present text, or would be. */
export interface Part {
  span: Span
  from: number
  to: number
  now: number
}

/**
 * One line of all the text that there ever was, or several that are one line in the present text or in the one to come.
 * A break that isn't visible ends a line too: else the rest of a deleted line would belong to the next, and who edited
 * that would be in the way.
 */
export interface TouchedLine {
  parts: readonly Part[]
  /** What inserted or deleted any of it, each once. */
  units: readonly number[]
}

/**
 * Visits each line that a set touches. `isRefused`: whether the units of a line in the making are in conflict; it isn't
 * joined then with the next one, as toggling them would.
 */
export function visitLines(
  weave: Weave,
  set: ToggleSet,
  isRefused: (units: readonly number[]) => boolean,
  visit: (line: TouchedLine) => void
): void {
  const { present, spans, units } = weave
  const isStandingAfter = (unit: number): boolean => units.stands(unit) !== set.has(unit)
  let restAfter = 0
  for (const span of spans) if (stands(span, isStandingAfter)) restAfter += span.length
  let now = 0
  const line = new Line(weave, set, isRefused, visit)
  for (const span of spans) {
    const after = stands(span, isStandingAfter)
    const bytes = span.visible ? present.subarray(now, now + span.length) : bytesOf(span)
    line.add(span, bytes, { now, after, endsNow: now === present.length, endsAfter: restAfter === 0 })
    if (span.visible) now += span.length
    if (after) restAfter -= span.length
  }
  line.end()
}

/** The line in the making. */
class Line {
  readonly #weave: Weave
  readonly #set: ToggleSet
  readonly #isRefused: (units: readonly number[]) => boolean
  readonly #visit: (line: TouchedLine) => void
  #parts: Part[] = []
  #units: number[] = []
  /** For each unit the number of the last line that has it. */
  readonly #lineOf: Uint32Array
  #number = 1
  #isTouched = false
  /**
   * Of the first `#looked` of its units one of each kind: of the same change, toggled by the same, and both in the set or
   * neither. Those of a kind are in conflict with the same others, and never with each other.
   */
  #kinds = new Map<string, number>()
  #looked = 0
  /** Whether these are in conflict, as they stay when others come. */
  #isBlocked = false
  /** Whether it has text in the present text, and in the one to come, that no break follows there. */
  #openNow = false
  #openAfter = false
  /** It ends with a `\r`, which a `\n` may follow. */
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

  /** `now`, `after`: where it is, and whether it will be visible. `ends…`: whether nothing is visible from it on. */
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
    // Of all lines of a span only the first and the last have text of others; the first counts where either is touched.
    const textEnd = lastEnd > at ? textEndIn(bytes, at) : bytes.length
    if (textEnd < bytes.length) {
      const firstEnd = breakEndIn(bytes, textEnd)
      // What is put behind a last line without a break, or was there, begins with the break of that line, which is the
      // same with it and without it.
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

  /** A break. Where it isn't visible, the line goes on there. */
  #endLine(): void {
    if (this.#openNow) return
    if (!this.#isOpenAfter()) this.#flush()
  }

  /** Whether it goes on after the toggling, which there will be. */
  #isOpenAfter(): boolean {
    return this.#openAfter && !(this.#isTouched && this.#isInConflict())
  }

  /** Asked at each break of what may be one line to be: so not about all units, and only about new kinds of them. */
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
