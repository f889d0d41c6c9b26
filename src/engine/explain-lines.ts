// The facts of a failed edit of lines: what is there instead. Knows no sentences and no status codes.
import { decode, excerpt } from './encoding.ts'
import { previewOf } from './explain.ts'
import type { EditPosition, ExpectedTextMismatch, LineEdit } from './failure.ts'
import type { Match } from './locate.ts'
import { MARGIN, suggest } from './suggest/suggest.ts'
import { lineNumbers } from './lines.ts'
import type { Text } from './text.ts'

const ACTUAL_LENGTH = 2000
/** Text less alike isn't said to be the one that was expected. */
const LEAST_SCORE = 0.8

/** `expected_text` isn't what the lines hold; where it is instead, if it is near enough. */
export function explainMismatch (text: Text, edit: LineEdit, range: Match, position: EditPosition): ExpectedTextMismatch {
  const { text: actual, lossy } = decode(text.slice(range.start, range.end))
  const { candidates: [best], margin, truncated } = suggest(text.slice(0, text.length), edit.expected_text!)
  const moved = best !== undefined && best.score >= LEAST_SCORE && margin >= MARGIN ? best : undefined
  const lines = moved && lineNumbers(text, [moved.start, Math.max(moved.start, moved.end - 1)]).lines
  return {
    code: 'EXPECTED_TEXT_MISMATCH',
    ...position,
    start_line: edit.start_line,
    end_line: edit.end_line,
    actual_text: excerpt(actual, ACTUAL_LENGTH),
    ...(lossy && { lossy }),
    ...(lines !== undefined && { found_at: [lines[0]!, lines[1]!] as [number, number] }),
    file_preview: previewOf(text, range),
    ...(truncated && { suggestions_truncated: true as const })
  }
}
