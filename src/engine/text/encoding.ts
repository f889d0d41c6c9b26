// Whether bytes are text or binary, and in which encoding; and bytes as text for an answer. Does not know files.
import { isAscii, isUtf8 } from 'node:buffer'
import type { Text } from './text.ts'

/** Encodings that no edit may touch. */
export type BinaryEncoding = 'binary' | 'utf-16le' | 'utf-16be'

/** What a scan of the bytes alone determines; `codec.ts` guesses which 8-bit encoding it is. */
export type Encoding = 'ascii' | 'utf-8' | 'unknown-8bit' | BinaryEncoding

/**
 * The encoding of bytes that can't be edited: those with a NUL byte anywhere, or a UTF-16 or UTF-32 mark. Null for all
 * others, and for UTF-16 text with its mark. `hasNul`: pass it if already known.
 */
export function binaryEncodingOf(bytes: Buffer, hasNul?: boolean): BinaryEncoding | null {
  const mark = binaryMark(bytes)
  if (mark !== null) return mark !== 'binary' && isUtf16Text(bytes, mark) ? null : mark
  return (hasNul ?? bytes.includes(0)) ? 'binary' : null
}

/** The encoding that a UTF-16 or UTF-32 mark at the start names; null if there is none. */
export function binaryMark(bytes: Buffer): BinaryEncoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'binary' : 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

/** Which UTF-16 a mark at the start of text names; null if there is none, or what follows isn't such text. */
export function utf16MarkOf(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const mark = binaryMark(bytes)
  return mark !== null && mark !== 'binary' && isUtf16Text(bytes, mark) ? mark : null
}

/** Whether bytes are whole units, each surrogate is half of a pair, and no unit is 0. */
function isUtf16Text(bytes: Buffer, mark: 'utf-16le' | 'utf-16be'): boolean {
  if (bytes.length % 2 !== 0) return false
  const [high, low] = mark === 'utf-16le' ? [1, 0] : [0, 1]
  let open = false
  for (let at = 0; at < bytes.length; at += 2) {
    const top = bytes[at + high]! & 0xfc
    if (top === 0 && bytes[at + low] === 0 && bytes[at + high] === 0) return false
    if ((top === 0xdc) !== open) return false
    open = top === 0xd8
  }
  return !open
}

/** Length of the UTF-8 byte-order mark at the start: 3 or 0 bytes. */
export const bomLength = (bytes: Buffer): 0 | 3 => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** Bytes as text for JSON; bytes that aren't UTF-8 become U+FFFD, and `lossy` says so. A byte-order mark is kept. */
export function decode(bytes: Buffer): { text: string; lossy?: true } {
  const text = bytes.toString()
  return isWellDecoded(text, bytes) ? { text } : { text, lossy: true }
}

/** Whether `bytes`, decoded to `text`, are UTF-8: seldom needs to check the bytes, because few texts have a U+FFFD. */
const isWellDecoded = (text: string, bytes: Buffer): boolean => !text.includes('\ufffd') || isUtf8(bytes)

/** A range of a text as a string. A view costs more than decoding a line, so we make one only across pieces. */
export function decodeRange(text: Text, start: number, end: number): string {
  const index = text.pieceAt(start)
  const piece = text.pieces[index]
  const from = start - text.startOf(index)
  return piece !== undefined && from + end - start <= piece.length
    ? piece.toString('utf8', from, from + end - start)
    : text.slice(start, end).toString()
}

/**
 * Bytes to decode in one step. We never decode a whole file, because Node has no strings of more than 2^29 - 24 units.
 */
const STEP = 1 << 16

/** Length in UTF-16 code units; a byte that isn't part of valid UTF-8 counts as one. Linear. */
export function utf16Length(bytes: Buffer): number {
  let units = 0
  if (isUtf8(bytes)) {
    for (let at = 0; at < bytes.length;) {
      const end = at + STEP < bytes.length ? characterStart(bytes, at + STEP) : bytes.length
      units += bytes.toString('utf8', at, end).length
      at = end
    }
    return units
  }
  for (let i = 0; i < bytes.length; units++) {
    const size = sequenceLength(bytes, i)
    // Four bytes make a surrogate pair.
    if (size === 4) units++
    i += size
  }
  return units
}

/** The start of the character that holds the byte at `at`; `at` itself if none begins within three bytes. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start--) if ((bytes[start]! & 0xc0) !== 0x80) return start
  return at
}

/**
 * The byte offset of a 0-based UTF-16 offset, the inverse of `utf16Length`; the length of `bytes` if it is past the
 * end.
 */
export function byteOfUtf16(bytes: Buffer, units: number): number {
  let at = 0
  for (let seen = 0; seen < units && at < bytes.length;) {
    const size = sequenceLength(bytes, at)
    seen += size === 4 ? 2 : 1
    at += size
  }
  return at
}

/**
 * How many bytes the character at `at` has; 1 for a byte that isn't valid UTF-8 (table 3-7 of the Unicode standard).
 */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!
  if (first < 0xc2 || first > 0xf4) return 1
  const second = bytes[at + 1]!
  if (first < 0xe0) return isContinuation(second) ? 2 : 1
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  // A byte past the end is undefined, which passes neither test.
  if (!(second >= least && second <= most) || !isContinuation(bytes[at + 2]!)) return 1
  return first < 0xf0 ? 3 : isContinuation(bytes[at + 3]!) ? 4 : 1
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Bytes to skip at once if they are ASCII. */
const ASCII_STRETCH = 1024

/** The likely encoding of bytes that aren't UTF-8; it can't be known for certain. */
export type EightBitEncoding = 'latin-1' | 'unknown-8bit'

/**
 * The likely encoding of the parts of one text if most of its non-ASCII bytes aren't UTF-8; else null. `latin-1`: no
 * non-ASCII bytes are UTF-8, and no byte is a control character of Latin-1 (0x80 to 0x9f). Linear.
 */
export function eightBitEncodingOf(parts: readonly Buffer[]): EightBitEncoding | null {
  if (parts.every(bytes => isUtf8(bytes))) return null
  const count = new HighBytes()
  for (const bytes of parts) count.push(bytes)
  return count.encoding
}

/** Counts non-ASCII characters in a text that comes in parts, which must not cut a character. */
export class HighBytes {
  /** Characters of UTF-8, and bytes that belong to none. */
  #sequences = 0
  #strays = 0
  #controls = false

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + ASCII_STRETCH)
      if (isAscii(bytes.subarray(at, end))) at = end
      while (at < end) {
        const byte = bytes[at]!
        const size = byte < 0x80 ? 1 : sequenceLength(bytes, at)
        if (size > 1) this.#sequences++
        else if (byte >= 0x80) {
          this.#strays++
          this.#controls ||= byte < 0xa0
        }
        at += size
      }
    }
  }

  /** For text that isn't UTF-8: the result of `eightBitEncodingOf`. */
  get encoding(): EightBitEncoding | null {
    if (this.#strays < this.#sequences) return null
    return this.#sequences === 0 && !this.#controls ? 'latin-1' : 'unknown-8bit'
  }
}

/** Whether a text that was sent has U+FFFD in place of bytes that aren't UTF-8, as a read shows them. */
export const isUnsendable = (sent: string, bytes: Buffer): boolean => sent.includes('\ufffd') && !isUtf8(bytes)

/** The mark that replaces `count` UTF-16 units of a text, and the pattern that finds it. */
const markOfCut = (count: number): string => `…[${count} characters left out]…`
export const CUT_MARK = /…\[\d+ characters left out\]…/

/**
 * `text` in about `max` UTF-16 units at most: a longer one is cut in the middle, with a mark of how much is left out,
 * unless the mark is as long as that. The cut is between lines, unless a line takes more than a quarter of `max`.
 */
export function excerpt(text: string, max: number): string {
  if (text.length <= max) return text
  const [head, tail] = [headOf(text, max), tailOf(text, max)]
  const shown = head + markOfCut(text.length - head.length - tail.length) + tail
  return shown.length < text.length ? copied(shown) : text
}

/** The beginning of a text, in up to half of `max` units; ends with a line break if that keeps half of it. */
function headOf(text: string, max: number): string {
  const head = text
    .slice(0, Math.floor(max / 2))
    .toWellFormed()
    .replace(/\ufffd$/, '')
  const end = Math.max(head.lastIndexOf('\n'), head.lastIndexOf('\r')) + 1
  return 2 * end >= head.length ? head.slice(0, end) : head
}

/** The end of a text, in up to half of `max` units; begins with a line break if that keeps half of it. */
function tailOf(text: string, max: number): string {
  const tail = text
    .slice(-Math.floor(max / 2))
    .toWellFormed()
    .replace(/^\ufffd/, '')
  const start = tail.search(/[\r\n]/)
  return start !== -1 && 2 * start <= tail.length ? tail.slice(start) : tail
}

/** `excerpt` of bytes; decodes only the two ends. `lossy` refers to all bytes. */
export function excerptOf(bytes: Buffer, max: number): { text: string; lossy?: true } {
  // No UTF-8 character has more than three bytes per unit, and a byte that isn't UTF-8 is one unit.
  const end = 3 * max
  if (bytes.length <= 2 * end) {
    const decoded = decode(bytes)
    decoded.text = excerpt(decoded.text, max)
    return decoded
  }
  const [from, to] = [characterStart(bytes, end), characterStart(bytes, bytes.length - end)]
  const [head, tail] = [headOf(bytes.toString('utf8', 0, from), max), tailOf(bytes.toString('utf8', to), max)]
  const length = utf16Length(bytes)
  const shown = head + markOfCut(length - head.length - tail.length) + tail
  return shown.length < length ? { text: copied(shown), ...(!isUtf8(bytes) && { lossy: true }) } : decode(bytes)
}

/**
 * At most `max` UTF-16 units of a text around the offset `at`, with a mark on each side of how many are left out.
 * `before` and `after`: units around `text` that count as left out too.
 */
export function excerptAround(text: string, at: number, max: number, before = 0, after = 0): string {
  const length = before + text.length + after
  if (length <= max) return text
  const from = Math.max(0, Math.min(before + at - Math.floor(max / 2), length - max))
  const left = (count: number) => (count > 0 ? markOfCut(count) : '')
  return copied(left(from) + text.slice(from - before, from - before + max).toWellFormed() + left(length - from - max))
}

/**
 * At most `max` bytes of a line as text, around the offset `at`, with `…` where it is cut. Reads only these bytes. The
 * line is from `start` to `end` of `text`.
 */
export function decodeAround(
  text: Text,
  { start, end }: { start: number; end: number },
  at: number,
  max: number
): string {
  if (end - start <= max) return decodeRange(text, start, end)
  const wanted = Math.max(start, Math.min(at - Math.floor(max / 2), end - max))
  const from = Math.max(start, text.characterStart(wanted))
  const to = wanted + max < end ? text.characterStart(wanted + max) : end
  return `${from > start ? '…' : ''}${text.slice(from, to).toString()}${to < end ? '…' : ''}`
}

/** A line that is shown in parts; decodes only those. */
export class ShownLine {
  readonly #bytes: Buffer
  readonly #units: number
  readonly lossy: boolean

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#units = utf16Length(bytes)
    this.lossy = !isUtf8(bytes)
  }

  /**
   * At most `max` units around byte `at`, which has `column` units before it. A byte that isn't part of valid UTF-8
   * becomes one U+FFFD.
   */
  around(at: number, column: number, max: number): string {
    const reach = 4 * max
    const from = at > reach ? characterStart(this.#bytes, at - reach) : 0
    const to = at + reach < this.#bytes.length ? characterStart(this.#bytes, at + reach) : this.#bytes.length
    const { text: head } = decodeByColumn(this.#bytes.subarray(from, at))
    const { text: tail } = decodeByColumn(this.#bytes.subarray(at, to))
    return excerptAround(head + tail, head.length, max, column - head.length, this.#units - column - tail.length)
  }
}

/** A copy of a string: a slice would keep the whole text that it was cut from in memory. */
const copied = (text: string): string => Buffer.from(text).toString()

/** Bytes as text in which each byte that isn't valid UTF-8 is one U+FFFD, so that offsets are columns. */
export function decodeByColumn(bytes: Buffer): { text: string; lossy?: true } {
  if (isUtf8(bytes)) return { text: bytes.toString() }
  const parts: string[] = []
  for (let at = 0; at < bytes.length;) {
    let end = at
    while (end < bytes.length && bytes[end]! < 128) end++
    if (end > at) parts.push(bytes.toString('latin1', at, end))
    at = end
    if (at === bytes.length) break
    const size = sequenceLength(bytes, at)
    parts.push(size === 1 ? '\ufffd' : bytes.toString('utf8', at, at + size))
    at += size
  }
  return { text: parts.join(''), lossy: true }
}
