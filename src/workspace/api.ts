// The public types of the workspace: options, requests and results. Does not know HTTP.
import type { Audit, AuditedCall } from '../audit/audit.ts'
import type { ReviewedSelection, ReviewState, Verdict } from '../engine/undo/baseline.ts'
import type { RecordedChange, RecordedSplice, Selection } from '../engine/undo/change.ts'
import type { IndexSet } from '../engine/undo/index-set.ts'
import type { SplicePlace } from '../engine/undo/places.ts'
import type { Encodings } from '../engine/text/codec.ts'
import type { CursorGone, RecordQuery, ChangeEvent } from '../log/api.ts'
import type { Cursor } from '../log/cursor.ts'
import type { Author, EditRecord, FileAttributes, RecordedOperation, TextsState } from '../log/record.ts'
import type { Result } from '../result.ts'
import type {
  CursorFailure,
  FileFailure,
  FileWarning,
  KeyFailure,
  NotReady,
  RequestInFlight,
  StaleFile
} from './failure.ts'

/** Options for a folder and a bucket alike. */
export interface CommonOptions {
  /** In ms; then FILE_LOCKED. */
  lockTimeout: number
  /** In bytes, of the file as it is. */
  maxFileSize: number
  readOnly: boolean
  requireHash: boolean
  /** Whether a step of a batch may remove a file. */
  allowDelete: boolean
  /** The complete list of patterns, see PolicyOptions. */
  protect: readonly string[]
  /** The patterns that forbid reading too. */
  readProtect: readonly string[]
  /** File name endings, with the dot; null: all. They apply to reading too. */
  allowExtensions: readonly string[] | null
  /** required: a change that can't be recorded isn't made; meta: no texts are kept. */
  history: 'full' | 'meta' | 'required' | 'off'
  historyDays: number
  /** In bytes. */
  historySize: number
  /** Patterns like those of `protect`: no texts of these files are kept. */
  historyPrivate: readonly string[]
  /** Receives every change. */
  audit?: Audit
  /** For the log. Never gets text of files. */
  report?: (event: { event: string; [key: string]: unknown }) => void
  /** Without it nothing is measured. */
  meter?: Meter
}

/** Receives throughput and timing. */
export interface Meter {
  /** Waiting for a file's lock has ended; `isHeld`: the lock was acquired. */
  locked(seconds: number, isHeld: boolean): void
  /** A lock was taken over from a holder that is gone. */
  tookOver(): void
  /** One change, of one file or several, put `bytes` bytes of files on the disk. */
  committed(seconds: number, bytes: number): void
  /** `bytes` bytes of a file were read in order to change it. */
  read(bytes: number): void
  /** The history's size now. */
  history(bytes: number): void
  /** The workspace is closed. */
  closed(): void
}

/** Options of a workspace in a folder. */
export interface WorkspaceOptions extends CommonOptions {
  /** An existing folder. */
  root: string
  /** One folder per root, shared by all servers on it; made with mode 0700 if it is missing. */
  stateDir: string
  /** full: file and folder are synced before an edit is acknowledged. */
  durability: 'full' | 'fast'
  /** local: without the lock file that keeps other hosts and containers out. */
  lock: 'shared' | 'local'
  /** Default: proc wherever it works. */
  confinement?: 'proc' | 'portable'
  /** How many of the process's threads may wait for the root's file system at once. Default: all. */
  threads?: number
}

export type * from '../log/record.ts'
export type { ChangeEvent } from '../log/api.ts'

/**
 * `recorded`: the path comes from the history, so no similar paths are looked for if no file is there. `replans`: the
 * change is planned again if another program saves the file in the meantime.
 */
export interface FileTarget {
  path: string
  expected_hash?: string
  recorded?: boolean
  replans?: boolean
}

/** The author and operation of a change, as the history records them. */
export interface Origin extends Author {
  operation: Exclude<RecordedOperation, 'outside' | 'review'>
  /** Id shared by all files that are changed together. */
  batch_id?: string
  /** The key that `keyed` passed to the work. */
  key?: Key
}

/** An idempotency key of a request, held while it runs. */
export interface Key {
  readonly digest: string
  readonly fingerprint: string
  /** Whether it is still this request's; synchronous. */
  held(): boolean
}

/** The client that waits for an answer. */
export interface Client {
  /** Whether it no longer waits; synchronous. */
  isGone(): boolean
  /**
   * Calls `end` when the client no longer waits, at once if it is gone already; possibly also after it has the answer.
   */
  onGone(end: () => void): void
}

/**
 * How a change is made. Without `origin` the history records an edit, or a creation, by an unknown author. `outcome`:
 * the part of a keyed request's answer that is kept for a replay; plain JSON, without texts of the file unless `texts`.
 * `may_delete`: whether it may remove files, overriding `allowDelete`. `audit`: the call that the change is part of.
 * `client`: the change isn't made if this client has gone by the time the lock is acquired.
 */
export interface ChangeOptions<D> {
  dry_run: boolean
  origin?: Origin
  may_delete?: boolean
  audit?: AuditedCall | undefined
  client?: Client | undefined
  outcome?(done: D, texts: boolean): unknown
}

export interface CreateTarget {
  path: string
  /** Hash of the content that is to be replaced; if there is no file, FILE_NOT_FOUND. */
  expected_hash?: string
  overwrite: boolean
  /** Otherwise a missing folder is FILE_NOT_FOUND. */
  create_parents: boolean
  /** If-None-Match: *, so that an existing file is never replaced. */
  if_none_match?: boolean
  /**
   * `literal`: an odd name is meant as it is, unless it has control characters. `known`: the file existed before.
   * Otherwise such a name is INVALID_PATH.
   */
  name?: 'literal' | 'known'
}

/**
 * A planner's result: the new text as pieces, and the description that will be reported. Both exist before anything is
 * written.
 */
export interface Planned<T> {
  pieces: readonly Buffer[]
  /** The change as splices of the text given, for the record; without it the history compares the texts. */
  splices?: readonly RecordedSplice[]
  /** The line of that text on which each splice begins; without it the history counts. */
  splice_lines?: readonly number[]
  /** The place of each splice; without it the history looks for it. */
  places?: readonly SplicePlace[]
  /** The encodings of the text before and after, if either isn't UTF-8. */
  encodings?: Encodings
  /** For an undo or redo: what it toggles. */
  toggles?: readonly Selection[]
  /**
   * The file is to be removed, and `pieces` is empty; so are those of `made_folders` that are empty then. If there is
   * no file, nothing is removed, but `toggles` are recorded. In a batch, no later step may name the file.
   */
  removes?: true
  made_folders?: readonly Buffer[]
  /** For a new file; without them it gets the system's defaults. */
  attributes?: FileAttributes
  /**
   * The plan was made for the version that the request expects, and fits the present text too, so it is carried out
   * though that is another one. The result in that version, for the next step of a batch.
   */
  rebased?: Buffer
  description: T
  /** The bytes that were given, if they moved to other memory meanwhile. */
  original?: Buffer
}
/**
 * `path` as answers give it, `resolved_path` if a link led elsewhere. `stale`: the file isn't the one that the request
 * expects, so nothing will be written.
 */
export interface PlannedFile {
  path: string
  resolved_path?: string
  exists: boolean
  /** SHA-256 before the whole change, 64 hex digits; absent if there was no file. */
  file_hash?: string
  /** Attributes of the existing file. */
  attributes?: FileAttributes
  stale?: StaleFile
  /** `rebased` of the step before, of the same file. */
  rebased?: Buffer
  /** The text's size limit in bytes, if it differs from the general one. */
  max_result_size?: number
  /** Its changes so far, oldest first; they end in the file's content, before the batch if this is a step of one. */
  history(): Promise<FileHistory>
}

/** The known changes of one file. */
export interface FileHistory {
  changes: readonly RecordedChange[]
  /** For each edit_id of the file: whether it is still applied, and who undid it. */
  records: readonly ChangeRecord[]
}
/**
 * A file that exists, or was removed, with its changes; these end in its content. The last one has no id if another
 * program has changed the file and that isn't recorded yet.
 */
export interface FileWithPast extends Omit<FileFacts, 'file_hash'>, FileHistory {
  /** Absent if there is no file. */
  file_hash?: string
  /** Ownership passes to the receiver. */
  bytes: Buffer
  /** Verdicts on its changes, oldest first. */
  verdicts: readonly Verdict[]
}

/** How many moves of a file are followed, from one path to the one before, or to the next. Chosen, not measured. */
export const MOST_MOVES = 10

/**
 * What a move brought to its new path, with its known changes: those at the old path, then the move itself. If these
 * aren't kept any more, there are none, and no bytes.
 */
export interface MovedText extends Pick<FileWithPast, 'bytes' | 'changes' | 'records' | 'verdicts'> {
  /** The edit of the move at the new path. */
  edit_id: string
}

/**
 * A new file's original is empty. If the planner returns a promise, it owns `original` until the plan gives it back; on
 * failure it needn't give it back. Given `stale`, a planner fails with it, and may add what is there now; or its plan
 * is `rebased`.
 */
export type Planner<T, F> = (
  original: Buffer,
  file: PlannedFile
) => Result<Planned<T>, F> | Promise<Result<Planned<T>, F>>

interface FileFacts {
  /** Below the root, as requested, normalised. */
  path: string
  /** Below the root, if a link led elsewhere. */
  resolved_path?: string
  /** SHA-256 of the bytes on disk now, 64 hex digits. Answers give only its beginning. */
  file_hash: string
}

/**
 * The result for one file of an edit, a creation or a step of a batch. Hashes and `file_size` are those of the file
 * before and after all steps; `changed` and `description` are of this step. A file's warnings are with its last step.
 */
export interface FileChanged<T> extends Omit<FileFacts, 'file_hash'> {
  changed: boolean
  /** Absent if there was no file. */
  hash_before?: string
  /** Hash of the result; in a dry run, of the would-be one. */
  new_hash?: string
  /** Hash of the file now; absent if there is none, as in the dry run of a creation. */
  file_hash?: string
  /** Size of the result in bytes. */
  file_size: number
  description: T
  warnings: FileWarning[]
  write_strategy?: 'in_place'
  /** Id of its record; absent if nothing was changed or written, and if the history is off or failed. */
  edit_id?: string
  /** For a creation: false if it replaced a file, or there was nothing to make. */
  created?: boolean
  /** The file is gone. */
  removed?: true
}

/**
 * One operation of a batch. `apart`: for a plan that needs the history of its path, which ends in the content before
 * the batch. It is planned on that content even if other names of the file are in the batch too; names with the same
 * result stay one file.
 */
export type BatchStep<T, F> =
  | { operation: 'edit'; target: FileTarget; plan: Planner<T, F>; apart?: boolean }
  /** `moves`: the file that the step before removes is moved here. */
  | { operation: 'create'; target: CreateTarget; plan: Planner<T, F>; moves?: true }
  /** The file, which may be binary, is removed whatever the plan holds: only if the history can restore it. */
  | { operation: 'remove'; target: FileTarget; plan: Planner<T, F> }

/** `batch_id`: absent if nothing was written, and if the history is off. */
export interface BatchDone<T> {
  batch_id?: string
  steps: FileChanged<T>[]
}

/** Receives a file in chunks. Each chunk's buffer is reused: copy what must be kept. */
export interface Consumer<R> {
  push(chunk: Buffer): void
  finish(): R
}

interface Scanned<R> extends FileFacts {
  file_size: number
  modified_at: Date
  value: R
}

export interface PageRequest {
  /** The `next_entry` of the page before. */
  after?: string
  /** At least 1. */
  limit: number
}

/** A link is reported as a link, wherever it leads. Bytes of `name` that aren't UTF-8 are shown as U+FFFD. */
export interface Entry {
  name: string
  type: 'file' | 'directory' | 'symlink' | 'other'
  file_size?: number
}

export interface Entries {
  /** In byte order of their names. */
  entries: Entry[]
  /**
   * There are more, after `next_entry`: the last name shown. If that name isn't UTF-8, `/` and its bytes in hex are
   * appended, so that it is unambiguous.
   */
  truncated: boolean
  next_entry?: string
  /** Some names are not shown exactly. */
  lossy?: true
}

export interface Listing extends Entries {
  path: string
  resolved_path?: string
}

export type Looked<R> = ({ type: 'file' } & Scanned<R>) | ({ type: 'directory' } & Listing)

/** What a folder holds, at every depth. */
export interface FilesBelow {
  /** As requested, normalised. */
  path: string
  total: number
  /** Paths below the root, in byte order; empty if there are more than were asked for. */
  files: string[]
  /** Real paths of the folder and of those in it, each before those inside it. */
  folders: Buffer[]
  /** What in it can't be removed and brought back, and isn't counted; null: nothing. */
  blocked: FailedAccess<FileFailure> | null
  /** The last of the earlier steps that remove a file which is in it now; null: none does. */
  leaves: EarlierStep | null
}

/** A step of a batch, which other steps follow. */
export type EarlierStep = Pick<BatchStep<never, never>, 'operation' | 'target'>

/** What to find below a folder, or in one file. */
export interface FindQuery {
  /** As a request gives it. */
  path: string
  /** Exact text or an expression that is matched line by line; absent: files by their names alone. */
  text?: { pattern: string; regex: boolean; ignore_case: boolean; whole_word: boolean }
  /** Globs as ripgrep takes them, relative to the root. */
  include: readonly string[]
  exclude: readonly string[]
  /** Also files that `.gitignore` and `.ignore` exclude. */
  ignored: boolean
  /** `modified`: newest first, only without `text`. */
  sort: 'path' | 'modified'
  /** Continues after the file at this path, in the query's order. */
  after?: string
  /** How many files to return at most. */
  max_files: number
  client?: Client | undefined
}

/** Bytes `start` to `end` (exclusive) of a text. */
export interface TextRange {
  start: number
  end: number
}

/** Uses the files found. */
export interface FoundUse<R> {
  /**
   * Which matches count, given all those in a file's text in order; none: the file isn't among the results. Called once
   * for each file; absent: all count. Without `text` in the query it isn't called.
   */
  select?(text: Buffer, matches: readonly TextRange[], path: string): Promise<readonly TextRange[]>
  /**
   * What is returned of a file. The text is UTF-8, decoded if the file isn't, and without `text` in the query empty;
   * called at least for each file returned, in no order. The buffer is valid only during the call.
   */
  cut(text: Buffer, matches: readonly TextRange[], path: string): R
  /** How many matches of a file `cut` needs; absent: all. Saves memory where there are very many. */
  most?: number
  /** Called with each binary file that holds the text, or is the only one to look in: it is `skipped`. */
  binary?(path: string): void
}

export interface FoundFile<R> extends FileFacts {
  file_size: number
  modified_at: Date
  /** How many matches count in it; 0 without `text`. */
  count: number
  /** `after` of a query that continues after it, if that isn't its path: it has bytes that aren't UTF-8. */
  after?: string
  value: R
}

/** Counts are of files that the caller may read. */
export interface FoundFiles<R> {
  path: string
  resolved_path?: string
  /**
   * By path, in byte order of names, a folder's files where its name belongs; in a bucket in byte order of keys. Or
   * newest first.
   */
  files: FoundFile<R>[]
  /**
   * In all files found, also those before and after the ones returned; a lower bound if `truncated` isn't `limit`. In a
   * bucket, not in those up to `after`.
   */
  total_files: number
  total_matches: number
  /** How many files were looked at; a lower bound likewise. */
  searched_files: number
  /** `limit`: there are more files; `time`, `size`: looking was stopped. */
  truncated?: 'limit' | 'time' | 'size'
  /** `after` of the next query; set if there are, or may be, more files. */
  next_after?: string
  /** Files that hold the text (without `text`: that have the name) and are not among the results. */
  skipped: { binary: number; too_large: number; unreadable: number }
}

/**
 * `unsupported`: no program to search with is installed for this system. A bad pattern: `message` is from the program
 * that reads it; `glob`: the one at fault.
 */
export type FindFailure =
  | { code: 'FIND_NOT_SUPPORTED' }
  | { code: 'BAD_REGEX'; message: string }
  | { code: 'BAD_GLOB'; glob: string; message: string }

/**
 * Which edits are requested, as in the history itself; all members must match. Without `texts`, the records have null
 * as `splices` and `places`; with it, older records may have null too, to limit the size.
 */
export interface HistoryQuery extends Omit<RecordQuery, 'path' | 'under' | 'reviews'> {
  /** The path as a request gives it. */
  path?: string
  /** A folder, as a request gives it: everything below it. */
  under?: string
  state?: EditState
  review?: ReviewState
  /** Whether a record is wanted, if the rest of the query selects it. */
  matches?(record: ChangeRecord): boolean
  /**
   * With `path`: also the edits at the paths that a file was moved here from, made before that move and, over several
   * moves, before those; at no more than `MOST_MOVES` earlier paths, and not behind a path that may not be read.
   */
  follow_moves?: boolean
  /** At least 1; Infinity: all in one answer, cheaper than all pages. */
  limit: number
}

type EditState = 'applied' | 'undone' | 'partly_undone' | 'uncertain'

/** A record of a change, not of a review. */
export interface ChangeRecord extends EditRecord {
  operation: Exclude<RecordedOperation, 'review'>
}

/** A reader with a position in the feed of changes. */
export interface Follower {
  /** Continues after everything that `next` has returned. */
  readonly after: Cursor
  /** A cursor in the form that callers get. */
  textOf(cursor: Cursor): string
  /**
   * The next changes, at most `most`; maybe none although there are more to come. None: it has caught up. Readers at
   * one position that ask for the same number get the same objects. One call at a time.
   */
  next(most: number): Promise<Result<readonly ChangeEvent[], CursorGone | NotReady>>
  /** Resolves when there may be more, or after `end`. */
  more(): Promise<void>
  readonly isEnded: boolean
  /** Must be called when the reader is no longer needed. */
  end(): void
}

/** Which changes to wait for; `path` and `under` mean the same as in `HistoryQuery`. */
export interface ChangesQuery {
  /** The cursor after the last known changes; without it: changes from now on. */
  after?: string
  path?: string
  under?: string
  /** At least 1. */
  limit: number
  /** 0: don't wait. */
  wait_ms: number
  client?: Client | undefined
}

export interface ChangesPage {
  events: readonly ChangeEvent[]
  /** `after` for the next request. */
  next_after: string
}

/** One change and its present state. `undone_by`: the last undo that undid what is undone of it. */
export interface PastEdit {
  record: ChangeRecord
  /** For half of a move: the real path of the other half, if it may be read too. */
  other_path?: Buffer
  /** The texts that the query's `texts` asked for. */
  texts: TextsState
  state: EditState
  undone_by?: string
  /** For an undo or redo: everything it toggled was toggled again since. */
  superseded?: true
  /** Absent if nothing of it is to be reviewed. */
  review?: ReviewState
  /** Absent for an undo or redo, and for an uncertain edit. */
  units?: EditUnits
}

/** The changes of an edit by their index; for an edit that made an empty file, just 0. */
interface EditUnits {
  /** At least 1; Infinity if unknown. */
  count: number
  undone: IndexSet
  /** Those in the baseline: the ones a person has kept. */
  kept: IndexSet
}

/** A verdict's part for one file. */
export interface FileReview {
  /** The real path below the root, as in its records. */
  path: Buffer
  of: readonly ReviewedSelection[]
}

/**
 * A verdict on changes of files, and its author. `outcome`: the part of a keyed request's answer that is kept; plain
 * JSON.
 */
export interface ReviewTarget extends Author {
  verdict: Verdict['verdict']
  /** At least one. */
  files: readonly FileReview[]
  key?: Key
  audit?: AuditedCall
  outcome?: unknown
}

export interface HistoryPage {
  /** Newest first. */
  edits: PastEdit[]
  /** Set if there are more: `before` of the next page. */
  next_before?: string
  /** ms since 1970; older edits were removed, or never recorded. */
  oldest_kept_at?: number
  /** The requested ids whose edits the history no longer keeps. */
  swept?: readonly string[]
}

/** A failure and its file, as far as that is known and may be revealed. */
export type FailedAccess<F> = { ok: false; failure: F; path: string; resolved_path?: string; file_hash?: string }

/** `at`: the step that failed. `behind`: an earlier step that makes what is in its way. */
export type FailedStep<F> = FailedAccess<F> & { at: number; behind?: number }

/**
 * The first step that failed; `others`: later failures in order, as many as were requested; `untried`: if others were
 * requested, the steps that weren't tried.
 */
export type FailedSteps<F> = FailedStep<F> & { others?: readonly FailedStep<F>[]; untried?: readonly number[] }

/**
 * `other_failures`: how many further failed steps to report, default none. A step that depends on a failed one isn't
 * tried: a step on the same text, or on one that was probably meant instead; one whose folder, or file, another would
 * have made.
 */
export type BatchOptions<D> = ChangeOptions<D> & { other_failures?: number }

export interface Workspace {
  /**
   * Where the files are. A bucket has no modes, owners, links or empty folders, and only one file can be changed at a
   * time.
   */
  readonly kind: 'folder' | 'bucket'
  /** For people: the folder's real path when it was opened, or `s3://BUCKET/PREFIX`. */
  readonly root: string
  /**
   * proc: files are held by descriptors; portable: by paths that are checked again, which a swap at the right moment
   * can fool; keys: all objects share a prefix, and there are no links.
   */
  readonly confinement: 'proc' | 'portable' | 'keys'
  /** False: `find` is always FIND_NOT_SUPPORTED. */
  readonly canFind: boolean
  /** Null: there is none. */
  readonly audit: Audit | null
  /**
   * Edits a file, all or nothing. A dry run does the same without the lock and the write. Throws only on errors that no
   * request caused (EIO).
   */
  edit<T, F>(
    target: FileTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Promise<{ ok: true; value: FileChanged<T> } | FailedAccess<F | FileFailure>>
  /**
   * Makes a file, or with `overwrite` and the right hash replaces the existing one: all or nothing, folders included.
   */
  create<T, F>(
    target: CreateTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Promise<{ ok: true; value: FileChanged<T> } | FailedAccess<F | FileFailure>>
  /**
   * Makes many changes in order, all of them or none: each step on a file starts from the result of the earlier ones.
   * `expected_hash` is of the file before the batch. A dry run works as in `edit`. In a bucket, more than one step, or
   * a removal, is BATCH_NOT_SUPPORTED.
   */
  batch<T, F>(
    steps: readonly BatchStep<T, F>[],
    options: BatchOptions<BatchDone<T>>
  ): Promise<{ ok: true; value: BatchDone<T> } | FailedSteps<F | FileFailure>>
  /**
   * Reads a file in chunks of at most 1 MiB, or lists a page of a folder's entries, depending on what the path leads
   * to. Calls `file` for a new consumer whenever reading starts over because the file changed. A folder has no hash:
   * with `expected_hash` it is NOT_A_FILE.
   */
  look<R>(
    target: FileTarget,
    use: { file: () => Consumer<R>; directory: PageRequest }
  ): Promise<{ ok: true; value: Looked<R> } | FailedAccess<FileFailure>>
  /**
   * Finds files by their names and text, as far as the caller may read them. A failure of the query's own: FindFailure.
   * It takes ten seconds at most. NOT_READY: too many wait already.
   */
  find<R>(
    query: FindQuery,
    use: FoundUse<R>
  ): Promise<{ ok: true; value: FoundFiles<R> } | FailedAccess<FileFailure | FindFailure>>
  /**
   * The files in a folder that is to be removed or moved, `most` at most; null if the path doesn't lead to a folder.
   * `after`: as these steps will leave it. Failures: READ_ONLY, DELETE_NOT_ALLOWED; PATH_NOT_ALLOWED if the caller may
   * not use all that could be in it; NOT_A_FILE if the path goes through a link. Failures of what is in it, with the
   * path of that: PROTECTED_PATH, PATH_NOT_ALLOWED, INVALID_PATH, NOT_A_FILE.
   */
  filesBelow(
    target: Pick<FileTarget, 'path'>,
    options: { most: number; after?: readonly EarlierStep[] } & Pick<ChangeOptions<never>, 'may_delete'>
  ): Promise<{ ok: true; value: FilesBelow | null } | FailedAccess<FileFailure>>
  /**
   * Removes a folder and those in it, which hold no file. Failures: those of `filesBelow`; STALE_FILE if one
   * holds something by now.
   */
  removeFolder(
    target: Pick<FileTarget, 'path'>,
    options: Pick<ChangeOptions<never>, 'dry_run' | 'may_delete'>
  ): Promise<{ ok: true; value: null } | FailedAccess<FileFailure>>
  /**
   * Does the work on a file and all its known changes, without a lock. If the file changes meanwhile, both are read
   * again; STALE_FILE if it keeps changing. FILE_NOT_FOUND if there is neither a file nor a change of it; HISTORY_GONE:
   * there is no history.
   */
  recall<T, F>(
    target: Pick<FileTarget, 'path'>,
    work: (file: FileWithPast) => Promise<Result<T, F>>
  ): Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>
  /**
   * The text that an edit of a file brought there by a move. Null: it isn't such an edit, or the old path may not be
   * read.
   */
  movedText(edit: ChangeRecord): Promise<Result<MovedText | null, FileFailure>>
  /** The edits of files that may be read now, and exist or existed where the policy allows it. */
  history(query: HistoryQuery): Promise<Result<HistoryPage, FileFailure>>
  /**
   * Whether the history has removed edits for their age or number; `id`: whether that edit, or batch, is among them.
   */
  hasSwept(id?: string): Promise<Result<boolean, FileFailure>>
  /** The changes after a cursor, of files that may be read now; waits if there are none yet. */
  changes(query: ChangesQuery): Promise<Result<ChangesPage, FileFailure | CursorFailure>>
  /**
   * Follows the changes with a reader that stays. After a cursor is lost, `next` of the reader fails with CURSOR_GONE.
   */
  follow(after?: string): Promise<Result<Follower, FileFailure | CursorFailure>>
  /** Ends all waiting for changes: waiting callers get none. */
  endFollowing(): void
  /**
   * Records a verdict, for all files or none; no file is changed. The caller must name no file that may not be read
   * now. Failures: READ_ONLY, HISTORY_GONE (there is no history), NOT_READY (it can't be written), REQUEST_IN_FLIGHT
   * (another request holds the key by now).
   */
  review(target: ReviewTarget): Promise<Result<null, FileFailure | RequestInFlight>>
  /**
   * Does the work unless a request with this key, of the same `scope`, was carried out: then `replayed` is its stored
   * outcome. `fingerprint` identifies the request's content; `pathsIn` gives the real paths that the outcome names,
   * unless it names just one file's; `use`: what must be allowed there now (default: edit). Failures:
   * IDEMPOTENCY_KEY_REUSED (another fingerprint), PROTECTED_PATH and PATH_NOT_ALLOWED (for a path in the outcome),
   * REQUEST_IN_FLIGHT, HISTORY_GONE (there is no history).
   */
  keyed<T>(
    key: { scope: string; key: string; fingerprint: string },
    work: (key: Key) => Promise<T>,
    pathsIn?: (outcome: unknown) => readonly string[],
    use?: 'edit' | 'read'
  ): Promise<Result<{ done: T } | { replayed: unknown }, KeyFailure>>
  /**
   * This workspace for a caller who may use only the real paths that these patterns cover (see `pathPatternFault` in
   * policy.ts), and no more than this one may. It reveals nothing about other paths, not even whether they exist:
   * PATH_NOT_ALLOWED. Locks, history and counts are shared. The same patterns give the same object while it is
   * referenced. Closing the view, or ending its following, does nothing: both belong to the whole workspace, and apply
   * to its views too.
   */
  limitedTo(paths: readonly string[]): Workspace
  /** Null, or why nothing can be edited now: NOT_READY. Takes a few seconds at most, if a store must be asked. */
  ready(): Promise<FileFailure | null>
  /** Whether the last change could not be recorded. */
  degraded(): boolean
  /** Waits for running work, then releases everything. */
  close(): Promise<void>
}
