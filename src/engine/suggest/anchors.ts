// Searches for the longest lines of old_text exactly as they are: if one is found, no other search is needed. Works on
// bytes only.
import { breakEndIn, CR, LF } from '../text/lines.ts'
import { type Budget, BYTES_A_STEP } from './budget.ts'
import type { Haystack } from './haystack.ts'
import type { OldText } from './readings.ts'

/** A line, with the bytes of old_text before it and the bytes from its start to the end. */
interface Anchor {
  old: OldText
  line: Buffer
  before: number
  after: number
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** UTF-16 units of the shortest line to search for, and how many units of a line to search for. */
const LEAST_LENGTH = 8
const MOST_LENGTH = 64
/** Lines of each reading of old_text (the longest), lines in all, and places of a line (the first). */
const LINES_EACH = 2
const MOST_ANCHORS = 4
const MOST_FOUND = 24
/** Bytes of a window, and how many must differ: otherwise the line repeats itself, and we don't search for it. */
const WINDOW = 16
const LEAST_VARIETY = 5

/** The longest lines of each reading, longest first, without lines that repeat themselves. */
export function anchorsOf(olds: readonly OldText[], encoding: 'utf8' | 'latin1'): Anchor[] {
  const anchors: Anchor[] = []
  const seen = new Set<string>()
  for (const old of olds) {
    const lines = old.filled
      .map(({ start, end }) => old.source.slice(start, end).trim())
      .filter(line => line.length >= LEAST_LENGTH)
    for (const whole of lines.sort((a, b) => b.length - a.length).slice(0, LINES_EACH)) {
      const line = whole.slice(0, MOST_LENGTH).replace(/[\ud800-\udbff]$/, '')
      if (seen.has(line)) continue
      seen.add(line)
      const before = Buffer.byteLength(old.source.slice(0, old.source.indexOf(line)), encoding)
      anchors.push({
        old,
        line: Buffer.from(line, encoding),
        before,
        after: Buffer.byteLength(old.source, encoding) - before
      })
    }
  }
  return anchors.filter(({ line }) => isVaried(line)).slice(0, MOST_ANCHORS)
}

/**
 * Whether no part of a line repeats itself: in a text that repeats itself too, `indexOf` would compare bytes many
 * times.
 */
function isVaried(line: Buffer): boolean {
  for (let from = 0; from < line.length; from += WINDOW / 2) {
    const window = line.subarray(from, from + WINDOW)
    if (window.length === WINDOW && new Set(window).size < LEAST_VARIETY) return false
  }
  return true
}

/** The first places of a line. */
export function findAnchor(text: Haystack, line: Buffer, budget: Budget): number[] {
  const found: number[] = []
  for (let at = text.indexOf(line); at !== -1 && found.length < MOST_FOUND; at = text.indexOf(line, at + 1)) {
    found.push(at)
  }
  budget.spend(text.bytes.length / BYTES_A_STEP)
  return found
}

/**
 * The first line of the text that, trimmed, is one of `lines`: bytes, end exclusive. One pass over the text; no pass if
 * we already know that the text has none of them.
 */
export function firstOf(haystack: Haystack, lines: ReadonlySet<string>): { start: number; end: number } | undefined {
  const { bytes, encoding } = haystack
  const sought = [...lines].map(line => Buffer.from(line, encoding)).filter(line => !haystack.lacks(line))
  if (sought.length === 0) return undefined
  const lengths = new Set(sought.map(({ length }) => length))
  const isBlank = (at: number): boolean => bytes[at] === 32 || bytes[at] === 9
  const nextOrEnd = (byte: number, at: number): number => {
    const found = bytes.indexOf(byte, at)
    return found === -1 ? bytes.length : found
  }
  let cr = nextOrEnd(CR, 0)
  for (let at = 0; at < bytes.length;) {
    if (cr < at) cr = nextOrEnd(CR, at)
    const next = Math.min(cr, nextOrEnd(LF, at))
    let [start, end] = [at, next]
    while (start < end && isBlank(start)) start++
    while (start < end && isBlank(end - 1)) end--
    if (lengths.has(end - start) && lines.has(bytes.toString(encoding, start, end))) return { start, end }
    at = breakEndIn(bytes, next)
  }
  return undefined
}
