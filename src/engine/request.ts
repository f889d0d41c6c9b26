// What an edit of /edit asks for. Knows no text.
import type { TextEdit } from './failure.ts'

/** How many matches an edit requires; undefined where any number will do. */
export function requiredCount (edit: TextEdit): number | undefined {
  return edit.occurrences ?? (edit.replace_all === true || edit.occurrence !== undefined ? undefined : 1)
}
