// What an operation is and what it returns: the types that all of them share. Does not know statuses or the sentences
// of answers.
import type { TSchema } from 'typebox'
import type { Scope } from '../../schemas/access.ts'
import type { CallField } from '../../schemas/change-fields.ts'
import type { BlameResult } from '../../schemas/blame.ts'
import type { ChangesResult } from '../../schemas/changes.ts'
import type { HistoryResult, ListedEdit } from '../../schemas/history.ts'
import type { InspectResult } from '../../schemas/inspect.ts'
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { PendingResult } from '../../schemas/pending.ts'
import type { ProblemCode } from '../../schemas/problem.ts'
import type { ToolName } from '../../schemas/tools.ts'
import type {
  BrokenSyntax,
  HunkFailure,
  LineFailure,
  SectionFailure,
  TextFailure,
  UnencodableText
} from '../engine/failure.ts'
import type { Selection } from '../engine/history/change.ts'
import type { PatchFault } from '../engine/patch/fault.ts'
import type { ConflictWithFix } from '../engine/take-back.ts'
import type { NewTextWarning } from '../engine/edit/new-text-warnings.ts'
import type { EncodingNote } from '../engine/task.ts'
import type { Section, StrayEntry } from '../engine/plan/plan-section.ts'
import type { NumberedLine, RemovedLines } from '../engine/report/changed-lines.ts'
import type { JoinedBreaks } from '../engine/report/joined-breaks.ts'
import type { LeftAlone } from '../engine/edit/plan.ts'
import type { Audit, AuditedCall } from '../audit/audit.ts'
import type { Author, Client, Key, ReviewTarget, Workspace } from '../workspace/api.ts'
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

/** What the scope of the token doesn't reach: the operation itself, changes that others made, or deleting a file. */
export interface ForbiddenScope {
  code: 'FORBIDDEN_SCOPE'
  needs: Scope
  has: Exclude<Scope, 'review'>
  for: 'operation' | 'others_edits' | 'delete'
}

/** Of a batch: its operations, or the paths that they name. */
export interface TooManyOperations {
  code: 'TOO_MANY_OPERATIONS'
  what: 'operations' | 'paths'
  limit: number
  actual: number
}

/** What is wrong with the field at `pointer`, beyond what its schema says. */
export type FieldFault = { pointer: string } & (
  | { reason: FixedFault }
  /** It names an operation, which is another one. */
  | { reason: 'other_operation'; operation: keyof CallNames }
  /** Beside the target `other`. */
  | { reason: 'second_target'; other: string }
  /** `line`: where the code block starts whose fence would be closed. */
  | { reason: 'closes_fence'; line: number }
  /** `syntax`: RE2's message. */
  | { reason: 'no_regex'; syntax: string }
  /** A patch or diff that can't be read; lines are those of the field. */
  | { reason: 'unreadable_patch'; fault: PatchFault }
  /** Beside the field `other`, which says the same. */
  | { reason: 'not_beside'; other: string }
  /** It selects edits of more files than one request may change. */
  | { reason: 'too_many_files'; limit: number; actual: number }
  /** Of the selectors one is needed. */
  | { reason: 'no_selector'; selectors: readonly string[] }
  /** The edit has no such change; it has `total`. */
  | { reason: 'no_such_change'; index: number; total: number }
)

/** Faults that vary in nothing but the field. */
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
  /** What is to replace old_text. */
  | 'no_new_text'
  | 'same_path'
  | 'replace_all_too'
  | 'no_target'
  | 'empty_target'
  | 'text_to_delete'
  | 'heading_not_replaced'
  | 'comment_not_replaced'
  | 'without_search'
  | 'slow_regex'
  | 'without_structure'
  | 'facts_alone'
  | 'for_directories'
  | 'for_files'

/** The field at `pointer` would change more of a document's outline than its target: `entry` would be lost, or made. */
export interface StrayEdit {
  code: 'INVALID_REQUEST'
  pointer: string
  stray: StrayEntry
}

/** The name of what is done with a set of edits. */
export type TakeBackVerb = 'undo' | 'redo'
/** The same, or that they are reviewed. */
export type EditsVerb = TakeBackVerb | 'review'

/**
 * A change that stands in the way. `by`: absent where it isn't known which. `restores`: an edit that is ready to send.
 */
export interface ConflictAt extends Omit<ConflictWithFix, 'by'> {
  path: string
  by?: string
  /** Where the file is gone, and that is what `by` did. */
  removal?: Removal
}

/** How a file was removed: by an ordinary edit, an undo or a redo, and by which call it comes back. */
export interface Removal {
  operation: 'edit' | TakeBackVerb
  /** Of a move, or of one that was taken back: where the file went. */
  moved_to?: string
  back: { verb: TakeBackVerb; edit_id: string }
}

/**
 * A file that isn't there, and how it went: one removal after the other, each of where the one before it moved the file.
 * `now_at`: where it is now. `undo`: the edit by whose undo it comes back, where the caller may undo it.
 */
export type RemovedFile = Extract<FileFailure, { code: 'FILE_NOT_FOUND' }> & {
  removals: readonly (Removal & { by: string })[]
  now_at?: string
  undo?: string
}

/** The conflicts, at most 100, and how many more there are. */
interface Conflicts {
  conflicts: readonly ConflictAt[]
  more_conflicts?: number
}

/**
 * Why nothing is taken back or made again. `edit_ids`: the edits in question. `together`: those of an undo, and later ones
 * in its way, which can be taken back together; absent where they can't, or the caller may not.
 */
export type HistoryFailure =
  | ({
      code: 'UNDO_CONFLICT'
      verb: TakeBackVerb
      edit_ids: readonly string[]
      together?: readonly Selection[]
    } & Conflicts)
  | ({ code: 'NOTHING_TO_UNDO'; verb: EditsVerb; edit_ids: readonly string[] } & NothingBecause & Partial<Conflicts>)
  | TextsGone
  | EditSwept
  | { code: 'CURSOR_GONE' }
  /** A link stands where the file of the edit was. */
  | { code: 'NOT_A_FILE'; type: 'link_now'; leads_to: string }
  | RemovedFile

/**
 * no_texts: the texts of these edits aren't kept. inconsistent: what is recorded of them doesn't fit the file. `asked`:
 * the edits that were to be taken back or made again, or after which one the state of the file was to be had, where
 * those are others, or whether the file's pending changes or the writers of its lines (after an edit) were asked for;
 * `unrecorded`: and the file was changed since without a record.
 */
export interface TextsGone {
  code: 'HISTORY_GONE'
  reason: 'no_texts' | 'inconsistent'
  edit_ids: readonly string[]
  asked?: { to: TakeBackVerb | 'state_after' | 'pending' | 'blame'; edit_ids: readonly string[] }
  unrecorded?: true
}

/**
 * Edits that the history doesn't keep any more. `to`: what was asked for. `of`: what selected them, where they aren't
 * named; the history keeps none of them, and only a batch is known to have had any. `oldest_kept_at` in ms since 1970.
 */
export interface EditSwept {
  code: 'HISTORY_GONE'
  reason: 'swept'
  edit_ids: readonly string[]
  of?: SweptSelector
  to: EditsVerb | 'blame'
  oldest_kept_at?: number
}

/** What selects edits without naming one. `name`: of the caller, if it is known. */
export type SweptSelector =
  | { selector: 'batch_id' | 'session' | 'agent' | 'path' | 'under'; name: string }
  | { selector: 'caller'; name?: string }

/**
 * An edit that the caller may have meant, with those of its batch. `is_own`: it came from the same client. `line` and
 * `text`: of the first change, what is there since; null where its texts aren't kept.
 */
export interface LastEdit {
  edit_ids: readonly string[]
  path: string
  lines_added: number
  lines_removed: number
  is_own: boolean
  change: { line: number; removed: string; added: string } | null
}

/** `oldest_kept_at` in ms since 1970. `agent`: the caller's name for itself, where it gave one; `token`: of its token. */
type NothingBecause =
  | { reason: 'unknown'; oldest_kept_at?: number }
  /** The file has no such edit. */
  | { reason: 'not_of_file' }
  /** There is no file: this undo took back its creation. */
  | { reason: 'file_removed' }
  /** The edits are undone or, for a redo, stand. */
  | { reason: 'done_already' }
  /** It is half of a move, and the other half isn't to be seen. */
  | { reason: 'half_of_move' }
  /** It is an undo of `undoes`; `batch_id`: of several files, which was asked for as a whole. */
  | { reason: 'is_undo'; undoes: readonly string[]; batch_id?: string }
  /** Nothing that fits the selector stands or, for a review, is known; or nothing of the caller stands. */
  | { reason: 'none' | 'none_of_caller'; token?: string; agent?: string; oldest_kept_at?: number }
  /** Several clients edited, or took back, as the caller does, who gave no name. `last`: what they did, newest first. */
  | { reason: 'several_clients'; verb: TakeBackVerb; token?: string; last: readonly LastEdit[] }
  /** The file is as it is to be. */
  | { reason: 'same_state' }
  /** All of them, with `on_conflict: skip`. */
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
  | HistoryFailure
  | RequestInFlight

/** A failure, and what is known of the file that it concerns. */
export interface Failed {
  ok: false
  failure: CallFailure
  path?: string
  resolved_path?: string
  /** Its SHA-256, 64 hex digits. */
  file_hash?: string
  /** The caller's edit that was taken back in this file, so that a miss there may be of it. */
  taken_back?: TakenBackEdit
  /** The edit that made already what is asked for. */
  made_by?: EarlierEdit
  /** Of a batch. */
  part?: FailedPart
  /** Later operations that fail too, each with its `part`. */
  others?: readonly Failed[]
  /** Later operations that weren't tried, since they depend on one that failed, or too many others did. */
  untried?: readonly PartWithPath[]
}

/** An operation of a batch. */
export interface BatchPart {
  operation_index: number
  /** The field that holds them; default: `operations`. */
  list?: string
  /** Absent where it names none that there is. */
  operation?: string
}

/**
 * Which operation failed. `after`: those of the batch that had changed the text that it failed on. `behind`: an earlier
 * one that makes what stands in its way.
 */
export interface FailedPart extends BatchPart {
  after: readonly number[]
  behind?: PartWithPath
}

/** An operation that is named with its path. */
export interface PartWithPath extends BatchPart {
  path: string
}

/** An edit that was made. `at` in ms since 1970; `agent`: who made it, as it said. */
export interface EarlierEdit {
  edit_id: string
  at: number
  agent?: string
}

/** An edit of the caller that somebody took back. `agent`, `note`: who, and why, as they said. */
export interface TakenBackEdit {
  edit_id: string
  undone_by: string
  agent?: string
  note?: string
}

/** `for_several_lines`: an expression meant to match across lines, which none does. */
export interface SearchedText {
  text: string
  for_several_lines: boolean
}

/**
 * What an answer says, but for its sentences: `left_alone` becomes the note; `newTextWarnings`, `joined_breaks`,
 * `mark_dropped`, `encoded`, `syntax` and `warnings` become warnings.
 */
export type ChangeOutcome = Omit<ChangeResult, 'message' | 'note' | 'warnings' | 'diff_unavailable'> & {
  /** For answers as text: the changed lines as they are now, with one line around each place. */
  changed_lines: NumberedLine[]
  /** For answers as text: of lines that were named by their numbers alone, those that are gone. */
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
export type HistoryOutcome = Omit<HistoryResult, 'message' | 'warnings' | 'edits'> & {
  edits: (Omit<ListedEdit, 'diff_unavailable'> & { diff_unavailable?: 'not_utf8' | 'too_long' | 'page_full' })[]
}
export type PendingOutcome = Omit<PendingResult, 'message' | 'warnings'>
export type BlameOutcome = Omit<BlameResult, 'message' | 'warnings'>
/** One file in which edits were taken back or made again. */
export type TakenBackFile = Omit<ChangeOutcome, 'created'> & { created?: true; removed?: true; edit_ids: string[] }
/** `toggled`: the edits that were taken back or made again; `skipped`: those that were left because of a conflict. */
export interface TakeBackOutcome {
  dry_run: boolean
  results: TakenBackFile[]
  toggled: string[]
  skipped: string[]
  /** Where several files were changed, and a history is kept. */
  batch_id?: string
  /** Of the one file, if it is one and there. */
  sha256?: string
}
/** `edit_ids`: those on which there is another verdict now, newest first. `paths`: where they were made. */
export interface ReviewOutcome {
  verdict: ReviewTarget['verdict']
  edit_ids: string[]
  paths: string[]
}
export type ChangesOutcome = Omit<ChangesResult, 'message' | 'warnings'>
/** What each part of a request did, in order. `batch_id`: absent where nothing was written, and without a history. */
export interface OutcomeOfMany<R> {
  dry_run: boolean
  batch_id?: string
  results: R[]
}
/** What each operation of a batch did. */
export type BatchOutcome = OutcomeOfMany<ChangedOutcome>
/** What was done to one file of a patch. `moved_from`: its path before, as it was asked for. */
export interface PatchedFile {
  operation: 'create' | 'update' | 'delete' | 'move'
  outcome: ChangeOutcome
  moved_from?: string
}
/** The same of all its files. */
export type PatchOutcome = OutcomeOfMany<PatchedFile>
/** Of one operation that changes one file. */
export type ChangedOutcome =
  | { operation: 'edit' | 'edit_lines' | 'create'; outcome: ChangeOutcome }
  | { operation: 'edit_section'; outcome: ChangeOutcome; section: Section }
export type Outcome =
  | ChangedOutcome
  /** `searched`: what matches are of. `start_item`: with which structure begins. */
  | { operation: 'inspect'; outcome: InspectOutcome; searched?: SearchedText; start_item?: number }
  | { operation: 'history'; outcome: HistoryOutcome }
  | { operation: TakeBackVerb; outcome: TakeBackOutcome }
  | { operation: 'batch'; outcome: BatchOutcome }
  | { operation: 'apply_patch'; outcome: PatchOutcome }
  | { operation: 'review'; outcome: ReviewOutcome }
  | { operation: 'pending'; outcome: PendingOutcome }
  | { operation: 'blame'; outcome: BlameOutcome }
  | { operation: 'changes'; outcome: ChangesOutcome }

export type Called = { ok: true; value: Outcome } | Failed

/** Whose token a call came with, where there is an access file; `name`: of the token, or the subject of a JWT. */
export interface Subject {
  name: string
  workspace: string
  scope: Scope
}

/** What a call has besides the fields of its operation; `undefined` is as good as absent. */
export interface CallContext {
  /** Absent without an access file: then whoever calls may do everything. */
  subject?: Subject
  /** `If-None-Match: *`: there must be no file. */
  if_none_match?: true
  /** Who calls. */
  caller?: Author
  /** The call itself says by which agent or in which session it is. */
  is_named?: boolean
  /** Of a request with an idempotency key. */
  key?: Key
  /** Who is told which files it changes. */
  audit?: AuditedCall
  /** Who waits for the answer, where that is known. */
  client?: Client
}

/** The names of operations in a sentence for a caller: their routes, or the names of their tools. */
export interface CallNames {
  readonly edit: string
  readonly edit_lines: string
  readonly edit_section: string
  readonly create: string
  readonly inspect: string
  readonly history: string
  readonly undo: string
  readonly redo: string
}

/** The names of operations that are no tools. */
type RouteOnlyName = 'review_edits' | 'pending_changes' | 'blame_file' | 'wait_for_changes'

/** One operation, the same however it is called. */
export interface Operation<Request = never> extends Callable<Request> {
  readonly id: ToolName | RouteOnlyName
  /** It is no tool: it is for people and their programs, and can be called by its route alone. */
  readonly route_only?: true
  readonly route: `/${string}`
  readonly summary: string
  /** For callers; `calls` are the names of others that they know. */
  readonly description: (calls: CallNames) => string
  /**
   * What the definition of a tool says of a field, in a few words. Other fields have only name and type there, since
   * every request of a model carries all definitions.
   */
  readonly hints: Readonly<Record<string, string>>
  /** As a tool it is offered only where it is asked for by name. */
  readonly only_by_name?: true
  /** As a tool it is defined with these fields only, and takes the others all the same. */
  readonly tool_fields?: readonly string[]
}

/** What reading a request needs to know of what it asks for. */
export type Readable = Pick<
  Callable,
  'id' | 'effect' | 'request' | 'items' | 'expects_hash' | 'expects_none' | 'many_in' | 'call_fields'
>

/** What can be called: an operation, or what only other calls stand for, without a route or tool of its own. */
export interface Callable<Request = never> {
  readonly id: ToolName | RouteOnlyName | 'apply_patch'
  /**
   * What a call may do: look; compute a change and write nothing; change what is there; make something, which the same
   * call does not do a second time.
   */
  readonly effect: 'looks' | 'computes' | 'changes' | 'makes'
  /** The scope that it needs where it changes something; default: edit. */
  readonly needs?: Scope
  readonly request: TSchema
  readonly outcome: TSchema
  /** The codes of its problems, beyond those that any request can have. */
  readonly codes: readonly ProblemCode[]
  /** Whether it takes expected_hash, and so If-Match. */
  readonly expects_hash: boolean
  /** Whether it takes If-None-Match: *. */
  readonly expects_none: boolean
  /** Its fields that hold several objects, each with their schema; also such fields of these objects. */
  readonly items: Readonly<Record<string, TSchema>>
  /**
   * Its fields that say who calls, why and under which key. They are no part of what is asked for: tools don't offer
   * them, and `call` isn't given them.
   */
  readonly call_fields?: readonly CallField[]
  /** Of what changes something: carries a request with an idempotency key out once. */
  readonly keyed?: Workspace['keyed']
  /** Of what changes something, where there is one: is told of each call. */
  readonly audit?: Audit
  /** The operations one of which its field `operation` names, and whose fields it takes. */
  readonly stands_for?: Readonly<Record<string, Readable>>
  /** It takes a list of such requests, in this field. */
  readonly many_in?: string
  /** `request` has passed the schema; a field with null counts as left out before that. */
  call(request: Request, context?: CallContext): Promise<Called>
}

/** `max_file_size` in bytes. */
export interface OperationLimits {
  max_edits: number
  max_file_size: number
}
