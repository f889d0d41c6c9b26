// The lines that a plan changes, as they are in the result with one line around each place, and as they were: they show
// a caller whether the change is as intended.
import { decodeAround } from '../text/encoding.ts'
import { lineAround, lineFrom } from '../text/lines.ts'
import { lineStart } from './describe.ts'
import type { PlaceLines } from './place-lines.ts'
import type { Text } from '../text/text.ts'
import { spread } from './spread.ts'

/** A line of a file, 1-based; of a long one, the relevant part. */
export interface NumberedLine {
  line_number: number
  text: string
}

/**
 * Places shown, spread over the text, and their lines; for a place with more lines, the first and last few: as many as
 * fit, one of each in any case. Chosen.
 */
const MOST_PLACES = 5
const MOST_LINES = 20
const ENDS = 3
/** Bytes shown of a line. */
const LINE_BYTES = 300

/** Removed lines, in order, without duplicates; `total` includes those that aren't shown. */
export interface RemovedLines {
  lines: NumberedLine[]
  total: number
}

/** Lines at changed places; `more_places`: how many have lines that aren't shown at all. */
export interface ShownLines {
  lines: NumberedLine[]
  more_places: number
}

/** A place in one of the two texts: offsets, the lines that these are on, and the lines changed there. */
interface Place {
  start: number
  end: number
  startLine: number
  endLine: number
  first: number
  last: number
}

/**
 * The changed lines of the result, in order, without duplicates. Linear in what is shown, in the number of places and,
 * if lines are long, in their length.
 */
export function changedLines({ places, after, spans, newLines, totalAfter }: PlaceLines): ShownLines {
  const chosen = spread(places.length, MOST_PLACES)
  const shown = chosen.map((i): Place => {
    const { new_start, new_end } = places[i]!
    const { new_start_line: first, new_end_line: last } = spans[i]!
    return { start: new_start, end: new_end, startLine: newLines[2 * i]!, endLine: newLines[2 * i + 1]!, first, last }
  })
  const lines = linesAt(after, shown, totalAfter, 1)
  if (chosen.length === places.length) return { lines, more_places: 0 }
  const numbers = new Set(lines.map(({ line_number }) => line_number))
  const hidden = spans.filter(({ new_start_line: first, new_end_line: last }, i) => {
    // Of a place without lines, the line before or after it is shown.
    const isSeen = last < first ? numbers.has(first) || numbers.has(last) : numbers.has(first) && numbers.has(last)
    return !chosen.includes(i) && !isSeen
  })
  return { lines, more_places: hidden.length }
}

/**
 * The lines that a plan removes or changes, as they were before. Linear in what is shown, in long lines, and in the
 * number of places; undefined if there are none.
 */
export function removedLines({ places, before, spans, oldLines, totalBefore }: PlaceLines): RemovedLines | undefined {
  const all: Place[] = []
  let total = 0
  let counted = 0
  for (const [i, { start, end }] of places.entries()) {
    const { start_line: first, end_line: last } = spans[i]!
    if (last < first) continue
    all.push({ start, end, startLine: oldLines[2 * i]!, endLine: oldLines[2 * i + 1]!, first, last })
    total += Math.max(0, last - Math.max(first, counted + 1) + 1)
    counted = Math.max(counted, last)
  }
  if (total === 0) return undefined
  const shown = spread(all.length, MOST_PLACES).map(i => all[i]!)
  return { lines: linesAt(before, shown, totalBefore, 0), total }
}

/** The lines of these places in order, without duplicates, with `around` lines on each side. */
function linesAt(text: Text, places: readonly Place[], total: number, around: number): NumberedLine[] {
  const shown = new Map<number, NumberedLine>()
  /** Shows lines `from` to `to`; `offset` is on `line`. A long line is cut around `offset` if that is on it. */
  const show = (from: number, to: number, offset: number, line: number): void => {
    const [first, last] = [Math.max(1, from), Math.min(total, to)]
    let at = lineStart(text, offset, line, first)
    for (let number = first; number <= last; number++) {
      const line = lineFrom(text, at)
      if (!shown.has(number)) {
        const middle = offset >= line.start && offset <= line.end ? offset : line.start
        shown.set(number, { line_number: number, text: decodeAround(text, line, middle, LINE_BYTES) })
      }
      at = line.next
    }
  }
  const ends = endsThatFit(places, around)
  for (const { start, end, startLine, endLine, first, last } of places) {
    if (last - first < 2 * ends) show(first - around, last + around, start, startLine)
    else {
      show(first - around, first + ends - 1, start, startLine)
      show(last - ends + 1, last + around, lineAround(text, end).start, endLine)
    }
  }
  // The lines of one place are already in order; sorting them anyway takes 0.5 KB.
  const lines = [...shown.values()]
  return places.length > 1 ? lines.sort((a, b) => a.line_number - b.line_number) : lines
}

/** How many lines of each end of a long place are shown. */
function endsThatFit(places: readonly Place[], around: number): number {
  let ends = ENDS
  const lengthOf = ({ first, last }: Place) => Math.min(last - first + 1, 2 * ends) + 2 * around
  while (ends > 1 && places.reduce((sum, place) => sum + lengthOf(place), 0) > MOST_LINES) ends--
  return ends
}
