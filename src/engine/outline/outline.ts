// The structure of a document or a source file as data: parsers produce it and the planner of /edit-section uses it.
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

/** Lines are 1-based and inclusive, in the file, as /edit-lines takes them. */
interface Place {
  start_line: number
  end_line: number
  /** Index of the enclosing item in the outline, -1 at the top level. */
  within: number
  /** The path of the enclosing item, `Guide > Setup` or `Parser.State`. */
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
  /** The prefix of each line in a quote or a list, else empty. */
  prefix: string
}

/** Includes its fences. */
export interface CodeBlock extends Place {
  kind: 'code_block'
  language?: string
  /** Absent for an indented code block. */
  fence?: { markup: string; closed: boolean }
  /** The prefix of each line in a quote or a list, else empty. */
  prefix: string
}

interface FrontMatter extends Place {
  kind: 'front_matter'
}

/** A definition with its decorators and attributes. */
export interface Symbol extends Place {
  kind: SymbolKind
  name: string
  /** The first line of its doc comment. */
  comment_start_line?: number
  /** No other code is on its first and last line. */
  alone: boolean
  /** A comma follows it on its last line, as after a member of an object. */
  comma?: true
  /** Where text can be inserted into it; absent if it has no body. */
  body?: Body
}

/**
 * The lines between those that open and close a body (none if `last_line` is before `first_line`); or empty braces on
 * one line, with the UTF-16 offset in that line at which text goes between; or `cramped`: its lines hold other code
 * too.
 */
export type Body = { first_line: number; last_line: number } | { line: number; column: number } | 'cramped'

export type Item = Heading | CodeBlock | FrontMatter | Symbol
export type DocumentItem = Exclude<Item, Symbol>

/**
 * The most frequent number of blank lines in a document before a heading, after one, and between other blocks; absent
 * if there is no such place.
 */
export interface Gaps {
  before_heading?: number
  after_heading?: number
  between?: number
}

/** Items are in the order of their first lines. */
export type Outline =
  | { type: 'document'; items: DocumentItem[]; gaps: Gaps }
  /**
   * `syntax_error_lines`: the first 20 lines that the parser did not understand; `fault`: the first such place;
   * `string_lines`: the requested lines that begin inside a string.
   */
  | { type: 'code'; items: Symbol[]; syntax_error_lines: number[]; fault?: SyntaxFault; string_lines?: number[] }

/** Lines of a text, 1-based and inclusive. */
export type Lines = Pick<Place, 'start_line' | 'end_line'>

/** The separator between the names of a path. */
export const SEPARATOR = { document: ' > ', code: '.' } as const

/** The most frequent number, the larger one on a tie; undefined for an empty list. */
export function mostFrequentNumber(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0]?.[0]
}
