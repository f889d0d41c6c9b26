// Faults in the text of a patch or a diff, as data.
import { excerpt } from '../text/encoding.ts'
import { ANY_BREAK } from '../text/lines.ts'

/**
 * Lines of a patch, or of the diff of one file: reading this many blocks the event loop for some tenths of a second.
 */
export const MAX_PATCH_LINES = 100_000

/**
 * `line`: 1-based, in the text that was read; the line after the last one if something is missing at the end. `text`:
 * that line, cut; empty if there is none.
 */
export interface PatchFault {
  line: number
  reason: PatchFaultReason
  text: string
}

export type PatchFaultReason =
  // Faults of a diff.
  /** The line begins with none of `@@`, `+`, `-` and a space. */
  | 'no_marker'
  /** A line of a new file doesn't begin with `+`. */
  | 'not_added'
  /** `@@` followed by text without a space. */
  | 'no_space_after_marker'
  /** `@@` with no lines below it. */
  | 'empty_hunk'
  /** The diff adds and removes nothing. */
  | 'no_change'
  /** Lines after `*** End of File`. */
  | 'after_end_of_file'
  /** `--- a/file`, `+++ b/file`, `diff --git` and the like. */
  | 'git_header'
  /** `\ No newline at end of file`. */
  | 'newline_note'
  /** A line of the envelope around the diffs of several files. */
  | 'envelope_line'
  // Faults of either.
  /** A Markdown fence. */
  | 'fence'
  /** The first line after `MAX_PATCH_LINES`. */
  | 'too_many_lines'
  // Faults of the envelope.
  | 'no_begin'
  | 'no_end'
  | 'after_end'
  /** The patch names no file. */
  | 'no_files'
  /** The line is where one that names a file is expected. */
  | 'no_file_line'
  /** Begins with `***`, but is no known line. */
  | 'unknown_line'
  /** `*** Move to:` is elsewhere than below `*** Update File:`. */
  | 'misplaced_move'
  /** `*** Move to:` names the path that the file already has. */
  | 'same_path'
  /** No path follows the colon. */
  | 'no_path'
  /** A file is updated, but no change is given. */
  | 'no_update'
  /** Lines below `*** Delete File:`, which takes none. */
  | 'lines_of_deleted'

/** UTF-16 units echoed of a line. */
const ECHOED = 100

export const patchFault = (reason: PatchFaultReason, line: number, text = ''): PatchFault => ({
  line,
  reason,
  text: excerpt(text, ECHOED)
})

/**
 * Null if there are at most `MAX_PATCH_LINES` lines; a lone `\r` ends a line too. Stops there, however long the text
 * is.
 */
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

/** Whether a line opens or closes a Markdown fence; no line of a patch begins this way. */
export const isFence = (line: string): boolean => /^(?:```|~~~)/.test(line)

/** A line of a patch, with its start and the start of the next line, in UTF-16 units. */
export interface PatchLine {
  text: string
  start: number
  next: number
}

/**
 * The lines of a patch, without their breaks. A lone `\r` ends a line only if there is no `\n`; otherwise it is part of
 * the text.
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

/** The line break of a patch, which a file without any gets: `\r\n` if all of its lines end with it. */
export const patchBreak = (text: string): '\n' | '\r\n' =>
  text.includes('\r\n') && !/(?<!\r)\n/.test(text) ? '\r\n' : '\n'
