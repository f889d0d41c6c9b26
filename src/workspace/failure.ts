// Everything that can be wrong with a file, and what a change to it may lose, as closed unions. Does not know HTTP or
// sentences.
import type { CurrentOutcome } from '../engine/failure.ts'
import type { OddPath } from './odd-name.ts'

export type FileFailure =
  | { code: 'INVALID_PATH'; reason: 'empty' | 'nul' | 'too_long' }
  /** Of a new file: a name that is hardly meant so. `meant`: the path that most likely is. */
  | ({ code: 'INVALID_PATH' } & OddPath)
  /**
   * Outside the root, an extension that is not allowed, or not one of the paths that the caller's token may use:
   * patterns. Does not reveal whether the target exists. `did_you_mean`: paths inside the root, where an absolute path
   * ends as they do.
   */
  | {
      code: 'PATH_NOT_ALLOWED'
      reason: 'outside' | 'extension' | 'token'
      allowed_extensions?: string[]
      allowed_paths?: string[]
      did_you_mean?: string[]
    }
  /** `pattern`: the one that protects it; null: it is editd's own. */
  | { code: 'PROTECTED_PATH'; pattern: string | null }
  /**
   * `several_names`: hard links, to a file that a rename can't replace. `names_kept`: no name can be removed from the
   * folder again (chattr +a). `store_denies`: the object store does.
   */
  | {
      code: 'PERMISSION_DENIED'
      reason: 'read_only_file' | 'not_permitted' | 'several_names' | 'names_kept' | 'store_denies'
    }
  | { code: 'READ_ONLY' }
  /**
   * `history_off`, `texts_not_kept`: the history could not bring the file back. `bucket`: an object can't be removed on
   * the condition that it is what was read.
   */
  | { code: 'DELETE_NOT_ALLOWED'; reason: 'setting' | 'history_off' | 'texts_not_kept' | 'bucket' }
  /** In a bucket, several objects can't be changed together. */
  | { code: 'BATCH_NOT_SUPPORTED' }
  /**
   * `missing`: it is the folder in which the file was to be made; or what a link on the path leads to (`link_target`);
   * or, in a batch, the file is `removed` by an earlier step, or is to be removed and would only be `made` by one.
   * `folder`: how far the path leads below the root; absent: not into a folder of which one may speak.
   */
  | {
      code: 'FILE_NOT_FOUND'
      did_you_mean?: string[]
      folder?: string
      missing?: 'parent' | 'link_target' | 'expected' | 'removed' | 'made'
    }
  /**
   * `file_as_directory`: the path ends as a folder's does, and a file is there. `trailing_slash`: a new file's path
   * ends as a folder's does, in `/`, `.` or `..`. `not_a_directory`: something that isn't a folder stands where the
   * path of a new file needs one. `link`: a link leads to the file that was to be removed.
   */
  | {
      code: 'NOT_A_FILE'
      type:
        'directory' | 'fifo' | 'socket' | 'device' | 'not_a_directory' | 'file_as_directory' | 'trailing_slash' | 'link'
    }
  /**
   * What /create found. `needs_overwrite`: a hash was given without `overwrite`; `needs_expected_hash`: the other way
   * round. `made`: an earlier step of the batch makes it. `if_none_match`: the request said so itself.
   */
  | {
      code: 'ALREADY_EXISTS'
      reason: 'exists' | 'made' | 'needs_overwrite' | 'needs_expected_hash'
      if_none_match?: true
    }
  /** `limit` and `actual` in bytes; `together`: of all files of a batch. */
  | { code: 'FILE_TOO_LARGE'; limit: number; actual: number; together?: true }
  | { code: 'BINARY_FILE'; encoding: 'binary' | 'utf-16le' | 'utf-16be'; file_size: number }
  | StaleFile
  | { code: 'PRECONDITION_REQUIRED' }
  /**
   * `retry_after` in seconds. `in_place`: a server that may still live began to write the file in place and hasn't
   * finished. `client_gone`: whoever asked for the change did not wait until the file was free.
   */
  | { code: 'FILE_LOCKED'; reason: 'timeout' | 'queue_full' | 'lost' | 'in_place' | 'client_gone'; retry_after: number }
  | { code: 'NO_SPACE' }
  /** No history is kept. */
  | { code: 'HISTORY_GONE'; reason: 'off' }
  /** `store_unknown`: the object store gave no answer, and the change may have been made. */
  | {
      code: 'NOT_READY'
      reason:
        | 'store_unavailable'
        | 'store_unknown'
        | 'store_refused'
        | 'store_unsafe'
        | 'root_gone'
        | 'root_unwritable'
        | 'root_hangs'
        | 'state_unwritable'
        | 'state_replaced'
        | 'history_unwritable'
        | 'history_unreadable'
        | 'audit_unwritable'
        | 'no_descriptors'
        | 'draining'
        | 'searching'
        | 'large_files'
        | 'parsing'
        | 'bodies'
        | 'issuer_unreachable'
      retry_after: number
    }

/** Another program saved the file while it was being changed. */
export const changedMeanwhile: FileFailure = { code: 'STALE_FILE', reason: 'changed_meanwhile' }

export type NotReady = Extract<FileFailure, { code: 'NOT_READY' }>

/** Why a request with an idempotency key isn't carried out. `retry_after` in seconds. */
export type KeyFailure =
  /**
   * `uncertain`: nobody can tell any more whether the first request was carried out; `damaged`: as its record is damaged.
   * `forgotten`: it was, and its answer was removed.
   */
  | { code: 'IDEMPOTENCY_KEY_REUSED'; reason: 'another_request' | 'uncertain' | 'damaged' | 'forgotten' }
  /** A file that the answer names may not be edited any more. */
  | Extract<FileFailure, { code: 'PROTECTED_PATH' | 'PATH_NOT_ALLOWED' | 'NOT_READY' }>
  | RequestInFlight
  | { code: 'HISTORY_GONE'; reason: 'off' }

/** A request with the same key is still being carried out. `retry_after` in seconds. */
export interface RequestInFlight {
  code: 'REQUEST_IN_FLIGHT'
  retry_after: number
}

/** `INVALID_CURSOR`: it isn't one that this service gave. `CURSOR_GONE`: it can't be known what came after it. */
export type CursorFailure = { code: 'INVALID_CURSOR' } | { code: 'CURSOR_GONE' }

/**
 * Not the file that was expected, or not that any more. `overwritten`: another program wrote it at the moment of the
 * change, and whether it has the change is not known. `now`: what the edit comes to in the file as it is.
 */
export interface StaleFile {
  code: 'STALE_FILE'
  reason: 'expected_hash' | 'changed_meanwhile' | 'overwritten'
  expected_hash?: string
  now?: CurrentOutcome
}

/**
 * `set_id_dropped`, `links_left`: what a replacement doesn't keep. `unsynced_…`: it is done, but a power failure may
 * undo it. `unrecorded`: the history could not be written, so that nothing can take this change back. `save_replaced`:
 * another program saved the file in the instant before the rename, after the last look at it.
 */
export type FileWarning =
  'set_id_dropped' | 'links_left' | 'unsynced_change' | 'unsynced_creation' | 'unrecorded' | 'save_replaced'
