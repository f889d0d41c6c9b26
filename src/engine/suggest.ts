// What was probably meant, after a miss: text in, candidates out. Today those that differ in case or white space only.
import { isUtf8 } from 'node:buffer'
import type { Difference } from './failure.ts'
import { ANY_BREAK } from './lines.ts'

/** A region that resembles the text looked for. Bytes, end exclusive; `score` from 0 to 1. */
export interface Candidate { start: number, end: number, score: number, differences: Difference[] }

export interface Suggestions {
  /** Best first, at most `MOST`. */
  candidates: Candidate[]
  /** Only a part of the text was searched. */
  truncated: boolean
}

const MOST = 3
const MOST_DIFFERENCES = 5
/** Bytes that are searched: folding them takes about a tenth of a second. */
const BOUND = 4 << 20

/**
 * The regions of `text` that equal `oldText` but for white space and case. Linear in both; at most 4 MiB of the text
 * are looked at. A region is whole lines where nothing but white space stands beside it, else from its first to its
 * last character. The score is 0.8 × folded likeness (here 1) + 0.2 × raw likeness; below a bound that is higher for
 * short texts nothing is shown.
 */
export function suggest (text: Buffer, oldText: string): Suggestions {
  const truncated = text.length > BOUND
  const searched = truncated ? text.subarray(0, Math.max(0, text.lastIndexOf(10, BOUND)) + 1) : text
  // Bytes that aren't UTF-8 are compared one by one.
  const encoding = isUtf8(searched) ? 'utf8' : 'latin1'
  const hay = searched.toString(encoding)
  const needle = fold(encoding === 'utf8' ? oldText : Buffer.from(oldText).toString('latin1'))
  const length = oldText.trim().length
  const endsLine = /[\r\n]/.test(oldText.slice(oldText.trimEnd().length))
  const indent = leadingBlank(needle.source)
  const candidates: Candidate[] = []
  if (needle.folded.length > 0) {
    const folded = fold(hay)
    for (let at = folded.folded.indexOf(needle.folded); at !== -1 && candidates.length < MOST; at = folded.folded.indexOf(needle.folded, at + 1)) {
      const first = folded.offsets[at]!
      const last = folded.offsets[at + needle.folded.length - 1]! + 1
      const { start, end, whole } = wholeLines(hay, first, last, endsLine)
      const { differences, edits } = compare(needle, folded, at, whole ? indent : undefined)
      const score = 0.8 + 0.2 * Math.max(0, 1 - edits / Math.max(length, last - first))
      candidates.push({
        start: Buffer.byteLength(hay.slice(0, start), encoding),
        end: Buffer.byteLength(hay.slice(0, end), encoding),
        score: Math.round(score * 1000) / 1000,
        differences
      })
    }
  }
  candidates.sort((a, b) => b.score - a.score)
  // Of short texts there are many that are alike by chance: one alone is worth a look.
  const shown = candidates.length === 1 ? candidates : candidates.filter(({ score }) => score >= threshold(needle.folded.length))
  return { candidates: shown, truncated }
}

/** Below this score a region isn't shown: chance matches of short texts are many. Measured on the corpus. */
const threshold = (characters: number): number => 0.62 + 0.22 * Math.exp(-characters / 25)

/** A text without white space and in lower case, with the offset of each character in `source`. UTF-16 units. */
interface Folded { source: string, folded: string, offsets: Uint32Array }

function fold (source: string): Folded {
  const units = new Uint16Array(source.length)
  const offsets = new Uint32Array(source.length)
  let length = 0
  for (let i = 0; i < source.length; i++) {
    const unit = source.charCodeAt(i)
    if (isBlank(unit)) continue
    units[length] = lower(unit)
    offsets[length++] = i
  }
  return { source, folded: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'), offsets: offsets.subarray(0, length) }
}

const isBlank = (unit: number): boolean =>
  unit === 32 || (unit >= 9 && unit <= 13) || (unit > 127 && /\s/.test(String.fromCharCode(unit)))

function lower (unit: number): number {
  if (unit < 128) return unit >= 65 && unit <= 90 ? unit + 32 : unit
  const lowered = String.fromCharCode(unit).toLowerCase()
  return lowered.length === 1 ? lowered.charCodeAt(0) : unit
}

/** Extends a range to whole lines if only white space is beside it; with the last line's break if `withBreak`. */
function wholeLines (text: string, first: number, last: number, withBreak: boolean): { start: number, end: number, whole: boolean } {
  const start = first - blankBefore(text, first).length
  let end = last
  while (end < text.length && isBlank(text.charCodeAt(end)) && !isBreak(text[end])) end++
  const whole = (start === 0 || isBreak(text[start - 1])) && (end === text.length || isBreak(text[end]))
  if (!whole) return { start: first, end: last, whole }
  if (withBreak && end < text.length) end += text.startsWith('\r\n', end) ? 2 : 1
  return { start, end, whole }
}

const isBreak = (character: string | undefined): boolean => character === '\n' || character === '\r'

/** Walks two texts that fold to the same, and tells where they differ; `edits` counts differing characters. `indent`: that of the needle, where the region is whole lines, so that it counts. */
function compare (needle: Folded, hay: Folded, at: number, indent: string | undefined): { differences: Difference[], edits: number } {
  const differences: Difference[] = []
  let edits = 0
  let wordEnd = 0
  const note = (type: Difference['type'], expected: string, found: string) => {
    if (differences.length < MOST_DIFFERENCES) differences.push({ type, expected, found })
  }
  for (let i = 0; i < needle.folded.length; i++) {
    const n = needle.offsets[i]!
    const h = hay.offsets[at + i]!
    if (i > 0) {
      const expected = needle.source.slice(needle.offsets[i - 1]! + 1, n)
      const found = hay.source.slice(hay.offsets[at + i - 1]! + 1, h)
      if (expected !== found && expected.replace(ANY_BREAK, '\n') !== found.replace(ANY_BREAK, '\n')) {
        edits += Math.max(expected.length, found.length)
        const indents = /[\r\n]/.test(expected) && /[\r\n]/.test(found)
        note(indents ? 'indentation' : 'whitespace', around(needle, i, indents), around(hay, at + i, indents))
      }
    }
    if (needle.source[n] !== hay.source[h]) {
      edits++
      // One difference a word, not a letter.
      if (n >= wordEnd) {
        const start = n - needle.source.slice(Math.max(0, n - 40), n).match(/\w*$/)![0].length
        const expected = word(needle.source, start)
        note('case', expected, hay.source.slice(h - (n - start), h - (n - start) + expected.length))
        wordEnd = start + expected.length
      }
    }
  }
  const present = blankBefore(hay.source, hay.offsets[at]!)
  if (indent !== undefined && indent !== present) {
    edits += Math.max(indent.length, present.length)
    differences.unshift({ type: 'indentation', expected: indent + word(needle.source, needle.offsets[0]!), found: present + word(hay.source, hay.offsets[at]!) })
    differences.length = Math.min(differences.length, MOST_DIFFERENCES)
  }
  return { differences, edits }
}

/** The white space before character `index`, with the words beside it; from the line's start where it indents. */
function around ({ source, offsets }: Folded, index: number, indents: boolean): string {
  const at = offsets[index]!
  const gap = source.slice(offsets[index - 1]! + 1, at)
  if (indents) return gap.slice(gap.search(/[^\r\n]*$/)) + word(source, at)
  const end = offsets[index - 1]! + 1
  return source.slice(Math.max(0, end - 20), end).match(/\S*$/)![0] + gap + word(source, at)
}

const word = (source: string, at: number): string => source.slice(at, at + 40).match(/^\w+|^\S/)![0]

const leadingBlank = (source: string): string => source.match(/^\s*/)![0].replace(/^[^]*[\r\n]/, '')

/** The white space between the start of the line, or what else stands there, and `at`. */
function blankBefore (source: string, at: number): string {
  let start = at
  while (start > 0 && isBlank(source.charCodeAt(start - 1)) && !isBreak(source[start - 1])) start--
  return source.slice(start, at)
}
