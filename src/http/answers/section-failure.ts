// What is said of a target that isn't there, isn't the only one, or isn't to be had: its sentences. Does not know
// statuses.
import type { Problem } from '../../../schemas/problem.ts'
import type { AmbiguousTarget, OutlineEntry, SectionFailure, Target, TargetNotFound } from '../../engine/failure.ts'
import type { StrayEdit } from '../../operations/operation.ts'
import type { InvalidField } from '../failure.ts'
import type { Asked, CallSyntax } from './call-names.ts'
import { capital, counted, cut, linesListed, listed, quote, span } from './phrases.ts'
import { NOTHING_WRITTEN, type ProblemParts } from './told.ts'

/** Paths in a sentence. */
const NAMED = 5

/** What was asked for, in words. */
export function targetNamed({ heading, symbol, code_block }: Target): string {
  if (heading !== undefined) return `heading ${quote(heading)}`
  if (symbol !== undefined) return `symbol ${quote(symbol)}`
  const { index, language, under_heading } = code_block ?? {}
  return [
    ...(language === undefined ? [] : [quote(language)]),
    'code block',
    ...(index === undefined ? [] : [String(index)]),
    ...(under_heading === undefined ? [] : [`under the heading ${quote(under_heading)}`])
  ].join(' ')
}

/** An item, in words: `the section "Setup"`, `the method "Parser.parse"`. */
export function entryNamed({ kind, name, parent, language }: OutlineEntry): string {
  if (kind === 'code_block') return language === undefined ? 'the code block' : `the ${quote(language)} code block`
  if (kind === 'front_matter') return 'the front matter'
  return kind === 'heading'
    ? `the section ${quote(name ?? '')}`
    : `the ${kind} ${quote(parent === undefined ? (name ?? '') : `${parent}.${name}`)}`
}

export function tellTarget(failure: SectionFailure, asked: Asked): ProblemParts {
  const shown = cut(asked.path, 200)
  switch (failure.code) {
    case 'TARGET_NOT_FOUND':
      return notFound(failure, shown, asked)
    case 'AMBIGUOUS_TARGET': {
      const { target, targets, fitting, at_line } = failure
      const where = linesListed(targets.map(({ start_line }) => start_line))
      const choose =
        at_line === undefined
          ? 'Send at_line with a line of the one you mean, or name it by its path'
          : `Line ${at_line} is in more than one of them: send the first line of the one you mean as at_line`
      return {
        detail: `The ${targetNamed(target)} matches ${fitting} places in ${shown}, at ${where}. ${choose}; targets lists them. ${NOTHING_WRITTEN}${syntax(failure)}`,
        members: { targets, ...about(failure, asked) }
      }
    }
    case 'UNSUPPORTED_TARGET':
      return {
        detail: `${unsupported(failure, shown, asked.naming)} ${NOTHING_WRITTEN}`,
        members:
          'limit' in failure
            ? { limit: failure.limit, ...(failure.actual !== undefined && { actual: failure.actual }) }
            : {}
      }
  }
}

function notFound(failure: TargetNotFound, shown: string, asked: Asked): ProblemParts {
  const { target, at_line, elsewhere, nearest, outline, total } = failure
  const what = targetNamed(target)
  const next =
    elsewhere.length > 0
      ? `Line ${at_line} is not in it; it is at ${listed(
          elsewhere.slice(0, NAMED).map(({ start_line, end_line }) => span([start_line, end_line])),
          'or'
        )}. Correct at_line, or leave it out.`
      : nearest.length > 0
        ? `Did you mean ${listed(
            nearest.map(name => quote(name)),
            'or'
          )}?`
        : total === 0
          ? `The file has nothing of that kind. Use ${asked.naming.edit}.`
          : `outline lists ${total > outline.length ? `the first ${outline.length} of ${total} items` : 'what is there'}.`
  return {
    detail: `The ${what} was ${elsewhere.length > 0 ? `not found at line ${at_line}` : 'not found'} in ${shown}. ${next} ${NOTHING_WRITTEN}${syntax(failure)}`,
    members: {
      ...(nearest.length > 0 && { did_you_mean: nearest }),
      ...(elsewhere.length > 0 && { targets: elsewhere }),
      ...about(failure, asked)
    }
  }
}

function about(
  { outline, syntax_error_lines }: TargetNotFound | AmbiguousTarget,
  { path, naming }: Asked
): Partial<Problem> {
  const example = naming.inspectWith({ path, structure: true })
  return {
    suggested_fixes: [
      {
        type: 'READ_FILE',
        suggestion: 'Look at the structure of the file as it is now, then name one of its items.',
        example
      }
    ],
    outline,
    ...(syntax_error_lines !== undefined && { syntax_error_lines })
  }
}

const syntax = ({ syntax_error_lines }: TargetNotFound | AmbiguousTarget): string =>
  syntax_error_lines === undefined
    ? ''
    : ` The file has syntax errors (${linesListed(syntax_error_lines)}), so parts of it may not have been recognized.`

function unsupported(
  failure: Extract<SectionFailure, { code: 'UNSUPPORTED_TARGET' }>,
  shown: string,
  { edit, edit_lines }: CallSyntax
): string {
  const { language, languages } = failure
  const kind =
    language === undefined ? `The language of ${shown} is not known from its name` : `${shown} is in ${language}`
  switch (failure.reason) {
    case 'not_markdown':
      return `${kind}, and only Markdown (.md) has headings and code blocks. ${language !== undefined && languages.includes(language) ? `Name a symbol, or use ${edit}.` : `Use ${edit}.`}`
    case 'no_grammar':
      return language === 'markdown'
        ? `${kind}, which has no symbols. Name a heading or a code_block.`
        : `${kind}, so its structure is not supported. Supported languages are ${listed(languages)}. Use ${edit}.`
    case 'too_large':
      return `${shown} has ${counted(failure.actual ?? 0, 'byte')}, and structure is only read from files of up to ${failure.limit}. Use ${edit} or ${edit_lines}.`
    case 'too_slow':
      return `The structure of ${shown} could not be read within ${failure.limit / 1000} seconds. Use ${edit} or ${edit_lines}.`
    case 'parser_failed':
      return `The parser failed on ${shown}, so its structure is not available. Use ${edit} or ${edit_lines}.`
    case 'not_alone':
      return `${capital(entryNamed(failure.entry))} shares ${at(failure.entry)} of ${shown} with other code. Use ${edit} with its exact text.`
    case 'cramped':
      return `The body of ${entryNamed(failure.entry)} at ${at(failure.entry)} of ${shown} shares its lines with other code, so text can't be added to it. Use ${edit} with its exact text.`
    case 'no_body':
      return `${capital(entryNamed(failure.entry))} at ${at(failure.entry)} of ${shown} has no body to add text to. Send replace, insert_before or insert_after.`
    case 'unclosed':
      return `${capital(entryNamed(failure.entry))} at ${at(failure.entry)} of ${shown} is never closed: anything after it would become part of it. Send append, or replace it with include_heading: true.`
  }
}

/** What is wrong with an edit that would change more of a document's outline than its target. */
export function strayError({ pointer, stray: { reason, entry } }: StrayEdit, { edit }: CallSyntax): InvalidField {
  const { kind, name, start_line } = entry
  const what = `the ${kind.replace('_', ' ')}${name === undefined ? '' : ` ${quote(name)}`} at line ${start_line}`
  const message =
    reason === 'lost'
      ? `would remove ${what} from the outline, as a fence or HTML comment that is never closed does; close it, or use ${edit}`
      : `would turn other text into ${what} of the result; close what it opens, or use ${edit}`
  return { pointer, message }
}

const at = ({ start_line, end_line }: OutlineEntry): string => span([start_line, end_line])
