// The interface of the history: its options, queries and answers. Types only.
import type { Result } from '../result.ts'
import type { Cursor } from './cursor.ts'
import type { EditRecord, Settlement, Stored } from './record.ts'
import type { Facts } from './record-json.ts'

export interface HistoryOptions {
  /** The folder, made with mode 0700 if it is missing; its parent must be there. */
  folder: string
  /** Unique id of this start of this server. Letters, digits, `_`. */
  nonce: string
  /** `meta`: no texts are written for any file. */
  level: 'full' | 'meta'
  /** Files whose texts are never kept, whatever the level. The answer for a path never changes. */
  isPrivate(path: Buffer): boolean
  /**
   * Whether the server with this nonce may still be running. After a "no" it is called again only when a new segment of
   * that server appears.
   */
  isAlive(nonce: string): Promise<boolean>
  /**
   * Ensures that from now on `isAlive` of this server is true for all servers. Returns a number that grows each time it
   * may have been false for another server meanwhile. Synchronous; throws the system's error.
   */
  stayAlive(): number
  /** Reports events for the log; they never contain texts of files. */
  report(event: { event: string; [key: string]: unknown }): void
  /**
   * Called when a segment was closed, or as much was written beside the segments: `sweep` may have to remove something.
   */
  grown?(): void
  /**
   * In bytes: the total that `sweep` will be asked to keep. `sweep` then leaves room for what this server writes until
   * the next call.
   */
  size?: number
  limits?: Partial<HistoryLimits>
}

/** In bytes. For tests; the defaults are in limits.ts. */
export interface HistoryLimits {
  /** A segment that reaches this size is closed. */
  segment: number
  /** Longer texts become blobs; so do a record's other texts if together they are longer than this. */
  text: number
  /** Indexes of segments kept in memory. */
  indexes: number
  /** The largest file that a copy is kept of. */
  copy: number
  /** Total size of copies that wait to be written. */
  waitingCopies: number
  /** How much text `ofPath` reads; beyond it, texts of the oldest records are left out. */
  texts: number
  /** How much text one page of `list` has; beyond it, texts of the oldest records are left out. */
  pageTexts: number
}

/** Bytes of a segment that can't be read. Any records in it are lost; which ones is unknown. */
export interface Gap {
  segment: string
  /** In bytes. */
  offset: number
  length: number
  /** The id of the nearest record before and after it in the same segment; null: there is none. */
  after: string | null
  before: string | null
}

/** Everything known of one path. */
export interface PathHistory {
  /** Oldest first, with texts. Includes void records. */
  records: Stored[]
  /**
   * Gaps that may have held a record of this path later than its first one. No record is missing between two if the
   * one's hash_after is the other's hash_before.
   */
  gaps: Gap[]
}

/** The last record of a path that happened or isn't settled yet; never a review; without texts. */
export interface Latest {
  edit_id: string
  operation: EditRecord['operation']
  at: number
  hash_after: string | null
  size_after: number
  settled: Settlement | null
}

/** A record without texts. `settled`: null: not settled yet. */
export interface PastFacts {
  facts: Facts
  settled: Settlement | null
}

/** A record must match all members given. */
export interface RecordQuery {
  path?: Buffer
  /** A folder without a slash at its end: matches everything below it. */
  under?: Buffer
  edit_ids?: readonly string[]
  /** The id of a batch: given before those of its edits. */
  batch_id?: string
  token?: string
  /** Null: records without one. */
  agent?: string | null
  session?: string | null
  /** ms since 1970, inclusive. */
  since?: number
  until?: number
  /** true: only reviews; false: no reviews. */
  reviews?: boolean
  /** Only records with a lower id. */
  before?: string
  /** Default: false. Also reads blobs, newest records first, up to `pageTexts` bytes. */
  texts?: boolean
}

export interface RecordPage {
  /** Newest first. Includes void records. */
  records: Stored[]
  /** `before` of the next page; null: this is the last. */
  next_before: string | null
  /** ms since 1970, of the oldest record kept; null: there is none. */
  oldest_kept_at: number | null
}

export interface Retention {
  /** Segments, blobs and copies that were last changed longer ago are removed. */
  days: number
  /** The most bytes of the whole history; beyond it, copies are removed first, then the oldest data. */
  bytes: number
}

/** What `sweep` removed, and how many bytes are left. */
export interface Swept {
  removed: number
  bytes: number
}

/** A file's content as editd last wrote or saw it. */
export interface FileCopy {
  edit_id: string
  hash: string
  bytes: Buffer
}

/** A copy to be kept; only valid in this tick, as the caller may reuse the memory of its pieces. */
export interface NewCopy extends Omit<FileCopy, 'bytes'> {
  pieces: readonly Buffer[]
}

/** A change that happened or is `uncertain`, or a verdict. `after`: the cursor from which to go on after it. */
export interface ChangeEvent {
  facts: Facts
  settled: 'done' | 'uncertain'
  after: Cursor
}

export interface FeedPage {
  events: ChangeEvent[]
  /** Continues after everything that was read. */
  next: Cursor
  /** There was no more to read. */
  isEnd: boolean
}

/** Something after the cursor was removed, or it isn't certain that nothing was. */
export interface CursorGone {
  code: 'CURSOR_GONE'
}

export interface History {
  /**
   * Returns an id later than all that this server has given or read. Call `refresh` or `landed` first, under the file's
   * lock, so that it is later than ids of earlier holders.
   */
  nextId(): string
  /**
   * Reports that a record of any server happened, whether or not this server has read it. New ids are later than it,
   * and its settlement is written before all later appends.
   */
  landed(edit_id: string): void
  /**
   * Reads what other servers have written since the last call. `alone_since`: identifies the moment since when no other
   * server writes what will be asked for next, so that one look is enough. Never rejects: what can't be read is
   * reported.
   */
  refresh(alone_since?: string | null): Promise<void>
  /** Whether texts of the file at this path are written; for other files only facts are. */
  keepsTexts(path: Buffer): boolean
  /**
   * Resolves when the record is written and, if `durable`, synced to disk. Rejects with the system's error if neither
   * the current nor a new segment could be written. The record may exist all the same: settle it anyway.
   */
  append(record: EditRecord, options: { durable: boolean }): Promise<void>
  /**
   * Settles a record of any server. A review counts as done once written, and is settled only if the write failed. The
   * line is written with the next record, or within 50 ms; not synced. `isUrgent`: other servers can't find the outcome
   * themselves, so `leave` waits until it is written. Void is always urgent.
   */
  settle(edit_id: string, settled: Settlement, isUrgent?: boolean): void
  /** Resolves when everything settled until now is written and others can read it, or the write failed. */
  sayAll(): Promise<void>
  /** Resolves when everything appended, settled and kept until now is written, or was given up. */
  flush(): Promise<void>
  ofPath(path: Buffer): Promise<PathHistory>
  /** Synchronous if it is known. */
  lastOf(path: Buffer): Latest | null | Promise<Latest | null>
  /**
   * Records that are neither void nor reviews, newest first, as far as `refresh` has read; each is read when it is
   * asked for.
   */
  newestOf(path: Buffer): AsyncIterable<PastFacts>
  byId(edit_id: string): Promise<Stored | null>
  /** The newest record with this key digest that isn't void; without texts. */
  byKey(digest: string): Promise<Stored | null>
  /**
   * Whether a damaged line may be a record with this key digest, later than the record `after` ('': any). A line that
   * was cut short doesn't count: no change happens before its line is whole.
   */
  mayHaveLostKey(digest: string, after: string): Promise<boolean>
  /** `limit`: at least 1. Without `texts`, answers of keys aren't read either. */
  list(query: RecordQuery, limit: number): Promise<RecordPage>
  /** A cursor after everything until now. */
  feedEnd(): Promise<Cursor>
  /**
   * What any server settled after a cursor, and verdicts: at most `most` (at least 1), each change once, up to `until`,
   * which is later. CURSOR_GONE: it isn't certain that all of it still exists.
   */
  readOn(after: Cursor, most: number, until?: Cursor): Promise<Result<FeedPage, CursorGone>>
  /**
   * Calls `more` when there may be more to read, until the returned function is called. Looks ten times a second at
   * what other servers write, unless this server is alone.
   */
  watch(more: () => void): () => void
  setAlone(isAlone: boolean): void
  /** Unsettled records of servers that are gone, oldest first, without texts. */
  unsettled(): Promise<Stored[]>
  /**
   * Unsettled records of all other servers, oldest first, without texts: changes that are under way or were just made.
   * Rejects with HistoryUnreadable.
   */
  openElsewhere(): Promise<Stored[]>
  /**
   * Removes the texts of a path's records, and its copy, for good; synced. Returns the number of records. Doesn't see
   * what other servers are about to write. Throws the system's error if a step fails.
   */
  forget(path: Buffer): Promise<number>
  /** Removes what is older, or more, than may be kept. Needs no disk space. What can't be removed is reported. */
  sweep(retention: Retention): Promise<Swept>
  /** In ms since 1970: the time used for ages, which a clock that jumps ahead moves only a little. */
  now(): number
  /** The id up to which sweeps of all servers have removed records; '': none. Rejects with HistoryUnreadable. */
  sweptTo(): Promise<string>
  /**
   * Keeps the content of a file in the background; several for one file coalesce into the last. Not for private files.
   * `alone`: no other server can edit the file before `leave`. False: it isn't kept.
   */
  keepCopy(path: Buffer, copy: NewCopy, alone?: boolean): boolean
  /** The copy of this file that waits to be written; its bytes are valid in this tick only. Null: none waits. */
  waitingCopy(path: Buffer): FileCopy | null
  /**
   * Await it before another server can edit this file: resolves when its waiting copy, and all urgent settlements, are
   * readable by others or couldn't be written. Never rejects.
   */
  leave(path: Buffer): Promise<void>
  /** Null: there is no copy, or it is damaged. */
  copyOf(path: Buffer): Promise<FileCopy | null>
  /** Writes what waits, then releases everything. Never rejects. Nothing may be called after it. */
  close(): Promise<void>
}
