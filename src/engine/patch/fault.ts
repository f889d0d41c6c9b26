// What is wrong with the text of a patch or a diff, as data. Does not know sentences.
import { excerpt } from '../text/encoding.ts'

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
