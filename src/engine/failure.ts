// Every failure of a change to a text, as one closed union, and the types of what they report. Does not know HTTP or
// sentences.
import type { LineEdit, LineRange, TextEdit } from './edit/request.ts'
import type { Selection } from './history/change.ts'
import type { ResentEdit } from './history/made-by.ts'
import type { SymbolKind } from './outline/outline.ts'
import type { SyntaxFault } from './outline/syntax-errors.ts'
import type { Cause, Difference } from './suggest/differences/classify.ts'
import type { MergeConflict } from './suggest/merge.ts'

/** Text of the file around a failure. Lines are 1-based, of the original file; `content` is at most 2 KiB. */
export interface FilePreview {
  total_lines: number
  preview_start_line: number
  preview_end_line: number
  content: string
  /** The lines in question. */
  highlights: { start_line: number; end_line: number }[]
  lossy?: true
}

/**
 * One place where `old_text` occurs. Lines 1-based of the original file, columns 1-based in UTF-16 units, `column_end`
 * exclusive.
 */
export interface MatchLocation {
  line_number: number
  column_start: number
  column_end: number
  line_content: string
  context_before: string[]
  context_after: string[]
  inserted_by_edit?: number
  lossy?: true
}

/** A region of the file that may be what was meant; `content` is the file's exact text. */
export interface SimilarContent {
  line_number: number
  end_line: number
  content: string
  similarity_score: number
  confidence: 'high' | 'medium' | 'low'
  differences: Difference[]
  /** How many more there are; absent where there are none. */
  more_differences?: number
  lossy?: true
}

export type FixType =
  | 'USE_EXACT_TEXT'
  | 'ADJUST_COUNT'
  | 'ESCAPE_SPECIAL'
  | 'CHECK_WHITESPACE'
  | 'ADD_CONTEXT'
  | 'ALREADY_APPLIED'
  | 'USE_SECTION'
  | 'READ_FILE'
  | 'CHOOSE_OCCURRENCE'
  | 'FIX_PATH'

/** An edit to be sent. Without `new_text` the caller has to adapt its own. */
export type FixedText = Partial<TextEdit> & { old_text: string }
export type FixedLines = Partial<LineEdit> & { start_line: number; end_line: number }

/** What to send instead. `edit` is whole or absent. `lines`: the lines that it is about. */
export interface Fix<E = FixedText> {
  type: FixType
  edit?: E
  lines?: [number, number]
  /** The symbol that is replaced whole, and a line of it where there are several of that name. */
  section?: { symbol: string; at_line?: number }
  /** Why `edit` has no `new_text`. */
  conflict?: MergeConflict
  /** With `edit`: edits behind it that fail too, in their order. */
  later?: LaterEdit[]
  /** The lines that are to be read hold bytes that aren't UTF-8. */
  lossy?: true
}

/** A fix that has its edit. */
export interface EditFix<E = FixedText> extends Fix<E> {
  edit: E
}

/** The one edit that was most likely meant, and its lines. */
export type ClearFix = EditFix & Required<Pick<Fix, 'lines'>>

/** A later edit of the request that fails too. Only the last one has no `fix`, or one without `new_text`. */
export interface LaterEdit {
  failure: TextFailure
  fix?: ClearFix
}

/** Which of a request's edits failed. */
export interface EditPosition {
  edit_index: number
  total_edits: number
  /** The edits from this index on weren't tried. */
  untried_from?: number
}

export interface NoMatch extends EditPosition {
  code: 'NO_MATCH'
  search_text: string
  similar_content: SimilarContent[]
  fixes: Fix[]
  file_preview: FilePreview
  /** First and last line of the block that the best of `similar_content` is, as `old_text` is one. */
  block?: [number, number]
  /** Why the text isn't there, as far as the best of `similar_content` shows it. */
  cause: Cause
  /** Identifiers of `old_text` that are nowhere in the file, at most ten; absent where there are none. */
  missing_tokens?: string[]
  /** First and last line of new_text, which is there already. Without `similar_content`, the edit has been made. */
  applied_lines?: [number, number]
  /** Then, the edit: a change that is known may have made it. */
  resent?: ResentEdit
  /** `old_text` is in the file as it is; the earlier edit of this request with this index has changed it. */
  undone_by_edit?: number
  suggestions_truncated?: true
}

/** Which hunk of a patch failed, as which edit; `diff_line`: the 1-based line of the diff where it begins. */
export interface HunkPosition extends EditPosition {
  diff_line: number
}

/** Besides a hunk that failed, where no diff corrects all of them. */
interface AlsoUnplaced {
  /** Hunks behind it that have no place either, whatever becomes of the others: the first four. */
  also_unplaced?: HunkPosition[]
}

/**
 * A corrected diff: all hunks of the file, of which those in `corrected` (0-based) are others than were sent. It fits
 * the file. `lines`: those of the file that the hunk which failed is about then, or a later one with several places.
 */
export interface DiffFix {
  type: 'USE_EXACT_TEXT' | 'ADD_CONTEXT'
  diff: string
  lines: [number, number]
  /** That later hunk. */
  hunk_index?: number
  corrected: number[]
}

/** What a hunk needs of the file, and the file doesn't have; `search_text` is that text, or the first line of it. */
export interface HunkNotFound extends HunkPosition, AlsoUnplaced {
  code: 'NO_MATCH'
  /**
   * `anchor`: a line behind `@@`. `lines`: its old lines. `place`: it has additions alone, and doesn't say where they
   * go. `order`: it stands above the hunk before. `end`: its old lines aren't the last ones.
   */
  what: 'anchor' | 'lines' | 'place' | 'order' | 'end'
  search_text: string
  /** The line below which it was looked for: an anchor, or the last line of the hunk before. */
  below?: number
  similar_content: SimilarContent[]
  /** Why it isn't there, where that is known of the best of `similar_content`. */
  cause?: Cause
  /** First and last line of the new lines, which are there already; then the hunk seems to be applied. */
  applied_lines?: [number, number]
  /** As in `NoMatch`. */
  resent?: ResentEdit
  diffs: DiffFix[]
  /** A corrected diff there is, but too long to be shown. */
  too_long?: true
  file_preview: FilePreview
  suggestions_truncated?: true
}

/** An anchor, or the old lines of a hunk, that the file has more than once. */
export interface HunkAmbiguous extends HunkPosition, AlsoUnplaced {
  code: 'WRONG_COUNT'
  what: 'anchor' | 'lines'
  search_text: string
  below?: number
  expected_occurrences: 1
  actual_occurrences: number
  match_locations: MatchLocation[]
  /** The first lines of the matches, at most 50. */
  match_lines: number[]
  more_matches?: number
  /** Another match is the empty line that stands, so to say, behind the last one: the number that it would have. */
  behind_end?: number
  /** One for each of the first places. */
  diffs: DiffFix[]
  too_long?: true
}

export type HunkFailure = HunkNotFound | HunkAmbiguous

/** The edit would be made a second time: its new_text, which has old_text in it, stands around the one match. */
export interface AlreadyApplied extends EditPosition {
  code: 'ALREADY_APPLIED'
  search_text: string
  /** First and last line of new_text. */
  lines: [number, number]
  /** As in `NoMatch`. */
  resent?: ResentEdit
  fixes: Fix[]
  file_preview: FilePreview
}

export interface WrongCount extends EditPosition {
  code: 'WRONG_COUNT'
  search_text: string
  expected_occurrences: number
  actual_occurrences: number
  /** Some matches overlap; `actual_occurrences` counts them all. */
  overlapping: boolean
  match_locations: MatchLocation[]
  /** The lines of the first matches, each once. */
  match_lines: number[]
  /** Matches on other lines, or after the first thousand. */
  more_matches?: number
  /**
   * The file as it is has the number of matches that the edit requires; the earlier edit of this request with this
   * index has changed that.
   */
  undone_by_edit?: number
  /** Where matches are missing: what resembles the text besides them. */
  similar_content?: SimilarContent[]
  suggestions_truncated?: true
  fixes: Fix[]
}

export interface OccurrenceOutOfRange extends EditPosition {
  code: 'OCCURRENCE_OUT_OF_RANGE'
  search_text: string
  /** The n that was asked for. */
  occurrence: number
  actual_occurrences: number
  match_locations: MatchLocation[]
  /** The lines of the first matches, each once. */
  match_lines: number[]
  /** Matches on other lines, or after the first thousand. */
  more_matches?: number
  fixes: Fix[]
}

export interface ResultTooLarge extends EditPosition {
  code: 'RESULT_TOO_LARGE'
  /** What exceeds its limit: bytes in the result, or replaced places in the request. */
  what: 'bytes' | 'replacements'
  limit: number
  actual: number
}

/** Lines that the file doesn't have. */
export interface LineOutOfRange {
  code: 'LINE_OUT_OF_RANGE'
  total_lines: number
  start_line: number
  end_line?: number
  start_column?: number
  total_columns?: number
  edit_index?: number
  total_edits?: number
}

/** Two edits of one request that touch the same lines; `edit_index` is the later one. First and last line of each. */
export interface OverlappingEdits extends EditPosition {
  code: 'OVERLAPPING_EDITS'
  other_edit_index: number
  lines: [number, number]
  other_lines: [number, number]
}

export interface ExpectedTextMismatch extends EditPosition {
  code: 'EXPECTED_TEXT_MISMATCH'
  start_line: number
  end_line: number
  /** What the lines hold, cut. */
  actual_text: string
  lossy?: true
  /** What resembles `expected_text`, the likeliest first. */
  similar_content: SimilarContent[]
  /** First and last line of the one place that holds `expected_text`, or nearly so. */
  found_at?: [number, number]
  /**
   * How that place differs from `expected_text`; absent where it holds just that. Without a place, `encoding`: the lines
   * hold bytes that no text can match.
   */
  cause?: Cause
  fixes: Fix<FixedLines>[]
  file_preview: FilePreview
  suggestions_truncated?: true
}

/** What an edit made for another state of the file would do in the present one. */
export type CurrentOutcome =
  /**
   * It would still be made. First and last line of each place, at most ten. `unchecked`: it doesn't say what these lines,
   * or the whole file, should hold, so it may replace what its author never saw; `changed_lines`: these lines are known
   * to hold something else than they did for its author; `occurrence`: it counts matches, of which there may be others
   * now. `moved`: the lines of all its edits, in their order, which hold the same as for its author and have other
   * numbers now.
   */
  | {
      fits: true
      places: [number, number][]
      total: number
      unchecked?: 'lines' | 'changed_lines' | 'occurrence' | 'file'
      moved?: LineRange[]
      file_preview: FilePreview
    }
  | { fits: false; failure: TextFailure | LineFailure | SectionFailure | HunkFailure }

/**
 * To be planned in a thread, as it may take long: many places are replaced, or a text wasn't found and what was meant
 * has to be searched for.
 */
export interface TakesLong {
  code: 'TAKES_LONG'
}

export type LineFailure = LineOutOfRange | OverlappingEdits | ExpectedTextMismatch | ResultTooLarge

export type TextFailure = NoMatch | AlreadyApplied | WrongCount | OccurrenceOutOfRange | ResultTooLarge

/** What /edit-section is for: one of these. */
export interface Target {
  heading?: string
  code_block?: { index?: number; language?: string; under_heading?: string }
  symbol?: string
}

/** One item of a file's outline, as answers show it. Lines are 1-based and inclusive. */
export interface OutlineEntry {
  kind: SymbolKind | 'heading' | 'code_block' | 'front_matter'
  name?: string
  level?: number
  parent?: string
  language?: string
  start_line: number
  end_line: number
  comment_start_line?: number
  lossy?: true
}

/** The outline's first items, and how many there are. */
interface AboutTarget {
  target: Target
  at_line?: number
  outline: OutlineEntry[]
  total: number
  syntax_error_lines?: number[]
}

export interface TargetNotFound extends AboutTarget {
  code: 'TARGET_NOT_FOUND'
  /** What would fit, but doesn't hold `at_line`; what is nearest to it comes first. */
  elsewhere: OutlineEntry[]
  /** Paths that are like it, the likeliest first. */
  nearest: string[]
  /** The one of them that a call may be proposed for. */
  meant?: string
}

/** `fitting`: how many fit; `targets` are the first of them. */
export interface AmbiguousTarget extends AboutTarget {
  code: 'AMBIGUOUS_TARGET'
  targets: OutlineEntry[]
  fitting: number
}

/** `to_read`: the structure itself was asked for, and no edit. */
export type UnsupportedTarget = {
  code: 'UNSUPPORTED_TARGET'
  languages: readonly string[]
  language?: string
  to_read?: true
} &
  /** The file is in a language, if it is known, that has no such targets. */
  (
    | { reason: 'not_markdown' | 'no_grammar' }
    | { reason: 'too_large' | 'too_slow' | 'too_much_memory'; limit: number; actual?: number }
    | { reason: 'parser_failed' }
    /**
     * The item can't take the action: other code on its lines, or on those of its body; nothing to put text into; a
     * fence that is never closed.
     */
    | { reason: 'not_alone' | 'cramped' | 'no_body' | 'unclosed'; entry: OutlineEntry }
  )

export type SectionFailure = TargetNotFound | AmbiguousTarget | UnsupportedTarget

/** The result of a change would not parse. `is_new`: there was no file before; else it parsed. */
export interface BrokenSyntax {
  code: 'SYNTAX_ERROR'
  fault: SyntaxFault
  is_new: boolean
}

/**
 * The file isn't UTF-8, and its encoding can't hold this character of the text that is put in: U+FEFF where the mark is
 * to go by which UTF-16 is known. `unknown-8bit`: it isn't known which encoding that is, and the character isn't ASCII.
 * `mark`: the result would begin with the bytes that mark this UTF-16, so that it would be read as that, or as no text.
 */
export type UnencodableText = { code: 'UNENCODABLE_TEXT'; encoding: string } & (
  { character: string; mark?: undefined } | { mark: 'utf-16le' | 'utf-16be' }
)

/** A change of the set that can't be toggled, because of a later one or one that is missing. */
export interface UndoConflict {
  /** Of the set. */
  edit_id: string
  change_index: number
  /** The change in its way; its undo or redo as well would let it be toggled. */
  by: string
  /**
   * `overlap`: both wrote or replaced the same text. `same_line`: they touch one line. `outside`: `by` was made by
   * others than the service. `removed`: the text was removed since.
   */
  kind: 'overlap' | 'same_line' | 'outside' | 'removed'
  /** It was a change of another text, in whose place the present one was made. */
  replaced?: true
  /** The lines of the present text that it is about, 1-based; the line where they were, if there are none. */
  start_line: number
  end_line: number
  /** What they hold, cut where it is long; empty where they were deleted. */
  current_text: string
  /** What they would hold if `by`, and what else is in the way there, were toggled too; cut like `current_text`. */
  would_restore: string
  /** It isn't known to be right: what is in the way reaches beyond these lines, or their indentation isn't known. */
  is_part?: true
  lossy?: true
}

/** Nothing is toggled: some changes of the set are in conflict. */
export interface UndoRefused {
  code: 'UNDO_CONFLICT'
  conflicts: UndoConflict[]
  /** How many more there are; absent where there are none. */
  more_conflicts?: number
  /**
   * Of an undo: the set with the later changes in its way, and those in theirs, which can be taken back together; absent
   * where they can't, or are many.
   */
  together?: Selection[]
}

/** All of the set is in the wanted state already; or, with `conflicts`, all that isn't was skipped. */
export interface NothingToUndo {
  code: 'NOTHING_TO_UNDO'
  conflicts?: UndoConflict[]
  more_conflicts?: number
}

/**
 * What the texts were before and after these changes, oldest first, is needed and not known, or doesn't fit what else is
 * recorded. `unrecorded`: the text was changed besides, and there is no record of it.
 */
export interface HistoryGone {
  code: 'HISTORY_GONE'
  edit_ids: readonly string[]
  reason: 'not_kept' | 'inconsistent'
  unrecorded?: true
}

export type TakeBackFailure = UndoRefused | NothingToUndo | HistoryGone
