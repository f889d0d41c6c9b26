// What a planner returns: the same shape for every operation.
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

/** Matches of an edit that `occurrence` skipped. `lines`: those of the first 20, 1-based, in the original file. */
export interface LeftAlone {
  edit_index: number
  count: number
  lines: number[]
}

/** A change to a text, fully computed but not applied yet. */
export interface Plan {
  splices: Splices
  /** The line breaks of the original, counted once. */
  line_index: LineIndex
  /** The result: views of the original and of the inserted texts. */
  pieces: Buffer[]
  /** Each replaced place, in the order of the edits, and for each edit from left to right. */
  placements: Placed[]
  edits_applied: EditApplied[]
  left_alone: LeftAlone[]
  /** Likely mistakes in the inserted texts. */
  newTextWarnings: NewTextWarning[]
}
