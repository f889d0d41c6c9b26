// Why old_text wasn't found: one sentence per cause. Does not know statuses or fixes.
import type { Cause, CauseType } from '../../engine/suggest/differences/classify.ts'
import type { OtherDifferences } from '../../engine/suggest/differences/others.ts'
import type { NoMatch, SimilarContent } from '../../engine/failure.ts'
import { BY_ROUTE, type CallSyntax } from './call-names.ts'
import { withHiddenNamed } from './invisible.ts'
import { counted, listed, quote, span } from './phrases.ts'

/** Describes how the file and the sent text differ. `field`: the field that was sent. */
type Describe = (expected: string, found: string, field: string, naming: CallSyntax) => string

const SENTENCES: Record<CauseType, Describe> = {
  indentation: indentationDiffers,
  tabs: indentationDiffers,
  trailing_space: (expected, found, field) =>
    /\s$/.test(found)
      ? `the file has white space at the end of a line that ${field} leaves out`
      : `${field} has white space at the end of a line that the file doesn't have`,
  blank_lines: () => 'the blank lines differ',
  spacing: (expected, found, field) => `the spacing differs (the file has ${found}, ${field} ${expected})`,
  line_endings: (expected, found, field, naming) =>
    `the file ends lines with ${found}, ${field} with ${expected}` +
    (naming.takes('line_endings') ? ', and line_endings is "exact"' : ''),
  quotes: (expected, found, field) => `the quotation marks differ (the file has ${found}, ${field} ${expected})`,
  dashes: (expected, found, field) => `dashes or symbols differ (the file has ${found}, ${field} ${expected})`,
  nbsp: (expected, found, field) => `the spaces differ (the file has ${found}, ${field} ${expected})`,
  invisible: (expected, found, field) =>
    'there are characters that cannot be seen: ' +
    `the file has ${orNothing(found)} where ${field} has ${orNothing(expected)}`,
  unicode_form: (expected, found, field) =>
    `characters are composed differently (the file has ${withHiddenNamed(found)}, ${field} ${withHiddenNamed(expected)})`,
  html_entities: (expected, found, field) => {
    const [own, theirs] = [entityIn(expected), entityIn(found)]
    const which =
      own === undefined && theirs !== undefined
        ? `the file has HTML entities (such as ${theirs}) that ${field} leaves out`
        : `${field} has HTML entities (such as ${own ?? '&lt;'}) that are not in the file`
    return `${which}; write characters as the file has them`
  },
  over_escaped: (expected, found, field) =>
    (backslashes(expected) < backslashes(found)
      ? `the file has escapes (backslashes) that ${field} leaves out; `
      : `${field} has escapes (backslashes) that the file does not have; `) +
    'write line breaks as real line breaks, and quotes and backslashes as the file has them',
  line_numbers: (_expected, _found, field, naming) =>
    `${field} has line numbers at the start of its lines that are not in the file; ` +
    `leave them out of ${field} and ${naming.field('new_text')}`,
  elided: (_expected, _found, field) => `${field} leaves out the middle; it must contain every line that is replaced`,
  markdown_fence: (_expected, _found, field, naming) =>
    `${field} has a Markdown fence (\`\`\`) around it that is not in the file; leave it out of ${field} and ${naming.field('new_text')}`,
  diff_hunk: (_expected, _found, field, naming) =>
    `${field} is a diff hunk; send the lines as the file has them: no @@ line, no "-", "+" or space before each, ` +
    `only the old lines in ${field} and only the new ones in ${naming.field('new_text')}`,
  edit_markers: (_expected, _found, field, naming) =>
    `${field} has the markers of another edit format (<<<<<<< SEARCH, ======= and >>>>>>> REPLACE, or tags such as ` +
    `<old_str>), which are not in the file; send only the old text in ${field} and only the new text in ${naming.field('new_text')}`,
  case: (expected, found, field) => `letter case differs (the file has ${found}, ${field} ${expected})`,
  punctuation: (expected, found, field) => `the file has ${orNothing(found)} where ${field} has ${orNothing(expected)}`,
  final_newline: (_expected, _found, field, naming) =>
    `${field} ends with a line break that the file does not have there; leave it out of ${field} and ${naming.field('new_text')}`,
  byte_order_mark: (_expected, _found, field) =>
    `${field} begins with a byte-order mark (U+FEFF) that the file does not have there; leave it out`,
  encoding: (_expected, found, field) => {
    const what = isNothing(found)
      ? `the file has bytes there that are not UTF-8 (shown as U+FFFD), which ${field} cannot match`
      : `the file is not UTF-8 (it looks like Latin-1), so ${field} cannot match characters such as ${found} there ` +
        '(shown as U+FFFD)'
    return `${what}; choose an ${field} without them`
  },
  typo: (expected, found, field) => `the file has ${found}, ${field} ${expected}`,
  word: (expected, found, field) => `the file has ${found}, ${field} ${expected}`,
  renamed: (expected, found, field) => `the file has the name ${found}, ${field} ${expected}`,
  lines_dropped: (_expected, found, field) => leftOut(found, field),
  lines_added: (expected, _found, field) => notInFile(expected, field),
  comment: (expected, found, field) => {
    if (!/[\p{L}\p{N}]/u.test(expected + found)) {
      return isNothing(found)
        ? `${field} comments out code that the file has`
        : `the file comments out code that ${field} has`
    }
    return isNothing(found) ? notInFile(`the comment ${expected}`, field) : leftOut(`the comment ${found}`, field)
  },
  stale: (expected, found, field) =>
    `the file has changed, or was remembered wrongly: ${has(expected, found, field, 'it')}`,
  joined_or_split: () => 'the line breaks are in different places',
  long_line_part: (expected, found, field) =>
    `in that part of a very long line, the file has ${orNothing(found)} where ${field} has ${orNothing(expected)}`,
  near_duplicate: (expected, _found, field) =>
    isNothing(expected)
      ? 'several places are equally likely'
      : `the file defines ${expected} differently, and what resembles ${field} has another name`,
  never_there: () => 'nothing in the file is similar enough'
}

const leftOut = (what: string, field: string): string => `${field} leaves out ${what}`

const notInFile = (what: string, field: string): string => `${field} has ${what}, which is not in the file`

function has(expected: string, found: string, field: string, file = 'the file'): string {
  if (isNothing(found)) return notInFile(expected, field)
  return isNothing(expected) ? leftOut(found, field) : `${file} has ${found} where ${field} has ${expected}`
}

/** How the file and the sent text differ, as half a sentence. `field`: the field that was sent. */
export const whyMissed = (
  { type, expected = '', found = '', others, shift }: Cause,
  naming: CallSyntax = BY_ROUTE,
  field = naming.field('old_text')
): string =>
  (shift === undefined
    ? SENTENCES[type](shown(type, expected), shown(type, found), field, naming)
    : shifted(shift, field)) + (others === undefined ? '' : ` (and ${othersListed(others, field)})`)

/** What differs, for each kind of difference that leaves the words as they are. */
const FORM_NAMES: Record<OtherDifferences['forms'][number], string> = {
  html_entities: 'HTML entities',
  over_escaped: 'backslashes',
  unicode_form: 'accents',
  invisible: 'characters that cannot be seen',
  nbsp: 'no-break spaces',
  quotes: 'quotation marks',
  dashes: 'dashes or symbols',
  case: 'letter case',
  joined_or_split: 'line breaks',
  tabs: 'tabs or spaces',
  indentation: 'indentation',
  spacing: 'spacing',
  trailing_space: 'white space at the end of lines',
  final_newline: 'a line break at the end'
}

/** `the file has "b" where old_text has "a"`; `2 more lines, line breaks and 1 blank line`. */
function othersListed({ only, lines, blank_lines, forms }: OtherDifferences, field: string): string {
  if (only !== undefined) {
    const [expected, found] = [quote(only.expected, 60), quote(only.found, 60)]
    return has(expected, found, field)
  }
  const parts = [
    ...(lines === 0 ? [] : [counted(lines, 'more line')]),
    ...forms.map(form => FORM_NAMES[form]),
    ...(blank_lines === 0 ? [] : [counted(blank_lines, 'blank line')])
  ]
  return parts.length === 0 ? 'more in the same line' : listed(parts)
}

/** A piece as `SENTENCES` expect it: white space unchanged, for `indent` to describe; anything else quoted. */
const shown = (type: CauseType, piece: string): string =>
  type === 'indentation' || type === 'tabs' || type === 'trailing_space' ? piece : quote(piece, 60)

const backslashes = (quoted: string): number => quoted.split('\\\\').length

const entityIn = (quoted: string): string | undefined => /&(?:\w+|#\d+);/.exec(quoted)?.[0]

const isNothing = (quoted: string): boolean => quoted === '""'

const orNothing = (quoted: string): string => (isNothing(quoted) ? 'nothing' : quoted)

/** `the file indents every line by 4 more spaces than old_text`. */
function shifted({ by, sign, lines, total }: NonNullable<Cause['shift']>, field: string): string {
  const which = lines === total ? 'every line' : counted(lines, 'line')
  const much = `${Math.abs(by)} ${by > 0 ? 'more' : 'fewer'} ${sign}${Math.abs(by) === 1 ? '' : 's'}`
  return `the file indents ${which} by ${much} than ${field}`
}

function indentationDiffers(expected: string, found: string, field: string): string {
  return `${indents('the file', found)}, but ${indents(field, expected)}`
}

/** `the file indents with 2 tabs and 1 space`: describes the white space at the start of a piece. */
function indents(whose: string, piece: string): string {
  const blank = /^[^\S\n]*/.exec(piece)![0]
  const tabs = blank.split('\t').length - 1
  const others = blank.length - tabs
  const count = (n: number, noun: string) => (n === 0 ? [] : [`${n} ${noun}${n === 1 ? '' : 's'}`])
  const what = [...count(tabs, 'tab'), ...count(others, 'space')].join(' and ')
  return what === '' ? `${whose} has no indentation` : `${whose} indents with ${what}`
}

/** Names in old_text that show that the file contains nothing like it. */
export function notContained({ missing_tokens = [] }: Pick<NoMatch, 'missing_tokens'>): string {
  const names = missing_tokens.slice(0, 3).map(token => quote(token, 40))
  return names.length === 0 ? '' : `, and it does not contain ${listed(names, 'or')}`
}

/**
 * Several places that may have been meant: `line 2 or lines 6 to 7`. The more similar first, else in the order of the
 * file; but the one that defines the name of old_text comes first.
 */
export const placesNamed = (places: readonly SimilarContent[], { expected }: Cause): string =>
  listed(
    (expected === undefined ? likeliestFirst(places) : places).map(({ line_number, end_line }) =>
      span([line_number, end_line])
    ),
    'or'
  )

/**
 * In the order of the file, but a more similar place comes before others: without that, less than 99 % of the scripted
 * agent's edits are right.
 */
export const likeliestFirst = (places: readonly SimilarContent[]): SimilarContent[] =>
  places.toSorted(
    (a, b) => b.similarity_score - a.similarity_score || a.line_number - b.line_number || a.end_line - b.end_line
  )
