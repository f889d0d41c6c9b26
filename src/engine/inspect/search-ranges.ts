// Where a text or an expression occurs, as ranges of bytes: the search of /find where no other program does it.
import { RE2JS } from 're2js'
import { locate, Needle } from '../match/locate.ts'
import { byteOfUtf16, decodeByColumn } from '../text/encoding.ts'
import { breakStyleOf } from '../text/eol.ts'
import { lineFrom, markLength } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { expressionOf, LINES_AT_ONCE } from './search.ts'
import type { SearchRequest } from './search-literal.ts'

/**
 * An expression is matched line by line, and so is literal text with `ignore_case`; other text may span lines.
 * `whole_word`: neither the character before a match nor the one after it is part of a word.
 */
export interface RangesRequest extends Pick<SearchRequest, 'text' | 'regex' | 'ignore_case'> {
  whole_word: boolean
}

export interface RangesFound {
  /** Start and end of each match in turn, in bytes, ends exclusive; null: there are more than `MOST_RANGES` matches. */
  ranges: Uint32Array | null
  /** The search was stopped, so there may be more. */
  isStopped: boolean
}

/** A bound on memory: a file may hold a byte a hundred million times. Chosen, not measured. */
export const MOST_RANGES = 1_000_000

/**
 * Searches a text for a request that `checkSearch` accepts; linear in the text. As in `searchText`, an empty match
 * counts once, on a line without other matches. `stop` is called from time to time; when it returns true, the search
 * ends.
 */
export function searchRanges(bytes: Buffer, request: RangesRequest, stop: () => boolean): RangesFound {
  const found = new Ranges()
  const isStopped =
    request.regex || request.ignore_case
      ? addOnLines(new Text([bytes]), request, stop, found)
      : addLiteral(bytes, request, found)
  return { ranges: found.isFull ? null : found.all(), isStopped }
}

class Ranges {
  readonly #flat: number[] = []

  get isFull(): boolean {
    return this.#flat.length > 2 * MOST_RANGES
  }

  add(start: number, end: number): void {
    this.#flat.push(start, end)
  }

  all(): Uint32Array {
    return Uint32Array.from(this.#flat)
  }
}

function addLiteral(bytes: Buffer, { text, whole_word }: RangesRequest, found: Ranges): false {
  const { all, matches } = locate(new Text([bytes]), new Needle(text), 'adapt', breakStyleOf(bytes).ending)
  // If two overlap, the second may be the whole word.
  const places = whole_word ? all : matches
  for (let i = 0, next = 0; i < places.count && !found.isFull; i++) {
    const { start, end } = places.at(i)
    if (start < next || (whole_word && !isWhole(bytes, start, end))) continue
    found.add(start, end)
    next = end
  }
  return false
}

/** A character of a word, as ripgrep has it. */
const WORD = '\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}'
const WORD_BEFORE = /[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u200c\u200d]$/u
const WORD_AFTER = /^[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u200c\u200d]/u
/** The most bytes of a character. */
const CHARACTER = 4

const isWhole = (bytes: Buffer, start: number, end: number): boolean =>
  !WORD_BEFORE.test(bytes.toString('utf8', Math.max(0, start - CHARACTER), start)) &&
  !WORD_AFTER.test(bytes.toString('utf8', end, end + CHARACTER))

/** An expression whose first group is the match. */
interface Expressions {
  /** Applies at the start of a line only, and `further` to all else; null: `further` applies everywhere. */
  atStart: RE2JS | null
  further: RE2JS
}

function expressionsOf(request: RangesRequest): Expressions {
  if (!request.whole_word) return { atStart: null, further: expressionOf(request, source => `(${source})`) }
  const after = `(?:[^${WORD}]|$)`
  return {
    atStart: expressionOf(request, source => `^(${source})${after}`),
    further: expressionOf(request, source => `[^${WORD}](${source})${after}`)
  }
}

/** Returns whether it was stopped. */
function addOnLines(text: Text, request: RangesRequest, stop: () => boolean, found: Ranges): boolean {
  const expressions = expressionsOf(request)
  let number = 1
  for (let at: number = markLength(text); at < text.length && !found.isFull; number++) {
    if (number % LINES_AT_ONCE === 0 && stop()) return true
    const line = lineFrom(text, at)
    if (addOnLine(text.slice(line.start, line.end), line.start, { expressions, stop, found })) return true
    at = line.next
  }
  return false
}

function addOnLine(
  line: Buffer,
  offset: number,
  { expressions, stop, found }: { expressions: Expressions; stop: () => boolean; found: Ranges }
): boolean {
  const { text } = decodeByColumn(line)
  // Where all characters are single bytes, both counts are the same. Elsewhere places are counted on from the last one.
  const isPlain = text.length === line.length
  let last = { units: 0, bytes: 0 }
  const byteAt = (units: number): number => {
    const bytes = isPlain ? units : last.bytes + byteOfUtf16(line.subarray(last.bytes), units - last.units)
    last = { units, bytes }
    return offset + bytes
  }
  let empty = -1
  let isNone = true
  for (const [start, end] of matchesOn(text, expressions)) {
    if (stop() || found.isFull) return true
    if (start < end) {
      found.add(byteAt(start), byteAt(end))
      isNone = false
    } else if (empty === -1) empty = start
  }
  if (isNone && empty !== -1) found.add(byteAt(empty), byteAt(empty))
  return false
}

/** The matches on a line from left to right, in UTF-16 units. */
function* matchesOn(text: string, { atStart, further }: Expressions): Generator<[number, number]> {
  /** Where to go on. The last character of a whole word may be the one before the next. */
  const behind = (start: number, end: number): number => {
    if (atStart === null) return Math.max(end, start + 1)
    return start === end ? end : end - (text.codePointAt(end - 2)! > 0xffff ? 2 : 1)
  }
  let from = 0
  const first = atStart?.matcher(text)
  if (first?.find() === true) {
    yield [first.start(1), first.end(1)]
    from = behind(first.start(1), first.end(1))
  }
  // Far faster than a search, where there is no match.
  if (!further.test(text)) return
  const matcher = further.matcher(text)
  while (from <= text.length && matcher.find(from)) {
    yield [matcher.start(1), matcher.end(1)]
    from = behind(matcher.start(1), matcher.end(1))
  }
}
