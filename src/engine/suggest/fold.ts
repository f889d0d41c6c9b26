// Folds texts into codes, so that texts that differ only in white space, case, accents, quotes, dashes or backslashes
// are equal.
import { plainDashes, plainQuotes } from './differences/typography.ts'

/** A text folded. `codes[i]` comes from the UTF-16 unit `offsets[i]` of `source`. */
export interface Folded {
  source: string
  codes: Uint16Array
  offsets: Int32Array
}

/** A line: UTF-16 offsets in the source (without break), and its folded codes `from` to `to` (exclusive). */
export interface FoldedLine {
  start: number
  end: number
  from: number
  to: number
  text: string
}

/** Most UTF-16 units of a folded line to compare. */
const LINE_LENGTH = 4000
const QUOTE = 34
const HYPHEN = 45
const DOT = 46

/** ASCII: 0 means left out (blanks, backslash); capitals become lower case, the three quotes become one. */
const ASCII = Uint16Array.from({ length: 128 }, (_, code) => {
  if (code === 92 || code === 32 || (code >= 9 && code <= 13)) return 0
  if (code === 34 || code === 39 || code === 96) return QUOTE
  return code >= 65 && code <= 90 ? code + 32 : code
})

/** The folded code of an ASCII byte; 0 for a byte that is left out. */
export const foldAscii = (byte: number): number => ASCII[byte]!

/**
 * Folds a text: removes white space and backslashes, removes case and accents from letters (NFC and NFD become equal),
 * and makes typographic and full-width signs plain. Linear.
 */
export function fold(source: string): Folded {
  let codes = new Uint16Array(source.length + 8)
  let offsets = new Int32Array(source.length + 8)
  let count = 0
  for (let i = 0; i < source.length; i++) {
    const unit = source.charCodeAt(i)
    if (unit < 128) {
      const code = ASCII[unit]!
      if (code !== 0) {
        codes[count] = code
        offsets[count++] = i
      }
      continue
    }
    for (const code of foldOther(unit)) {
      codes[count] = code
      offsets[count++] = i
    }
    // One unit becomes at most three.
    if (count + source.length - i + 3 > codes.length) {
      codes = grown(codes, new Uint16Array(codes.length * 2))
      offsets = grown(offsets, new Int32Array(codes.length))
    }
  }
  return { source, codes: codes.subarray(0, count), offsets: offsets.subarray(0, count) }
}

function grown<T extends Uint16Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

const folded = new Map<number, readonly number[]>()

function foldOther(unit: number): readonly number[] {
  let codes = folded.get(unit)
  if (codes === undefined) folded.set(unit, (codes = foldUnit(unit)))
  return codes
}

function foldUnit(unit: number): number[] {
  if (unit === 0x2026) return [DOT, DOT, DOT]
  if (unit >= 0xd800 && unit <= 0xdfff) return [unit]
  const plain = String.fromCharCode(unit).normalize('NFD').toLowerCase()
  return Array.from({ length: plain.length }, (_, i) => foldSign(plain.charCodeAt(i)))
    .filter(code => code !== 0)
    .slice(0, 3)
}

function foldSign(code: number): number {
  if (code < 128) return ASCII[code]!
  if (isCombining(code) || code === 0x3099 || code === 0x309a) return 0
  if (code === 0xa0 || code === 0x3000 || code === 0xfeff || code === 0x202f || code === 0x205f) return 0
  if ((code >= 0x2000 && code <= 0x200f) || code === 0x2028 || code === 0x2029) return 0
  const sign = plainDashes(plainQuotes(String.fromCharCode(code))).charCodeAt(0)
  if (sign === QUOTE || sign === HYPHEN) return sign
  return code >= 0xff01 && code <= 0xff5e ? ASCII[code - 0xfee0]! : code
}

/** A mark that belongs to the letter before it. */
export const isCombining = (unit: number): boolean => unit >= 0x300 && unit <= 0x36f

/** A dash that may replace several hyphens. */
export const isDash = (character: string | undefined): boolean => character === '\u2013' || character === '\u2014'

/**
 * All lines of a folded text, including blank ones; only `\n` ends a line, and a `\r` before it belongs to the break.
 */
export function linesOf(text: Folded): FoldedLine[] {
  const { source, codes, offsets } = text
  const lines: FoldedLine[] = []
  let code = 0
  for (let start = 0; start <= source.length;) {
    const at = source.indexOf('\n', start)
    const next = at === -1 ? source.length : at
    const from = code
    while (code < codes.length && offsets[code]! < next) code++
    lines.push({
      start,
      end: next > start && source[next - 1] === '\r' ? next - 1 : next,
      from,
      to: code,
      text: textOf(codes.subarray(from, Math.min(code, from + LINE_LENGTH)))
    })
    start = next + 1
  }
  return lines
}

/** Folded codes as a string. */
const textOf = (codes: Uint16Array): string =>
  codes.length === 0 ? '' : Buffer.from(codes.buffer, codes.byteOffset, codes.length * 2).toString('utf16le')
