// The lines that a plan changes, as they are in the result, with one line around each place: what a caller looks at to
// see whether the change is what was meant. Does not know files or HTTP.
import { decodeAround } from '../text/encoding.ts'
import { lineAround, lineFrom } from '../text/lines.ts'
import { lineStart } from './describe.ts'
import type { PlaceLines } from './place-lines.ts'

/** A line of a file, 1-based; of a long one, the part that matters. */
export interface NumberedLine {
  line_number: number
  text: string
}

/** Places and lines that are shown; of a place with more lines, those at its beginning and end. */
const MOST_PLACES = 5
const MOST_LINES = 20
const ENDS = 3
/** Bytes of a line that are shown. */
const LINE_BYTES = 300

/** The lines in order, each once. Linear in what is shown and, where lines are long, in these. */
export function changedLines({ places, after, spans, newLines, totalAfter: total }: PlaceLines): NumberedLine[] {
  const shown: NumberedLine[] = []
  /** Lines `from` to `to`, of which `line` is that of `offset`; a long one is cut around `offset`, if it is in it. */
  const show = (from: number, to: number, offset: number, line: number): void => {
    const [first, last] = [Math.max(1, from), Math.min(total, to)]
    let at = lineStart(after, offset, line, first)
    for (let number = first; number <= last; number++) {
      const line = lineFrom(after, at)
      if (shown.length < MOST_LINES && !shown.some(({ line_number }) => line_number === number)) {
        const middle = offset >= line.start && offset <= line.end ? offset : line.start
        shown.push({ line_number: number, text: decodeAround(after, line, middle, LINE_BYTES) })
      }
      at = line.next
    }
  }
  for (let i = 0; i < places.length && i < MOST_PLACES; i++) {
    const { new_start, new_end } = places[i]!
    const { new_start_line: first, new_end_line: last } = spans[i]!
    const startLine = newLines[2 * i]!
    const endLine = newLines[2 * i + 1]!
    if (last - first < 2 * ENDS) show(first - 1, last + 1, new_start, startLine)
    else {
      show(first - 1, first + ENDS - 1, new_start, startLine)
      show(last - ENDS + 1, last + 1, lineAround(after, new_end).start, endLine)
    }
  }
  // Those of one place are in order; to sort them takes 0.5 KB even so.
  return places.length > 1 ? shown.sort((a, b) => a.line_number - b.line_number) : shown
}
