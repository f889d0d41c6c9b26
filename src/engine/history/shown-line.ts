// A line of a text as an answer lists it, and how many of them one answer may have. Does not know whose lines they are.
import { excerptOf, utf16Length } from '../text/encoding.ts'
import { breakAt, type Line } from '../text/lines.ts'
import type { Text } from '../text/text.ts'

/** UTF-16 units of a line that are shown; of a longer one, what is in its middle is left out. */
const LINE_LENGTH = 2000
/** The same of all lines of one answer together. A bound on its size; chosen, not measured. */
const TOTAL_LENGTH = 4_000_000

export interface LineText {
  /** Without its break. */
  text: string
  lossy?: true
  /** `text` isn't all of it. */
  cut?: true
  /** Absent: `\n`, or none. */
  line_ending?: 'crlf' | 'cr'
  /** The last line, which no break ends. */
  no_break?: true
}

/** Lines that one answer still may have. */
export class LineBudget {
  #lines: number
  #units = TOTAL_LENGTH

  constructor(lines: number) {
    this.#lines = lines
  }

  get isSpent(): boolean {
    return this.#lines <= 0 || this.#units <= 0
  }

  /** A line of `text`; one more that it has. */
  show(text: Text, line: Line): LineText {
    const shown = shownLine(text, line)
    this.#lines--
    this.#units -= shown.text.length
    return shown
  }
}

function shownLine(text: Text, { start, end, next }: Line): LineText {
  const bytes = text.slice(start, end)
  const isCut = bytes.length > LINE_LENGTH && utf16Length(bytes) > LINE_LENGTH
  const kind = next > end ? breakAt(text, end).kind : 'none'
  return {
    ...excerptOf(bytes, LINE_LENGTH),
    ...(isCut && { cut: true }),
    ...((kind === 'crlf' || kind === 'cr') && { line_ending: kind }),
    ...(kind === 'none' && { no_break: true })
  }
}
