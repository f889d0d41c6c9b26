// The edits of a request as data: by text (/edit) and by lines (/edit-lines).

/** One edit of /edit, as a client sends it and as a fix offers it. */
export interface TextEdit {
  old_text: string
  new_text: string
  occurrences?: number
  replace_all?: boolean
  occurrence?: 'first' | 'last' | 'all' | number
  /** A match inside a longer word doesn't count. */
  whole_word?: boolean
}

/** The number that stands for the last line in an edit of lines. */
export const LAST_LINE = -1

/**
 * One edit of /edit-lines; lines are 1-based or LAST_LINE, `end_line = start_line - 1` inserts. `inside`: replaces only
 * these bytes of its single line, counted from the line's start, end exclusive, without its break; then `new_text`
 * needn't be whole lines.
 */
export interface LineEdit {
  start_line: number
  end_line: number
  new_text: string
  expected_text?: string
  inside?: { start: number; end: number }
}

/** Lines, 1-based and inclusive; `end_line = start_line - 1` means the place before `start_line`. */
export type LineRange = Pick<LineEdit, 'start_line' | 'end_line'>

/** Whether a text of `total` lines has this range or place; the last place is after all lines. */
export const isRangeIn = ({ start_line, end_line }: LineRange, total: number): boolean =>
  start_line >= 1 && start_line <= total + 1 && end_line >= start_line - 1 && end_line <= total

/** How many matches an edit requires; undefined if any number is allowed. */
export function requiredCount(edit: TextEdit): number | undefined {
  return edit.occurrences ?? (edit.replace_all === true || edit.occurrence !== undefined ? undefined : 1)
}
