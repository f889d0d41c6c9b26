// The fixes of a problem: what to do, in a sentence, with an example. Does not know status codes.
import type { SuggestedFix } from '../../../schemas/problem.ts'
import type { FilePreview, Fix, FixedLines, FixedText } from '../../engine/failure.ts'
import type { NamedFile } from './call-names.ts'
import { sentences } from './description.ts'
import { linesListed, span } from './phrases.ts'

/** First and last line. */
type Lines = readonly [start_line: number, end_line: number]

const READ_IT = 'Read the file as it is now, then decide.'

/** To read the whole file, or lines of it that `old_text` can be copied from. */
export const readFile = ({ path, naming }: NamedFile, lines?: Lines): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion:
    lines === undefined
      ? READ_IT
      : `Read ${span(lines)} of the file as it is now, then copy old_text from content exactly.`,
  example: naming.inspectWith({ path, ...(lines && { start_line: lines[0], end_line: lines[1] }) })
})

/** To read these lines. */
export const readLines = ({ path, naming }: NamedFile, [start_line, end_line]: Lines): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion: `Read ${span([start_line, end_line])} of the file as it is now, then decide.`,
  example: naming.inspectWith({ path, start_line, end_line })
})

/** To read the lines of a preview; the preview of an empty file has none. */
export const readPreview = (asked: NamedFile, { preview_start_line, preview_end_line }: FilePreview): SuggestedFix =>
  preview_start_line === 0 ? readFile(asked) : readLines(asked, [preview_start_line, preview_end_line])

/** The engine's fixes, each with its sentence. */
export const toFixes = (fixes: readonly Fix<FixedText | FixedLines>[], asked: NamedFile): SuggestedFix[] =>
  fixes.map(fix => (fix.type === 'READ_FILE' ? readFile(asked, fix.lines) : toFix(fix)))

function toFix(fix: Fix<FixedText | FixedLines>): SuggestedFix {
  const { type, edit } = fix
  const example = exampleOf(fix)
  return {
    type,
    suggestion: isOfLines(edit) ? suggestLines(edit) : suggestText(fix as Fix),
    ...(example !== undefined && { example }),
    ...(edit !== undefined && { edit })
  }
}

const isOfLines = (edit: FixedText | FixedLines | undefined): edit is FixedLines =>
  edit !== undefined && 'start_line' in edit

/** What is left to do with an edit that has no `new_text`. */
const updateNewText = (edit: Partial<FixedText | FixedLines> | undefined): string =>
  edit !== undefined && edit.new_text === undefined
    ? 'First update your new_text to match what is there, and add it to the edit.'
    : ''

const suggestLines = (edit: FixedLines): string =>
  sentences(
    `If you mean ${span([edit.start_line, edit.end_line])}, send this edit:`,
    'its line numbers and expected_text are right.',
    updateNewText(edit)
  )

function suggestText({ type, edit, lines }: Fix): string {
  const where = lines === undefined ? 'the file' : span(lines)
  switch (type) {
    case 'USE_EXACT_TEXT':
      return sentences(
        `Use the exact text of ${where} as old_text${edit === undefined ? '.' : ': send this edit.'}`,
        updateNewText(edit)
      )
    case 'ADJUST_COUNT':
      return `To replace all of these places, set occurrences to ${edit?.occurrences ?? 'the number of matches'}.`
    case 'CHOOSE_OCCURRENCE':
      return 'To replace one of them, set occurrence to its number, counted from the top, or to "first" or "last".'
    case 'ADD_CONTEXT':
      return sentences(
        `To change only the match ${lines === undefined ? 'shown' : `at ${linesListed([lines[0]])}`}, send this edit:`,
        'its old_text has the surrounding lines and matches one place.',
        edit !== undefined && edit.new_text === undefined ? 'Add the same lines to new_text.' : ''
      )
    case 'ALREADY_APPLIED':
      return sentences(
        `new_text is already in the file${lines === undefined ? '' : ` (${span(lines)})`}:`,
        'if this change was made already, leave the edit out.'
      )
    case 'ESCAPE_SPECIAL':
      return sentences(
        'Correct the escapes in old_text:',
        'a line break is one real line break, and quotes and backslashes are as in the file.',
        updateNewText(edit)
      )
    case 'CHECK_WHITESPACE':
      return sentences(`Spaces, tabs or line breaks differ from ${where}: copy them exactly.`, updateNewText(edit))
    case 'READ_FILE':
    case 'FIX_PATH':
      return READ_IT
  }
}

/** The field to set, as it would stand in the request. */
function exampleOf({ type, edit }: Fix<Partial<FixedText> | FixedLines>): string | undefined {
  const { occurrence = 1, occurrences } = (edit ?? {}) as Partial<FixedText>
  if (type === 'CHOOSE_OCCURRENCE') return `"occurrence": ${JSON.stringify(occurrence)}`
  return type === 'ADJUST_COUNT' && occurrences !== undefined ? `"occurrences": ${occurrences}` : undefined
}
