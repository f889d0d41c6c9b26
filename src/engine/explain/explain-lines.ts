// The facts about a failed edit of lines: what is there instead, where the expected text is, which edit would work.
// Does not know sentences or status codes.
import { decode, excerptOf, isUnsendable } from '../text/encoding.ts'
import { FIX_BYTES, isSmall } from './explain.ts'
import { previewOf } from './preview.ts'
import type { EditFix, EditPosition, ExpectedTextMismatch, FixedLines } from '../failure.ts'
import type { LineEdit } from '../edit/request.ts'
import type { LineIndex } from '../text/line-index.ts'
import { breakBefore, lineAround, withLf } from '../text/lines.ts'
import type { Match } from '../match/locate.ts'
import { MEDIUM, similarContent } from './similar-content.ts'
import type { CauseType } from '../suggest/differences/classify.ts'
import { merge } from '../suggest/merge.ts'
import { MARGIN, suggest } from '../suggest/suggest.ts'
import { Text } from '../text/text.ts'

const ACTUAL_LENGTH = 2000
/** Differences that expected_text may have and still count as what the lines hold. */
const IGNORED: readonly CauseType[] = ['line_endings', 'final_newline']

/**
 * `expected_text` isn't what the lines of `original` (indexed by `index`) hold; says where it is, if it is near enough.
 */
export function explainMismatch(
  original: Buffer,
  index: LineIndex,
  edit: LineEdit,
  range: Match,
  position: EditPosition
): ExpectedTextMismatch {
  const actual = original.subarray(range.start, range.end)
  const { text: actual_text, lossy } = excerptOf(actual, ACTUAL_LENGTH)
  const text = new Text([original])
  const suggestions = suggest(original, edit.expected_text!)
  const {
    candidates: [best],
    margin,
    truncated
  } = suggestions
  const linesOf = ({ start, end }: Match) =>
    index.lineNumbers([start, Math.max(start, end - 1)]).lines as [number, number]
  const found = best !== undefined && best.score >= MEDIUM && margin >= MARGIN ? best : undefined
  const found_at = found && linesOf(found)
  const fix = found_at && fixFor(text, edit, found!, found_at)
  return {
    code: 'EXPECTED_TEXT_MISMATCH',
    ...position,
    start_line: edit.start_line,
    end_line: edit.end_line,
    actual_text,
    lossy,
    similar_content: similarContent(text, suggestions, linesOf),
    found_at,
    ...(found !== undefined && !IGNORED.includes(found.cause.type) && { cause: found.cause }),
    ...(found === undefined && isUnsendable(edit.expected_text!, actual) && { cause: { type: 'encoding' as const } }),
    fixes: fix === undefined ? [] : [fix],
    file_preview: previewOf(original, index, range),
    ...(truncated && { suggestions_truncated: true as const })
  }
}

/** The edit for the lines where the text is. An insertion has no text that could be elsewhere. */
function fixFor(
  text: Text,
  { start_line, end_line, expected_text, new_text }: LineEdit,
  found: Match,
  [first, last]: [number, number]
): EditFix<FixedLines> | undefined {
  if (end_line < start_line) return undefined
  const end = lineAround(text, Math.max(found.start, found.end - 1)).next
  const bytes = text.slice(lineAround(text, found.start).start, breakBefore(text, end)?.start ?? end)
  if (bytes.length > FIX_BYTES) return undefined
  const { text: content, lossy } = decode(bytes)
  if (lossy) return undefined
  const merged = merge(withLf(expected_text!).replace(/\n$/, ''), withLf(new_text), withLf(content))
  const fix: EditFix<FixedLines> = {
    type: 'USE_EXACT_TEXT',
    lines: [first, last],
    edit: { start_line: first, end_line: last, expected_text: content, ...(merged.ok && { new_text: merged.value }) },
    ...(!merged.ok && { conflict: merged.failure })
  }
  return isSmall(fix) ? fix : undefined
}
