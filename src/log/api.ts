// What others see of the history: its options, questions and answers. Types only; does not know the root's files or HTTP.
import type { Result } from '../result.ts'
import type { Cursor } from './cursor.ts'
import type { EditRecord, Settlement, Stored } from './record.ts'
import type { Facts } from './record-json.ts'

export interface HistoryOptions {
  /** The folder, made with mode 0700 if it is missing; its parent must be there. */
  folder: string
  /** Of this server: no other server, and no earlier start of it, has the same. Letters, digits, `_`. */
  nonce: string
  /** `meta`: no texts are written, of any file. */
  level: 'full' | 'meta'
  /** Files of which no texts are kept, whatever the level. Always the same for a path. */
  isPrivate(path: Buffer): boolean
  /**
   * Whether the server with this nonce may still be running. After a "no" it is asked again when there is a segment of
   * that server which wasn't there before.
   */
  isAlive(nonce: string): Promise<boolean>
  /**
   * Makes sure that from now on `isAlive` of this server is true for all. The number that it gives grows each time that
   * it may have been false for another server meanwhile. Synchronous; throws the system's error.
   */
  stayAlive(): number
  /** Events for the log; never with texts of files. */
  report(event: { event: string; [key: string]: unknown }): void
  /** Called when a segment was closed, or as much written beside them: `sweep` may have to remove some. */
  grown?(): void
  /**
   * In bytes: what `sweep` will be asked to keep all of it to. It then leaves room for what this server writes until it is
   * called again.
   */
  size?: number
  limits?: Partial<HistoryLimits>
}

/** In bytes. For tests; the defaults are in limits.ts. */
export interface HistoryLimits {
  /** A segment that has reached this is closed. */
  segment: number
  /** Texts over this are blobs, and so are a record's other texts if they are over this together. */
  text: number
  /** Indexes of segments kept in memory. */
  indexes: number
  /** The largest file of which a copy is kept. */
  copy: number
  /** Copies that wait to be written. */
  waitingCopies: number
  /** Texts that `ofPath` reads; those of the oldest records are left out beyond it. */
  texts: number
  /** The same of one page that `list` gives. */
  pageTexts: number
}

/** Bytes of a segment that can't be read. Records in it are lost; which ones, nobody knows. */
export interface Gap {
  segment: string
  /** In bytes. */
  offset: number
  length: number
  /** Of the nearest record before it and after it in the same segment; null: there is none. */
  after: string | null
  before: string | null
}

/** All that is known of one path. */
export interface PathHistory {
  /** Oldest first, with texts. Void ones are in it. */
  records: Stored[]
  /**
   * Gaps that may have held a record of this path later than its first one. None did between two records of which the
   * one's hash_after is the other's hash_before.
   */
  gaps: Gap[]
}

/** The last record of a path that took place, or of which nobody has said whether it did; no review; without texts. */
export interface Latest {
  edit_id: string
  operation: EditRecord['operation']
  at: number
  hash_after: string | null
  size_after: number
  settled: Settlement | null
}

/** A record without texts. `settled`: null: nobody has said what became of it. */
export interface PastFacts {
  facts: Facts
  settled: Settlement | null
}

/** All members that are given must hold. */
export interface RecordQuery {
  path?: Buffer
  /** A folder without a slash at its end: all below it. */
  under?: Buffer
  edit_ids?: readonly string[]
  /** An id of before the edits of its batch were given theirs. */
  batch_id?: string
  token?: string
  /** Null: records without one. */
  agent?: string | null
  session?: string | null
  /** ms since 1970, inclusive. */
  since?: number
  until?: number
  /** true: only reviews; false: none of them. */
  reviews?: boolean
  /** Only records with a lower id. */
  before?: string
  /** Default: false. Blobs are read too; of the newest first, as far as `pageTexts` reaches. */
  texts?: boolean
}

export interface RecordPage {
  /** Newest first. Void ones are in it. */
  records: Stored[]
  /** There are more: `before` of the next page. */
  next_before: string | null
  /** ms since 1970, of the oldest record that is kept; null: there is none. */
  oldest_kept_at: number | null
}

export interface Retention {
  /** Segments, blobs and copies whose last change is longer ago are removed. */
  days: number
  /** Of all that the history takes; beyond it, copies go first, then the oldest. */
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

/** A change that took place, or of which nobody can tell (`uncertain`); or a verdict. `after`: goes on after it. */
export interface Told {
  facts: Facts
  settled: 'done' | 'uncertain'
  after: Cursor
}

export interface FeedPage {
  told: Told[]
  /** Goes on after all that was read. */
  next: Cursor
  /** There was no more. */
  isEnd: boolean
}

/** Something after the cursor isn't there any more, or it can't be known whether all is. */
export interface CursorGone {
  code: 'CURSOR_GONE'
}

export interface History {
  /**
   * An id later than all that this server has given or read. Call `refresh` or `landed` before it, under the file's lock, so
   * that it is later than those of earlier holders.
   */
  nextId(): string
  /**
   * A record, of any server, took place, whether this one has read it or not: ids that are given from now on are later, and
   * that it is done is said before all that is appended from now on.
   */
  landed(edit_id: string): void
  /**
   * Reads what other servers have written since the last time. `alone_since`: names the time since when no other server
   * writes what is asked for next, so that one look is enough for it. Never rejects: what can't be read is reported.
   */
  refresh(alone_since?: string | null): Promise<void>
  /** Whether texts of the file at this path are written; of others, only what isn't text. */
  keepsTexts(path: Buffer): boolean
  /**
   * Resolves when the record is written; if `durable`, when it is on the disk. Rejects with the system's error if it
   * could be written neither to the current segment nor to a new one. It may be there nonetheless: settle it all the
   * same.
   */
  append(record: EditRecord, options: { durable: boolean }): Promise<void>
  /**
   * Says what became of a record, of any server. A review is done when it is written, and is settled only where that
   * failed. Written with the next record, or within 50 ms; not synced. `isUrgent`: other servers can't find it out by
   * themselves, so that `leave` waits until it is written. Always so of what is void.
   */
  settle(edit_id: string, settled: Settlement, isUrgent?: boolean): void
  /** Resolves when all that was settled until now is written, and others can read it; or could not be. */
  sayAll(): Promise<void>
  /** Resolves when all that was appended, settled and kept until now is written, or was given up. */
  flush(): Promise<void>
  ofPath(path: Buffer): Promise<PathHistory>
  /** At once where it is known. */
  lastOf(path: Buffer): Latest | null | Promise<Latest | null>
  /** Those that aren't void and no reviews, newest first, as far as `refresh` has read; each is read when it is asked for. */
  newestOf(path: Buffer): AsyncIterable<PastFacts>
  byId(edit_id: string): Promise<Stored | null>
  /** The newest record with this key digest that isn't void; without texts. */
  byKey(digest: string): Promise<Stored | null>
  /**
   * Whether a damaged line may be a record with this key digest, later than that of this id ('': whenever). Not one that
   * was cut short: before its line is whole, no change takes place.
   */
  mayHaveLostKey(digest: string, after: string): Promise<boolean>
  /** `limit`: at least 1. Without `texts`, the answers that keys have aren't read either. */
  list(query: RecordQuery, limit: number): Promise<RecordPage>
  /** What comes from now on is after it. */
  feedEnd(): Promise<Cursor>
  /**
   * What was settled after a cursor, of any server, and verdicts: `most` (at least 1) at a time, each change once; as
   * far as `until`, which is later. CURSOR_GONE: it can't be known whether all of it is still there.
   */
  readOn(after: Cursor, most: number, until?: Cursor): Promise<Result<FeedPage, CursorGone>>
  /**
   * Calls `more` when there may be more to read, until the function that is returned is called. Meanwhile, what other
   * servers write is looked at ten times a second, unless this one is alone.
   */
  watch(more: () => void): () => void
  setAlone(isAlone: boolean): void
  /** Records without settlement of servers that are gone, oldest first, without texts. */
  unsettled(): Promise<Stored[]>
  /**
   * Records without settlement of all other servers, oldest first, without texts: of changes that are being made, or were
   * made just now. Rejects with HistoryUnreadable.
   */
  openElsewhere(): Promise<Stored[]>
  /**
   * Removes the texts of a path's records, and its copy, for good; synced. Returns of how many records. What other
   * servers are about to write isn't seen. Throws the system's error if that fails on the way.
   */
  forget(path: Buffer): Promise<number>
  /** Removes what is older or more than may be kept. Needs no space. What can't be removed is reported. */
  sweep(retention: Retention): Promise<Swept>
  /** In ms since 1970: the time by which ages are judged, which a clock that jumps ahead doesn't move by much. */
  now(): number
  /** An id up to which records were removed by sweeps, of all servers; '': none were. Rejects with HistoryUnreadable. */
  sweptTo(): Promise<string>
  /**
   * Keeps the content of a file in the background; of several for one file, the last. Not for private files. `alone`:
   * as in `refresh`. False: it isn't kept.
   */
  keepCopy(path: Buffer, edit_id: string, pieces: readonly Buffer[], hash: string, alone?: boolean): boolean
  /** The copy of this file that waits to be written; its bytes may be others in a later tick. Null: none does. */
  waitingCopy(path: Buffer): FileCopy | null
  /**
   * To be awaited before another server can edit this file: resolves when the copy of it that waits, and all that is urgent
   * of what was settled, are where others find them, or couldn't be written. Never rejects.
   */
  leave(path: Buffer): Promise<void>
  /** Null: there is none, or it is damaged. */
  copyOf(path: Buffer): Promise<FileCopy | null>
  /** Writes what waits, then releases everything. Never rejects. Nothing may be called after it. */
  close(): Promise<void>
}
