// Why a section, code block or symbol can't be edited, and what to name or send instead.
import type { Problem } from '../../../../schemas/problem.ts'
import type {
  AmbiguousTarget,
  OutlineEntry,
  Target,
  TargetNotFound,
  UnsupportedTarget
} from '../../../engine/failure.ts'
import { linesFrom } from '../../../engine/outline/target.ts'
import type { StrayEdit } from '../../../operations/operation.ts'
import type { InvalidField } from '../../request-failure.ts'
import { again, type Brief, type FailedCall, takesAway } from '../brief/call.ts'
import { below, outlineLines } from '../brief/layout.ts'
import { type CallSyntax, lookedAtWith, type NamedFile, using } from '../call-names.ts'
import {
  capital,
  counted,
  linesListed,
  listed,
  NOTHING_WRITTEN,
  qualifiedName,
  quote,
  sentences,
  span
} from '../phrases.ts'
import type { ProblemEntries, FailedRequest } from './entry.ts'

const EXAMPLE_OUTLINE: OutlineEntry[] = [12, 16].map(start_line => ({
  kind: 'method',
  name: 'parse',
  parent: 'Parser',
  start_line,
  end_line: start_line
}))

export const SECTIONS = {
  TARGET_NOT_FOUND: {
    kind: [422, 'Target not found', 'change_request'],
    about: 'read_file',
    detail: (failure, request) => {
      const { elsewhere, meant } = failure
      return {
        detail: sentences(notFound(failure, request), NOTHING_WRITTEN, syntaxErrors(failure)),
        members: {
          ...(meant !== undefined && { did_you_mean: [meant] }),
          ...(elsewhere.length > 0 && { targets: elsewhere }),
          ...outlineMembers(failure, request)
        }
      }
    },
    brief: briefTargetNotFound,
    example: {
      code: 'TARGET_NOT_FOUND',
      target: { symbol: 'Parser.prase' },
      outline: EXAMPLE_OUTLINE,
      total: 2,
      elsewhere: [],
      nearest: ['Parser.parse'],
      meant: 'Parser.parse'
    }
  },
  AMBIGUOUS_TARGET: {
    kind: [422, 'Several targets match', 'change_request'],
    about: 'read_file',
    detail: (failure, request) => ({
      detail: sentences(ambiguous(failure, request), NOTHING_WRITTEN, syntaxErrors(failure)),
      members: { targets: failure.targets, ...outlineMembers(failure, request) }
    }),
    brief: briefAmbiguous,
    example: {
      code: 'AMBIGUOUS_TARGET',
      target: { symbol: 'Parser.parse' },
      outline: EXAMPLE_OUTLINE,
      total: 2,
      targets: EXAMPLE_OUTLINE,
      fitting: 2
    }
  },
  UNSUPPORTED_TARGET: {
    kind: [422, 'Target not supported', 'change_request'],
    about: 'read_file',
    detail: (failure, request) => ({
      detail: sentences(unsupported(failure, request), failure.to_read === true ? '' : NOTHING_WRITTEN),
      members: 'limit' in failure ? { limit: failure.limit, actual: failure.actual } : {}
    }),
    example: {
      code: 'UNSUPPORTED_TARGET',
      reason: 'not_markdown',
      language: 'typescript',
      languages: ['markdown', 'typescript']
    }
  }
} satisfies Partial<ProblemEntries>

/** The requested target: `heading "Setup"`, `"sh" code block 2 under the heading "Setup"`. */
function targetNamed({ heading, symbol, code_block }: Target): string {
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

/** An outline item: `the section "Setup"`, `the method "Parser.parse"`. */
export function entryNamed(entry: OutlineEntry): string {
  const { kind, name, language } = entry
  if (kind === 'code_block') return language === undefined ? 'the code block' : `the ${quote(language)} code block`
  if (kind === 'front_matter') return 'the front matter'
  // Stored answers about a private file don't contain names.
  if (name === undefined) return kind === 'heading' ? 'the section' : `the ${kind}`
  return kind === 'heading' ? `the section ${quote(name)}` : `the ${kind} ${quote(qualifiedName(entry))}`
}

/** An outline item with its place: `the section "Setup" at lines 3 to 9`. */
const entryAt = (entry: OutlineEntry): string => `${entryNamed(entry)} at ${spanOf(entry)}`

const spanOf = ({ start_line, end_line }: OutlineEntry): string => span([start_line, end_line])

/** The most places that a sentence lists. */
const MAX_LISTED = 5

function notFound(failure: TargetNotFound, { shown, naming }: FailedRequest): string {
  const { target, at_line, elsewhere, meant, outline, total } = failure
  const what = `The ${targetNamed(target)} was not found`
  if (elsewhere.length > 0) {
    const spans = listed(elsewhere.slice(0, MAX_LISTED).map(spanOf), 'or')
    const [where, next] =
      elsewhere.length === 1
        ? [`it is at ${spans}`, 'Correct at_line, or leave it out.']
        : elsewhere.length <= MAX_LISTED
          ? [`it is at ${spans}`, 'Send at_line with a line of the one you mean.']
          : [`the nearest are at ${spans}`, 'Send at_line with a line of the one you mean; targets lists them.']
    return sentences(`${what} at line ${at_line} in ${shown}: ${where}.`, next)
  }
  if (meant !== undefined) return `${what} in ${shown}. Did you mean ${quote(meant)}?`
  if (total === 0) {
    return sentences(`${what} in ${shown}, which has no headings, code blocks or symbols.`, using('Use', naming.edit))
  }
  const first = total > outline.length ? ` (the first ${outline.length} of ${total})` : ''
  return `${what} in ${shown}${namesLikeIt(failure)}. Name one of the items in outline${first}.`
}

/** Lists similar names after a name that wasn't found; none of them may be what was meant. Empty if there are none. */
function namesLikeIt({ nearest }: TargetNotFound): string {
  if (nearest.length === 0) return ''
  return `; ${nearest.length === 1 ? 'a name like it is' : 'names like it are'} ${listed(nearest.map(name => quote(name)))}`
}

function ambiguous({ target, targets, fitting, at_line }: AmbiguousTarget, { shown }: FailedRequest): string {
  const lines = linesListed(targets.map(({ start_line }) => start_line))
  return sentences(
    `The ${targetNamed(target)} matches ${fitting} places in ${shown}, at ${lines}.`,
    at_line === undefined
      ? 'Send at_line with a line of the one you mean, or name it by its path.'
      : `Line ${at_line} is in more than one of them: send the first line of the one you mean as at_line.`,
    'targets lists them.'
  )
}

function outlineMembers(
  { outline, syntax_error_lines }: TargetNotFound | AmbiguousTarget,
  { path, naming }: NamedFile
): Partial<Problem> {
  return {
    suggested_fixes: [
      {
        type: 'READ_FILE',
        suggestion: 'Read the structure of the file as it is now, then name one of its items.',
        ...lookedAtWith(naming, { path, structure: true })
      }
    ],
    outline,
    syntax_error_lines
  }
}

const syntaxErrors = ({ syntax_error_lines }: TargetNotFound | AmbiguousTarget): string =>
  syntax_error_lines === undefined
    ? ''
    : `The file has syntax errors (${linesListed(syntax_error_lines)}), so parts of it may not have been recognized.`

function unsupported(failure: UnsupportedTarget, { shown, naming }: FailedRequest): string {
  const { language, languages, to_read } = failure
  const instead = (...calls: (string | undefined)[]) => {
    if (to_read === true) return 'Leave structure out to read the file, or send search to find text in it.'
    const has = calls.filter(call => call !== undefined)
    return has.length === 0 ? '' : `Use ${listed(has, 'or')}.`
  }
  const useEdit = instead(naming.edit)
  const useEither = instead(naming.edit, naming.edit_lines)
  const exactly = using('Use', naming.edit, ' with its exact text')
  const file =
    language === undefined ? `The language of ${shown} is not known from its name` : `${shown} is a ${language} file`
  switch (failure.reason) {
    case 'not_markdown':
      return sentences(
        `${file}, and only Markdown (.md) has headings and code blocks.`,
        language !== undefined && languages.includes(language) ? `Name a symbol${orUse(naming)}.` : useEdit
      )
    case 'no_grammar':
      return language === 'markdown'
        ? `${file}, which has no symbols. Name a heading or a code_block.`
        : sentences(
            `${file}, so its structure is not supported.`,
            `Supported languages are ${listed(languages)}.`,
            useEdit
          )
    case 'too_large':
      return sentences(
        `${shown} has ${counted(failure.actual ?? 0, 'byte')},`,
        `and structure is only read from files of up to ${failure.limit}.`,
        useEither
      )
    case 'too_slow':
      return sentences(`The structure of ${shown} could not be read within ${failure.limit / 1000} seconds.`, useEither)
    case 'too_much_memory':
      return sentences(
        `Parsing ${shown} takes more than ${failure.limit / 1024 / 1024} MiB of memory,`,
        'so its structure is not available.',
        useEither
      )
    case 'parser_failed':
      return sentences(`The parser failed on ${shown}, so its structure is not available.`, useEither)
    case 'not_alone':
      return sentences(
        `${capital(entryNamed(failure.entry))} shares ${spanOf(failure.entry)} of ${shown} with other code.`,
        exactly
      )
    case 'cramped':
      return sentences(
        `The body of ${entryAt(failure.entry)} of ${shown} shares its lines with other code,`,
        "so text can't be added to it.",
        exactly
      )
    case 'no_body':
      return sentences(
        `${capital(entryAt(failure.entry))} of ${shown} has no body to add text to.`,
        'Use action replace, insert_before or insert_after.'
      )
    case 'unclosed':
      return sentences(
        `${capital(entryAt(failure.entry))} of ${shown} is never closed: anything after it would become part of it.`,
        'Use action append, or replace with include_heading: true.'
      )
  }
}

const orUse = ({ edit }: CallSyntax): string => (edit === undefined ? '' : `, or use ${edit}`)

/** What is wrong with an edit that would change more of a document's outline than its target. */
export function strayError({ pointer, stray: { reason, entry } }: StrayEdit, naming: CallSyntax): InvalidField {
  const { kind, name, start_line } = entry
  const what = `the ${kind.replace('_', ' ')}${name === undefined ? '' : ` ${quote(name)}`} at line ${start_line}`
  return {
    pointer,
    message:
      reason === 'lost'
        ? `would remove ${what} from the outline, as an unclosed fence or HTML comment does; close it${orUse(naming)}`
        : `would turn other text into ${what} of the result; close what it opens${orUse(naming)}`
  }
}

/** The most outline items that are shown. */
const MOST_ITEMS = 30

/** The line above several items. */
const CHOOSE = 'Send at_line with a line of the one you mean, of these:'

/** Where the target is instead, or what the file has; undefined if it has no outline. */
function briefTargetNotFound(failure: TargetNotFound, call: FailedCall): Brief | undefined {
  const { target, at_line, elsewhere, meant, outline, total } = failure
  const what = `The ${targetNamed(target)} was not found`
  if (at_line !== undefined && elsewhere.length > 0) {
    return briefNotAtLine({ what: `${what} at line ${at_line} in ${call.shown}`, elsewhere, at_line }, call)
  }
  const whole = `${what} in ${call.shown}${meant === undefined ? namesLikeIt(failure) : `; did you mean ${quote(meant)}?`}`
  if (meant !== undefined && target.code_block === undefined && !takesAway(call)) {
    return { what: whole, next: again(call, target.heading === undefined ? { symbol: meant } : { heading: meant }) }
  }
  return total === 0 ? undefined : { what: whole, next: ['It has:'], lines: itemsOf(outline, total) }
}

/**
 * Where the target is instead. Proposes a call only if the nearest item is far nearer than the next one, since the line
 * may come from an older version of the file. Never proposes a call that would delete the item.
 */
function briefNotAtLine(
  { what, elsewhere, at_line }: { what: string; elsewhere: readonly OutlineEntry[]; at_line: number },
  call: FailedCall
): Brief {
  const [first, second] = elsewhere as [OutlineEntry, OutlineEntry?]
  if (takesAway(call)) return { what, next: [CHOOSE], lines: outlineLines(elsewhere.slice(0, MOST_ITEMS)) }
  const lines = second === undefined ? '' : outlineLines(elsewhere.slice(0, MOST_ITEMS))
  return second === undefined || 2 * linesFrom(first, at_line) < linesFrom(second, at_line)
    ? { what: `${what}; did you mean ${entryAt(first)}?`, next: again(call, { at_line: first.start_line }), lines }
    : { what, next: [CHOOSE], lines }
}

/** The first items of an outline, and how many more there are. */
const itemsOf = (outline: TargetNotFound['outline'], total: number): string => {
  const first = outline.slice(0, MOST_ITEMS)
  return below(outlineLines(first), total > first.length ? `and ${total - first.length} more` : '')
}

/** The places. The model has to choose: nothing in the call favors one of them. */
function briefAmbiguous({ target, targets, fitting }: AmbiguousTarget, call: FailedCall): Brief {
  const what = `The ${targetNamed(target)} matches ${fitting} places in ${call.shown}`
  if (targets.length === 0) return { what, next: [] }
  return { what, next: [CHOOSE], lines: outlineLines(targets.slice(0, MOST_ITEMS)) }
}
