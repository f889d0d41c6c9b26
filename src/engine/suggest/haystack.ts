// The text that is searched after a miss: bytes, and stretches of it decoded and folded. Does not know what is searched
// for.
import { isUtf8 } from 'node:buffer'
import { isBreakByte, lineStartIn } from '../text/lines.ts'
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'

/** A part of the text. `start` and `end` in bytes; lone `\r` of the source are `\n` here, so that a line is a line. */
export interface Stretch {
  start: number
  end: number
  folded: Folded
  /** The lines that aren't blank. */
  lines: FoldedLine[]
  /** Whether the stretch begins and ends where a line does, and not amid a long one. */
  startsLine: boolean
  endsLine: boolean
}

/** Bytes of a line that a stretch takes in beyond what was asked for. */
const LINE_REACH = 500

export class Haystack {
  readonly bytes: Buffer
  /** Bytes that aren't UTF-8 are compared one by one. */
  readonly encoding: 'utf8' | 'latin1'
  readonly #stretches = new Map<string, Stretch>()
  /** What was looked for in the whole text and isn't there. */
  readonly #absent: Buffer[] = []

  constructor(bytes: Buffer, encoding: 'utf8' | 'latin1' = isUtf8(bytes) ? 'utf8' : 'latin1') {
    this.bytes = bytes
    this.encoding = encoding
  }

  /** The lines that a range touches; only 500 bytes of them outside of it. Characters are whole. */
  stretch(from: number, to: number): Stretch {
    return this.part(this.#lineStart(Math.max(0, from)), this.#lineEnd(Math.min(this.bytes.length, to)))
  }

  /** Exactly a range, that begins and ends between characters. */
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

  /** The first place of `needle` from `from` on, or -1. */
  indexOf(needle: Buffer, from = 0): number {
    if (this.lacks(needle)) return -1
    const at = this.bytes.indexOf(needle, from)
    if (at === -1 && from === 0) this.#absent.push(needle)
    return at
  }

  /** Whether it is known that `bytes` are nowhere, as `indexOf` did not find them or a part of them. */
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
