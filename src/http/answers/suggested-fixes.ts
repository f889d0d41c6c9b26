// The fixes of a problem: a sentence that says what to do, with an example. Does not know status codes.
import type { SuggestedFix } from '../../../schemas/problem.ts'
import type { FilePreview, Fix, FixedLines, FixedText, LaterEdit } from '../../engine/failure.ts'
import type { MergeConflict } from '../../engine/suggest/merge.ts'
import { type CallSyntax, lookedAtWith, type NamedFile } from './call-names.ts'
import { sentences, capital, linesListed, quote, quoteApart, span } from './phrases.ts'
import { placeOf, whyFails } from './edits-of-request.ts'

/** First and last line. */
type Lines = readonly [start_line: number, end_line: number]

const READ_IT = 'Read the file as it is now, then decide.'

/** A fix: read the whole file, or lines from which to copy `old_text`; if `lossy`, only the parts that are UTF-8. */
export const readFile = ({ path, naming }: NamedFile, lines?: Lines, lossy = false): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion:
    lines === undefined
      ? READ_IT
      : `Read ${span(lines)} of the file as it is now, then copy ${naming.field('old_text')} ` +
        `from ${naming.field('content', 'inspect')} exactly` +
        (lossy ? ': a part without U+FFFD, which stands for a byte that is not UTF-8.' : '.'),
  ...lookedAtWith(naming, { path, ...(lines && { start_line: lines[0], end_line: lines[1] }) })
})

/** A fix: read these lines. */
export const readLines = ({ path, naming }: NamedFile, [start_line, end_line]: Lines): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion: `Read ${span([start_line, end_line])} of the file as it is now, then decide.`,
  ...lookedAtWith(naming, { path, start_line, end_line })
})

/** A fix: read the lines of a preview; for an empty file, the whole file. */
export const readPreview = (file: NamedFile, { preview_start_line, preview_end_line }: FilePreview): SuggestedFix =>
  preview_start_line === 0 ? readFile(file) : readLines(file, [preview_start_line, preview_end_line])

/** The engine's fixes, each with its sentence. */
export const toFixes = (fixes: readonly Fix<FixedText | FixedLines>[], file: NamedFile): SuggestedFix[] =>
  fixes.map(fix => {
    const { edit_section } = file.naming
    if (fix.section !== undefined && edit_section !== undefined) {
      return replaceSection(file.path, edit_section, fix.section, fix.lines)
    }
    return fix.type === 'READ_FILE' ? readFile(file, fix.lines, fix.lossy) : toFix(fix, file.naming)
  })

/** A fix: replace a whole symbol with a text that the caller writes. */
const replaceSection = (
  path: string,
  edit_section: string,
  section: NonNullable<Fix['section']>,
  lines: Lines | undefined
): SuggestedFix => ({
  type: 'USE_SECTION',
  suggestion:
    `${quote(section.symbol)} is ${lines === undefined ? 'in the file' : span(lines)} now. ` +
    'To replace the whole of it, send this call with the text that it should have as new_text.',
  call: { name: edit_section, arguments: { path, action: 'replace', ...section } }
})

function toFix(fix: Fix<FixedText | FixedLines>, naming: CallSyntax): SuggestedFix {
  const { type, edit, later } = fix
  const example = exampleOf(fix)
  return {
    type,
    suggestion: isOfLines(edit) ? suggestLines(fix as Fix<FixedLines>, edit, naming) : suggestText(fix as Fix, naming),
    example,
    edit,
    later_edits: later?.map(one => toLaterEdit(one, naming))
  }
}

function toLaterEdit(later: LaterEdit, naming: CallSyntax): NonNullable<SuggestedFix['later_edits']>[number] {
  const { failure, fix } = later
  const place = placeOf(later)
  const why = whyFails(failure, naming)
  const { conflict } = fix ?? {}
  return {
    edit_index: failure.edit_index,
    suggestion: sentences(
      place === undefined ? `${capital(why)}.` : `${capital(place.likely)} meant for ${span(place.lines)}: ${why}.`,
      fix === undefined ? 'Correct it as well.' : '',
      conflict === undefined ? '' : `Write ${naming.field('new_text')} yourself: ${whyNotMerged(conflict, naming)}.`
    ),
    edit: fix?.edit
  }
}

const isOfLines = (edit: FixedText | FixedLines | undefined): edit is FixedLines =>
  edit !== undefined && 'start_line' in edit

const OTHER_SPACING = 'your change and the file differ in white space at the same place'

function sameWords({ changed, found }: Extract<MergeConflict, { reason: 'same_words' }>): string {
  if (changed.trim() === found.trim()) return OTHER_SPACING
  if (changed === '') return `your change is where the file has put in ${quote(found)}`
  if (found === '') return `your change is at ${quote(changed)}, which the file does not have`
  const [given, there] = quoteApart(changed, found)
  return `your change is at ${given}, where the file has ${there}`
}

/** Why an edit has no `new_text`: how the requested change conflicts with other differences in the file. */
export function whyNotMerged(conflict: MergeConflict, naming: CallSyntax): string {
  switch (conflict.reason) {
    case 'same_words':
      return sameWords(conflict)
    case 'unknown_word':
      return `your ${naming.field('new_text')} has ${quote(conflict.word)}, which is no longer there`
    case 'spacing':
      return OTHER_SPACING
    case 'added':
      return (
        `your ${naming.field('new_text')} does not have the line numbers, fence or markers of ` +
        `${naming.field('old_text')} as a whole, ` +
        'or contradicts them'
      )
    case 'too_long':
      return 'the texts are too long to merge'
    case 'uncertain':
      return 'the place is too uncertain to make your change there'
  }
}

/** What a fix does, and whether its edit is ready to send. */
const withNewText = (does: string, { conflict }: Fix<FixedText | FixedLines>, naming: CallSyntax): string =>
  conflict === undefined
    ? `${does}: this edit is ready to send.`
    : `${does}, and write ${naming.field('new_text')} yourself: ${whyNotMerged(conflict, naming)}.`

const suggestLines = (fix: Fix<FixedLines>, { start_line, end_line }: FixedLines, naming: CallSyntax): string =>
  withNewText(`If you mean ${span([start_line, end_line])}, send these numbers and this expected_text`, fix, naming)

function suggestText(fix: Fix, naming: CallSyntax): string {
  const { type, edit, lines } = fix
  const where = lines === undefined ? 'the file' : span(lines)
  switch (type) {
    case 'USE_EXACT_TEXT':
      return edit === undefined
        ? `Use the exact text of ${where} as ${naming.field('old_text')}.`
        : withNewText(`Use the exact text of ${where} as ${naming.field('old_text')}`, fix, naming)
    case 'ADJUST_COUNT':
      return `To replace all of these places, set occurrences to ${edit?.occurrences ?? 'the number of matches'}.`
    case 'CHOOSE_OCCURRENCE':
      return 'To replace one of them, set occurrence to its number, counted from the top, or to "first" or "last".'
    case 'ADD_CONTEXT':
      return withNewText(
        `To change only the match ${lines === undefined ? 'shown' : `at ${linesListed([lines[0]])}`}, ` +
          'send its surrounding lines too',
        fix,
        naming
      )
    case 'ALREADY_APPLIED':
      return sentences(
        `${naming.field('new_text')} is already in the file${lines === undefined ? '' : ` (${span(lines)})`}:`,
        'if this change was made already, leave the edit out.'
      )
    case 'ESCAPE_SPECIAL':
      return sentences(
        `Correct the escapes in ${naming.field('old_text')}:`,
        'a line break is one real line break, and quotes and backslashes are as in the file.'
      )
    case 'CHECK_WHITESPACE':
      return `Spaces, tabs or line breaks differ from ${where}: copy them exactly.`
    case 'USE_SECTION':
    case 'READ_FILE':
    case 'FIX_PATH':
      return READ_IT
  }
}

/** The field to set, as it would appear in the request. */
function exampleOf({ type, edit }: Fix<Partial<FixedText> | FixedLines>): string | undefined {
  const { occurrence = 1, occurrences } = (edit ?? {}) as Partial<FixedText>
  if (type === 'CHOOSE_OCCURRENCE') return `"occurrence": ${JSON.stringify(occurrence)}`
  return type === 'ADJUST_COUNT' && occurrences !== undefined ? `"occurrences": ${occurrences}` : undefined
}
