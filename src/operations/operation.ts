// What an operation is and what it returns: the types that all operations share. Does not know statuses or the
// sentences of answers.
import type { TSchema } from 'typebox'
import type { Scope } from '../../schemas/access.ts'
import type { CallField } from '../../schemas/change-fields.ts'
import type { BlameResult } from '../../schemas/blame.ts'
import type { ChangesResult } from '../../schemas/changes.ts'
import type { FindRequest, FindResult } from '../../schemas/find.ts'
import type { HistoryResult, ListedEdit } from '../../schemas/history.ts'
import type { InspectResult } from '../../schemas/inspect.ts'
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { PendingResult } from '../../schemas/pending.ts'
import type { ProblemCode } from '../../schemas/problem.ts'
import type { ReplaceRequest, ReplaceResult } from '../../schemas/replace.ts'
import type { ToolName } from '../../schemas/tools.ts'
import type {
  BrokenSyntax,
  HunkFailure,
  LineFailure,
  SectionFailure,
  TextFailure,
  UnencodableText
} from '../engine/failure.ts'
import type { SearchMatch } from '../engine/inspect/match-lines.ts'
import type { Selection } from '../engine/undo/change.ts'
import type { PatchFault } from '../engine/patch/fault.ts'
import type { ConflictWithFix } from '../engine/undo-redo.ts'
import type { NewTextWarning } from '../engine/edit/new-text-warnings.ts'
import type { EncodingNote } from '../engine/task.ts'
import type { Section, StrayEntry } from '../engine/plan/plan-section.ts'
import type { NumberedLine, RemovedLines } from '../engine/report/changed-lines.ts'
import type { JoinedBreaks } from '../engine/report/joined-breaks.ts'
import type { LeftAlone } from '../engine/edit/plan.ts'
import type { Audit, AuditedCall } from '../audit/audit.ts'
import type { Author, Client, FindFailure, Key, ReviewTarget, Workspace } from '../workspace/api.ts'
import type { FileFailure, FileWarning, RequestInFlight } from '../workspace/failure.ts'
import type { SyntaxReport } from './syntax-guard.ts'

/** What is wrong with a request beyond what its schema can express. */
export type OperationFailure =
  | { code: 'MIXED_MODES'; fields: string[] }
  /** `fields`: what one edit needs. */
  | { code: 'NO_EDITS'; fields: readonly string[] }
  | { code: 'INVALID_REQUEST'; faults: FieldFault[] }
  | StrayEdit
  | TooManyOperations
  | ForbiddenScope

/** What the token's scope doesn't allow: the operation itself, touching another's changes, or deleting a file. */
export interface ForbiddenScope {
  code: 'FORBIDDEN_SCOPE'
  needs: Scope
  has: Exclude<Scope, 'review'>
  for: 'operation' | 'others_edits' | 'delete'
}

/** A request has too many operations, names too many paths, or changes too many files. */
export interface TooManyOperations {
  code: 'TOO_MANY_OPERATIONS'
  /** `files`: in the folders that it names; `found_files`: that hold the text to be replaced. */
  what: 'operations' | 'paths' | 'files' | 'found_files'
  limit: number
  actual: number
}

/** What is wrong with the field at `pointer`, beyond what its schema says. */
export type FieldFault = { pointer: string } & (
  | { reason: FixedFault }
  /** The value belongs to another operation, which is named. */
  | { reason: 'other_operation'; operation: keyof CallNames }
  /** Given besides the target `other`. */
  | { reason: 'second_target'; other: string }
  /** `line`: where the code block starts whose fence would be closed. */
  | { reason: 'closes_fence'; line: number }
  /** `syntax`: the message of the program that reads it. */
  | { reason: 'no_regex' | 'no_glob'; syntax: string }
  /** A patch or diff that can't be read; lines are those of the field. */
  | { reason: 'unreadable_patch'; fault: PatchFault }
  /** Given besides the field `other`, which says the same. */
  | { reason: 'not_beside'; other: string }
  /** It selects edits of more files than one request may change. */
  | { reason: 'too_many_files'; limit: number; actual: number }
  /** One of these selectors is needed. */
  | { reason: 'no_selector'; selectors: readonly string[] }
  /** The edit has no such change; it has `total`. */
  | { reason: 'no_such_change'; index: number; total: number }
  /** It is a path, and can't be one. */
  | { reason: 'bad_path'; failure: Extract<FileFailure, { code: 'INVALID_PATH' }> }
)

/** Faults with no details besides the field. */
export type FixedFault =
  | 'several_selectors'
  | 'not_with_to'
  | 'needs_path'
  | 'needs_edit_id'
  | 'changes_of_undo'
  | 'changes_not_kept'
  | 'several_files'
  | 'not_of_file'
  | 'no_time'
  | 'no_cursor'
  | 'missing'
  /** The text that replaces old_text is missing. */
  | 'no_new_text'
  | 'same_path'
  | 'into_itself'
  | 'whole_workspace'
  | 'hash_of_folder'
  | 'replace_all_too'
  | 'no_target'
  | 'empty_target'
  | 'text_to_delete'
  | 'heading_not_replaced'
  | 'comment_not_replaced'
  | 'without_search'
  | 'without_text'
  | 'no_name'
  | 'one_line'
  | 'slow_regex'
  | 'without_structure'
  | 'facts_alone'
  | 'for_directories'
  | 'for_files'

/** The field at `pointer` would change more of a document's outline than its target: it would lose or add `entry`. */
export interface StrayEdit {
  code: 'INVALID_REQUEST'
  pointer: string
  stray: StrayEntry
}

/** A file in which a text is to be replaced. `matches`: the first places. */
export interface FileWithPlaces {
  path: string
  /** The contract's `file_hash`. */
  file_hash: string
  occurrences: number
  matches: readonly SearchMatch[]
}

/** Another number of places than expected, in all files together. `again`: the request with that number. */
export interface WrongCountInFiles {
  code: 'WRONG_COUNT'
  in_files: readonly FileWithPlaces[]
  search_text: string
  expected_occurrences: number
  actual_occurrences: number
  again: Partial<ReplaceRequest>
}

/** Why no text is replaced in any file. */
export type ReplaceFailure =
  | WrongCountInFiles
  /** No file holds the text. `new_text_in`: the files that have its replacement, if there are any. */
  | {
      code: 'NOTHING_TO_REPLACE'
      reason: 'none'
      search_text: string
      searched_files: number
      otherwise: readonly FoundOtherwise[]
      new_text_in?: Omit<FoundOtherwise, 'change'>
    }
  /** Each place has new_text, which holds old_text and more, around it already. */
  | { code: 'NOTHING_TO_REPLACE'; reason: 'repeated'; search_text: string; in_files: readonly FileWithPlaces[] }
  /** Searching was stopped, so not all places are known. */
  | { code: 'SEARCH_INCOMPLETE'; reason: 'time' | 'size'; searched_files: number }

/** What is done with a set of edits, as the name of an operation. */
export type UndoVerb = 'undo' | 'redo'
/** What is done with a set of edits: an undo, a redo or a review. */
export type EditsVerb = UndoVerb | 'review'

/**
 * A change that is in the way. `by`: absent if it isn't known. `restores`: an edit that is ready to send.
 */
export interface ConflictAt extends Omit<ConflictWithFix, 'by'> {
  path: string
  by?: string
  /** Set if the file is gone because of `by`: that removal first, as in `RemovedFile`. */
  removals?: Removals
}

/** How a file was removed: by an ordinary edit, an undo or a redo; and the call that brings it back. */
export interface Removal {
  operation: 'edit' | UndoVerb
  /** Where the file went, if it was moved, or a move was undone. */
  moved_to?: string
  back: { verb: UndoVerb; edit_id: string }
}

/** A chain of removals, each at the path where the one before it moved the file; at least one. */
export type Removals = readonly (Removal & { by: string })[]

/**
 * A file that doesn't exist, and how it went. `now_at`: where the file is now. `undo`: the edit to undo to get
 * it back, if the caller may undo it.
 */
export type RemovedFile = Extract<FileFailure, { code: 'FILE_NOT_FOUND' }> & {
  removals: Removals
  now_at?: string
  undo?: string
}

/** The conflicts, at most 100, and how many more there are. */
interface Conflicts {
  conflicts: readonly ConflictAt[]
  more_conflicts?: number
}

/**
 * Why nothing is undone or redone. `edit_ids`: the edits in question. `together`: these edits and later ones in the
 * way, which can be undone together; absent if they can't be, or the caller may not.
 */
export type HistoryFailure =
  | ({
      code: 'UNDO_CONFLICT'
      verb: UndoVerb
      edit_ids: readonly string[]
      together?: readonly Selection[]
    } & Conflicts)
  | ({ code: 'NOTHING_TO_UNDO'; verb: EditsVerb; edit_ids: readonly string[] } & NothingBecause & Partial<Conflicts>)
  | TextsGone
  | EditSwept
  | { code: 'CURSOR_GONE' }
  /** A link is now where the edited file was. */
  | { code: 'NOT_A_FILE'; type: 'link_now'; leads_to: string }
  | FolderFailure
  | RemovedFile

/**
 * Why a file or folder isn't deleted or moved. `folder`: `recursive` is missing; `files`: how many files are in it;
 * `empty_folder`: none, so the history has no text to keep; `verb`: what was to be done; `emptied`: the earlier operations
 * of the batch leave none.
 * `into_folder`: the file or folder would go where a folder is; `meant`: the path in that folder. `move_target`:
 * something is where it would go.
 */
export type FolderFailure =
  | { code: 'NOT_A_FILE'; type: 'folder'; files: number }
  | { code: 'NOT_A_FILE'; type: 'empty_folder'; verb: 'delete' | 'move'; emptied?: true }
  | { code: 'NOT_A_FILE'; type: 'into_folder'; meant: string }
  | { code: 'ALREADY_EXISTS'; reason: 'move_target'; from: string }

/**
 * no_texts: the texts of these edits aren't kept. inconsistent: their records don't fit the file. `goal`: what the
 * request asked for, if those aren't the same edits: to undo or redo edits, the state of the file after an edit, the
 * file's pending changes, or the writers of its lines (after an edit). `unrecorded`: the file was also changed since
 * then without a record.
 */
export interface TextsGone {
  code: 'HISTORY_GONE'
  reason: 'no_texts' | 'inconsistent'
  edit_ids: readonly string[]
  goal?: { to: UndoVerb | 'state_after' | 'pending' | 'blame'; edit_ids: readonly string[] }
  unrecorded?: true
}

/**
 * Edits that the history doesn't keep any more. `to`: what was asked for. `of`: the selector, if the edits weren't
 * named; the history keeps none that it selects, and only for a batch is it certain that there were any.
 * `oldest_kept_at` in ms since 1970.
 */
export interface EditSwept {
  code: 'HISTORY_GONE'
  reason: 'swept'
  edit_ids: readonly string[]
  of?: SweptSelector
  to: EditsVerb | 'blame'
  oldest_kept_at?: number
}

/** A selector that doesn't name edits. `name`: the caller's name, if it is known. */
export type SweptSelector =
  | { selector: 'batch_id' | 'session' | 'agent' | 'path' | 'under'; name: string }
  | { selector: 'caller'; name?: string }

/**
 * An edit that the caller may have meant, with the others of its batch. `is_own`: it came from the same client.
 * `change`: its first change; null if its texts aren't kept.
 */
export interface LastEdit {
  edit_ids: readonly string[]
  path: string
  lines_added: number
  lines_removed: number
  is_own: boolean
  change: { line: number; removed: string; added: string } | null
}

/**
 * `oldest_kept_at` in ms since 1970. `agent`: the name that the caller gave itself, if any; `token`: its token's name.
 */
type NothingBecause =
  | { reason: 'unknown'; oldest_kept_at?: number }
  /** The file has no such edit. */
  | { reason: 'not_of_file' }
  /** There is no file: this undo undid its creation. */
  | { reason: 'file_removed' }
  /** The edits are already undone or, for a redo, already applied. */
  | { reason: 'done_already' }
  /** It is half of a move, and the other half can't be seen. */
  | { reason: 'half_of_move' }
  /** It is an undo of `undoes`; `batch_id`: if the request named a whole batch of undos. */
  | { reason: 'is_undo'; undoes: readonly string[]; batch_id?: string }
  /** No edit that fits the selector is applied (for a review: known), or none of the caller's is. */
  | { reason: 'none' | 'none_of_caller'; token?: string; agent?: string; oldest_kept_at?: number }
  /**
   * Several clients edited, or undid, under the caller's name, and it gave none. `last`: what they did, newest first.
   */
  | { reason: 'several_clients'; verb: UndoVerb; token?: string; last: readonly LastEdit[] }
  /** Several applied edits ended in the text with the hash that was given. `last`: these, newest first. */
  | { reason: 'same_result'; verb: UndoVerb; last: readonly LastEdit[] }
  /** The file already has the requested state. */
  | { reason: 'same_state' }
  /** All edits are in conflict, with `on_conflict: skip`. */
  | { reason: 'all_in_conflict' }

export type CallFailure =
  | OperationFailure
  | TextFailure
  | LineFailure
  | HunkFailure
  | SectionFailure
  | BrokenSyntax
  | UnencodableText
  | FileFailure
  | Extract<FindFailure, { code: 'FIND_NOT_SUPPORTED' }>
  | ReplaceFailure
  | HistoryFailure
  | RequestInFlight

/** A failure, and what is known about the file that it concerns. */
export interface Failed {
  ok: false
  failure: CallFailure
  path?: string
  resolved_path?: string
  /** Its SHA-256, 64 hex digits. */
  file_hash?: string
  /** The caller's edit of this file that was undone, so that a miss may be because of it. */
  taken_back?: TakenBackEdit
  /** The edit that already made the requested change. */
  made_by?: EarlierEdit
  /** The files that can't be changed, of those that were to be, and the request that leaves them out. */
  leave_out?: LeftOut
  /** The part of a batch that failed. */
  part?: FailedPart
  /** Later operations that fail too, each with its `part`. */
  others?: readonly Failed[]
  /** Later operations that weren't tried, because they depend on a failed one, or too many others failed. */
  untried?: readonly PartWithPath[]
}

/** Files that can't be changed, and a request of the same operation that leaves them out. */
export interface LeftOut {
  paths: readonly string[]
  again: Partial<ReplaceRequest>
}

/** An operation of a batch. */
export interface BatchPart {
  operation_index: number
  /** The field that holds the operations; default: `operations`. */
  list?: string
  /** Absent if it names no operation that exists. */
  operation?: string
}

/**
 * Which operation failed. `path`: its own, if the failure may be of another, such as the new path of a move. `after`:
 * operations of the batch that had changed the text that it failed on. `behind`: an earlier operation that makes what
 * is in its way.
 */
export interface FailedPart extends BatchPart {
  path?: string
  after: readonly number[]
  behind?: PartWithPath
}

/** An operation, with its path. */
export interface PartWithPath extends BatchPart {
  path: string
}

/** An edit that was made. `at` in ms since 1970; `agent`: the name that its caller gave. */
export interface EarlierEdit {
  edit_id: string
  at: number
  agent?: string
}

/** An edit of the caller that someone else undid. `agent`, `note`: who did it, and why, in their words. */
export interface TakenBackEdit {
  edit_id: string
  undone_by: string
  agent?: string
  note?: string
}

/** `for_several_lines`: the expression is meant to match across lines, which no expression does. */
export interface SearchedText {
  text: string
  for_several_lines: boolean
}

/** What a request to /find that found nothing finds with other fields. Counts are lower bounds if it was stopped. */
export interface FoundOtherwise {
  /** Undefined leaves a field out. */
  change: { readonly [Field in keyof FindRequest]?: FindRequest[Field] | undefined }
  total_files: number
  total_matches: number
  stopped: boolean
}

/** What /find was asked for, and what would find something if nothing was found. */
export interface SoughtFiles {
  request: FindRequest
  otherwise: readonly FoundOtherwise[]
}

/**
 * What an answer says, except for its sentences: `left_alone` becomes the note; `newTextWarnings`, `joined_breaks`,
 * `mark_dropped`, `encoded`, `syntax` and `warnings` become warnings.
 */
export type ChangeOutcome = Omit<ChangeResult, 'message' | 'note' | 'warnings' | 'diff_unavailable'> & {
  /** For answers as text: the changed lines as they are now, with one line around each place. */
  changed_lines: NumberedLine[]
  /** How many changed places have no line there; absent if none. */
  more_places?: number
  /** For answers as text: the removed lines, if the caller didn't state what they hold. */
  removed_lines?: RemovedLines
  left_alone: LeftAlone[]
  newTextWarnings: NewTextWarning[]
  joined_breaks?: JoinedBreaks
  mark_dropped?: true
  encoded?: EncodingNote
  syntax?: SyntaxReport
  warnings: FileWarning[]
  diff_unavailable?: 'not_utf8' | 'too_long'
}
export type InspectOutcome = Omit<InspectResult, 'message' | 'warnings'>
export type FindOutcome = Omit<FindResult, 'message' | 'warnings'>
export type HistoryOutcome = Omit<HistoryResult, 'message' | 'warnings' | 'edits'> & {
  edits: (Omit<ListedEdit, 'diff_unavailable'> & { diff_unavailable?: 'not_utf8' | 'too_long' | 'page_full' })[]
}
export type PendingOutcome = Omit<PendingResult, 'message' | 'warnings'>
export type BlameOutcome = Omit<BlameResult, 'message' | 'warnings'>
/** One file in which edits were undone or redone. */
export type UndoneFile = Omit<ChangeOutcome, 'created'> & { created?: true; removed?: true; edit_ids: string[] }
/** `toggled`: the edits that were undone or redone; `skipped`: those left alone because of a conflict. */
export interface UndoOutcome {
  dry_run: boolean
  results: UndoneFile[]
  toggled: string[]
  skipped: string[]
  /** Set if several files were changed, and a history is kept. */
  batch_id?: string
  /** The batch of the undone edit, if the request named only its file and other edits of the batch stand. */
  rest_of_batch?: string
  /** The hash of the file, if it is one file and it exists. */
  sha256?: string
}
/** `edit_ids`: edits whose verdict has changed, newest first. `paths`: where they were made. */
export interface ReviewOutcome {
  verdict: ReviewTarget['verdict']
  edit_ids: string[]
  paths: string[]
}
export type ChangesOutcome = Omit<ChangesResult, 'message' | 'warnings'>
/** What each part of a request did, in order. `batch_id`: absent if nothing was written, or without a history. */
export interface OutcomeOfMany<R> {
  dry_run: boolean
  batch_id?: string
  results: R[]
}
/** What each operation of a batch did. */
export type BatchOutcome = OutcomeOfMany<ChangedOutcome>
/** What was done to one file of a patch. `moved_from`: its path before, as the request named it. */
export interface PatchedFile {
  operation: 'create' | 'update' | 'delete' | 'move'
  outcome: ChangeOutcome
  moved_from?: string
}
/** What was done to all files of a patch. */
export type PatchOutcome = OutcomeOfMany<PatchedFile>
/** What was replaced in one file. `matches`: the first places, if nothing was written. */
export interface ReplacedFile {
  occurrences: number
  matches?: readonly SearchMatch[]
  /** Without its changes and lines. */
  outcome: ChangeOutcome
}
/** What was replaced in all files. */
export type ReplaceOutcome = OutcomeOfMany<ReplacedFile> & Pick<ReplaceResult, 'occurrences' | 'skipped'>
/** The outcome of an operation that changes one file. */
export type ChangedOutcome =
  | { operation: 'edit' | 'edit_lines' | 'create' | 'delete' | 'move'; outcome: ChangeOutcome }
  | { operation: 'edit_section'; outcome: ChangeOutcome; section: Section }
export type Outcome =
  | ChangedOutcome
  /** `searched`: the text that matches are for. `start_item`: the first item of the structure. */
  | { operation: 'inspect'; outcome: InspectOutcome; searched?: SearchedText; start_item?: number }
  /** `by_inspect`: /inspect was asked to search a folder. */
  | { operation: 'find'; outcome: FindOutcome; sought: SoughtFiles; by_inspect?: true }
  | { operation: 'history'; outcome: HistoryOutcome }
  | { operation: UndoVerb; outcome: UndoOutcome }
  | { operation: 'batch'; outcome: BatchOutcome }
  /** `is_count`: the request had no `occurrences`, so nothing was to be written. */
  | { operation: 'replace'; outcome: ReplaceOutcome; is_count?: boolean }
  | { operation: 'apply_patch'; outcome: PatchOutcome }
  | { operation: 'review'; outcome: ReviewOutcome }
  | { operation: 'pending'; outcome: PendingOutcome }
  | { operation: 'blame'; outcome: BlameOutcome }
  | { operation: 'changes'; outcome: ChangesOutcome }

export type CallResult = { ok: true; value: Outcome } | Failed

/** Who a call's token belongs to, if there is an access file. `name`: of the token, or the subject of a JWT. */
export interface Subject {
  name: string
  workspace: string
  scope: Scope
}

/** What a call has besides the fields of its operation; `undefined` means absent. */
export interface CallContext {
  /** Absent without an access file: then every caller may do everything. */
  subject?: Subject
  /** `If-None-Match: *`: there must be no file. */
  if_none_match?: true
  /** The caller. */
  caller?: Author
  /** The call itself names its agent or session. */
  is_named?: boolean
  /** The request's idempotency key. */
  key?: Key
  /** Receives the files that the call changes. */
  audit?: AuditedCall
  /** The client that waits for the answer, if known. */
  client?: Client
  /** Folders below this one go with the last file that is deleted from them, or moved. */
  clears_below?: string
}

/** The names of operations in a sentence for a caller: their routes, or the names of their tools. */
export interface CallNames {
  readonly edit: string
  readonly edit_lines: string
  readonly edit_section: string
  readonly create: string
  readonly replace: string
  readonly inspect: string
  readonly find: string
  readonly delete: string
  readonly move: string
  readonly history: string
  readonly undo: string
  readonly redo: string
}

/** The names of operations that aren't tools. */
type RouteOnlyName = 'review_edits' | 'pending_changes' | 'blame_file' | 'wait_for_changes'

/** One operation, independent of how it is called. */
export interface Operation<Request = never> extends Callable<Request> {
  readonly id: ToolName | RouteOnlyName
  /** Not a tool: it is for people and their programs, and can be called only by its route. */
  readonly route_only?: true
  readonly route: `/${string}`
  readonly summary: string
  /** For callers; `calls`: the names that they know other operations by. */
  readonly description: (calls: CallNames) => string
  /**
   * Short hints for fields in the definition of a tool. Fields without a hint have only name and type there, since
   * every request of a model carries all definitions.
   */
  readonly hints: Readonly<Record<string, string>>
  /** It is offered as a tool only if the configuration names it. */
  readonly only_by_name?: true
  /** It removes files, so it is offered as a tool only where that is allowed. */
  readonly deletes?: true
  /** As a tool, it is defined with these fields only, but accepts the others too. */
  readonly tool_fields?: readonly string[]
}

/** What reading a request needs to know about its operation. */
export type Readable = Pick<
  Callable,
  'id' | 'effect' | 'request' | 'items' | 'expects_hash' | 'expects_none' | 'many_in' | 'call_fields'
>

/** Why there is no text at a path. */
export type Emptiness = 'no_file' | 'empty_file'

/** What can be called: an operation, or a part of other calls that has no route or tool of its own. */
export interface Callable<Request = never> {
  readonly id: ToolName | RouteOnlyName | 'apply_patch'
  /**
   * What a call may do: look; compute a change and write nothing; change what exists; or make something, so that the
   * same call isn't idempotent.
   */
  readonly effect: 'looks' | 'computes' | 'changes' | 'makes'
  /** The scope that it needs to change something; default: edit. */
  readonly needs?: Scope
  readonly request: TSchema
  readonly outcome: TSchema
  /** The codes of its problems, besides those that any request can have. */
  readonly codes: readonly ProblemCode[]
  /** Whether it takes expected_hash, and so If-Match. */
  readonly expects_hash: boolean
  /** Whether it takes If-None-Match: *. */
  readonly expects_none: boolean
  /** Its fields that hold several objects, each with their schema; also such fields inside these objects. */
  readonly items: Readonly<Record<string, TSchema>>
  /**
   * Its fields that name the caller, the reason and the key. They aren't part of what is asked for: tools don't offer
   * them, and `call` doesn't receive them.
   */
  readonly call_fields?: readonly CallField[]
  /** If it changes something: runs a request with an idempotency key only once. */
  readonly keyed?: Workspace['keyed']
  /** If it changes something and an audit is kept: receives each call. */
  readonly audit?: Audit
  /** The operations that its field `operation` can name; it takes their fields. */
  readonly stands_for?: Readonly<Record<string, Readable>>
  /** The field that holds a list of such requests. */
  readonly many_in?: string
  /** If it looks for text in the file at a path: whether there is any text; undefined if there is, or it can't be seen. */
  emptinessOf?(path: string): Promise<Emptiness | undefined>
  /** `request` has passed the schema; a field that is null was removed before that. */
  call(request: Request, context?: CallContext): Promise<CallResult>
}

/** `max_file_size` in bytes. */
export interface OperationLimits {
  max_edits: number
  max_file_size: number
}
