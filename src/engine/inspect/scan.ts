// Facts about a file that arrives in chunks, and a window of it: keeps no more than the answer needs.
import { isAscii, isUtf8 } from 'node:buffer'
import type { Result } from '../../result.ts'
import {
  type BinaryEncoding,
  binaryMark,
  bomLength,
  byteOfUtf16,
  type Encoding,
  utf16Length
} from '../text/encoding.ts'
import type { LineOutOfRange } from '../failure.ts'
import { type Indentation, indentationOf } from '../text/indentation.ts'
import { languageOf } from './language.ts'
import { type Break, BreakCounter, breakEndIn, CR, type LineEnding, lineEndingOf, textEndIn } from '../text/lines.ts'
import { cutWindow, MAX_WINDOW_BYTES, type Window, type WindowRequest } from './window.ts'

/** Bytes at the start that determine indentation and language. */
const HEAD = 1 << 20
/** Bytes kept of a window: its largest size, and enough to see whether the text continues. */
const KEPT = MAX_WINDOW_BYTES + 8

interface TextFacts {
  total_lines: number
  bom: boolean
  line_ending: LineEnding
  /** Set if they are mixed. */
  line_ending_counts?: Record<Break, number>
  ends_with_newline: boolean
  indentation: Indentation
  language?: string
}

export interface ScanResult {
  encoding: Encoding
  /** Absent for a binary file. */
  facts?: TextFacts
  /** Set if it was requested, and the file isn't binary. */
  window?: Result<Window, LineOutOfRange>
}

/** Receives a file's chunks in order, split anywhere; the caller may reuse a chunk afterwards. */
export class Scan {
  readonly #path: string
  readonly #window: WindowScan | undefined
  readonly #breaks = new BreakCounter()
  /** The first bytes, up to `HEAD`. */
  #head: Buffer[] = []
  #headLength = 0
  #mark: BinaryEncoding | null = null
  #ascii = true
  #utf8 = true
  /** The first bytes of a character that a later chunk completes. */
  #incomplete = Buffer.alloc(0)

  constructor(path: string, window?: WindowRequest) {
    this.#path = path
    this.#window = window && new WindowScan(window)
  }

  push(chunk: Buffer): void {
    if (this.#headLength < HEAD) {
      const part = Buffer.from(chunk.subarray(0, HEAD - this.#headLength))
      this.#head.push(part)
      this.#headLength += part.length
    }
    if (chunk.includes(0)) this.#mark ??= 'binary'
    this.#ascii &&= isAscii(chunk)
    if (this.#utf8 && !this.#ascii) this.#checkUtf8(chunk)
    this.#breaks.push(chunk)
    this.#window?.push(chunk)
  }

  finish(): ScanResult {
    const head = Buffer.concat(this.#head)
    const mark = binaryMark(head) ?? this.#mark
    if (mark !== null) return { encoding: mark }
    const encoding = this.#ascii ? 'ascii' : this.#utf8 && this.#incomplete.length === 0 ? 'utf-8' : 'unknown-8bit'
    const bom = bomLength(head)
    const { counts, total_lines, ends_with_break } = this.#breaks.finish(bom)
    const line_ending = lineEndingOf(counts)
    const language = languageOf(this.#path, head)
    const facts: TextFacts = {
      total_lines,
      bom: bom > 0,
      line_ending,
      ...(line_ending === 'mixed' && { line_ending_counts: counts }),
      ends_with_newline: ends_with_break,
      indentation: indentationOf(head),
      language
    }
    return { encoding, facts, window: this.#window?.finish(total_lines) }
  }

  #checkUtf8(chunk: Buffer): void {
    const joined = this.#incomplete.length > 0 ? Buffer.concat([this.#incomplete, chunk]) : chunk
    const whole = wholeCharacters(joined)
    this.#utf8 = isUtf8(joined.subarray(0, whole))
    this.#incomplete = Buffer.from(joined.subarray(whole))
  }
}

/** The length of the longest prefix without an incomplete character: all but at most three bytes. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Skips lines, then columns, then keeps the bytes of a window. */
class WindowScan {
  readonly #request: WindowRequest
  #lines: number
  /** UTF-16 units to skip before a character that must be there; -1 if none. */
  #columns: number
  /** Units of the line skipped so far; the line's length if it ended before the column. */
  #skipped = 0
  #pastEnd = false
  /** Bytes that can't be interpreted yet: the start of the file, a \r, the beginning of a character. */
  #held = Buffer.alloc(0)
  #started = false
  readonly #kept: Buffer[] = []
  #keptLength = 0

  constructor(request: WindowRequest) {
    this.#request = request
    this.#lines = (request.start_line ?? 1) - 1
    this.#columns = (request.start_column ?? 1) > 1 ? request.start_column! - 1 : -1
  }

  push(chunk: Buffer): void {
    if (this.#keptLength < KEPT && !this.#pastEnd) this.#take(Buffer.concat([this.#held, chunk]), false)
  }

  finish(totalLines: number): Result<Window, LineOutOfRange> {
    this.#take(this.#held, true)
    return cutWindow(Buffer.concat(this.#kept), this.#request, totalLines, this.#pastEnd ? this.#skipped : undefined)
  }

  #take(bytes: Buffer, isLast: boolean): void {
    this.#held = Buffer.alloc(0)
    let at = 0
    if (!this.#started) {
      if (bytes.length < 3 && !isLast) return this.#hold(bytes, 0)
      this.#started = true
      at = bomLength(bytes)
    }
    for (; this.#lines > 0; this.#lines--) {
      const end = textEndIn(bytes, at)
      if (end === bytes.length) return
      if (end + 1 === bytes.length && bytes[end] === CR && !isLast) return this.#hold(bytes, end)
      at = breakEndIn(bytes, end)
    }
    if (this.#columns !== -1) {
      const end = textEndIn(bytes, at)
      const ended = end < bytes.length || isLast
      const stop = ended ? end : at + wholeCharacters(bytes.subarray(at))
      const units = utf16Length(bytes.subarray(at, stop))
      if (units <= this.#columns) {
        this.#columns -= units
        this.#skipped += units
        this.#pastEnd = ended
        return this.#hold(bytes, stop)
      }
      at += byteOfUtf16(bytes.subarray(at, stop), this.#columns)
      this.#columns = -1
    }
    const part = Buffer.from(bytes.subarray(at, at + KEPT - this.#keptLength))
    this.#kept.push(part)
    this.#keptLength += part.length
  }

  #hold(bytes: Buffer, from: number): void {
    this.#held = Buffer.from(bytes.subarray(from))
  }
}
