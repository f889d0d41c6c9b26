// A line of a text as an answer lists it, and the limit on the lines of one answer.
import { excerptOf, utf16Length } from '../text/encoding.ts'
import { breakAt, type Line } from '../text/lines.ts'
import type { Text } from '../text/text.ts'

/** UTF-16 units shown of a line; a longer line loses its middle. Chosen: most minified files are shorter. */
const LINE_LENGTH = 1_000_000
/** UTF-16 units shown of an unchanged line beside changed ones: it must not take the room of these. Chosen. */
const CONTEXT_LENGTH = 2000
/** UTF-16 units of all lines of one answer. Bounds its size; chosen, not measured. */
const TOTAL_LENGTH = 4_000_000

export interface LineText {
  /** Without its break. */
  text: string
  lossy?: true
  /** The line was cut. */
  cut?: true
  /** Absent for `\n`, or for no break. */
  line_ending?: 'crlf' | 'cr'
  /** The last line, without a break. */
  no_break?: true
}

/** How many more lines one answer may have. */
export class LineBudget {
  #lines: number
  #units = TOTAL_LENGTH

  constructor(lines: number) {
    this.#lines = lines
  }

  get isSpent(): boolean {
    return this.#lines <= 0 || this.#units <= 0
  }

  /** A line of `text`, deducted from the budget. */
  show(text: Text, line: Line, isContext = false): LineText {
    const shown = shownLine(text, line, isContext ? CONTEXT_LENGTH : LINE_LENGTH)
    this.#lines--
    this.#units -= shown.text.length
    return shown
  }
}

function shownLine(text: Text, { start, end, next }: Line, most: number): LineText {
  const bytes = text.slice(start, end)
  const isCut = bytes.length > most && utf16Length(bytes) > most
  const kind = next > end ? breakAt(text, end).kind : 'none'
  return {
    ...excerptOf(bytes, most),
    ...(isCut && { cut: true }),
    ...((kind === 'crlf' || kind === 'cr') && { line_ending: kind }),
    ...(kind === 'none' && { no_break: true })
  }
}
