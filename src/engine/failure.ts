// All failures of a change to a text, as one closed union, and the data they report. No sentences, no HTTP.
import type { LineEdit, LineRange, TextEdit } from './edit/request.ts'
import type { Selection } from './undo/change.ts'
import type { ResentEdit } from './undo/made-by.ts'
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
  /** The lines that failed. */
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

/** A region of the file that the caller may have meant; `content` is the file's exact text. */
export interface SimilarContent {
  line_number: number
  end_line: number
  content: string
  similarity_score: number
  confidence: 'high' | 'medium' | 'low'
  differences: Difference[]
  /** How many more differences there are; absent if none. */
  more_differences?: number
  lossy?: true
}

type FixType =
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

/** An edit to send. Without `new_text` the caller has to adapt its own. */
export type FixedText = Partial<TextEdit> & { old_text: string }
export type FixedLines = Partial<LineEdit> & { start_line: number; end_line: number }

/** What to send instead. `edit` is complete or absent. `lines`: the lines it concerns. */
export interface Fix<E = FixedText> {
  type: FixType
  edit?: E
  lines?: [number, number]
  /** Replace this symbol as a whole; `at_line` tells symbols of the same name apart. */
  section?: { symbol: string; at_line?: number }
  /** Why `edit` has no `new_text`. */
  conflict?: MergeConflict
  /** The lines that tell this place from its rivals: the first and the last line of the context in `edit`. */
  context?: { above?: string; below?: string }
  /** Set only with `edit`: later edits that fail too, in order. */
  later?: LaterEdit[]
  /** The lines to read hold bytes that aren't UTF-8. */
  lossy?: true
}

/** A fix with an edit. */
export interface EditFix<E = FixedText> extends Fix<E> {
  edit: E
}

/** The one edit that the caller most likely meant, and its lines. */
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
  /** The edits from this index on were not tried. */
  untried_from?: number
}

/** A text that isn't in a file which isn't UTF-8. */
interface Decoded {
  /** The encoding in which the file was read, the likeliest one; `unknown-8bit`: its bytes were taken for UTF-8. */
  read_as?: string
}

export interface NoMatch extends EditPosition, Decoded {
  code: 'NO_MATCH'
  search_text: string
  similar_content: SimilarContent[]
  fixes: Fix[]
  file_preview: FilePreview
  /** First and last line of the block that the best entry of `similar_content` covers, if `old_text` is a block. */
  block?: [number, number]
  /** Why the text isn't there, judged by the best entry of `similar_content`. */
  cause: Cause
  /** Identifiers of `old_text` that occur nowhere in the file, at most ten; absent if none. */
  missing_tokens?: string[]
  /**
   * First and last line of new_text, which the file already has. If `similar_content` is empty, the edit has already
   * been made.
   */
  applied_lines?: [number, number]
  /** Set with `applied_lines`: the edit, so that a known change can be recognized as the one that made it. */
  resent?: ResentEdit
  /** The file on disk has `old_text`; an earlier edit of this request, with this index, changed it. */
  undone_by_edit?: number
  suggestions_truncated?: true
}

/** Which hunk of a patch failed, as which edit; `diff_line`: the 1-based line of the diff where it begins. */
export interface HunkPosition extends EditPosition {
  diff_line: number
}

/** Added to a failed hunk if no diff corrects all hunks. */
interface AlsoUnplaced {
  /** Later hunks that have no place either, whatever happens to the others: the first four. */
  also_unplaced?: HunkPosition[]
}

/**
 * A corrected diff that fits the file: all hunks of the file; those in `corrected` (0-based) differ from the ones sent.
 * `lines`: the lines of the file that the failed hunk (or a later one with several places) now refers to.
 */
export interface DiffFix {
  type: 'USE_EXACT_TEXT' | 'ADD_CONTEXT'
  diff: string
  lines: [number, number]
  /** The index of that later hunk. */
  hunk_index?: number
  corrected: number[]
}

/** A hunk needs text that the file doesn't have; `search_text` is that text, or its first line. */
export interface HunkNotFound extends HunkPosition, AlsoUnplaced, Decoded {
  code: 'NO_MATCH'
  /**
   * `anchor`: a line after `@@`. `lines`: the hunk's old lines. `place`: it only adds lines and doesn't say where.
   * `order`: its place is above the previous hunk. `end`: its old lines aren't the last lines of the file.
   */
  what: 'anchor' | 'lines' | 'place' | 'order' | 'end'
  search_text: string
  /** We searched below this line: an anchor, or the last line of the previous hunk. */
  below?: number
  similar_content: SimilarContent[]
  /** Why it isn't there, if the best entry of `similar_content` shows it. */
  cause?: Cause
  /** First and last line of the new lines, if the file already has them; then the hunk seems to be applied. */
  applied_lines?: [number, number]
  /** See `NoMatch`. */
  resent?: ResentEdit
  diffs: DiffFix[]
  /** A corrected diff exists but is too long to show. */
  too_long?: true
  file_preview: FilePreview
  suggestions_truncated?: true
}

/** An anchor or the old lines of a hunk occur more than once in the file. */
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
  /** The empty line after the last one also matches: the number it would have. */
  behind_end?: number
  /** One diff for each of the first places. */
  diffs: DiffFix[]
  too_long?: true
}

export type HunkFailure = HunkNotFound | HunkAmbiguous

/** The edit seems to be applied already: its new_text, which contains old_text, surrounds the only match. */
export interface AlreadyApplied extends EditPosition {
  code: 'ALREADY_APPLIED'
  search_text: string
  /** First and last line of new_text. */
  lines: [number, number]
  /** See `NoMatch`. */
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
  /** The lines of the first matches, without duplicates. */
  match_lines: number[]
  /** Matches on other lines, or after the first thousand. */
  more_matches?: number
  /**
   * The file on disk has the required number of matches; an earlier edit of this request, with this index, changed
   * that.
   */
  undone_by_edit?: number
  /** If matches are missing: other text that resembles the searched text. */
  similar_content?: SimilarContent[]
  suggestions_truncated?: true
  fixes: Fix[]
}

export interface OccurrenceOutOfRange extends EditPosition {
  code: 'OCCURRENCE_OUT_OF_RANGE'
  search_text: string
  /** The requested n. */
  occurrence: number
  actual_occurrences: number
  match_locations: MatchLocation[]
  /** The lines of the first matches, without duplicates. */
  match_lines: number[]
  /** Matches on other lines, or after the first thousand. */
  more_matches?: number
  fixes: Fix[]
}

export interface ResultTooLarge extends EditPosition {
  code: 'RESULT_TOO_LARGE'
  /** What exceeds the limit: bytes in the result, or replaced places in the request. */
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

/** Two edits of one request touch the same lines; `edit_index` is the later one. First and last line of each. */
interface OverlappingEdits extends EditPosition {
  code: 'OVERLAPPING_EDITS'
  other_edit_index: number
  lines: [number, number]
  other_lines: [number, number]
}

export interface ExpectedTextMismatch extends EditPosition, Decoded {
  code: 'EXPECTED_TEXT_MISMATCH'
  start_line: number
  end_line: number
  /** What the lines hold, cut if long. */
  actual_text: string
  lossy?: true
  /** Text that resembles `expected_text`, most likely first. */
  similar_content: SimilarContent[]
  /** First and last line of the only place that holds `expected_text`, exactly or nearly. */
  found_at?: [number, number]
  /**
   * How that place differs from `expected_text`; absent if it is equal. If there is no place, `encoding`: the lines
   * hold bytes that no text can match.
   */
  cause?: Cause
  fixes: Fix<FixedLines>[]
  file_preview: FilePreview
  suggestions_truncated?: true
}

/** What an edit made for another state of the file would do to the present one. */
export type CurrentOutcome =
  FittingEdit | { fits: false; failure: TextFailure | LineFailure | SectionFailure | HunkFailure }

/**
 * The edit would still apply. First and last line of each place, at most ten. `unchecked`: the edit doesn't say what
 * these lines, or the whole file, should hold, so it may replace text that its author never saw; `changed_lines`: these
 * lines now hold something else than they did for the author; `occurrence`: it counts matches, and there may be others
 * now. `exact`: the edit states the text that it replaces, so it needs no hash. `moved`: the lines of all edits, in
 * order; their text is the same as for the author, but their numbers have changed.
 */
export interface FittingEdit {
  fits: true
  places: [number, number][]
  total: number
  unchecked?: 'lines' | 'changed_lines' | 'occurrence' | 'file'
  exact?: true
  moved?: LineRange[]
  file_preview: FilePreview
}

/**
 * The planner should run in a thread, because it may take long: many places are replaced, or a text wasn't found and we
 * have to search for what was meant.
 */
export interface TakesLong {
  code: 'TAKES_LONG'
}

export type LineFailure = LineOutOfRange | OverlappingEdits | ExpectedTextMismatch | ResultTooLarge

export type TextFailure = NoMatch | AlreadyApplied | WrongCount | OccurrenceOutOfRange | ResultTooLarge

/** What /edit-section targets: exactly one of these. */
export interface Target {
  heading?: string
  code_block?: { index?: number; language?: string; under_heading?: string }
  symbol?: string
}

/** One item of a file's outline, as shown in answers. Lines are 1-based and inclusive. */
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

/** The outline's first items, and the total number of items. */
interface AboutTarget {
  target: Target
  at_line?: number
  outline: OutlineEntry[]
  total: number
  syntax_error_lines?: number[]
}

export interface TargetNotFound extends AboutTarget {
  code: 'TARGET_NOT_FOUND'
  /** Items that fit but don't hold `at_line`; the nearest to it first. */
  elsewhere: OutlineEntry[]
  /** Similar paths, most likely first. */
  nearest: string[]
  /** The path among them that we may propose a call for. */
  meant?: string
}

/** `fitting`: how many items fit; `targets` lists the first of them. */
export interface AmbiguousTarget extends AboutTarget {
  code: 'AMBIGUOUS_TARGET'
  targets: OutlineEntry[]
  fitting: number
}

/** `to_read`: the caller asked only for the structure, not for an edit. */
export type UnsupportedTarget = {
  code: 'UNSUPPORTED_TARGET'
  languages: readonly string[]
  language?: string
  to_read?: true
} &
  /** The file's language, if known, has no such targets. */
  (
    | { reason: 'not_markdown' | 'no_grammar' }
    | { reason: 'too_large' | 'too_slow' | 'too_much_memory'; limit: number; actual?: number }
    | { reason: 'parser_failed' }
    /**
     * The item can't take the action: other code shares its lines or those of its body, it has no body to put text
     * into, or its fence is never closed.
     */
    | { reason: 'not_alone' | 'cramped' | 'no_body' | 'unclosed'; entry: OutlineEntry }
  )

export type SectionFailure = TargetNotFound | AmbiguousTarget | UnsupportedTarget

/** The result would not parse. `is_new`: the file didn't exist before; otherwise it parsed before. */
export interface BrokenSyntax {
  code: 'SYNTAX_ERROR'
  fault: SyntaxFault
  is_new: boolean
}

/**
 * The file isn't UTF-8, and its encoding can't represent this character of the inserted text; U+FEFF if the edit would
 * remove the mark that identifies UTF-16. `unknown-8bit`: the encoding isn't known, and the character isn't ASCII.
 * `mark`: the result would begin with the bytes that mark this UTF-16, so it would be read as UTF-16, or not as text at
 * all.
 */
export type UnencodableText = { code: 'UNENCODABLE_TEXT'; encoding: string } & (
  { character: string; mark?: undefined } | { mark: 'utf-16le' | 'utf-16be' }
)

/** A change of the set can't be toggled, because of a later change or a missing one. */
export interface UndoConflict {
  /** The change of the set. */
  edit_id: string
  change_index: number
  /** The conflicting change; toggling it as well would resolve the conflict. */
  by: string
  /**
   * `overlap`: both wrote or replaced the same text. `same_line`: they touch the same line. `outside`: another program
   * made `by`. `removed`: the text has been removed since.
   */
  kind: 'overlap' | 'same_line' | 'outside' | 'removed'
  /** The change belonged to another text, which the present one has replaced. */
  replaced?: true
  /** The lines of the present text in question, 1-based; if there are none, the line where they were. */
  start_line: number
  end_line: number
  /** What the lines hold, cut if long; empty if they were deleted. */
  current_text: string
  /**
   * What they would hold if `by`, and all other conflicting changes there, were toggled too; cut like `current_text`.
   */
  would_restore: string
  /**
   * `would_restore` may be wrong: the conflicting changes reach beyond these lines, or their indentation isn't known.
   */
  is_part?: true
  lossy?: true
}

/** Nothing was toggled: some changes of the set are in conflict. */
export interface UndoRefused {
  code: 'UNDO_CONFLICT'
  conflicts: UndoConflict[]
  /** How many more there are; absent if none. */
  more_conflicts?: number
  /**
   * For an undo: the set plus the later changes that conflict with it (and those that conflict with them); these can
   * all be undone together. Absent if they can't, or are too many.
   */
  together?: Selection[]
}

/** The whole set is already in the wanted state; or, with `conflicts`, everything that isn't was skipped. */
export interface NothingToUndo {
  code: 'NOTHING_TO_UNDO'
  conflicts?: UndoConflict[]
  more_conflicts?: number
}

/**
 * The texts before and after these changes, oldest first, are needed but unknown, or contradict the rest of the record.
 * `unrecorded`: the text also changed without any record.
 */
export interface HistoryGone {
  code: 'HISTORY_GONE'
  edit_ids: readonly string[]
  reason: 'not_kept' | 'inconsistent'
  unrecorded?: true
}

export type ToggleFailure = UndoRefused | NothingToUndo | HistoryGone
