// Which line breaks a new text gets at the place where it is inserted.
import { LineIndex } from './line-index.ts'
import {
  type Break,
  BREAK_TEXT,
  breakAt,
  breakBefore,
  breakOf,
  CR,
  isBreakByte,
  LF,
  type LineBreak,
  type LineEnding,
  lineEndingOf,
  mostFrequent,
  nextBreakByte,
  previousBreakByte,
  splitAtBreaks,
  withBreaksOf
} from './lines.ts'
import type { Text } from './text.ts'

/**
 * A break of this kind to put between two bytes (-1: none); of another kind if it would form one break with a `\r`
 * before or a `\n` after it.
 */
export function breakBetween(kind: Break, before: number, after: number): string {
  const joins = (kind === 'lf' && before === CR) || (kind === 'cr' && after === LF)
  if (!joins) return BREAK_TEXT[kind]
  return before === CR ? (after === LF ? BREAK_TEXT.crlf : BREAK_TEXT.cr) : BREAK_TEXT.lf
}

/** How line breaks in a request's text match: `adapt`: any kind; `exact`: as sent. */
export type LineEndings = 'adapt' | 'exact'

/** The properties of a text's line breaks that inserted breaks depend on. */
export interface BreakStyle {
  /** How its lines end; `mixed` is correct for any text, only slower. */
  ending: LineEnding
  /** The most frequent kind of the original. */
  frequent: Break
}

/** `lines`: the index of `original`, for callers that already have one. */
export function breakStyleOf(original: Buffer, lines = new LineIndex(original)): BreakStyle {
  // No need to count: the first break decides.
  if (!lines.hasCr) return { ending: original.includes(LF) ? 'lf' : 'none', frequent: 'lf' }
  const counts = lines.endings()
  return { ending: lineEndingOf(counts), frequent: mostFrequent(counts) }
}

/** Finds the kind of break to use at a place; call it for places from left to right. */
export class BreakFinder {
  readonly #text: Text
  readonly #style: BreakStyle
  #next: LineBreak | undefined
  /** Where the last adapted range ends, and whether a `\r` precedes what follows it. */
  #written = { end: -1, afterCr: false }
  /** The kind for places after the last break of the text. */
  #last: Break | undefined

  constructor(text: Text, style: BreakStyle) {
    this.#text = text
    this.#style = style
  }

  /**
   * The text's only kind; in a mixed text the kind of the line at `offset`, else of the line before it, else the most
   * frequent; `lf` if there is none.
   */
  kindAt(offset: number): Break {
    const { ending, frequent } = this.#style
    if (ending !== 'mixed') return breakOf(ending)
    if (this.#last !== undefined) return this.#last
    if (this.#next === undefined || this.#next.start < offset) {
      const at = nextBreakByte(this.#text, offset)
      if (at === -1) {
        this.#last = this.#kindBefore(offset) ?? frequent
        return this.#last
      }
      this.#next = breakAt(this.#text, at)
    }
    return this.#next.kind
  }

  /**
   * Returns `text` with the breaks to use in place of a range. In a mixed text, lines at the beginning or end that are
   * the same in the range keep their breaks; all others, including the last, get the break of the line where the
   * first of them is inserted (see `kindAt`). If a `\r` and a `\n` would form one break, one of them becomes another
   * kind.
   */
  adapt(text: string, range: { start: number; end: number }): string {
    const adapted = this.#adapt(text, range)
    this.#written = { end: range.end, afterCr: adapted === '' ? this.#followsCr(range.start) : adapted.endsWith('\r') }
    return adapted
  }

  #adapt(text: string, range: { start: number; end: number }): string {
    const everywhere = withBreaksOf(this.#style.ending, text)
    if (everywhere !== undefined) return everywhere
    const lines = splitAtBreaks(text)
    if (lines.length === 1) return text
    const kept = this.#keptBreaks(lines, range)
    const kind = this.kindAt(kept.from)
    const breaks = Array.from(kept.breaks, kept => kept ?? kind)
    this.#part(breaks, lines, range)
    return lines.reduce((joined, line, index) => joined + BREAK_TEXT[breaks[index - 1]!] + line)
  }

  /**
   * The breaks of those of `lines` that the range begins or ends with, and where the others begin. Reads no more of the
   * range than the length of `lines`.
   */
  #keptBreaks(
    lines: readonly string[],
    { start, end }: { start: number; end: number }
  ): { breaks: (Break | undefined)[]; from: number } {
    const breaks = new Array<Break | undefined>(lines.length - 1)
    let from = start
    let lead = 0
    for (; lead < breaks.length; lead++) {
      const own = this.#breakAfter(Buffer.from(lines[lead]!), from)
      if (own === undefined || own.end > end) break
      breaks[lead] = own.kind
      from = own.end
    }
    // From the end: a line is there as a whole only if a break precedes it too. That break ends the line above, so we
    // keep it only together with that line.
    let after: LineBreak | undefined
    for (let i = breaks.length; i >= lead; i--) {
      const line = Buffer.from(lines[i]!)
      const at = (after?.start ?? end) - line.length
      if (at < from || !this.#text.holds(line, at)) break
      const before = breakBefore(this.#text, at)
      if (at > from && (before === undefined || before.start < from)) break
      if (after !== undefined) breaks[i] = after.kind
      if (at === from) break
      after = before
    }
    return { breaks, from }
  }

  /** The break that ends `line` at `at`; undefined if something else is there. */
  #breakAfter(line: Buffer, at: number): LineBreak | undefined {
    const byte = this.#text.holds(line, at) ? this.#text.byteAt(at + line.length) : -1
    return isBreakByte(byte) ? breakAt(this.#text, at + line.length) : undefined
  }

  /**
   * Changes those of `breaks` that would form one break with the one before, across an empty line, or with a byte next
   * to the range.
   */
  #part(breaks: Break[], lines: readonly string[], { start, end }: { start: number; end: number }): void {
    const meetsCr = (i: number): boolean =>
      lines[i] === '' && (i === 0 ? this.#followsCr(start) : breaks[i - 1] === 'cr')
    for (const [i, kind] of breaks.entries()) if (kind === 'lf' && meetsCr(i)) breaks[i] = 'cr'
    const last = breaks.length - 1
    if (lines.at(-1) === '' && breaks[last] === 'cr' && this.#text.byteAt(end) === LF) {
      breaks[last] = meetsCr(last) ? 'crlf' : 'lf'
    }
  }

  #followsCr(at: number): boolean {
    return this.#written.end === at ? this.#written.afterCr : this.#text.byteAt(at - 1) === CR
  }

  #kindBefore(offset: number): Break | undefined {
    const before = previousBreakByte(this.#text, offset)
    return before === -1 ? undefined : breakBefore(this.#text, before + 1)?.kind
  }
}
