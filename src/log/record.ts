// What is kept of a change: its record, and how that is settled. Does not know files, or how records are kept.
import type { Verdict } from '../engine/history/baseline.ts'
import type { RecordedSplice, Selection } from '../engine/history/change.ts'
import type { SplicePlace } from '../engine/history/places.ts'
import type { Encodings } from '../engine/text/codec.ts'

/**
 * What made a change. `outside`: a program that isn't editd, seen afterwards. `review`: nothing was changed, a verdict
 * was given on changes of the file.
 */
export type RecordedOperation =
  'edit' | 'edit_lines' | 'edit_section' | 'create' | 'batch' | 'apply_patch' | 'undo' | 'redo' | 'outside' | 'review'

/**
 * Who made a change, and why: `token` is the name of the token that it came with, as the server found it; the others are
 * claimed by the caller, and shown as such.
 */
export interface Author {
  token?: string
  agent?: string
  session?: string
  reason?: string
  /** A digest of where the call came from and of what its client calls itself; never shown. */
  sender?: string
}

/** Member by member: each edit comes here, and spreading takes several times as long. */
export function copyAuthor({ token, agent, session, reason, sender }: Author, to: Author): void {
  if (token !== undefined) to.token = token
  if (agent !== undefined) to.agent = agent
  if (session !== undefined) to.session = session
  if (reason !== undefined) to.reason = reason
  if (sender !== undefined) to.sender = sender
}

/** What a file is besides its content: what one that is made in its place gets. */
export interface FileAttributes {
  /** Without set-user-id and set-group-id. */
  mode: number
  uid: number
  gid: number
}

/**
 * One change of one file, written down before the file gets its new content; or a verdict (`review`) on earlier ones,
 * of which the hashes are null and the sizes 0.
 */
export interface EditRecord extends Author {
  /** 26 characters; later ones sort after earlier ones of the same file, whatever the clocks say. */
  edit_id: string
  operation: RecordedOperation
  /** The same for all files that were changed together: an id earlier than theirs. */
  batch_id?: string
  /** By this server's clock, in ms since 1970. */
  at: number
  /** The real path below the root, in bytes. */
  path: Buffer
  /** SHA-256, 64 hex digits; null: there is no file. */
  hash_before: string | null
  hash_after: string | null
  /** In bytes, before and after. */
  size_before: number
  size_after: number
  /** Lines that a diff would show. */
  lines_added: number
  lines_removed: number
  /** What was replaced, by what; null: the texts are not kept (private, forgotten, or not known). */
  splices: readonly RecordedSplice[] | null
  /** Where the splices aren't given: how many there are, if that is known. */
  change_count?: number
  /** Where each splice is, for people. */
  places: readonly SplicePlace[] | null
  /** The encodings of the text before and after; absent where both are UTF-8, or they aren't known. */
  encodings?: Encodings
  /** Name of the temp file beside it: while that is there, the file didn't get this content. */
  temp?: string
  /** Of an undo or redo: what it took back or made again. */
  toggles?: readonly Selection[]
  /** The verdict of a `review`, and of nothing else. */
  review?: Verdict
  /** Folders that were made for the file, each before those in it. */
  made_folders?: readonly Buffer[]
  /** Of the file, where the change removed it. */
  attributes?: FileAttributes
  /** Of either half of a move: the real path of the other one, which has the same `batch_id`. */
  moved?: Buffer
  /** Of a request with an idempotency key. */
  key?: { digest: string; fingerprint: string; outcome: unknown }
}

/** done: the file got this content; void: it didn't; uncertain: nobody can tell any more. */
export type Settlement = 'done' | 'void' | 'uncertain'

/**
 * What has become of a record's texts (splices and places). none: they weren't written (private, or what changed wasn't
 * known), or were forgotten; lost: they were written, but the blob is gone or damaged; unread: nobody asked for them, or
 * there are too many. Other than with `kept`, `splices` and `places` are null.
 */
export type TextsState = 'kept' | 'none' | 'lost' | 'unread'

/** A record as it is read back. */
export interface Stored {
  record: EditRecord
  texts: TextsState
  /** Of the server that wrote it. */
  nonce: string
  /** Null: its server hasn't said yet. Of a review, never. */
  settled: Settlement | null
}
