// Whether an edit broke the syntax of a file: it parsed before and doesn't afterwards.
import type { SyntaxFault } from '../outline/syntax-errors.ts'

/**
 * The result of a check: no fault, a new fault, faults that may all have been there before (`errors_before`), or that
 * may be placeholders of a template engine (`template`).
 */
export type SyntaxCheck = { found: 'nothing' | 'errors_before' | 'template' } | { found: 'fault'; fault: SyntaxFault }

/** Finds the first fault of a text in a language; null if there is none. */
type FaultFinder = (source: string, language: string) => Promise<SyntaxFault | null>

/**
 * The fault of `after` that `before` didn't have, two texts in one language. A blank text counts as parsed; `before` is
 * null if there was no file, so that every fault is new. `before` is parsed only if `after` has a fault.
 */
export async function newFault(
  { after, before }: { after: string; before: string | null },
  language: string,
  faultOf: FaultFinder
): Promise<SyntaxCheck> {
  const fault = after.trim() === '' ? null : await faultOf(after, language)
  if (fault === null) return { found: 'nothing' }
  if (DATA.has(language) && TEMPLATE.test(after)) return { found: 'template' }
  const hadFault = before !== null && before.trim() !== '' && (await faultOf(before, language)) !== null
  if (language === 'json' && (before === null ? COMMENT.test(after) : hadFault)) {
    return newFault({ after, before }, 'jsonc', faultOf)
  }
  return hadFault ? { found: 'errors_before' } : { found: 'fault', fault }
}

/** A comment line: a new JSON file that has one is meant to have comments. */
const COMMENT = /^[ \t]*\/[/*]/m

/** Data languages, which are often written as templates; a template is seldom code that parses. */
const DATA = new Set(['json', 'json5', 'jsonc', 'toml', 'yaml'])

/**
 * A template placeholder where no value in these languages can begin so: `{% if %}`, `{{ name }}`. In quotes it parses,
 * and `${{ }}` isn't one.
 */
const TEMPLATE = /^[ \t]*(?:-[ \t]+)*(?:[\w."'-]+[ \t]*[:=][ \t]*)?\{[{%]/m
