// What is wrong with the text of a patch or a diff, as data. Does not know sentences.
import { excerpt } from '../text/encoding.ts'
import { ANY_BREAK } from '../text/lines.ts'

/** Lines of a patch, or of the diff of one file: reading them takes the event loop some tenths of a second. */
export const MAX_PATCH_LINES = 100_000

/**
 * `line`: 1-based, of the text that was read; the line after the last one where something is missing at the end.
 * `text`: that line, cut; empty where there is none.
 */
export interface PatchFault {
  line: number
  reason: PatchFaultReason
  text: string
}

export type PatchFaultReason =
  // Of a diff.
  /** Begins with none of `@@`, `+`, `-` and a space. */
  | 'no_marker'
  /** Of a new file, and doesn't begin with `+`. */
  | 'not_added'
  /** `@@` with no space behind it, but a text. */
  | 'no_space_after_marker'
  /** `@@` with no lines below it. */
  | 'empty_hunk'
  /** Nothing is added or removed. */
  | 'no_change'
  /** Lines after `*** End of File`. */
  | 'after_end_of_file'
  /** `--- a/file`, `+++ b/file`, `diff --git` and the like. */
  | 'git_header'
  /** `\ No newline at end of file`. */
  | 'newline_note'
  /** A line of the envelope around the diffs of several files. */
  | 'envelope_line'
  // Of either.
  /** A Markdown fence. */
  | 'fence'
  /** The first one after `MAX_PATCH_LINES`. */
  | 'too_many_lines'
  // Of the envelope.
  | 'no_begin'
  | 'no_end'
  | 'after_end'
  /** There is no file in it. */
  | 'no_files'
  /** Stands where one of the lines is expected that name a file. */
  | 'no_file_line'
  /** Begins with `***`, and is none of the lines that there are. */
  | 'unknown_line'
  /** `*** Move to:` stands elsewhere than below `*** Update File:`. */
  | 'misplaced_move'
  /** `*** Move to:` the path that the file has. */
  | 'same_path'
  /** No path is behind the colon. */
  | 'no_path'
  /** A file is updated, and nothing of it is said. */
  | 'no_update'
  /** Below `*** Delete File:`, which has none. */
  | 'lines_of_deleted'

/** UTF-16 units of a line that is echoed. */
const ECHOED = 100

export const patchFault = (reason: PatchFaultReason, line: number, text = ''): PatchFault => ({
  line,
  reason,
  text: excerpt(text, ECHOED)
})

/** Null: there are at most `MAX_PATCH_LINES` lines, a lone `\r` ends one too. Stops there, however long the text is. */
export function faultOfLength(text: string): PatchFault | null {
  let line = 0
  let start = 0
  for (const { index, 0: found } of text.matchAll(ANY_BREAK)) {
    if (++line > MAX_PATCH_LINES) return patchFault('too_many_lines', line, text.slice(start, index))
    start = index + found.length
  }
  return line === MAX_PATCH_LINES && start < text.length
    ? patchFault('too_many_lines', line + 1, text.slice(start))
    : null
}

/** Whether a line opens or closes a Markdown fence; no line of a patch begins so. */
export const isFence = (line: string): boolean => /^(?:```|~~~)/.test(line)

/** A line of a patch, and where it begins and the next one, in UTF-16 units. */
export interface PatchLine {
  text: string
  start: number
  next: number
}

/**
 * The lines of a patch, without their breaks. `\r` alone ends a line only where there is no `\n`: elsewhere it is part
 * of a text.
 */
export function* patchLines(text: string): Generator<PatchLine, undefined> {
  const [feed, onlyReturns] = text.includes('\n') ? ['\n', false] : ['\r', true]
  for (let start = 0; start < text.length;) {
    const at = text.indexOf(feed, start)
    const next = at === -1 ? text.length : at + 1
    let end = at === -1 ? text.length : at
    if (!onlyReturns && at > start && text[end - 1] === '\r') end--
    yield { text: text.slice(start, end), start, next }
    start = next
  }
  return undefined
}
