// Where a literal text occurs: the plain search of /inspect, without options.
import { breakStyleOf } from '../text/eol.ts'
import { locate, Needle } from '../match/locate.ts'
import { Text } from '../text/text.ts'
import { matchLines, type SearchMatch } from './match-lines.ts'

export interface SearchRequest {
  /**
   * Literal text, which may span lines, or with `regex` an expression in RE2 syntax that is matched against each line.
   */
  text: string
  regex: boolean
  ignore_case: boolean
  /** How many lines to show before and after each match; default: 0. */
  context_lines?: number
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

/** Searches a text that isn't binary for a text that may span lines. */
export function searchLiteral(
  bytes: Buffer,
  { text: wanted, context_lines = 0 }: Pick<SearchRequest, 'text' | 'context_lines'>
): SearchResult {
  const text = new Text([bytes])
  const { matches } = locate(text, new Needle(wanted), 'adapt', breakStyleOf(bytes).ending)
  const first = matches.slice(0, MAX_MATCHES)
  return {
    matches: matchLines(text, first, context_lines),
    total_matches: matches.count,
    truncated: matches.count > first.length
  }
}
