// The sentence of a success. Knows no status codes.
import type { EditResult } from '../../schemas/outcome.ts'
import type { InspectResult } from '../../schemas/inspect.ts'
import type { LeftAlone } from '../engine/plan.ts'
import type { EditOutcome, InspectOutcome, Outcome } from '../operations.ts'
import { counted, linesListed } from './quote.ts'

/** The body of a success: what was found or done, and a sentence that says it. */
export function toBody (value: Outcome): EditResult | InspectResult {
  if (value.operation === 'inspect') {
    const { path, resolved_path, ...facts } = value.outcome
    return { path, ...resolved_path !== undefined && { resolved_path }, message: inspectMessage(value.outcome), ...facts }
  }
  const { path, resolved_path, left_alone, warnings, ...done } = value.outcome
  const note = left_alone.map(others => noteOf(others, done.edits_applied.length)).join(' ')
  return {
    path,
    ...resolved_path !== undefined && { resolved_path },
    message: editMessage(value.outcome),
    ...done,
    ...note !== '' && { note },
    warnings
  }
}

/** What an edit passed over. */
function noteOf ({ edit_index, count, lines }: LeftAlone, edits: number): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : ''
  const text = edits === 1 ? 'old_text' : `The old_text of edit ${edit_index + 1}`
  return `${text} also appears at ${linesListed(lines)}${more}, which ${count === 1 ? 'was' : 'were'} left as ${count === 1 ? 'it is' : 'they are'}.`
}

function editMessage (outcome: EditOutcome): string {
  const { path, changes, total_replacements, dry_run, changed } = outcome
  if (!changed) return 'The file already has exactly this content; nothing was written.'
  const deletes = changes.length > 0 && changes.every(change => change.operation === 'delete')
  const verb = deletes ? 'delete' : 'replace'
  const what = `${counted(total_replacements, 'occurrence')} ${deletes ? 'from' : 'in'} ${path}`
  const lines = linesListed(changes.map(change => change.start_line))
  const where = outcome.changes_truncated ? `, the first at ${linesListed(changes.slice(0, 1).map(change => change.start_line))}` : ` (${lines})`
  return dry_run ? `Would ${verb} ${what}${where}; nothing was written.` : `Successfully ${verb}d ${what}${where}.`
}

function inspectMessage (outcome: InspectOutcome): string {
  const { path, total_lines, file_size, encoding, content, start_line, end_line } = outcome
  const size = counted(file_size, 'byte')
  if (total_lines === undefined) return `${path} is a binary file (${encoding}) of ${size}: it has no lines and can't be edited.`
  const facts = `${path} has ${counted(total_lines, 'line')} (${size}, ${encoding})`
  if (content === undefined) return `${facts}.`
  const shown = total_lines === 0 ? '; it is empty.' : `; content is ${end_line === start_line ? `line ${start_line}` : `lines ${start_line} to ${end_line}`}.`
  if (!outcome.truncated) return facts + shown
  const column = outcome.next_column === undefined ? '' : ` and start_column ${outcome.next_column}`
  return `${facts}${shown} It was cut at the limit: go on with start_line ${outcome.next_line ?? end_line}${column}.`
}
