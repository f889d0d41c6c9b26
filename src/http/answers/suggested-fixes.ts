// The fixes of a problem: what to do, in a sentence, with an example. Does not know status codes.
import type { SuggestedFix } from '../../../schemas/problem.ts'
import type { FilePreview, Fix, FixedLines, FixedText } from '../../engine/failure.ts'
import type { Asked } from './call-names.ts'
import { linesListed, span } from './phrases.ts'

/** The call that shows these lines of a file. */
const inspectLines = ({ path, naming }: Asked, [start_line, end_line]: readonly [number, number]) =>
  naming.inspectWith({ path, start_line, end_line })

export const readFile = (asked: Asked, lines?: readonly [number, number]): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion:
    lines === undefined
      ? 'Look at the file as it is now, then decide.'
      : `Read ${span(lines)} of the file as it is now, then copy old_text from content exactly.`,
  example: lines === undefined ? asked.naming.inspectWith({ path: asked.path }) : inspectLines(asked, lines)
})

export const readLines = (asked: Asked, lines: readonly [number, number]): SuggestedFix => ({
  type: 'READ_FILE',
  suggestion: `Read ${span(lines)} of the file as it is now, then decide.`,
  example: inspectLines(asked, lines)
})

/** The same for the lines of a preview; of an empty file there are none. */
export const readPreview = (asked: Asked, { preview_start_line, preview_end_line }: FilePreview): SuggestedFix =>
  preview_start_line === 0 ? readFile(asked) : readLines(asked, [preview_start_line, preview_end_line])

const BRING = ' First update new_text to match what is there; this edit leaves that to you.'

/** The engine's fixes, for a client. */
export const toFixes = (fixes: readonly Fix<FixedText | FixedLines>[], asked: Asked): SuggestedFix[] =>
  fixes.map(fix => toFix(fix, asked))

function toFix(fix: Fix<FixedText | FixedLines>, asked: Asked): SuggestedFix {
  if (fix.type === 'READ_FILE') return readFile(asked, fix.lines)
  const { suggestion, example } = told(fix)
  return {
    type: fix.type,
    suggestion,
    ...(example !== undefined && { example }),
    ...(fix.edit !== undefined && { edit: fix.edit })
  }
}

function told(fix: Fix<FixedText | FixedLines>): { suggestion: string; example?: string } {
  if (fix.edit !== undefined && 'start_line' in fix.edit) {
    return {
      suggestion: `If you mean ${span([fix.edit.start_line, fix.edit.end_line])}, send this edit: its numbers and expected_text are right.${fix.edit.new_text === undefined ? BRING : ''}`
    }
  }
  const { type, edit, lines } = fix as Fix
  const where = lines === undefined ? 'the file' : span(lines)
  const bring = edit !== undefined && edit.new_text === undefined ? BRING : ''
  switch (type) {
    case 'USE_EXACT_TEXT':
      return {
        suggestion: `Use the exact text of ${where} as old_text${edit === undefined ? '.' : ': send this edit.'}${bring}`
      }
    case 'ADJUST_COUNT':
      return {
        suggestion: `To replace all of these places, set occurrences to ${edit?.occurrences ?? 'the number of matches'}.`,
        ...(edit?.occurrences !== undefined && { example: `"occurrences": ${edit.occurrences}` })
      }
    case 'CHOOSE_OCCURRENCE':
      return {
        suggestion:
          'To replace one of them, set occurrence to its number, counted from the top, or to "first" or "last".',
        example: `"occurrence": ${JSON.stringify(edit?.occurrence ?? 1)}`
      }
    case 'ADD_CONTEXT':
      return {
        suggestion: `To change only the match ${lines === undefined ? 'shown' : `at ${linesListed([lines[0]])}`}, send this edit: its old_text has the surrounding lines and matches one place.${edit !== undefined && edit.new_text === undefined ? ' Add the same lines to new_text.' : ''}`
      }
    case 'ALREADY_APPLIED':
      return {
        suggestion: `new_text is already in the file${lines === undefined ? '' : ` (${span(lines)})`}: if this change was made already, leave the edit out.`
      }
    case 'ESCAPE_SPECIAL':
      return {
        suggestion: `Correct the escapes in old_text: a line break is one real line break, and quotes and backslashes are as in the file.${bring}`
      }
    case 'CHECK_WHITESPACE':
      return { suggestion: `Spaces, tabs or line breaks differ from ${where}: copy them exactly.${bring}` }
    case 'READ_FILE':
    case 'FIX_PATH':
      return { suggestion: 'Look at the file as it is now, then decide.' }
  }
}
