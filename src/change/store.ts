// What a change needs of where files are, a folder or a bucket: the port that `changeFiles` works through. Types only.
import type { AuditedChange } from '../audit/audit.ts'
import type { FileAttributes } from '../log/record.ts'
import type { FileBefore, Recorder } from '../recording/recorder.ts'
import type { Client, CommonOptions, CreateTarget } from '../workspace/api.ts'
import type { Content, HashCheckpoint } from '../workspace/content.ts'
import type { MOVED } from '../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'
import type { FailedFile, FileInfo, ManyResult, RequestedPath } from '../workspace/results.ts'

/** The failure of work that has to begin again in the same places: a file was changed since it was read. */
export const OVERTAKEN: unique symbol = Symbol('overtaken')

/** A file that a path leads to, or where one would be. */
export interface FilePlace {
  /** The real path below the root. */
  readonly path: Buffer
  /** `resolved_path` where a link led elsewhere. */
  readonly info: FileInfo
  /** Whether a file is there; undefined: that is known once it is read. */
  readonly isThere: boolean | undefined
}

/** FilePlaces of several paths, in their order, until they are released. */
export interface FilePlaces<P extends FilePlace> {
  readonly places: readonly P[]
  /** After OVERTAKEN, for the `attempt`th time: null when it is time to try again, or why that isn't done. */
  again?(attempt: number): Promise<FailedFile<FileFailure> | null>
  /** Does nothing the second time. */
  release(): Promise<void>
}

export interface OpenPlaces<P extends FilePlace> extends FilePlaces<P> {
  /**
   * Waits until nobody else may change these files, and looks again at what is there. What was opened is used up, also
   * where this fails: it is released by what is returned. Failures: FILE_LOCKED, those of `open`; MOVED.
   */
  hold(client: Client | undefined): Promise<ManyResult<FilePlaces<P>, FileFailure | typeof MOVED>>
}

/** What a file held at one moment. */
export interface FileSnapshot {
  /** To be set again where they have moved. */
  bytes: Buffer
  /** SHA-256 of `bytes`, 64 hex digits. */
  readonly digest: string
  /** Whether one of `bytes` is 0; undefined: nobody looked. */
  readonly hasNul?: boolean | undefined
  /** States of the hash along the way, for a text that begins the same. */
  readonly marks: readonly HashCheckpoint[]
  /** What another program saved between the last look and the change, which replaced it; null: nothing. */
  written?(): Buffer | null
}

/** What was found in a place: a file, nothing, or a file that can't be changed whatever is asked for. */
export type FoundContent<S extends FileSnapshot> = { snapshot: S | null; refused: FailedFile<FileFailure> | null }

/** One name that gets new content, or is removed. */
export interface FileChange<P extends FilePlace, S extends FileSnapshot> {
  place: P
  /** The file as it was read; null: it is a new one. */
  snapshot: S | null
  /** Null: the file is removed. */
  content: Content | null
  /** SHA-256 of the content, 64 hex digits. Of several changes, all are known by now. */
  digest: Promise<string>
  /** Of a new file; without them it gets the system's defaults. */
  attributes: FileAttributes | undefined
  /** Of a removal: folders that are removed then if they are empty, each before those in it. */
  made_folders: readonly Buffer[]
  /** The index of an earlier one that is the same file by another name: both names stay one file. */
  same_as: number | undefined
  audited: AuditedChange | undefined
}

export interface CommitHooks {
  /** Folders below the root that are missing, each before those in it. */
  folders: readonly Buffer[]
  /**
   * Writes down what is about to be done; awaited before any file gets its content. The second time it does nothing.
   * `folders`: those that were made for it; `temps`: of each change, the name of the temp file that takes its file's place.
   * Returns the ids of the records. Throws where it must not be done.
   */
  announce(folders: readonly Buffer[], temps: readonly (string | undefined)[]): Promise<readonly (string | undefined)[]>
  /** None of it was done, and none will be. Not called where that isn't known yet. */
  notDone(): void
}

export interface CommittedFile {
  warnings: FileWarning[]
  write_strategy?: 'in_place' | undefined
}

/** Why nothing was changed, and the index of the change that it is of. */
export interface CommitRefusal {
  at: number
  failure: FileFailure | typeof MOVED | typeof OVERTAKEN
}

/** Where files are. */
export interface FileStore<P extends FilePlace, S extends FileSnapshot> {
  readonly options: CommonOptions
  readonly recorder: Recorder
  /** Why no file can be removed here; null: it can. */
  readonly refusesRemovals: FileFailure | null
  /** A change of no byte that toggles something is written too: what is written names its record. */
  readonly writesToggles: boolean
  /** Finds what is at the paths, if that may be changed. A failure says at which of them. */
  open(asked: readonly RequestedPath[]): Promise<ManyResult<OpenPlaces<P>, FileFailure>>
  /** Whether both places are names of one file. */
  isSame(a: P, b: P): boolean
  /** FILE_NOT_FOUND, with what may have been meant. */
  notFound(place: P): FileFailure | Promise<FileFailure>
  /**
   * Why no file can be made here; null: nothing is against it. `coming`: folders below the root that will have been made
   * by then.
   */
  refusalToMake(
    place: P,
    target: CreateTarget,
    coming: readonly Buffer[]
  ): FileFailure | null | Promise<FileFailure | null>
  /** Why a file that was removed here could not be made again as it is; null: it could. */
  refusalToRestore(place: P): FileFailure | null
  /** Folders that are made for a file here, each before those in it. */
  foldersFor(place: P): readonly Buffer[]
  /** Of the file that is there; undefined: none are kept. */
  attributesOf(place: P): FileAttributes | undefined
  /** What a replacement of the file, by so many of its names, will not keep. */
  lossesOf(place: P, names: number): FileWarning[]
  /** What the history needs to know of a file besides its path and bytes. */
  before(place: P, snapshot: S | null): Pick<FileBefore, 'lock' | 'unchanged' | 'landed' | 'last'>
  /** What is known of the file as it is now; empty if it can't be read. */
  infoNow(place: P): Promise<FileInfo>
  /**
   * Takes the memory for all places, of different files, and reads each once; `taken` gets what gives that back. A failure
   * says at which of them.
   */
  read(
    places: readonly P[],
    taken: (() => void)[],
    options: { isDry: boolean }
  ): Promise<ManyResult<readonly FoundContent<S>[], FileFailure>>
  /**
   * Makes the changes, all or none; places have been held since they were read. Returns an entry for each. Throws where
   * no request is at fault.
   */
  commit(
    changes: readonly FileChange<P, S>[],
    hooks: CommitHooks
  ): Promise<{ ok: true; value: readonly CommittedFile[] } | { ok: false; failure: CommitRefusal }>
}
