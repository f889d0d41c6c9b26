// Everything that can be wrong with a file, and what a change to it may lose, as closed unions. Does not know HTTP or
// sentences.
import type { CurrentOutcome, FittingEdit } from '../engine/failure.ts'
import type { ChangeSince } from '../engine/undo/rebase.ts'
import type { OddPath } from './odd-name.ts'

export type FileFailure =
  /** `not_utf8`: the name of something in a folder, which no request can name. */
  | { code: 'INVALID_PATH'; reason: 'empty' | 'nul' | 'too_long' | 'not_utf8' }
  /** A new file's name that was probably not meant. `meant`: the path most likely meant. */
  | ({ code: 'INVALID_PATH' } & OddPath)
  /**
   * Outside the root, an extension that is not allowed, or not covered by the patterns that limit the caller's token.
   * Does not reveal whether the target exists. `did_you_mean`: paths inside the root that end as the absolute path
   * does.
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
   * `several_names`: hard links to a file that a rename can't replace. `names_kept`: no name can be removed from the
   * folder (chattr +a). `store_denies`: the object store refuses.
   */
  | {
      code: 'PERMISSION_DENIED'
      reason: 'read_only_file' | 'not_permitted' | 'several_names' | 'names_kept' | 'store_denies'
    }
  | { code: 'READ_ONLY' }
  /**
   * `history_off`, `texts_not_kept`: the history could not restore the file. `bucket`: an object can't be removed on
   * the condition that it is unchanged since it was read.
   */
  | { code: 'DELETE_NOT_ALLOWED'; reason: 'setting' | 'history_off' | 'texts_not_kept' | 'bucket' }
  /** In a bucket, several objects can't be changed together. */
  | { code: 'BATCH_NOT_SUPPORTED' }
  /**
   * `missing`: `parent`, the folder for the new file; `link_target`, what a link on the path leads to; or, in a batch,
   * the file is `removed` by an earlier step, which moved it to `moved_to`. `onto_itself`: this step would move the file
   * to where it is. `folder`: how far the path exists below the root; absent if that folder may not be revealed.
   */
  | {
      code: 'FILE_NOT_FOUND'
      did_you_mean?: string[]
      folder?: string
      missing?: 'parent' | 'link_target' | 'expected' | 'removed'
      moved_to?: string
      onto_itself?: true
    }
  /**
   * `file_as_directory`: the path ends like a folder's, and a file is there. `trailing_slash`: a new file's path ends
   * like a folder's, in `/`, `.` or `..`. `not_a_directory`: something that isn't a folder is where the path of a new
   * file needs one. `link`: the path of what is to be removed goes through a link; `link_inside`: it is a link, in a
   * folder to be removed.
   */
  | {
      code: 'NOT_A_FILE'
      type:
        | 'directory'
        | 'fifo'
        | 'socket'
        | 'device'
        | 'not_a_directory'
        | 'file_as_directory'
        | 'trailing_slash'
        | 'link'
        | 'link_inside'
    }
  /**
   * Why /create made no file. `needs_overwrite`: a hash was given without `overwrite`; `needs_expected_hash`:
   * `overwrite` without a hash. `made`: an earlier step of the batch makes it. `if_none_match`: the request had that
   * condition.
   */
  | {
      code: 'ALREADY_EXISTS'
      reason: 'exists' | 'made' | 'needs_overwrite' | 'needs_expected_hash'
      if_none_match?: true
    }
  /** `limit` and `actual` in bytes; `together`: summed over all files of a batch. */
  | { code: 'FILE_TOO_LARGE'; limit: number; actual: number; together?: true }
  | { code: 'BINARY_FILE'; encoding: 'binary' | 'utf-16le' | 'utf-16be'; file_size: number }
  | StaleFile
  /** `now`: what the edit would do, if it names lines by number alone, and its caller hasn't read the file as it is. */
  | { code: 'PRECONDITION_REQUIRED'; now?: FittingEdit }
  /**
   * `retry_after` in seconds. `in_place`: a server that may still live began to write the file in place and hasn't
   * finished. `client_gone`: the client did not wait until the file was free.
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

export const isChangedMeanwhile = (failure: unknown): boolean => {
  const { code, reason } = failure as Partial<StaleFile>
  return code === 'STALE_FILE' && reason === 'changed_meanwhile'
}

export type NotReady = Extract<FileFailure, { code: 'NOT_READY' }>

/** Why a request with an idempotency key isn't carried out. `retry_after` in seconds. */
export type KeyFailure =
  /**
   * `uncertain`: nobody can tell whether the first request was carried out; `damaged`: nor here, as its record is
   * damaged. `forgotten`: it was carried out, and its answer was removed.
   */
  | { code: 'IDEMPOTENCY_KEY_REUSED'; reason: 'another_request' | 'uncertain' | 'damaged' | 'forgotten' }
  /** A file that the answer names may no longer be edited. */
  | Extract<FileFailure, { code: 'PROTECTED_PATH' | 'PATH_NOT_ALLOWED' | 'NOT_READY' }>
  | RequestInFlight
  | { code: 'HISTORY_GONE'; reason: 'off' }

/** A request with the same key is still being carried out. `retry_after` in seconds. */
export interface RequestInFlight {
  code: 'REQUEST_IN_FLIGHT'
  retry_after: number
}

/** `INVALID_CURSOR`: not a cursor that this service gave. `CURSOR_GONE`: the changes after it are no longer known. */
export type CursorFailure = { code: 'INVALID_CURSOR' } | { code: 'CURSOR_GONE' }

/** A change of a file, by the id and the agent that are recorded. */
interface OtherChange extends Omit<ChangeSince, 'edit_id'> {
  edit_id?: string | undefined
  agent?: string | undefined
}

/** What was changed in a file since a version of it: the newest first, and how many older ones aren't listed. */
export interface OtherChanges {
  others: OtherChange[]
  more_others?: number | undefined
}

/**
 * Not the expected file, or no longer. `overwritten`: another program wrote it at the moment of the change, and it may
 * or may not have the change. `now`: the edit's result on the file as it is now. `hash_required`: every edit must have a
 * hash. `since`: what was changed since the expected version, if the edit was to be carried over from that.
 */
export interface StaleFile {
  code: 'STALE_FILE'
  reason: 'expected_hash' | 'changed_meanwhile' | 'overwritten'
  expected_hash?: string
  now?: CurrentOutcome
  hash_required?: true
  since?: OtherChanges | undefined
}

/**
 * `set_id_dropped`, `links_left`: what a replacement doesn't keep. `unsynced_…`: it is done, but a power failure may
 * undo it. `unrecorded`: the history could not be written, so the change can't be undone. `save_replaced`: another
 * program saved the file in the instant between the last look and the rename.
 */
export type FileWarning =
  'set_id_dropped' | 'links_left' | 'unsynced_change' | 'unsynced_creation' | 'unrecorded' | 'save_replaced'
