// The sentences about what /inspect found. Does not know problems.
import type { InspectOutcome, Outcome, SearchedText } from '../../operations/operation.ts'
import { sentences, counted, linesListed, listed, quote, span } from './phrases.ts'

type Inspected = Extract<Outcome, { operation: 'inspect' }>

export function inspectMessage({ outcome, searched, start_item }: Inspected): string {
  const { path, type, total_lines, file_size = 0, encoding } = outcome
  if (type === 'directory') return directoryMessage(outcome)
  const size = counted(file_size, 'byte')
  if (total_lines === undefined) {
    return `${path} is a binary file (${encoding}) of ${size}: it has no lines and can't be edited.`
  }
  const facts = `${path} has ${counted(total_lines, 'line')} (${size}, ${encoding})`
  return [
    `${facts}${contentShown(outcome)}`,
    ...structureFound(outcome, start_item),
    ...(searched === undefined ? [] : [matchesFound(outcome, searched)])
  ].join(' ')
}

function structureFound(
  { structure, total_items = 0, next_item, syntax_error_lines }: InspectOutcome,
  start_item = 1
): string[] {
  if (structure === undefined) return []
  const listed =
    structure.length === 0
      ? `, and none from start_item ${start_item} on`
      : `; structure lists ${start_item} to ${start_item - 1 + structure.length}`
  const more = next_item === undefined ? '' : `: continue with start_item ${next_item}`
  return [
    total_items === 0
      ? 'It has no headings, code blocks or symbols.'
      : `Its structure has ${counted(total_items, 'item')}${structure.length < total_items ? listed + more : ''}.`,
    ...(syntax_error_lines === undefined
      ? []
      : [`It has syntax errors (${linesListed(syntax_error_lines)}); structure lists what was recognized.`])
  ]
}

function contentShown({
  content,
  total_lines,
  start_line = 1,
  end_line = 0,
  next_line,
  next_column
}: InspectOutcome): string {
  if (content === undefined) return '.'
  const shown = total_lines === 0 ? '; it is empty.' : `; content is ${span([start_line, end_line])}.`
  if (next_line === undefined) return shown
  const column = next_column === undefined ? '' : ` and start_column ${next_column}`
  return `${shown} It was cut at the limit: continue with start_line ${next_line}${column}.`
}

/** The note for an expression that was meant to match across lines. */
export const oneLineAtATime = ({ for_several_lines }: SearchedText): string =>
  for_several_lines
    ? 'An expression only matches within one line; to find text that spans lines, search for it without regex.'
    : ''

function matchesFound(
  { matches = [], total_matches = 0, total_lines = 0, stopped_at_line }: InspectOutcome,
  searched: SearchedText
): string {
  const text = quote(searched.text)
  const stopped =
    stopped_at_line === undefined
      ? ''
      : `The search took too long, so lines from ${stopped_at_line} on were not searched; simplify it.`
  if (total_matches === 0) {
    return sentences(
      `${text} was not found${stopped === '' ? ' in it' : ' so far'}.`,
      oneLineAtATime(searched),
      stopped
    )
  }
  const lines = matches.map(({ line_number }) => line_number)
  const areAll = total_matches <= matches.length
  const last = lines.at(-1) ?? 0
  const read = last < total_lines ? `, or read the lines after ${last}` : ''
  return sentences(
    `${text} was found ${counted(total_matches, 'time')}, at ${linesListed(lines, areAll)}.`,
    oneLineAtATime(searched),
    areAll ? '' : `Only the first ${matches.length} are listed: search for a longer text${read}.`,
    stopped
  )
}

function directoryMessage({ path, entries = [], next_entry }: InspectOutcome): string {
  const names = listed(entries.slice(0, 10).map(({ name }) => name))
  if (next_entry !== undefined) {
    return sentences(
      `${path} is a directory; ${entries.length} of its entries are listed, and there are more:`,
      `continue with after ${JSON.stringify(next_entry)}.`
    )
  }
  return entries.length === 0
    ? `${path} is a directory; there are no entries to list.`
    : `${path} is a directory; ${counted(entries.length, 'entry')} listed${entries.length <= 10 ? `: ${names}` : ''}.`
}
