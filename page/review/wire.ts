// The answers of the routes, as far as the page reads them; test/page/review/wire.test.ts compares them with the
// schemas.

/** Changes of one edit; without `change_indexes`, all of them. */
export interface Selection {
  edit_id: string
  change_indexes?: number[]
}

type EditState = 'applied' | 'undone' | 'partly_undone' | 'uncertain'

/** What /pending and /blame say about an edit. Times are ISO 8601. */
export interface EditFacts {
  edit_id: string
  operation: string
  at: string
  token?: string
  agent?: string
  session?: string
  reason?: string
  state: EditState
  review?: 'pending' | 'kept'
}

export interface HistoryEdit extends EditFacts {
  batch_id?: string
  path: string
  /** For half of a move: where the other half is. */
  moved_from?: string
  moved_to?: string
  /** Absent if there was no file, or is none. */
  hash_before?: string
  file_hash?: string
  lines_added: number
  lines_removed: number
  metadata_only?: true
  texts_lost?: true
  changes: { change_index: number; undone?: true; kept?: true }[]
  changes_truncated?: true
  diff?: string
  diff_truncated?: boolean
  diff_unavailable?: string
}

export interface HistoryAnswer {
  message: string
  edits: HistoryEdit[]
  next_before?: string
}

export interface PendingLine {
  kind: 'same' | 'added' | 'removed'
  text: string
  line?: number
  base_line?: number
  edit_ids?: string[]
  lossy?: true
  cut?: true
  line_ending?: 'crlf' | 'cr'
  no_break?: true
  outside?: true
}

export interface PendingHunk {
  start_line: number
  end_line: number
  base_start_line: number
  base_end_line: number
  lines: PendingLine[]
  truncated?: true
  changes: Selection[]
  /** Those of `changes` that were kept and undone later. */
  undone?: Selection[]
}

export interface PendingAnswer {
  message: string
  path: string
  exists: boolean
  /** The hash of the file as it was shown. */
  sha256?: string
  incomplete?: true
  hunks: PendingHunk[]
  total_hunks: number
  /** Pending changes that are in no hunk. */
  unseen: Selection[]
  edits: EditFacts[]
  truncated?: true
}

export interface BlameAnswer {
  message: string
  path: string
  at?: string
  total_lines: number
  start_line: number
  lines: { line: number; text: string; edit_ids: string[]; outside?: true }[]
  edits: EditFacts[]
  truncated?: true
  next_line?: number
}

export interface UndoneFile {
  path: string
  /** The hash of the present file; in a dry run, that of the file as it was shown. */
  sha256?: string
  changed: boolean
  edit_id?: string
  diff?: string
  created?: true
  removed?: true
}

export interface UndoAnswer {
  message: string
  dry_run: boolean
  results: UndoneFile[]
  undone: string[]
  skipped: string[]
  warnings?: string[]
}

export interface RedoAnswer {
  message: string
  results: UndoneFile[]
  redone: string[]
}

export interface ReviewAnswer {
  message: string
  kept?: string[]
  pending?: string[]
}

export interface Conflict {
  path: string
  edit_id: string
  change_index: number
  by?: string
  kind: 'overlap' | 'same_line' | 'outside' | 'removed'
  start_line?: number
  end_line?: number
  current_text?: string
  would_restore?: string
}

export interface Fix {
  type: string
  suggestion: string
  edit?: { old_text?: string; new_text?: string; start_line?: number; end_line?: number }
  call?: { name: string; arguments: object }
}

export interface PageProblem {
  code: string
  title: string
  detail: string
  conflicts?: Conflict[]
  suggested_fixes?: Fix[]
  file_hash?: string
}

export interface CapabilitiesAnswer {
  root: { read_only: boolean }
  /** Absent if there is only one token. */
  access?: { workspace: string; scope: 'read' | 'edit' | 'review' }
}

/** One event of the feed. */
export type FeedChange =
  | { type: 'edit'; edit_id: string; path: string; session?: string }
  | { type: 'review'; path: string; session?: string; edit_ids: string[] }
