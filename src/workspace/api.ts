// What others see of the workspace: its options, requests and results. Types only; does not know HTTP.
import type { Audit, AuditedCall } from '../audit/audit.ts'
import type { ReviewedSelection, ReviewState, Verdict } from '../engine/history/baseline.ts'
import type { RecordedChange, RecordedSplice, Selection } from '../engine/history/change.ts'
import type { IndexSet } from '../engine/history/index-set.ts'
import type { SplicePlace } from '../engine/history/places.ts'
import type { Encodings } from '../engine/text/codec.ts'
import type { CursorGone, RecordQuery, Told } from '../log/api.ts'
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

/** What holds wherever the files are. */
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
  /** Those that forbid reading too. */
  readProtect: readonly string[]
  /** Endings of names, with the dot; null: all. They hold for reading too. */
  allowExtensions: readonly string[] | null
  /** required: what can't be recorded isn't done; meta: no texts are kept. */
  history: 'full' | 'meta' | 'required' | 'off'
  historyDays: number
  /** In bytes. */
  historySize: number
  /** Patterns as of `protect`: of these files no texts are kept. */
  historyPrivate: readonly string[]
  /** Is told of every change. */
  audit?: Audit
  /** For the log. Never gets text of files. */
  report?: (event: { event: string; [key: string]: unknown }) => void
  /** Without it nothing is measured. */
  meter?: Meter
}

/** Hears how much is done, and how long it takes. */
export interface Meter {
  /** The lock of a file was waited for, and had or not. */
  locked(seconds: number, isHeld: boolean): void
  /** A lock was taken over from a holder that is gone. */
  tookOver(): void
  /** So many bytes of files were put on the disk, in one change of one file or of many. */
  committed(seconds: number, bytes: number): void
  /** So many bytes of a file were read to change it. */
  read(bytes: number): void
  /** So much the history takes now. */
  history(bytes: number): void
  /** The workspace is closed. */
  closed(): void
}

/** Of a folder. */
export interface WorkspaceOptions extends CommonOptions {
  /** An existing folder. */
  root: string
  /** One folder per root, shared by all servers on it; made with mode 0700 if it is missing. */
  stateDir: string
  /** full: file and folder are synced before an edit is acknowledged. */
  durability: 'full' | 'fast'
  /** local: without the lock file that keeps other hosts and containers out. */
  lock: 'shared' | 'local'
  /** proc wherever it works. */
  confinement?: 'proc' | 'portable'
  /** How many of the process's threads may wait for the root's file system at once. All of them by default. */
  threads?: number
}

export type * from '../log/record.ts'
export type { Told } from '../log/api.ts'

export interface FileTarget {
  path: string
  expected_hash?: string
}

/** Who changes a file, and by which operation, as the history has it. */
export interface Origin extends Author {
  operation: Exclude<RecordedOperation, 'outside' | 'review'>
  /** Of all files that are changed together. */
  batch_id?: string
  /** Of `keyed`. */
  key?: Key
}

/** An idempotency key of a request, held while it runs. */
export interface Key {
  readonly digest: string
  readonly fingerprint: string
  /** Whether it is still this request's; synchronous. */
  held(): boolean
}

/** Who waits for an answer. */
export interface Client {
  /** Whether it waits no more; synchronous. */
  isGone(): boolean
  /** Has `end` called when it waits no more, at once if it doesn't now; maybe also after it has the answer. */
  onGone(end: () => void): void
}

/**
 * How a change is made. Without `origin` the history has it as an edit, or a creation, of nobody known. `outcome`: what
 * is kept of a keyed request's answer, to be given again; plain JSON, without texts of the file unless `texts`.
 * `may_delete`: whether it may remove files, instead of `allowDelete`. `audit`: of the call that it is part of. `client`:
 * whose change isn't made if it has gone by the time that the file is ours.
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
  /** Of the content that is to be replaced; where no file is, FILE_NOT_FOUND. */
  expected_hash?: string
  overwrite: boolean
  /** Else a missing folder is FILE_NOT_FOUND. */
  create_parents: boolean
  /** If-None-Match: *, so an existing file is never replaced. */
  if_none_match?: boolean
  /**
   * `literal`: a name that looks like another one is meant as it is, unless it has control characters. `known`: the file
   * was there before. Otherwise such a name is INVALID_PATH.
   */
  name?: 'literal' | 'known'
}

/**
 * What a planner makes of a text: the result as pieces, and what will be reported about it. Both exist before anything
 * is written.
 */
export interface Planned<T> {
  pieces: readonly Buffer[]
  /** The same as it is recorded of the text that it was given; without it the history compares the texts. */
  splices?: readonly RecordedSplice[]
  /** On which line of that text each of them begins; without them the history counts. */
  splice_lines?: readonly number[]
  /** Where each of them is; without it the history looks. */
  places?: readonly SplicePlace[]
  /** The encodings of the text before and after, where one isn't UTF-8. */
  encodings?: Encodings
  /** Of an undo or redo: what it takes back or makes again. */
  toggles?: readonly Selection[]
  /**
   * The file is to be removed, `pieces` is empty; and those of `made_folders` that are empty then. Where there is none,
   * nothing is to be done, but `toggles` are recorded. In a batch, no later step may be of that file.
   */
  removes?: true
  made_folders?: readonly Buffer[]
  /** Of a new file; without them it gets the system's defaults. */
  attributes?: FileAttributes
  description: T
  /** The bytes that it was given, where they were somewhere else meanwhile. */
  original?: Buffer
}
/**
 * `path` as it is answered, `resolved_path` where a link led elsewhere. `stale`: the file isn't the one that the
 * request expects, so that nothing will be written.
 */
export interface PlannedFile {
  path: string
  resolved_path?: string
  exists: boolean
  /** Of the file that is there. */
  attributes?: FileAttributes
  stale?: StaleFile
  /** In bytes: what the text may grow to, where that isn't what any file may. */
  max_result_size?: number
  /** Its changes so far, oldest first; they end in what the file holds, before the batch if this is a step of one. */
  history(): Promise<FileHistory>
}

/** What is known of one file's changes. */
export interface FileHistory {
  changes: readonly RecordedChange[]
  /** Which of them still stand, and by whom they were undone: of each edit_id of the file. */
  records: readonly ChangeRecord[]
}
/**
 * A file that is there, or that was removed, with its changes; these end in what it holds. The last of them has no id
 * where another program has changed the file and nobody has recorded it yet.
 */
export interface FileWithPast extends Omit<FileFacts, 'file_hash'>, FileHistory {
  /** Absent where there is no file. */
  file_hash?: string
  /** Whoever is given it may use it up. */
  bytes: Buffer
  /** On its changes, oldest first. */
  verdicts: readonly Verdict[]
}

/**
 * A new file's original is empty. Where it returns a promise, `original` is the planner's, until the plan gives it
 * back; a failure needn't. Given `stale`, a planner fails with it, and may add to it what is there now.
 */
export type Planner<T, F> = (
  original: Buffer,
  file: PlannedFile
) => Result<Planned<T>, F> | Promise<Result<Planned<T>, F>>

export interface FileFacts {
  /** Below the root, as it was asked for, normalised. */
  path: string
  /** Below the root, where a link led elsewhere. */
  resolved_path?: string
  /** Of the bytes on disk now: their SHA-256, 64 hex digits. What answers call so is its beginning. */
  file_hash: string
}

/**
 * What became of one file, by an edit, a creation or a step of a batch. Hashes and `file_size` are those of the file before
 * and after all steps; `changed` and `description` are of this step. Warnings of a file are with its last step.
 */
export interface FileChanged<T> extends Omit<FileFacts, 'file_hash'> {
  changed: boolean
  /** Absent where there was no file. */
  hash_before?: string
  /** Of the result; in a dry run the would-be one. */
  new_hash: string
  /** Of the file as it is now; absent where there is none, as in the dry run of a creation. */
  file_hash?: string
  /** Of the result, in bytes. */
  file_size: number
  description: T
  warnings: FileWarning[]
  write_strategy?: 'in_place'
  /** Of its record; absent where nothing was changed or written, and where the history is off or failed. */
  edit_id?: string
  /** Of a creation: false where it replaced a file, or nothing was to be made. */
  created?: boolean
  /** The file is gone. */
  removed?: true
}

/**
 * One operation of a batch. `apart`: for a plan that needs the history of its path, which ends in what was there before
 * the batch. Where other names of the file are in the batch too, it is planned on that all the same; names for which
 * the same comes out stay one file.
 */
export type BatchStep<T, F> =
  | { operation: 'edit'; target: FileTarget; plan: Planner<T, F>; apart?: boolean }
  /** `moves`: the file that the step before removes is moved here. */
  | { operation: 'create'; target: CreateTarget; plan: Planner<T, F>; moves?: true }
  /** The file is removed, whatever the plan holds: only where the history can bring it back. */
  | { operation: 'remove'; target: FileTarget; plan: Planner<T, F> }

/** `batch_id`: absent where nothing was written, and where the history is off. */
export interface BatchDone<T> {
  batch_id?: string
  steps: FileChanged<T>[]
}

/** Takes a file in chunks. The buffer of a chunk is used again: what is to be kept has to be copied. */
export interface Consumer<R> {
  push(chunk: Buffer): void
  finish(): R
}

export interface Scanned<R> extends FileFacts {
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
   * There are more, after `next_entry`: the last name shown. To one that isn't UTF-8, `/` and its bytes in hex are
   * added, so that no other is like it.
   */
  truncated: boolean
  next_entry?: string
  /** Some names are not as they are shown. */
  lossy?: true
}

export interface Listing extends Entries {
  path: string
  resolved_path?: string
}

export type Looked<R> = ({ type: 'file' } & Scanned<R>) | ({ type: 'directory' } & Listing)

/**
 * Which edits are asked for, as in the history itself; all members must hold. Without `texts`, `splices` and `places`
 * of the records are null, as they are of the older ones where it would be too much.
 */
export interface HistoryQuery extends Omit<RecordQuery, 'path' | 'under' | 'reviews'> {
  /** As a request gives it. */
  path?: string
  /** A folder, as a request gives it: all below it. */
  under?: string
  state?: EditState
  review?: ReviewState
  /** At least 1; Infinity: all, which takes less than all pages. */
  limit: number
}

export type EditState = 'applied' | 'undone' | 'partly_undone' | 'uncertain'

/** A record of a change, and so of no review. */
export interface ChangeRecord extends EditRecord {
  operation: Exclude<RecordedOperation, 'review'>
}

/** A reader that is somewhere in what was changed. */
export interface Follower {
  /** Goes on after all that `next` has returned. */
  readonly after: Cursor
  /** A cursor as its caller is given it. */
  textOf(cursor: Cursor): string
  /**
   * The next changes, at most `most`, maybe none; none: it has caught up. Those who are at one place and ask for as many
   * are given the same objects. One call at a time.
   */
  next(most: number): Promise<Result<readonly Told[], CursorGone | NotReady>>
  /** Resolves when there may be more, or it was ended. */
  more(): Promise<void>
  readonly isEnded: boolean
  /** To be called when it isn't needed any more. */
  end(): void
}

/** Which changes are waited for; `path` and `under` as of `HistoryQuery`. */
export interface ChangesQuery {
  /** The cursor after the last changes that are known; without it: those from now on. */
  after?: string
  path?: string
  under?: string
  /** At least 1. */
  limit: number
  /** 0: not at all. */
  wait_ms: number
  client?: Client | undefined
}

export interface ChangesPage {
  told: readonly Told[]
  /** `after` of the next request. */
  next_after: string
}

/** One change, and what has become of it. `undone_by`: the last undo that took back what is undone of it. */
export interface PastEdit {
  record: ChangeRecord
  /** Of what `texts` asked for. */
  texts: TextsState
  state: EditState
  undone_by?: string
  /** Of an undo or redo: all that it took back or made again was taken back or made again since. */
  superseded?: true
  /** Absent where nothing of it is to be reviewed. */
  review?: ReviewState
  /** Absent of an undo or redo, and of one that is uncertain. */
  units?: EditUnits
}

/** The changes of an edit by their index; of one that made a file without bytes, 0. */
export interface EditUnits {
  /** At least 1; Infinity where it isn't known. */
  count: number
  undone: IndexSet
  /** Those in the baseline: what a person has kept. */
  kept: IndexSet
}

/** What a verdict says of one file. */
export interface FileReview {
  /** The real path below the root, as of its records. */
  path: Buffer
  of: readonly ReviewedSelection[]
}

/** A verdict on changes of files, and by whom. `outcome`: what is kept of a keyed request's answer; plain JSON. */
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
  /** There are more: `before` of the next page. */
  next_before?: string
  /** ms since 1970; what is older was removed, or never recorded. */
  oldest_kept_at?: number
  /** Those of the ids that were asked for whose edits the history doesn't keep any more. */
  swept?: readonly string[]
}

/** A failure with the file it concerns, as far as it is known and may be revealed. */
export type FailedAccess<F> = { ok: false; failure: F; path: string; resolved_path?: string; file_hash?: string }

/** `at`: the step that failed. `behind`: an earlier one that makes what stands in its way. */
export type FailedStep<F> = FailedAccess<F> & { at: number; behind?: number }

/**
 * The first step that failed; `others`: later ones, in their order, as far as they were asked for; `untried`: where these
 * were looked for, the steps that weren't tried.
 */
export type FailedSteps<F> = FailedStep<F> & { others?: readonly FailedStep<F>[]; untried?: readonly number[] }

/**
 * `other_failures`: how many more steps that fail are told, default none. What depends on a step that failed isn't tried: a
 * step of the same text, or of one that was meant instead; one whose folder, or file, another one would have made.
 */
export type BatchOptions<D> = ChangeOptions<D> & { other_failures?: number }

export interface Workspace {
  /**
   * Where the files are. In a bucket there are no modes, owners, links or empty folders, and only one file can be changed
   * at a time.
   */
  readonly kind: 'folder' | 'bucket'
  /** For people: the folder's real path when it was opened, or `s3://BUCKET/PREFIX`. */
  readonly root: string
  /**
   * proc: files are held by descriptors; portable: by paths that are checked again, which a swap at the right moment
   * can fool; keys: all that is asked for begins with the same prefix, and there are no links.
   */
  readonly confinement: 'proc' | 'portable' | 'keys'
  /** Null: there is none. */
  readonly audit: Audit | null
  /**
   * Everything or nothing. A dry run does the same but for the lock and the writing. Throws only where nobody's request
   * is at fault (EIO).
   */
  edit<T, F>(
    target: FileTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Promise<{ ok: true; value: FileChanged<T> } | FailedAccess<F | FileFailure>>
  /**
   * Makes a file, or with `overwrite` and the right hash edits the one that is there: everything or nothing, folders
   * included.
   */
  create<T, F>(
    target: CreateTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Promise<{ ok: true; value: FileChanged<T> } | FailedAccess<F | FileFailure>>
  /**
   * Makes many changes, all of them or none, in their order: those of one file on what the earlier ones made of it.
   * `expected_hash` is of the file before the batch. A dry run as for `edit`. In a bucket, more than one step, or a
   * removal, is BATCH_NOT_SUPPORTED.
   */
  batch<T, F>(
    steps: readonly BatchStep<T, F>[],
    options: BatchOptions<BatchDone<T>>
  ): Promise<{ ok: true; value: BatchDone<T> } | FailedSteps<F | FileFailure>>
  /**
   * Reads a file in chunks of at most 1 MiB, or lists a page of a folder's entries, whichever the path leads to.
   * `file` makes a new consumer whenever reading begins again because the file changed. A folder has no hash: with
   * `expected_hash` it is NOT_A_FILE.
   */
  look<R>(
    target: FileTarget,
    use: { file: () => Consumer<R>; directory: PageRequest }
  ): Promise<{ ok: true; value: Looked<R> } | FailedAccess<FileFailure>>
  /**
   * Does the work on a file and all that is known of its changes; nothing is locked. Where the file changes meanwhile,
   * both are read again: STALE_FILE if it always does. FILE_NOT_FOUND where no change of it is known either;
   * HISTORY_GONE: there is no history.
   */
  recall<T, F>(
    target: Pick<FileTarget, 'path'>,
    work: (file: FileWithPast) => Promise<Result<T, F>>
  ): Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>
  /** The edits of files that may be read now, and exist or existed where the policy allows it. */
  history(query: HistoryQuery): Promise<Result<HistoryPage, FileFailure>>
  /** Whether the history has removed edits as they were too old, or too many; `id`: of one, or of a batch, among them. */
  hasSwept(id?: string): Promise<Result<boolean, FileFailure>>
  /** What was changed after a cursor, of files that may be read now; waits for it if there is nothing yet. */
  changes(query: ChangesQuery): Promise<Result<ChangesPage, FileFailure | CursorFailure>>
  /** The same for a reader that stays. Of the failures of a cursor, `next` of what is returned has CURSOR_GONE. */
  follow(after?: string): Promise<Result<Follower, FileFailure | CursorFailure>>
  /** Nobody is to wait for changes any more: who does is given none. */
  endFollowing(): void
  /**
   * Writes a verdict down, of all files or none; no file is changed. The caller names no file that may not be read now.
   * Failures: READ_ONLY, HISTORY_GONE (there is no history), NOT_READY (it can't be written), REQUEST_IN_FLIGHT (the key
   * is another request's by now).
   */
  review(target: ReviewTarget): Promise<Result<null, FileFailure | RequestInFlight>>
  /**
   * Does the work unless a request with this key, of the same `scope`, was carried out: then `replayed` is the outcome
   * that was kept. `fingerprint` says what is asked for; `pathsIn` the real paths that the outcome names, where they
   * are not that of one file alone; `use`: what must be allowed there now (default: edit). Failures:
   * IDEMPOTENCY_KEY_REUSED (another fingerprint), PROTECTED_PATH and PATH_NOT_ALLOWED (of a path in the outcome),
   * REQUEST_IN_FLIGHT, HISTORY_GONE (there is no history).
   */
  keyed<T>(
    key: { scope: string; key: string; fingerprint: string },
    work: (key: Key) => Promise<T>,
    pathsIn?: (outcome: unknown) => readonly string[],
    use?: 'edit' | 'read'
  ): Promise<Result<{ done: T } | { replayed: unknown }, KeyFailure>>
  /**
   * The same workspace for whoever may use only what these patterns cover (see `pathPatternFault` in policy.ts),
   * by the real path, and no more than this one may. Of everything else it tells nothing, not whether it is there:
   * PATH_NOT_ALLOWED. Locks, history and all that is counted are shared. The same patterns give the same object as long
   * as somebody has it. To close it, or end following, is nothing: both are the whole workspace's, and hold for it too.
   */
  limitedTo(paths: readonly string[]): Workspace
  /** Null, or why nothing can be edited now: NOT_READY. Takes some seconds at most, where a store has to be asked. */
  ready(): Promise<FileFailure | null>
  /** Whether the last change could not be recorded. */
  degraded(): boolean
  /** Waits for what is running, then releases everything. */
  close(): Promise<void>
}
