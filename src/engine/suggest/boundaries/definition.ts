// Finds definitions in code: what a line defines, where a text defines the same name, and where that definition ends.
// Relies on what most languages have in common, not on any one of them.
import { lineStartIn, textEndIn } from '../../text/lines.ts'
import { type Budget, BYTES_A_STEP } from '../budget.ts'
import type { Haystack } from '../haystack.ts'
import { endOfIndented } from './whole-block.ts'

/** Bytes, end exclusive. */
export interface Definition {
  start: number
  end: number
}

// Thresholds. Chosen, except for the number of places.

/** Lines at the start of a text among which to look for the one that defines something. */
const MOST_LINES = 20
/** UTF-16 units, or bytes, of the longest line that counts as a definition. */
const LONGEST_LINE = 300
/**
 * Most places of a name to check (a line takes up to a millisecond, measured on 28 November 2026 with lines made for
 * that), and most definitions to find: more than are shown.
 */
const MOST_PLACES = 200
const MOST_FOUND = 4

/** What a line defines. `of`: what two definitions of one name must share: `type`, or the type of a receiver. */
export interface Defined {
  name: string
  of: string
}

const NAME = String.raw`(?<name>[\p{L}_$][\p{L}\p{N}_$]*)`
/** What may precede a keyword, such as `export default async`, or `pub(crate)`. */
const BEFORE = String.raw`(?:[a-z]+(?:\([^)]*\))?\s+)*`
const FUNCTIONS = 'function|def|fn|func|fun|sub|proc|procedure|defp|macro'
const TYPES = 'class|interface|struct|enum|trait|impl|type|module|namespace|record|object|protocol|extension|defmodule'
/** `function name`, `func (r *T) name`, `def self.name?`. */
const FUNCTION = new RegExp(
  String.raw`^${BEFORE}(?:${FUNCTIONS})\b\*?\s+(?:\((?<receiver>[^)]*)\)\s*)?(?:self\.)?\*?${NAME}[?!]?`,
  'u'
)
/** The type in `r *Name[T]`. */
const RECEIVER = /([\p{L}_][\p{L}\p{N}_]*)(?:\[[^\]]*\])?\s*$/u
/** `class Name`. */
const TYPE = new RegExp(String.raw`^${BEFORE}(?:${TYPES})\s+${NAME}`, 'u')
/** `const name = (a) =>`, `name: function`, `name = async a =>`. */
const AS_VALUE = new RegExp(
  String.raw`^${BEFORE}${NAME}\??\s*(?::[^=]+)?[=:]\s*(?:async\s+)?(?:function\b|\(.*\).*=>|[\w$]+\s*=>)`,
  'u'
)
/** A method, or a function in C or Java: `public int name(int a) {`. */
const BY_PARAMETERS = new RegExp(
  String.raw`^(?<before>[\p{L}\p{N}_$\s<>[\],.*&:?@#]*?)\b${NAME}\s*\([^'"${'`'}]*\)[^;='"${'`'}]*\{$`,
  'u'
)
/** With these, a line that looks like a function is a statement. */
const STATEMENT =
  /^(?:if|else|elif|for|foreach|while|switch|match|catch|with|using|lock|do|try|return|await|throw|new|when|until|unless|case)$/
const COMMENT_OR_ATTRIBUTE = /^(?:\/\/|\/?\*|#|--|;|@|\[|<!--|"""|''')/

/** What a trimmed line defines: a function, a method, a class and the like. */
export function definedBy(line: string): Defined | undefined {
  if (line.length > LONGEST_LINE) return undefined
  const { name: type } = TYPE.exec(line)?.groups ?? {}
  if (type !== undefined) return { name: type, of: 'type' }
  const { name, receiver = '' } = (FUNCTION.exec(line) ?? AS_VALUE.exec(line))?.groups ?? {}
  if (name !== undefined) return { name, of: RECEIVER.exec(receiver)?.[1] ?? '' }
  const { before = '', name: method = '' } = BY_PARAMETERS.exec(line)?.groups ?? {}
  const words = [...before.trim().split(/\s+/), method]
  return method === '' || words.some(word => STATEMENT.test(word)) ? undefined : { name: method, of: '' }
}

export const areSame = (a: Defined, b: Defined): boolean => a.name === b.name && a.of === b.of

/** What a text of several lines defines in its first line after comments and attributes. */
export function definedFirst(text: string): Defined | undefined {
  const lines = text.split('\n', MOST_LINES).map(line => line.trim())
  const isCode = (line: string): boolean => line !== '' && !COMMENT_OR_ATTRIBUTE.test(line)
  const first = lines.find(isCode)
  return first === undefined || !text.trim().includes('\n') ? undefined : definedBy(first)
}

/**
 * The first four places where the text defines the same name, each from the start of its first line to the end of its
 * last (see `endOfIndented`). Skips single lines, which declare or call. At most one pass over the text.
 */
export function definitionsOf(haystack: Haystack, defined: Defined, budget: Budget): Definition[] {
  const { bytes, encoding } = haystack
  const sought = Buffer.from(defined.name, encoding)
  const found: Definition[] = []
  if (!budget.spend(bytes.length / BYTES_A_STEP)) return found
  let at = haystack.indexOf(sought)
  for (let places = 0; at !== -1 && places < MOST_PLACES && found.length < MOST_FOUND; places++) {
    const start = lineStartIn(bytes, at, LONGEST_LINE)
    const lineEnd = textEndIn(bytes, at)
    const here = definedBy(haystack.text(start, lineEnd).trim())
    const end = here !== undefined && areSame(here, defined) ? endOfIndented(haystack, start) : undefined
    if (end !== undefined && end > lineEnd) found.push({ start, end })
    at = haystack.indexOf(sought, lineEnd)
  }
  return found
}
