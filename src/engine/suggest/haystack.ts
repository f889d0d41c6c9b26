// The text to search after a miss: its bytes, and stretches of it decoded and folded.
import { isUtf8 } from 'node:buffer'
import { isBreakByte, lineStartIn } from '../text/lines.ts'
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'

/** A part of the text. `start` and `end` in bytes; a lone `\r` of the source becomes `\n`, so that lines are lines. */
export interface Stretch {
  start: number
  end: number
  folded: Folded
  /** The lines that aren't blank. */
  lines: FoldedLine[]
  /** Whether the stretch begins and ends at line boundaries, not in the middle of a long line. */
  startsLine: boolean
  endsLine: boolean
}

/** How many bytes of a line a stretch may add beyond the range asked for. */
const LINE_REACH = 500

export class Haystack {
  readonly bytes: Buffer
  /** Text that isn't UTF-8 is compared byte by byte. */
  readonly encoding: 'utf8' | 'latin1'
  readonly #stretches = new Map<string, Stretch>()
  /** Searched for in the whole text and not found. */
  readonly #absent: Buffer[] = []

  constructor(bytes: Buffer, encoding: 'utf8' | 'latin1' = isUtf8(bytes) ? 'utf8' : 'latin1') {
    this.bytes = bytes
    this.encoding = encoding
  }

  /** The lines that a range touches, with at most 500 bytes of them outside the range. Cuts no character. */
  stretch(from: number, to: number): Stretch {
    return this.part(this.#lineStart(Math.max(0, from)), this.#lineEnd(Math.min(this.bytes.length, to)))
  }

  /** Exactly the range, which must begin and end between characters. */
  part(start: number, end: number): Stretch {
    const key = `${start}:${end}`
    let stretch = this.#stretches.get(key)
    if (stretch === undefined) {
      const folded = fold(this.bytes.toString(this.encoding, start, end).replace(/\r(?!\n)/g, '\n'))
      stretch = {
        start,
        end,
        folded,
        lines: linesOf(folded).filter(line => line.to > line.from),
        startsLine: start === 0 || isBreakByte(this.bytes[start - 1]!),
        endsLine: end === this.bytes.length || isBreakByte(this.bytes[end]!)
      }
      this.#stretches.set(key, stretch)
    }
    return stretch
  }

  /** The byte offset of a UTF-16 offset in a stretch. */
  byteAt(stretch: Stretch, offset: number): number {
    return stretch.start + Buffer.byteLength(stretch.folded.source.slice(0, offset), this.encoding)
  }

  /** The first position of `needle` at or after `from`, or -1. */
  indexOf(needle: Buffer, from = 0): number {
    if (this.lacks(needle)) return -1
    const at = this.bytes.indexOf(needle, from)
    if (at === -1 && from === 0) this.#absent.push(needle)
    return at
  }

  /** Whether we know that the text doesn't contain `bytes`, because `indexOf` didn't find them or a part of them. */
  lacks(bytes: Buffer): boolean {
    return this.#absent.some(absent => bytes.includes(absent))
  }

  /** The text of a byte range. */
  text(start: number, end: number): string {
    return this.bytes.toString(this.encoding, start, end)
  }

  #lineStart(from: number): number {
    let at = lineStartIn(this.bytes, from, LINE_REACH)
    while (at > 0 && this.#inside(at)) at--
    return at
  }

  #lineEnd(from: number): number {
    const limit = Math.min(this.bytes.length, from + LINE_REACH)
    let at = from
    while (at < limit && !isBreakByte(this.bytes[at]!)) at++
    while (at < this.bytes.length && this.#inside(at)) at++
    return at
  }

  #inside(at: number): boolean {
    return this.encoding === 'utf8' && (this.bytes[at]! & 0xc0) === 0x80
  }
}
