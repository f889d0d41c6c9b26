// Extends a region for a block of old_text (a function, a rule, an element) from its first line to the line that closes
// it: so much may have changed inside that an inner `}` was taken for the last one.
import { breakEndIn, lineStartIn, textEndIn } from '../../text/lines.ts'
import { findAnchor } from '../anchors.ts'
import type { Budget } from '../budget.ts'
import type { Haystack } from '../haystack.ts'
import { isWithin } from '../verify.ts'

/** What identifies where a block begins and ends: its trimmed first and last line. */
interface Block {
  first: string
  last: string
  /** The last line ends with a break. */
  withBreak: boolean
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Bytes of the longest block to look for. */
const MOST_BYTES = 32_768
/** Share of a first line's characters that may differ. */
const OTHERS = 0.4
/** UTF-16 units from which on a first line is searched for on its own. */
const LEAST_FIRST = 10

/** The beginning of a line that closes a block. */
const CLOSING = /^(?:[)\]}]|<\/[\w.:-]+|(?:end|fi|done|esac)\b)/
/** A line, not indented deeper than the first, that continues a block: `} else {`, `) {`, `else:`, `catch (e)`. */
const GOING_ON = /[([{:]$|^(?:else|elif|elsif|catch|except|finally|rescue|ensure|then|do|case|default|when)\b/

/**
 * The block that `sought` (with `\n` breaks) consists of: its last line closes what its first one opens, at the same
 * indentation, with deeper lines between. Undefined for anything else.
 */
export function blockOf(sought: string): Block | undefined {
  const lines = sought.split('\n').filter(line => line.trim() !== '')
  const [first, last] = [lines[0], lines.at(-1)]
  if (first === undefined || last === undefined || lines.length < 2 || !CLOSING.test(last.trim())) return undefined
  const outer = indentOf(last)
  const isInside = (line: string) => indentOf(line) > outer || (indentOf(line) === outer && GOING_ON.test(line.trim()))
  // Models often leave out the indentation of the first line.
  const begins = indentOf(first) === outer || indentOf(first) === 0
  if (!begins || !lines.slice(1, -1).every(isInside)) return undefined
  return { first: first.trim(), last: last.trim(), withBreak: sought.endsWith('\n') }
}

/**
 * The end (in bytes, exclusive) of a block of the text whose first line begins at `start`, or before it with white
 * space: where a line with the indentation of the first closes it as `block` is closed. Undefined if the first line
 * isn't like that of `block`, or if the block isn't closed that way or is too long.
 */
export function endOfBlock(haystack: Haystack, start: number, block: Block): number | undefined {
  const from = lineStartIn(haystack.bytes, start, MOST_BYTES)
  if (haystack.text(from, start).trim() !== '') return undefined
  let outer: number | undefined
  for (let at = from; at < haystack.bytes.length && at - from < MOST_BYTES;) {
    const end = textEndIn(haystack.bytes, at)
    const line = haystack.text(at, end)
    if (outer === undefined) {
      outer = indentOf(line)
      if (!isAlike(block.first, line.trim())) return undefined
    } else if (line.trim() !== '' && indentOf(line) <= outer) {
      if (indentOf(line) < outer) return undefined
      const goesOn = GOING_ON.test(line.trim()) && line.trim() !== block.last
      if (!goesOn) return closesAlike(block.last, line.trim()) ? closedAt(haystack, at, end, block) : undefined
    }
    at = afterBreak(haystack.bytes, end)
  }
  return undefined
}

/**
 * The end (in bytes, exclusive, without its break) of the block that begins on the line at `start`: its last line that
 * is indented deeper, or the line that closes it. Undefined if it is too long.
 */
export function endOfIndented(haystack: Haystack, start: number): number | undefined {
  let outer: number | undefined
  let last = start
  for (let at = start; at < haystack.bytes.length;) {
    if (at - start >= MOST_BYTES) return undefined
    const end = textEndIn(haystack.bytes, at)
    const line = haystack.text(at, end).trimEnd()
    const text = line.trimStart()
    if (outer === undefined) outer = indentOf(line)
    else if (text !== '' && indentOf(line) <= outer) {
      const goesOn = text === '{' || CLOSING.test(text)
      if (indentOf(line) < outer || !goesOn) return last
      if (!GOING_ON.test(text)) return at + Buffer.byteLength(line, haystack.encoding)
    }
    if (text !== '') last = at + Buffer.byteLength(line, haystack.encoding)
    at = afterBreak(haystack.bytes, end)
  }
  return last
}

/** The start (in bytes) of the line of the text that equals the first line of `block`, if there is exactly one. */
export function startOfBlock(haystack: Haystack, { first }: Block, budget: Budget): number | undefined {
  const { bytes, encoding } = haystack
  if (first.length < LEAST_FIRST) return undefined
  const line = Buffer.from(first, encoding)
  const isWhole = (at: number): boolean =>
    bytes.toString(encoding, lineStartIn(bytes, at, MOST_BYTES), textEndIn(bytes, at)).trim() === first
  const [found, another] = findAnchor(haystack, line, budget).filter(isWhole)
  return another === undefined ? found : undefined
}

const indentOf = (line: string): number => /^\s*/.exec(line)![0].length

const isAlike = (wanted: string, has: string): boolean => isWithin(wanted, has, OTHERS * wanted.length)

/** Whether both close with the same token; what follows it (a comma, a semicolon) may differ. */
const closesAlike = (wanted: string, has: string): boolean => CLOSING.exec(wanted)![0] === CLOSING.exec(has)?.[0]

/** Where `block` ends on the line `start` to `end`: after the text of its last line, if the line begins with that. */
function closedAt({ bytes, encoding }: Haystack, start: number, end: number, { last, withBreak }: Block): number {
  const line = bytes.toString(encoding, start, end)
  const indent = line.slice(0, indentOf(line))
  if (!withBreak && line.startsWith(last, indent.length)) return start + Buffer.byteLength(indent + last, encoding)
  return withBreak ? afterBreak(bytes, end) : start + Buffer.byteLength(line.trimEnd(), encoding)
}

/** The offset after the break at `at`, if there is one. */
const afterBreak = (bytes: Buffer, at: number): number => Math.min(bytes.length, breakEndIn(bytes, at))
