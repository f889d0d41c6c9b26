// What a document or a source file is made of, as data: what a parser finds and the planner of /edit-section gets. Does
// not know the parser.
import type { SyntaxFault } from './syntax-errors.ts'

export const SYMBOL_KINDS = [
  'function',
  'method',
  'class',
  'struct',
  'interface',
  'trait',
  'impl',
  'type',
  'enum',
  'namespace',
  'constant',
  'variable',
  'macro',
  'rule'
] as const
export type SymbolKind = (typeof SYMBOL_KINDS)[number]

/** Lines are 1-based and inclusive, of the file; they are what /edit-lines would need. */
interface Place {
  start_line: number
  end_line: number
  /** Index in the outline of the item around it, -1 at the top. */
  within: number
  /** The path of the item that it belongs to, `Guide > Setup` or `Parser.State`. */
  parent?: string
  /** Its name holds bytes that aren't UTF-8. */
  lossy?: true
}

/** A section: from its heading to the line before the next heading of the same or a higher level. */
export interface Heading extends Place {
  kind: 'heading'
  name: string
  level: number
  /** Last line of the heading itself. */
  heading_line: number
  /** What each line begins with where it lies in a quote or a list, else empty. */
  prefix: string
}

/** Fences included. */
export interface CodeBlock extends Place {
  kind: 'code_block'
  language?: string
  /** Absent where it is indented. */
  fence?: { markup: string; closed: boolean }
  /** What each line begins with where it lies in a quote or a list, else empty. */
  prefix: string
}

export interface FrontMatter extends Place {
  kind: 'front_matter'
}

/** A definition with its decorators and attributes. */
export interface Symbol extends Place {
  kind: SymbolKind
  name: string
  /** Where its doc comment begins. */
  comment_start_line?: number
  /** No other code stands on its first and last line. */
  alone: boolean
  /** Where text can be put into it; absent where it has no body. */
  body?: Body
}

/**
 * The lines between those that open and close a body, none where `last_line` comes before `first_line`; or empty braces
 * in one line, with the UTF-16 offset in it at which text goes between; or `cramped`: lines that hold other code too.
 */
export type Body = { first_line: number; last_line: number } | { line: number; column: number } | 'cramped'

export type Item = Heading | CodeBlock | FrontMatter | Symbol
export type DocumentItem = Exclude<Item, Symbol>

/**
 * Blank lines that a document has most often before a heading, after one, and between other blocks; absent where there
 * is no such place.
 */
export interface Gaps {
  before_heading?: number
  after_heading?: number
  between?: number
}

/** In the order of their first lines. */
export type Outline =
  | { type: 'document'; items: DocumentItem[]; gaps: Gaps }
  /**
   * `syntax_error_lines`: the first 20 lines that the parser did not understand; `fault`: the first such place;
   * `string_lines`: those of the lines asked about that begin inside a string.
   */
  | { type: 'code'; items: Symbol[]; syntax_error_lines: number[]; fault?: SyntaxFault; string_lines?: number[] }

/** Lines of a text, 1-based and inclusive. */
export type Lines = Pick<Place, 'start_line' | 'end_line'>

/** What stands between the names of a path. */
export const SEPARATOR = { document: ' > ', code: '.' } as const

/** Of several numbers the one that occurs most, the larger of two that occur as often; undefined of none. */
export function mostFrequentNumber(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0]?.[0]
}
