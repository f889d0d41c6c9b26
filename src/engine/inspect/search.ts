// Where a text or a regular expression occurs, line by line: the search of /inspect.
import { RE2JS } from 're2js'
import { fail, ok, type Result } from '../../result.ts'
import { decodeByColumn, excerptAround } from '../text/encoding.ts'
import { lineFrom, markLength, splitAtBreaks } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { LINE_LENGTH, linesAround, type SearchMatch } from './match-lines.ts'
import {
  MAX_MATCHES,
  searchLiteral,
  type InvalidRegex,
  type SearchRequest,
  type SearchResult
} from './search-literal.ts'

/** Bytes of a line up to which an expression is matched: a longer line takes more time than any search has. */
const SEARCHED_LINE = 1 << 26
/** Lines between two checks of the clock. */
export const LINES_AT_ONCE = 1000

/** What an expression is made of. */
type Expression = Pick<SearchRequest, 'text' | 'regex' | 'ignore_case'>

/**
 * Whether an expression can be compiled. Takes up to seconds for a short expression that expands a lot, such as
 * `\pL{1000}`.
 */
export function checkSearch(request: Expression): Result<null, InvalidRegex> {
  try {
    expressionOf(request)
    return ok(null)
  } catch (error) {
    return fail({ code: 'INVALID_REGEX', message: (error as Error).message })
  }
}

/**
 * Searches a text that isn't binary, for a request that `checkSearch` accepts. Linear in the text, whatever the
 * expression (RE2 never backtracks). An empty match counts once, on a line without other matches. `stop` is called from
 * time to time; when it returns true, or a line is too long for an expression, the result is what was found so far.
 */
export function searchText(bytes: Buffer, request: SearchRequest, stop: () => boolean = () => false): SearchResult {
  return request.regex || request.ignore_case
    ? searchLines(new Text([bytes]), request, stop)
    : searchLiteral(bytes, request)
}

function searchLines(text: Text, request: SearchRequest, stop: () => boolean): SearchResult {
  const expression = expressionOf(request)
  // Literal text over several lines is searched in that many lines at once.
  const span = request.regex ? 1 : splitAtBreaks(request.text).length
  const matches: SearchMatch[] = []
  let total_matches = 0
  let number = 1
  for (let at: number = markLength(text); at < text.length; number++) {
    if ((span > 1 || number % LINES_AT_ONCE === 0) && stop()) {
      return { matches, total_matches, truncated: true, stopped_at_line: number }
    }
    const line = lineFrom(text, at)
    let { end } = line
    for (let i = 1, { next } = line; i < span && next < text.length; i++) ({ end, next } = lineFrom(text, next))
    if (end - line.start > SEARCHED_LINE) return { matches, total_matches, truncated: true, stopped_at_line: number }
    const own = decodeByColumn(text.slice(line.start, line.end))
    const searched = span === 1 ? own.text : splitAtBreaks(decodeByColumn(text.slice(line.start, end)).text).join('\n')
    const matcher = expression.matcher(searched)
    const push = (start: number, end: number) => {
      if (matches.length === MAX_MATCHES) return
      around ??= linesAround(text, line, request.context_lines ?? 0)
      matches.push({ ...matchOf(own, number, start, end), ...around })
    }
    let around: ReturnType<typeof linesAround> | undefined
    let onLine = 0
    let empty = -1
    while (matcher.find() && matcher.start() <= own.text.length) {
      // Each of many matches on one line may cost a scan of the rest of the line.
      if (stop()) return { matches, total_matches: total_matches + onLine, truncated: true, stopped_at_line: number }
      const [start, end] = [matcher.start(), matcher.end()]
      if (end === start) {
        if (empty === -1) empty = start
        continue
      }
      onLine++
      push(start, Math.min(end, own.text.length))
    }
    if (onLine === 0 && empty !== -1) {
      onLine = 1
      push(empty, empty)
    }
    total_matches += onLine
    at = line.next
  }
  return { matches, total_matches, truncated: total_matches > matches.length }
}

const matchOf = (
  { text, lossy }: { text: string; lossy?: true },
  line_number: number,
  start: number,
  end: number
): SearchMatch => ({
  line_number,
  column_start: start + 1,
  column_end: end + 1,
  line_content: excerptAround(text, start, LINE_LENGTH),
  lossy
})

/** The expression that finds a text, or an expression; `around` puts it into another one. Throws what RE2 throws. */
export function expressionOf(
  { text, regex, ignore_case }: Expression,
  around: (source: string) => string = source => source
): RE2JS {
  const source = regex ? text : RE2JS.quote(splitAtBreaks(text).join('\n'))
  return RE2JS.compile(around(source), ignore_case ? RE2JS.CASE_INSENSITIVE : 0)
}
