// What an edit that was made for another version of a file would do in the current one. Does not know sentences.
import type { Result } from '../../result.ts'
import type { LineRange } from '../edit/request.ts'
import { LineIndex } from '../text/line-index.ts'
import { lineStarts } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { previewOf } from './preview.ts'
import type { HunkFailure, LineFailure, CurrentOutcome, TextFailure } from '../failure.ts'
import type { Plan } from '../edit/plan.ts'

const MOST_PLACES = 10

/** A plan for `original`, or why there is none. */
type Planned = Result<Plan, TextFailure | LineFailure | HunkFailure>

/**
 * `planned`: the plan of the edit for `original`; `unchecked` as in CurrentOutcome. Shows the file around the first
 * place that would change.
 */
export function explainStale(
  original: Buffer,
  planned: Planned,
  unchecked?: 'lines' | 'occurrence' | 'file'
): CurrentOutcome {
  if (!planned.ok) return { fits: false, failure: planned.failure }
  const { placements, line_index } = planned.value
  const first = placements.slice(0, MOST_PLACES)
  const { lines } = line_index.lineNumbers(first.flatMap(({ start, end }) => [start, Math.max(start, end - 1)]))
  const places = first.map(({ span }, i): [number, number] =>
    span === undefined ? [lines[2 * i]!, lines[2 * i + 1]!] : [span.start_line, span.end_line]
  )
  return {
    fits: true,
    places,
    total: placements.length,
    unchecked,
    file_preview: previewOf(original, line_index, first[0])
  }
}

/** The outcome for lines that changed since the edit was made; `lines`: where they are in `original`. */
export function explainChangedLines(original: Buffer, lines: readonly LineRange[]): CurrentOutcome {
  const { offsets } = lineStarts(new Text([original]), [lines[0]!.start_line, lines[0]!.end_line + 1])
  return {
    fits: true,
    places: lines.slice(0, MOST_PLACES).map(({ start_line, end_line }) => [start_line, end_line]),
    total: lines.length,
    unchecked: 'changed_lines',
    file_preview: previewOf(original, new LineIndex(original), { start: offsets[0]!, end: offsets[1]! })
  }
}
