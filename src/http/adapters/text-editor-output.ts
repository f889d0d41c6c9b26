// What the text editors answer when a command succeeded, in their vendor's words. Does not know problems.
import type { ChangeOutcome, InspectOutcome, UndoOutcome, UndoneFile } from '../../operations/operation.ts'
import { below, linesChanged, linesOf, numbered } from '../answers/brief/layout.ts'
import { type CallSyntax, pathShown } from '../answers/call-names.ts'
import { listed, span } from '../answers/phrases.ts'

/** As in the vendor's tools. */
const NUMBER_WIDTH = 6

/** The lines of a file, and how to continue if some are left. `shown`: the path as it was sent. */
export function fileShown(outcome: InspectOutcome, shown: string): string {
  const { content = '', start_line = 1, end_line = 0, total_lines, next_line, next_column, lossy } = outcome
  if (total_lines === undefined) return `${shown} is a binary file: it has no lines and can't be edited.`
  const head = `Here's the content of ${shown} with line numbers:`
  if (total_lines === 0) return `${shown} is empty.`
  const go = (when: string, view_range: number[]) =>
    `${when}, send:\n${JSON.stringify({ command: 'view', path: shown, view_range })}`
  const within = `Line ${end_line} is cut here: it is too long to be shown whole. To go on within it`
  const rest = next_column === undefined ? '' : go(within, [end_line, end_line, next_column])
  const next = next_column === undefined ? next_line : end_line < total_lines ? end_line + 1 : undefined
  return below(
    head,
    numbered(linesOf(content, start_line), NUMBER_WIDTH),
    rest,
    next === undefined
      ? ''
      : go(
          next_column === undefined
            ? `These are ${span([start_line, end_line])} of ${total_lines}. To go on`
            : `To go on with line ${next}`,
          [next, -1]
        ),
    lossy === true ? 'Bytes that are not UTF-8 are shown as \ufffd.' : ''
  )
}

/** The answer to an undo that removed a file which the undone edit had created or moved. */
export function removalShown(
  { path }: { path?: string },
  { results }: Pick<UndoOutcome, 'results'>,
  naming: CallSyntax
): string {
  const where = (is: (file: UndoneFile) => boolean | undefined) =>
    listed(results.filter(is).map(file => pathShown(naming, file.path)))
  const made = where(({ created }) => created)
  const again = made === '' ? '' : `, and ${made} is there again`
  return `The last edit of ${path} was undone: ${where(({ removed }) => removed)} is removed${again}.`
}

/** The changed lines, with one line of context around each place. */
export const snippetOf = (outcome: Pick<ChangeOutcome, 'changed_lines' | 'more_places'>): string =>
  linesChanged(outcome, NUMBER_WIDTH)
