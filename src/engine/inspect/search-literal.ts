// Where a literal text occurs: the plain search of /inspect, without options.
import { ShownLine, utf16Length } from '../text/encoding.ts'
import { breakStyleOf } from '../text/eol.ts'
import { lineAround, lineNumbers } from '../text/lines.ts'
import { locate, Needle } from '../match/locate.ts'
import { Text } from '../text/text.ts'

export interface SearchRequest {
  /**
   * Literal text, which may span lines, or with `regex` an expression in RE2 syntax that is matched against each line.
   */
  text: string
  regex: boolean
  ignore_case: boolean
}

/**
 * Lines are 1-based, columns 1-based in UTF-16 units, `column_end` exclusive; for a match over several lines, those on
 * its first line.
 */
export interface SearchMatch {
  line_number: number
  column_start: number
  column_end: number
  line_content: string
  lossy?: true
}

export interface SearchResult {
  /** The first 200. */
  matches: SearchMatch[]
  total_matches: number
  truncated: boolean
  /** The search was stopped: lines from this one on were not searched. */
  stopped_at_line?: number
}

/** `message`: from RE2. */
export interface InvalidRegex {
  code: 'INVALID_REGEX'
  message: string
}

export const MAX_MATCHES = 200
/** UTF-16 units shown of a line. */
export const LINE_LENGTH = 400

/** Searches a text that isn't binary for a text that may span lines. */
export function searchLiteral(bytes: Buffer, wanted: string): SearchResult {
  const text = new Text([bytes])
  const { matches } = locate(text, new Needle(wanted), 'adapt', breakStyleOf(bytes).ending)
  const first = matches.slice(0, MAX_MATCHES)
  const { lines } = lineNumbers(
    text,
    first.map(({ start }) => start)
  )
  let line = { start: 0, end: 0, next: 0 }
  let shown = new ShownLine(Buffer.alloc(0))
  let counted = { offset: 0, columns: 0 }
  const columnsTo = (offset: number): number => {
    counted = { offset, columns: counted.columns + utf16Length(text.slice(counted.offset, offset)) }
    return counted.columns
  }
  return {
    matches: first.map(({ start, end }, index) => {
      // Many matches may be on one long line: read it once.
      if (index === 0 || start >= line.next) {
        line = lineAround(text, start)
        shown = new ShownLine(text.slice(line.start, line.end))
        counted = { offset: line.start, columns: 0 }
      }
      const from = columnsTo(start)
      const to = columnsTo(Math.min(end, line.end))
      return {
        line_number: lines[index]!,
        column_start: from + 1,
        column_end: to + 1,
        line_content: shown.around(start - line.start, from, LINE_LENGTH),
        ...(shown.lossy && { lossy: true })
      }
    }),
    total_matches: matches.count,
    truncated: matches.count > first.length
  }
}
