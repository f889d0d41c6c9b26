// What a text is, and a window of its lines: what /inspect says. Knows no files, no HTTP, no edits.
import { fail, ok, type Result } from '../result.ts'
import { bomLength, byteOfUtf16, decode, utf16Length } from './encoding.ts'
import { languageOf } from './language.ts'
import { type Break, countEndings, countLines, type LineEnding, lineEndingOf, lineFrom, lineStartOffset, markLength } from './lines.ts'
import { Text } from './text.ts'

export interface Indentation { style: 'tabs' | 'spaces' | 'mixed' | 'none', width?: number }

export interface TextFacts {
  total_lines: number
  bom: boolean
  line_ending: LineEnding
  /** Where they are mixed. */
  line_ending_counts?: Record<Break, number>
  ends_with_newline: boolean
  indentation: Indentation
  language?: string
}

/** Facts of a text that isn't binary; `path` for the language. Linear. */
export function textFacts (bytes: Buffer, path: string): TextFacts {
  const text = new Text([bytes])
  const counts = countEndings(bytes)
  const line_ending = lineEndingOf(counts)
  const language = languageOf(path, bytes)
  const last = bytes.at(-1)
  return {
    total_lines: countLines(text, counts.lf + counts.crlf + counts.cr),
    bom: bomLength(bytes) > 0,
    line_ending,
    ...(line_ending === 'mixed' && { line_ending_counts: counts }),
    ends_with_newline: last === 10 || last === 13,
    indentation: indentationOf(text),
    ...(language !== undefined && { language })
  }
}

/** Lines that the indentation is judged by. */
const SAMPLED_LINES = 10_000

/** How the first lines are indented. The width is the step by which indentation most often grows; 4 if none says more. */
function indentationOf (text: Text): Indentation {
  let tabs = 0
  let spaces = 0
  let previous = 0
  const steps = new Map<number, number>()
  for (let at: number = markLength(text), i = 0; at < text.length && i < SAMPLED_LINES; i++) {
    const line = lineFrom(text, at)
    at = line.next
    const head = text.slice(line.start, Math.min(line.end, line.start + 200))
    const first = head.findIndex(byte => byte !== 32 && byte !== 9)
    if (first === -1) continue
    if (head[0] === 9) tabs++
    // One space is no indentation: the second line of a block comment has it.
    else if (first > 1) spaces++
    if (head[0] !== 9 && first !== 1) {
      if (first > previous) steps.set(first - previous, (steps.get(first - previous) ?? 0) + 1)
      previous = first
    }
  }
  if (tabs === 0 && spaces === 0) return { style: 'none' }
  const [width] = [...steps].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [4]
  if (tabs === 0) return { style: 'spaces', width }
  // A few lines of the other kind are slips.
  if (spaces > tabs * 9) return { style: 'spaces', width }
  return tabs > spaces * 9 ? { style: 'tabs' } : { style: 'mixed', width }
}

/** A window of lines, as it is asked for. 1-based and inclusive; `start_column` counts UTF-16 units from 1. */
export interface WindowRequest { start_line?: number, end_line?: number, start_column?: number, numbered?: boolean }

export interface Window {
  /** The exact text, with the last line's break if it is whole. */
  content: string
  start_line: number
  /** `start_line - 1` where the text has no line. */
  end_line: number
  start_column?: number
  /** The window ends inside its last line: where the rest of that line begins. */
  next_column?: number
  truncated: boolean
  /** The line to go on with. */
  next_line?: number
  lossy?: true
}

export interface LineOutOfRange { code: 'LINE_OUT_OF_RANGE', total_lines: number, start_line: number, end_line?: number, start_column?: number, total_columns?: number }

/** Lines and bytes that one answer holds. */
export const MAX_WINDOW_LINES = 2000
export const MAX_WINDOW_BYTES = 64 * 1024

/**
 * The window of a text that isn't binary, at most 2,000 lines or 64 KiB: then `truncated`, and `next_line` says where it
 * goes on (with `next_column` inside a line that is longer than the limit). An `end_line` past the end reads to the end.
 * Fails where `start_line` is past the end (line 1 of an empty text is empty), `end_line` before `start_line`, or
 * `start_column` past the line's end.
 */
export function lineWindow (bytes: Buffer, request: WindowRequest, totalLines: number): Result<Window, LineOutOfRange> {
  const { start_line = 1, end_line, start_column = 1 } = request
  const outOfRange = { code: 'LINE_OUT_OF_RANGE' as const, total_lines: totalLines, start_line, ...(end_line !== undefined && { end_line }) }
  if (start_line > Math.max(1, totalLines) || (end_line !== undefined && end_line < start_line)) return fail(outOfRange)
  const text = new Text([bytes])
  const lineStart = lineStartOffset(text, start_line)
  let start = lineStart
  if (start_column > 1) {
    const { end } = lineFrom(text, lineStart)
    const columns = utf16Length(text.slice(lineStart, end))
    if (start_column > columns) return fail({ ...outOfRange, start_column, total_columns: columns })
    start = lineStart + byteOfUtf16(text.slice(lineStart, end), start_column - 1)
  }
  const last = Math.min(end_line ?? totalLines, totalLines)
  let at = start
  let line = start_line
  while (line <= last && line - start_line < MAX_WINDOW_LINES) {
    const { next } = lineFrom(text, at)
    if (next - start > MAX_WINDOW_BYTES) break
    at = next
    line++
  }
  let next_column: number | undefined
  if (at === start && line <= last) {
    // Not even one line fits: a part of it, up to a whole character.
    at = start + MAX_WINDOW_BYTES
    while ((text.byteAt(at) & 0xc0) === 0x80) at--
    next_column = start_column + utf16Length(text.slice(start, at))
  }
  const truncated = line <= last
  const { text: content, lossy } = decode(text.slice(start, at))
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
function numbered (content: string, first: number): string {
  let line = first
  return content.replace(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g, text => `${line++}\t${text}`)
}
