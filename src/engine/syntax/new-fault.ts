// Whether an edit broke the syntax of a file: what parsed before and doesn't after. Does not know the parsers of code,
// or files.
import type { SyntaxFault } from '../outline/syntax-errors.ts'

/**
 * What a check found: no fault, one that was not there before, faults that may all have been there (`errors_before`),
 * or that may be what a template engine replaces (`template`).
 */
export type SyntaxCheck = { found: 'nothing' | 'errors_before' | 'template' } | { found: 'fault'; fault: SyntaxFault }

/** The first fault of a text in a language; null where there is none. */
export type FaultFinder = (source: string, language: string) => Promise<SyntaxFault | null>

/**
 * What is wrong with `after` that was not wrong with `before`, two texts in one language. A text of blanks has parsed;
 * null: there was none, so that all that is wrong is new. The second text is parsed only where the first has a fault.
 */
export async function newFault(
  { after, before }: { after: string; before: string | null },
  language: string,
  faultOf: FaultFinder
): Promise<SyntaxCheck> {
  const fault = after.trim() === '' ? null : await faultOf(after, language)
  if (fault === null) return { found: 'nothing' }
  if (DATA.has(language) && TEMPLATE.test(after)) return { found: 'template' }
  const had = before !== null && before.trim() !== '' && (await faultOf(before, language)) !== null
  if (language === 'json' && (before === null ? COMMENT.test(after) : had)) {
    return newFault({ after, before }, 'jsonc', faultOf)
  }
  return had ? { found: 'errors_before' } : { found: 'fault', fault }
}

/** A line that is a comment: a new file of JSON that has one is meant to. */
const COMMENT = /^[ \t]*\/[/*]/m

/** Languages of data, which are often written by a template engine; an engine's text is seldom code that parses. */
const DATA = new Set(['json', 'jsonc', 'toml', 'yaml'])

/**
 * What an engine replaces, where no value in these languages begins so: `{% if %}`, `{{ name }}`. In quotes it parses,
 * and `${{ }}` isn't one.
 */
const TEMPLATE = /^[ \t]*(?:-[ \t]+)*(?:[\w."'-]+[ \t]*[:=][ \t]*)?\{[{%]/m
