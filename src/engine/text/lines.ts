// What ends a line, which line an offset is on, what a line holds: the only owner of these rules. lf-lines.ts has the
// lines of a diff.
import { countByte, countPairs } from './count-bytes.ts'
import { bomLength } from './encoding.ts'
import { Text } from './text.ts'

export const LF = 10
export const CR = 13

/** Whether a byte is a line break or half of one. */
export const isBreakByte = (byte: number): boolean => byte === LF || byte === CR

/** How one line ends. */
export type Break = 'lf' | 'crlf' | 'cr'
/** How the lines of a text end. */
export type LineEnding = Break | 'mixed' | 'none'

export const BREAK_TEXT: Record<Break, string> = { lf: '\n', crlf: '\r\n', cr: '\r' }

/** A line break of any kind, for `split` and `replace` on request text. */
export const ANY_BREAK = /\r\n|\n|\r/g

/** The break for a text whose lines all end in one way, or that has no break. */
export const breakOf = (ending: Exclude<LineEnding, 'mixed'>): Break => (ending === 'none' ? 'lf' : ending)

/** A text with the breaks of a text of this ending, wherever it is inserted; undefined if they depend on the place. */
export function withBreaksOf(ending: LineEnding, text: string): string | undefined {
  if (ending === 'mixed') return undefined
  const kind = breakOf(ending)
  return kind === 'lf' ? withLf(text) : text.replace(ANY_BREAK, BREAK_TEXT[kind])
}

/** A text with `\n` for every line break. */
export const withLf = (text: string): string => (text.includes('\r') ? text.replace(ANY_BREAK, '\n') : text)

/** A text without any `\n` at its end. `/\n+$/` would try again from each `\n` of a run. */
export function withoutLastLf(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '\n') end--
  return text.slice(0, end)
}

/** The lines of `text` without their breaks: always one more than there are breaks. */
export const splitAtBreaks = (text: string): string[] => text.split(text.includes('\r') ? ANY_BREAK : '\n')

/** The one kind that `counts` has, `mixed`, or `none`. */
export function lineEndingOf(counts: Record<Break, number>): LineEnding {
  const kinds = (['lf', 'crlf', 'cr'] as const).filter(kind => counts[kind] > 0)
  return kinds.length > 1 ? 'mixed' : (kinds[0] ?? 'none')
}

/** The most frequent kind; of equally frequent ones the first of `lf`, `crlf`, `cr`; `lf` if there is no break. */
export function mostFrequent(counts: Record<Break, number>): Break {
  return (['lf', 'crlf', 'cr'] as const).reduce((best, kind) => (counts[kind] > counts[best] ? kind : best))
}

/** Whether `offset` lies between the `\r` and the `\n` of one break. */
export const isInsideCrlf = (text: Text, offset: number): boolean =>
  text.byteAt(offset - 1) === CR && text.byteAt(offset) === LF

/** Whether `offset` lies between the `\r` and the `\n` of one break of a buffer. */
export const isInsideCrlfIn = (bytes: Buffer, offset: number): boolean =>
  bytes[offset - 1] === CR && bytes[offset] === LF

/**
 * Bytes to search for a break in the first step, so that the cost depends on the line's length, not the file's. Each
 * further step is twice as long, so that a line of megabytes takes few steps.
 */
const STEP = 4096
/**
 * Bytes to read one by one before that: most lines end within them, in a quarter of the time that a view and two
 * calls of the built-in search take.
 */
const NEAR = 256

/** The first offset at or after `from` that holds `\n` or `\r`, or -1. */
export function nextBreakByte(text: Text, from: number): number {
  for (let at = from, step = STEP; at < text.length; step *= 2) {
    const index = text.pieceAt(at)
    const piece = text.pieces[index]!
    const start = text.startOf(index)
    const end = Math.min(start + piece.length, at + step)
    const found = start + textEndIn(piece, at - start, end - start)
    if (found < end) return found
    at = end
  }
  return -1
}

/** The last offset before `before` that holds `\n` or `\r`, or -1. */
export function previousBreakByte(text: Text, before: number): number {
  for (let at = before, step = STEP; at > 0; step *= 2) {
    const index = text.pieceAt(at - 1)
    const piece = text.pieces[index]!
    const start = text.startOf(index)
    const from = Math.max(start, at - step)
    const near = Math.max(from, at - NEAR)
    while (at > near) if (isBreakByte(piece[--at - start]!)) return at
    if (near === from) continue
    const far = piece.subarray(from - start, near - start)
    const found = Math.max(far.lastIndexOf(LF), far.lastIndexOf(CR))
    if (found !== -1) return from + found
    at = from
  }
  return -1
}

/** The end of the text of the line that `from` is on: at its break, or at `to`. */
export function textEndIn(bytes: Buffer, from: number, to = bytes.length): number {
  const near = Math.min(to, from + NEAR)
  for (let at = from; at < near; at++) if (isBreakByte(bytes[at]!)) return at
  if (near >= to) return to
  const far = bytes.subarray(near, to)
  const lf = far.indexOf(LF)
  const cr = (lf === -1 ? far : far.subarray(0, lf)).indexOf(CR)
  return cr !== -1 ? near + cr : lf !== -1 ? near + lf : to
}

/** Where the last break of `bytes` ends, or 0; half of a `\r\n` counts as a break. */
export function lastBreakEndIn(bytes: Buffer): number {
  for (let to = bytes.length, step = STEP; to > 0; step *= 2) {
    const from = Math.max(0, to - step)
    const view = bytes.subarray(from, to)
    const found = Math.max(view.lastIndexOf(LF), view.lastIndexOf(CR))
    if (found !== -1) return from + found + 1
    to = from
  }
  return 0
}

/**
 * The start of the line that `at` is on: after the last break byte before it, or `reach` bytes before `at` if the start
 * is farther.
 */
export function lineStartIn(bytes: Buffer, at: number, reach: number): number {
  const limit = Math.max(0, at - reach)
  let start = at
  while (start > limit && !isBreakByte(bytes[start - 1]!)) start--
  return start
}

/** The start of the line before the one that begins at `at` (> 0), or `reach` bytes before that line's end. */
export const lineStartBefore = (bytes: Buffer, at: number, reach: number): number =>
  lineStartIn(bytes, isInsideCrlfIn(bytes, at - 1) ? at - 2 : at - 1, reach)

/** The end of the break that starts at `at`. */
export const breakEndIn = (bytes: Buffer, at: number): number =>
  bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1

/** A line break in a text: bytes, end exclusive. */
export interface LineBreak {
  kind: Break
  start: number
  end: number
}

/** The break whose first byte is at `offset`; never half of a `\r\n`. */
export function breakAt(text: Text, offset: number): LineBreak {
  if (text.byteAt(offset) === LF) return { kind: 'lf', start: offset, end: offset + 1 }
  return text.byteAt(offset + 1) === LF
    ? { kind: 'crlf', start: offset, end: offset + 2 }
    : { kind: 'cr', start: offset, end: offset + 1 }
}

/** The break that ends at `end`, the counterpart of `breakAt`; undefined if none does, as between `\r` and `\n`. */
export function breakBefore(text: Text, end: number): LineBreak | undefined {
  const last = text.byteAt(end - 1)
  if (last === LF) {
    return text.byteAt(end - 2) === CR ? { kind: 'crlf', start: end - 2, end } : { kind: 'lf', start: end - 1, end }
  }
  return last === CR && text.byteAt(end) !== LF ? { kind: 'cr', start: end - 1, end } : undefined
}

/** Length of the byte-order mark at the start of a text, 3 or 0 bytes. It belongs to no line. */
export const markLength = (text: Text): 0 | 3 =>
  // Slicing takes as long as searching a short line, and few texts have a mark.
  text.byteAt(0) === 0xef ? bomLength(text.slice(0, Math.min(3, text.length))) : 0

/** Whether a line begins at `offset`: at the start, or just after a break. Not between `\r` and `\n`. */
export function isLineStart(text: Text, offset: number): boolean {
  if (offset === 0 || (offset === 3 && markLength(text) === 3)) return true
  const before = text.byteAt(offset - 1)
  return before === LF || (before === CR && text.byteAt(offset) !== LF)
}

/** Whether the text of a line ends at `offset`: just before a break, or at the end. */
export function isLineEnd(text: Text, offset: number): boolean {
  const byte = text.byteAt(offset)
  return byte === -1 || byte === CR || (byte === LF && text.byteAt(offset - 1) !== CR)
}

/** A line: its bytes from `start` to `end`, without break and byte-order mark; the next line begins at `next`. */
export interface Line {
  start: number
  end: number
  next: number
}

/**
 * The line that `offset` is on. At the end of a text that ends with a break, this is an empty line that doesn't count.
 */
export function lineAround(text: Text, offset: number): Line {
  const start = startOfLineAround(text, offset)
  // One byte back, in case `offset` lies between \r and \n.
  const at = nextBreakByte(text, Math.max(start, offset - 1))
  if (at === -1) return { start, end: text.length, next: text.length }
  return { start, end: at, next: breakAt(text, at).end }
}

/** The start of the line that `offset` is on. */
export function startOfLineAround(text: Text, offset: number): number {
  let before = previousBreakByte(text, offset)
  // Between \r and \n: the break that both make ends this line.
  if (isInsideCrlf(text, offset)) {
    before = previousBreakByte(text, before)
  }
  return before === -1 ? markLength(text) : before + 1
}

/** The line that begins at `start`. */
export function lineFrom(text: Text, start: number): Line {
  const at = nextBreakByte(text, start)
  return at === -1 ? { start, end: text.length, next: text.length } : { start, end: at, next: breakAt(text, at).end }
}

/** The number of breaks that end in the range: those whose last byte is at or after `from` and before `to`. Linear. */
export function countBreaks(text: Text, from: number, to: number): number {
  let count = 0
  let at = from
  for (const part of text.parts(from, to)) {
    at += part.length
    count += countBreaksIn(part, 0, part.length, text.byteAt(at))
  }
  return count
}

/** Counts the breaks that end in a range of a buffer; `next` is the byte after the range. */
export function countBreaksIn(bytes: Buffer, from: number, to: number, next = bytes[to] ?? -1): number {
  return countByte(bytes, LF, from, to) + countLoneCr(bytes, from, to, next)
}

/** The number of `\r` in the range that no `\n` follows; `next` is the byte after the range, -1 if there is none. */
export function countLoneCr(bytes: Buffer, from: number, to: number, next: number): number {
  const returns = countByte(bytes, CR, from, to)
  return returns === 0 ? 0 : returns - countPairs(bytes, CR, LF, from, to, next)
}

/** Counts the breaks and lines of a text that comes in parts, wherever it is cut. */
export class BreakCounter {
  readonly #counts: Record<Break, number> = { lf: 0, crlf: 0, cr: 0 }
  #length = 0
  #last = -1

  push(part: Buffer): void {
    if (part.length === 0) return
    const counts = this.#counts
    const feeds = countByte(part, LF)
    const returns = countByte(part, CR)
    const pairs = returns === 0 ? 0 : countPairs(part, CR, LF, 0, part.length, -1)
    const joined = this.#last === CR && part[0] === LF ? 1 : 0
    counts.crlf += pairs + joined
    counts.lf += feeds - pairs - joined
    // A `\r` at the end of a part is counted when the next byte is known.
    counts.cr += returns - pairs + (this.#last === CR ? 1 - joined : 0)
    this.#last = part.at(-1)!
    if (this.#last === CR) counts.cr--
    this.#length += part.length
  }

  /** `mark`: length of the byte-order mark, which belongs to no line. Call it once, after the last part. */
  finish(mark: number): { counts: Record<Break, number>; total_lines: number; ends_with_break: boolean } {
    const counts = this.#counts
    if (this.#last === CR) counts.cr++
    const ends_with_break = isBreakByte(this.#last)
    const unended = this.#length > mark && !ends_with_break ? 1 : 0
    return { counts, total_lines: counts.lf + counts.crlf + counts.cr + unended, ends_with_break }
  }
}

/** The number of lines of a text: its breaks, plus one for what follows the last. An empty text has none. */
export function countLines(text: Text, breaks: number): number {
  return text.length > markLength(text) && !isLineStart(text, text.length) ? breaks + 1 : breaks
}

/** The number of lines of a text in one buffer. */
export const countLinesIn = (bytes: Buffer, breaks: number): number =>
  bytes.length > bomLength(bytes) && !isBreakByte(bytes[bytes.length - 1]!) ? breaks + 1 : breaks

/**
 * The 1-based line of each offset, in the order asked, and the total number of lines; one pass over the text. An offset
 * at the end of a text that ends with a break is on line `total + 1`.
 */
export function lineNumbers(text: Text, offsets: readonly number[]): { lines: number[]; total: number } {
  const order = offsets.map((_, index) => index).sort((a, b) => offsets[a]! - offsets[b]!)
  const lines = new Array<number>(offsets.length)
  let breaks = 0
  let at = 0
  for (const index of order) {
    const offset = offsets[index]!
    breaks += countBreaks(text, at, offset)
    at = offset
    lines[index] = breaks + 1
  }
  return { lines, total: countLines(text, breaks + countBreaks(text, at, text.length)) }
}

/** Bytes to count in one step when searching for a line. */
const STRETCH = 1 << 16

/**
 * The offset where each 1-based line begins, in the order asked, and the total number of lines; one pass. The text's
 * length for lines after the last, the start of line 1 for those before it.
 */
export function lineStarts(text: Text, lines: readonly number[]): { offsets: number[]; total: number } {
  const order = lines.map((_, index) => index).sort((a, b) => lines[a]! - lines[b]!)
  const offsets = new Array<number>(lines.length).fill(text.length)
  let found = 0
  let line = 1
  let at: number = markLength(text)
  while (found < order.length && at < text.length) {
    const wanted = lines[order[found]!]!
    if (wanted <= line) {
      offsets[order[found++]!] = at
      continue
    }
    // Stretches without the line are counted, not walked.
    const end = Math.min(text.length, at + STRETCH)
    const breaks = countBreaks(text, at, end)
    if (line + breaks < wanted) {
      line += breaks
      at = end
      continue
    }
    for (; line < wanted; line++) at = breakAt(text, nextBreakByte(text, at)).end
  }
  const breaks = line - 1 + countBreaks(text, at, text.length)
  return { offsets, total: countLines(text, breaks) }
}

/** The start of every line of a text, for reading many of them. Built in one pass. */
export class LineTable {
  readonly #bytes: Buffer
  readonly #starts: number[]
  /** Number of lines. */
  readonly total: number

  constructor(bytes: Buffer) {
    const starts: number[] = [bomLength(bytes)]
    for (let i = starts[0]!; i < bytes.length; i++) {
      if (bytes[i] === LF || (bytes[i] === CR && bytes[i + 1] !== LF)) starts.push(i + 1)
    }
    this.#bytes = bytes
    this.#starts = starts
    this.total = starts.at(-1)! < bytes.length ? starts.length : starts.length - 1
  }

  /** The offset where a 1-based line begins; the text's length for lines after the last. */
  startOf(line: number): number {
    return this.#starts[line - 1] ?? this.#bytes.length
  }

  /** The bytes of a 1-based line, without its break; empty outside the text. */
  bytesOf(line: number): Buffer {
    const start = this.startOf(line)
    const last = breakBefore(new Text([this.#bytes]), this.startOf(line + 1))
    const end = last === undefined || last.start < start ? this.startOf(line + 1) : last.start
    return this.#bytes.subarray(start, end)
  }

  /** Whether a line has only spaces and tabs; true outside the text. */
  isBlank(line: number): boolean {
    return this.bytesOf(line).every(byte => byte === 32 || byte === 9)
  }
}
