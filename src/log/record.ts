// What is kept of a change: its record and its settlement. Does not know files, or how records are stored.
import type { Verdict } from '../engine/undo/baseline.ts'
import type { RecordedSplice, Selection } from '../engine/undo/change.ts'
import type { SplicePlace } from '../engine/undo/places.ts'
import type { Encodings } from '../engine/text/codec.ts'

/**
 * The operation that made a change. `outside`: a program that isn't editd, noticed afterwards. `review`: nothing was
 * changed; a verdict was given on changes of the file.
 */
export type RecordedOperation =
  | 'edit'
  | 'edit_lines'
  | 'edit_section'
  | 'create'
  | 'delete'
  | 'move'
  | 'batch'
  | 'replace'
  | 'apply_patch'
  | 'undo'
  | 'redo'
  | 'outside'
  | 'review'

/**
 * Who made a change, and why: `token` is the name of the token that authorized it, as the server found it; the other
 * members are claims of the caller, and shown as such.
 */
export interface Author {
  token?: string
  agent?: string
  session?: string
  reason?: string
  /** A digest of the call's origin and of its client's name; never shown. */
  sender?: string
}

/** Assigns members one by one: it runs for each edit, and spreading takes several times as long. */
export function copyAuthor({ token, agent, session, reason, sender }: Author, to: Author): void {
  if (token !== undefined) to.token = token
  if (agent !== undefined) to.agent = agent
  if (session !== undefined) to.session = session
  if (reason !== undefined) to.reason = reason
  if (sender !== undefined) to.sender = sender
}

/** Attributes of a file besides its content, for a file that is made in its place. */
export interface FileAttributes {
  /** Without set-user-id and set-group-id. */
  mode: number
  uid: number
  gid: number
}

/**
 * One change of one file, recorded before the file gets its new content; or a verdict (`review`) on earlier changes,
 * with null hashes and sizes of 0.
 */
export interface EditRecord extends Author {
  /** 26 characters; later changes of a file have greater ids, whatever the clocks say. */
  edit_id: string
  operation: RecordedOperation
  /** Shared by all changes of a batch: an id earlier than theirs. */
  batch_id?: string
  /** In ms since 1970, by this server's clock. */
  at: number
  /** The real path below the root, in bytes. */
  path: Buffer
  /** SHA-256, 64 hex digits; null: there is no file. */
  hash_before: string | null
  hash_after: string | null
  /** In bytes, before and after. */
  size_before: number
  size_after: number
  /** Counts of lines, as in a diff. */
  lines_added: number
  lines_removed: number
  /** The replaced parts and their replacements; null: the texts aren't kept (private, forgotten, or not known). */
  splices: readonly RecordedSplice[] | null
  /** The number of splices if they aren't kept but their number is known. */
  change_count?: number
  /** The place of each splice, for people. */
  places: readonly SplicePlace[] | null
  /** The encodings of the text before and after; absent if both are UTF-8, or not known. */
  encodings?: Encodings
  /** Name of the temp file beside the file: while it exists, the file didn't get this content. */
  temp?: string
  /** For an undo or redo: the changes that it undid or redid. */
  toggles?: readonly Selection[]
  /** The verdict; only for `review`. */
  review?: Verdict
  /** Folders that were made for the file, parents first. */
  made_folders?: readonly Buffer[]
  /** Attributes of the file, if the change removed it. */
  attributes?: FileAttributes
  /** For half of a move: the real path of the other half, which has the same `batch_id`. */
  moved?: Buffer
  /** For a request with an idempotency key. */
  key?: { digest: string; fingerprint: string; outcome: unknown }
}

/** done: the file got this content; void: it didn't; uncertain: it can no longer be found out. */
export type Settlement = 'done' | 'void' | 'uncertain'

/**
 * The state of a record's texts (splices and places). none: not written (private, or the change wasn't known), or
 * forgotten; lost: written, but the blob is gone or damaged; unread: not asked for, or too many. `splices` and `places`
 * are null unless it is `kept`.
 */
export type TextsState = 'kept' | 'none' | 'lost' | 'unread'

/** A record as it is read back. */
export interface Stored {
  record: EditRecord
  texts: TextsState
  /** The nonce of the server that wrote it. */
  nonce: string
  /** Null: not settled yet. Never null for a review. */
  settled: Settlement | null
}
