// What an edit that was made for another state of a file would do in the present one. Does not know hashes or
// sentences.
import type { Result } from '../../result.ts'
import { previewOf } from './preview.ts'
import type { HunkFailure, LineFailure, CurrentOutcome, TextFailure } from '../failure.ts'
import type { Plan } from '../edit/plan.ts'

const MOST_PLACES = 10

/**
 * `planned`: the plan of the edit for `original`; `unchecked` as in CurrentOutcome. Shows the file around the first place
 * that would be changed.
 */
export function explainStale(
  original: Buffer,
  planned: Result<Plan, TextFailure | LineFailure | HunkFailure>,
  unchecked?: 'lines' | 'file'
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
    ...(unchecked !== undefined && { unchecked }),
    file_preview: previewOf(original, line_index, first[0])
  }
}
