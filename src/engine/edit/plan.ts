// What a planner returns: the same shape for every operation. Does not know the operations.
import type { NewTextWarning } from './new-text-warnings.ts'
import type { Placed } from './piece-table.ts'
import type { LineIndex } from '../text/line-index.ts'
import type { Splices } from './splice.ts'

/** What one edit of a request found and did. */
export interface EditApplied {
  edit_index: number
  occurrences_found: number
  occurrences_replaced: number
  matched_with: 'exact' | 'line_endings'
}

/**
 * Matches of an edit that `occurrence` passed over. `lines` are those of the first 20, 1-based, of the original file.
 */
export interface LeftAlone {
  edit_index: number
  count: number
  lines: number[]
}

/** A change to a text, computed in full and not yet made. */
export interface Plan {
  splices: Splices
  /** The line breaks of the original, counted once. */
  line_index: LineIndex
  /** The result: views of the original and of what is put in. */
  pieces: Buffer[]
  /** Each replaced place, in the order of the edits and in each from left to right. */
  placements: Placed[]
  edits_applied: EditApplied[]
  left_alone: LeftAlone[]
  /** What looks like a mistake in an inserted text. */
  newTextWarnings: NewTextWarning[]
}
