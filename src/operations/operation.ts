// What an operation is and what it returns: the types that all of them share. Does not know statuses or the sentences
// of answers.
import type { TSchema } from 'typebox'
import type { InspectResult } from '../../schemas/inspect.ts'
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { ProblemCode } from '../../schemas/problem.ts'
import type { LineFailure, OutlineEntry, SectionFailure, TextFailure } from '../engine/failure.ts'
import type { NewTextWarning } from '../engine/edit/new-text-warnings.ts'
import type { EncodingMismatch } from '../engine/report/encoding-mismatch.ts'
import type { JoinedBreaks } from '../engine/report/joined-breaks.ts'
import type { LeftAlone } from '../engine/edit/plan.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'

/** What is wrong with a request beyond what its schema can express. */
export type OperationFailure =
  | { code: 'MIXED_MODES'; fields: string[] }
  /** `fields`: what one edit needs. */
  | { code: 'NO_EDITS'; fields: readonly string[] }
  | { code: 'INVALID_REQUEST'; faults: FieldFault[] }
  | StrayEdit

/** What is wrong with the field at `pointer`, beyond what its schema says. */
export type FieldFault = { pointer: string } & (
  | { reason: FixedFault }
  /** Beside the target `other`. */
  | { reason: 'second_target'; other: string }
  /** `line`: where the code block starts whose fence would be closed. */
  | { reason: 'closes_fence'; line: number }
  /** `syntax`: RE2's message. */
  | { reason: 'no_regex'; syntax: string }
)

/** Faults that vary in nothing but the field. */
export type FixedFault =
  | 'missing'
  | 'replace_all_too'
  | 'no_target'
  | 'empty_target'
  | 'text_to_delete'
  | 'heading_not_replaced'
  | 'comment_not_replaced'
  | 'without_search'
  | 'for_directories'
  | 'for_files'

/** The field at `pointer` would change more of a document's outline than its target: `entry` would be lost, or made. */
export interface StrayEdit {
  code: 'INVALID_REQUEST'
  pointer: string
  stray: NonNullable<Section['stray']>
}

export type CallFailure = OperationFailure | TextFailure | LineFailure | SectionFailure | FileFailure

/** A failure, and what is known of the file that it concerns. */
export interface Failed {
  ok: false
  failure: CallFailure
  path?: string
  resolved_path?: string
  file_hash?: string
}

/**
 * What an answer says, but for its sentences: `left_alone` becomes the note, `newTextWarnings`, `joined_breaks`,
 * `encoding_mismatch` and `warnings` become warnings.
 */
export type ChangeOutcome = Omit<
  ChangeResult,
  'message' | 'note' | 'warnings' | 'diff_unavailable' | 'encoding_mismatch'
> & {
  left_alone: LeftAlone[]
  newTextWarnings: NewTextWarning[]
  joined_breaks?: JoinedBreaks
  encoding_mismatch?: EncodingMismatch
  warnings: FileWarning[]
  diff_unavailable?: 'not_utf8' | 'too_long'
}
export type InspectOutcome = Omit<InspectResult, 'message' | 'warnings'>
export type Outcome =
  | { operation: 'edit' | 'edit_lines' | 'create'; outcome: ChangeOutcome }
  | { operation: 'edit_section'; outcome: ChangeOutcome; section: Section }
  /** `searched`: the text that matches are of. */
  | { operation: 'inspect'; outcome: InspectOutcome; searched?: string }

/** The target of /edit-section, as it was before. `stray`: another item that the edit lost or made. */
export interface Section {
  entry: OutlineEntry
  errors_before: number[]
  errors_after: number[]
  stray?: { reason: 'lost' | 'made'; entry: OutlineEntry }
}

export type Called = { ok: true; value: Outcome } | Failed

/** What the headers of a request ask of the file, beyond its body. */
export interface Conditions {
  /** `If-None-Match: *`: there must be no file. */
  if_none_match?: true
}

/** The names of operations in a sentence for a caller: their routes, or the names of their tools. */
export interface CallNames {
  readonly edit: string
  readonly edit_lines: string
  readonly edit_section: string
  readonly inspect: string
}

/** One operation, the same however it is called. */
export interface Operation<Request = never> {
  readonly id: string
  readonly route: `/${string}`
  readonly summary: string
  /** For callers; `calls` are the names of others that they know. */
  readonly description: (calls: CallNames) => string
  /** What a model should know beyond the description, where there is room for it. */
  readonly rules?: string
  /**
   * What a call may do: look; compute a change and write nothing; change what is there; make something, which the same
   * call does not do a second time.
   */
  readonly effect: 'looks' | 'computes' | 'changes' | 'makes'
  readonly request: TSchema
  readonly outcome: TSchema
  /** The codes of its problems, beyond those that any request can have. */
  readonly codes: readonly ProblemCode[]
  /** Whether it takes expected_hash, and so If-Match. */
  readonly expects_hash: boolean
  /** Whether it takes If-None-Match: *. */
  readonly expects_none: boolean
  /** Its fields that hold several objects, each with their schema. */
  readonly items: Readonly<Record<string, TSchema>>
  /** The operations one of which its field `operation` names, and whose fields it takes. */
  readonly stands_for?: Readonly<Record<string, Operation>>
  /** `request` has passed the schema; a field with null counts as left out before that. */
  call(request: Request, conditions?: Conditions): Promise<Called>
}

/** `max_file_size` in bytes. */
export interface OperationLimits {
  max_edits: number
  max_file_size: number
}
