// A window of lines: what /inspect reads.
import { fail, ok, type Result } from '../../result.ts'
import { decode, utf16Length } from '../text/encoding.ts'
import type { LineOutOfRange } from '../failure.ts'
import { lineFrom } from '../text/lines.ts'
import { Text } from '../text/text.ts'

/** A requested window of lines. 1-based and inclusive; `start_column` counts UTF-16 units from 1. */
export interface WindowRequest {
  start_line?: number
  end_line?: number
  start_column?: number
  numbered?: boolean
}

export interface Window {
  /** The exact text, including the last line's break if that line is complete. */
  content: string
  start_line: number
  /** `start_line - 1` if the text has no line. */
  end_line: number
  start_column?: number
  /** The window ends inside its last line; the rest of that line begins at this column. */
  next_column?: number
  truncated: boolean
  /** The line to continue with. */
  next_line?: number
  lossy?: true
}

/** Lines and bytes in one answer. */
export const MAX_WINDOW_LINES = 2000
export const MAX_WINDOW_BYTES = 64 * 1024
/** Bytes if no end was requested: what hosts of models pass on without cutting it themselves. */
const DEFAULT_WINDOW_BYTES = 16 * 1024

/**
 * The window that begins with `kept`: the text from `start_line` and `start_column` on, to its end or for more than 64
 * KiB. It has at most 2,000 lines and 16 KiB, or 64 KiB with an `end_line`; beyond that it is `truncated`, and
 * `next_line` says where to continue (with `next_column` inside a line that is longer than the limit). An `end_line`
 * past the end reads to the end. Fails if `start_line` is past the end (line 1 of an empty text is empty), if
 * `end_line` is before `start_line`, or if `start_column` is past the line's end: then `columns` is the line's length
 * in UTF-16 units.
 */
export function cutWindow(
  kept: Buffer,
  request: WindowRequest,
  totalLines: number,
  columns?: number
): Result<Window, LineOutOfRange> {
  const { start_line = 1, end_line, start_column = 1 } = request
  const outOfRange = {
    code: 'LINE_OUT_OF_RANGE' as const,
    total_lines: totalLines,
    start_line,
    ...(end_line !== undefined && { end_line })
  }
  if (start_line > Math.max(1, totalLines) || (end_line !== undefined && end_line < start_line)) return fail(outOfRange)
  if (columns !== undefined) return fail({ ...outOfRange, start_column, total_columns: columns })
  const text = new Text([kept])
  const limit = end_line === undefined ? DEFAULT_WINDOW_BYTES : MAX_WINDOW_BYTES
  const last = Math.min(end_line ?? totalLines, totalLines)
  let at = 0
  let line = start_line
  while (line <= last && line - start_line < MAX_WINDOW_LINES) {
    const { next } = lineFrom(text, at)
    if (next > limit) break
    at = next
    line++
  }
  let next_column: number | undefined
  if (at === 0 && line <= last) {
    // Not even one line fits: return a part of it, in whole characters.
    at = text.characterStart(limit)
    next_column = start_column + utf16Length(text.slice(0, at))
  }
  const truncated = line <= last
  const { text: content, lossy } = decode(text.slice(0, at))
  return ok({
    content: request.numbered === true ? numbered(content, start_line) : content,
    start_line,
    end_line: next_column === undefined ? line - 1 : line,
    ...(start_column > 1 && { start_column }),
    ...(next_column !== undefined && { next_column }),
    truncated,
    ...(truncated && { next_line: line }),
    ...(lossy && { lossy })
  })
}

/** Puts `12⇥` before each line. */
function numbered(content: string, first: number): string {
  let line = first
  return content.replace(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g, text => `${line++}\t${text}`)
}
