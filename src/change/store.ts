// The port that `changeFiles` works through: what it needs of a folder or a bucket. Types only.
import type { AuditedChange } from '../audit/audit.ts'
import type { FileAttributes } from '../log/record.ts'
import type { FileBefore, Recorder } from '../recording/recorder.ts'
import type { Client, CommonOptions, CreateTarget } from '../workspace/api.ts'
import type { Content, HashCheckpoint } from '../workspace/content.ts'
import type { MOVED } from '../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'
import type { FailedFile, FileInfo, ManyResult, RequestedPath } from '../workspace/results.ts'

/** Failure of work that must start again in the same places: a file was changed since it was read. */
export const OVERTAKEN: unique symbol = Symbol('overtaken')

/** The place of a file that exists or could be made. */
export interface FilePlace {
  /** The real path below the root. */
  readonly path: Buffer
  /** `resolved_path` if a link led elsewhere. */
  readonly info: FileInfo
  /** Whether a file is there; undefined: not known until it is read. */
  readonly isThere: boolean | undefined
}

/** The places of several paths, in their order, until they are released. */
export interface FilePlaces<P extends FilePlace> {
  readonly places: readonly P[]
  /**
   * After OVERTAKEN, for the `attempt`th time: resolves to null when it is time to try again, or to why it won't be.
   */
  again?(attempt: number): Promise<FailedFile<FileFailure> | null>
  /** Idempotent. */
  release(): Promise<void>
}

export interface OpenPlaces<P extends FilePlace> extends FilePlaces<P> {
  /**
   * Waits until nobody else may change these files, and looks again at what is there. Ownership of the opened places
   * passes to the result, also on failure. Failures: FILE_LOCKED, those of `open`; MOVED.
   */
  hold(client: Client | undefined): Promise<ManyResult<FilePlaces<P>, FileFailure | typeof MOVED>>
}

/** What a file held at one moment. */
export interface FileSnapshot {
  /** Must be set again after the bytes have moved to other memory. */
  bytes: Buffer
  /** SHA-256 of `bytes`, 64 hex digits. */
  readonly digest: string
  /** Whether `bytes` has a 0 byte; undefined: not looked for. */
  readonly hasNul?: boolean | undefined
  /** States of the hash along the way, for a text that begins the same. */
  readonly marks: readonly HashCheckpoint[]
  /** What another program saved between the last look and the change, which replaced it; null: nothing. */
  written?(): Buffer | null
}

/** What was found in a place: a file, nothing, or a file that can't be changed whatever the request. */
export type FoundContent<S extends FileSnapshot> = { snapshot: S | null; refused: FailedFile<FileFailure> | null }

/** One name that gets new content, or is removed. */
export interface FileChange<P extends FilePlace, S extends FileSnapshot> {
  place: P
  /** The file as it was read; null: a new file. */
  snapshot: S | null
  /** Null: the file is removed. */
  content: Content | null
  /** SHA-256 of the content, 64 hex digits. With several changes, all have resolved by now. */
  digest: Promise<string>
  /** For a new file; without them it gets the system's defaults. */
  attributes: FileAttributes | undefined
  /** For a removal: folders to remove if they are empty afterwards, each before those inside it. */
  made_folders: readonly Buffer[]
  /** The index of an earlier change of the same file by another name: both names stay one file. */
  same_as: number | undefined
  audited: AuditedChange | undefined
}

export interface CommitHooks {
  /** Folders below the root that are missing, each before those inside it. */
  folders: readonly Buffer[]
  /**
   * Records what is about to be done; awaited before any file gets its content. Idempotent. `folders`: those made for
   * the change; `temps`: for each change, the name of the temp file that replaces its file. Returns the ids of the
   * records. Throws if the change must not be made.
   */
  announce(folders: readonly Buffer[], temps: readonly (string | undefined)[]): Promise<readonly (string | undefined)[]>
  /** None of it was done, and none will be. Not called while that isn't known. */
  notDone(): void
}

export interface CommittedFile {
  warnings: FileWarning[]
  write_strategy?: 'in_place' | undefined
}

/** Why nothing was changed, and the index of the change at fault. */
export interface CommitRefusal {
  at: number
  failure: FileFailure | typeof MOVED | typeof OVERTAKEN
}

/** Where files are: a folder or a bucket. */
export interface FileStore<P extends FilePlace, S extends FileSnapshot> {
  readonly options: CommonOptions
  readonly recorder: Recorder
  /** Why no file can be removed here; null: it can. */
  readonly refusesRemovals: FileFailure | null
  /** Whether a change of no byte that toggles something is written too, so that the file names its record. */
  readonly writesToggles: boolean
  /** Finds what is at the paths, if it may be changed. A failure has the index of its path. */
  open(requested: readonly RequestedPath[]): Promise<ManyResult<OpenPlaces<P>, FileFailure>>
  /** Whether both places are names of one file. */
  isSame(a: P, b: P): boolean
  /** FILE_NOT_FOUND, with the paths that may have been meant. */
  notFound(place: P): FileFailure | Promise<FileFailure>
  /** Why no file can be made here; null: it can. `coming`: folders below the root that will exist by then. */
  refusalToMake(
    place: P,
    target: CreateTarget,
    coming: readonly Buffer[]
  ): FileFailure | null | Promise<FileFailure | null>
  /** Why a file removed here could not be restored as it is; null: it could. */
  refusalToRestore(place: P): FileFailure | null
  /** Folders that must be made for a file here, each before those inside it. */
  foldersFor(place: P): readonly Buffer[]
  /** Attributes of the file that is there; undefined: the store has none. */
  attributesOf(place: P): FileAttributes | undefined
  /** What a replacement of the file, under this number of its names, will not keep. */
  lossesOf(place: P, names: number): FileWarning[]
  /** What the history needs to know of a file besides its path and bytes. */
  before(place: P, snapshot: S | null): Pick<FileBefore, 'lock' | 'unchanged' | 'landed' | 'last'>
  /** What is known of the file now; empty if it can't be read. */
  infoNow(place: P): Promise<FileInfo>
  /**
   * Acquires the memory for all places, which are different files, and reads each once; adds callbacks that release it
   * to `taken`. A failure has the index of its place.
   */
  read(
    places: readonly P[],
    taken: (() => void)[],
    options: { isDry: boolean }
  ): Promise<ManyResult<readonly FoundContent<S>[], FileFailure>>
  /**
   * Makes the changes, all or none; the places have been held since they were read. Returns an entry for each. Throws
   * on errors that no request caused.
   */
  commit(
    changes: readonly FileChange<P, S>[],
    hooks: CommitHooks
  ): Promise<{ ok: true; value: readonly CommittedFile[] } | { ok: false; failure: CommitRefusal }>
}
