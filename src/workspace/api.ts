// What others see of the workspace: options, what is asked for and what is answered. Types only.
import type { Encoding } from '../engine/encoding.ts'
import type { Result } from '../result.ts'
import type { FileFailure } from './failure.ts'

export interface WorkspaceOptions {
  /** An existing folder. */
  root: string
  /** One folder per root, shared by all servers on it; made with mode 0700 if it is missing. */
  stateDir: string
  /** full: file and folder are synced before an edit is acknowledged. */
  durability: 'full' | 'fast'
  /** local: without the lock file that keeps other hosts and containers out. */
  lock: 'shared' | 'local'
  /** In ms; then FILE_LOCKED. */
  lockTimeout: number
  /** In bytes, of the file as it is. */
  maxFileSize: number
  readOnly: boolean
  requireHash: boolean
  /** The complete list of patterns, see PolicyOptions. */
  protect: readonly string[]
  /** Those that forbid reading too. */
  readProtect: readonly string[]
  /** Endings of names, with the dot; null: all. They hold for reading too. */
  allowExtensions: readonly string[] | null
  /** proc wherever it works. */
  confinement?: 'proc' | 'portable'
  /** For the log. Never gets text of files. */
  report?: (event: { event: string, [key: string]: unknown }) => void
}

export interface FileTarget { path: string, expected_hash?: string }

/** What a planner makes of a text: the result as pieces, and what will be said about it. Both exist before anything is written. */
export interface Planned<T> { pieces: readonly Buffer[], description: T }
export type Planner<T, F> = (original: Buffer) => Result<Planned<T>, F>

export interface FileFacts {
  /** Below the root, as it was asked for, normalised. */
  path: string
  /** Below the root, where a link led elsewhere. */
  resolved_path?: string
  /** Of the bytes on disk now: the first 16 hex digits of their SHA-256. */
  file_hash: string
}

export interface Edited<T> extends FileFacts {
  changed: boolean
  hash_before: string
  /** Of the result; in a dry run the would-be one. */
  new_hash: string
  /** Of the result, in bytes. */
  file_size: number
  description: T
  /** Sentences. */
  warnings: string[]
  write_strategy?: 'in_place'
}

export interface ReadFile extends FileFacts { bytes: Buffer, encoding: Encoding, modified_at: Date }

/** A failure with the file it concerns, so far as it is known and may be told. */
export type Failed<F> = { ok: false, failure: F, path: string, resolved_path?: string, file_hash?: string }

export interface Workspace {
  /** Real path, when it was opened. */
  readonly root: string
  /** Everything or nothing. A dry run does the same but for the lock and the writing. Throws only where nobody's request is at fault (EIO). */
  edit<T, F> (target: FileTarget, options: { dry_run: boolean }, plan: Planner<T, F>): Promise<{ ok: true, value: Edited<T> } | Failed<F | FileFailure>>
  /** The whole file, binary or not. */
  read (target: FileTarget): Promise<{ ok: true, value: ReadFile } | Failed<FileFailure>>
  /** Null, or why nothing can be edited now: NOT_READY. */
  ready (): FileFailure | null
  /** Waits for what is running, then releases everything. */
  close (): Promise<void>
}
