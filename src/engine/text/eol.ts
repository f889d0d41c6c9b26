// Which line breaks a new text gets at the place where it is put. Does not know search or edits.
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
 * A break of this kind between two bytes (-1: none); another kind where it would become one with a `\r` before or a
 * `\n` after it.
 */
export function breakBetween(kind: Break, before: number, after: number): string {
  const joins = (kind === 'lf' && before === CR) || (kind === 'cr' && after === LF)
  if (!joins) return BREAK_TEXT[kind]
  return before === CR ? (after === LF ? BREAK_TEXT.crlf : BREAK_TEXT.cr) : BREAK_TEXT.lf
}

/** How line breaks of a request's text are taken: `adapt`: as any kind; `exact`: as sent. */
export type LineEndings = 'adapt' | 'exact'

/** What a text's line breaks are, as far as inserted ones depend on it. */
export interface BreakStyle {
  /** How its lines end; `mixed` is correct for any text, only slower. */
  ending: LineEnding
  /** The most frequent kind of the original. */
  frequent: Break
}

/** `lines`: the index of `original`, for whoever asks it for more. */
export function breakStyleOf(original: Buffer, lines = new LineIndex(original)): BreakStyle {
  // Nothing needs counting: the first break decides.
  if (!lines.hasCr) return { ending: original.includes(LF) ? 'lf' : 'none', frequent: 'lf' }
  const counts = lines.endings()
  return { ending: lineEndingOf(counts), frequent: mostFrequent(counts) }
}

/** Finds the kind of break that a place calls for; ask it for places from left to right. */
export class BreakFinder {
  readonly #text: Text
  readonly #style: BreakStyle
  #next: LineBreak | undefined
  /** Where what was adapted last ends, and whether a `\r` stands before what follows it. */
  #written = { end: -1, afterCr: false }
  /** Behind the last break of the text: its kind. */
  #last: Break | undefined

  constructor(text: Text, style: BreakStyle) {
    this.#text = text
    this.#style = style
  }

  /**
   * The text's only kind; in a mixed one that of the line at `offset`, else of the one before it, else the most
   * frequent; `lf` where there is none.
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
   * `text` with the breaks that it gets in place of a range. In a mixed text, lines that both begin or end with keep
   * the breaks that end them; all others, the last one too, get that of the line on which the first of them is put (see
   * `kindAt`). But where a `\r` and a `\n` would become one break, one of them is written as another kind.
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
   * The breaks that end those of `lines` that the range begins or ends with, and where the others begin. Looks at no
   * more of the range than `lines` are long.
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
    // From the end: a line is there whole where a break is before it too. That break ends the line above, so it's kept
    // only with that.
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

  /** The break that ends `line` at `at`; undefined where something else is there. */
  #breakAfter(line: Buffer, at: number): LineBreak | undefined {
    const byte = this.#text.holds(line, at) ? this.#text.byteAt(at + line.length) : -1
    return isBreakByte(byte) ? breakAt(this.#text, at + line.length) : undefined
  }

  /**
   * Changes those of `breaks` that would make a pair with the one before, across an empty line, or with what stands
   * around the range.
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
