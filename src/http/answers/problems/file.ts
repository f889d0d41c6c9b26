// Why a file can't be changed or created, or not now, and what to do next. Does not know the edits of a request.
import { inspect, pathOf } from '../brief/call.ts'
import { lookedAtWith, using } from '../call-names.ts'
import { operationNamed } from '../part.ts'
import { counted, cut, encodingShown, NOTHING_WRITTEN, sentences } from '../phrases.ts'
import { readFile } from '../suggested-fixes.ts'
import {
  type ProblemEntries,
  type FailedRequest,
  type FailureOf,
  type ProblemParts,
  retryAfter,
  sendAgain
} from './entry.ts'
import { briefNeedsVersion, needsVersion, STALE_FILE } from './stale-file.ts'

export const FILES = {
  READ_ONLY: {
    kind: [403, 'Server is read-only', 'change_request'],
    detail: () =>
      'This server or workspace is read-only (--read-only, or read_only in the access file). ' +
      'Nothing can be edited or previewed.',
    example: { code: 'READ_ONLY' }
  },
  BATCH_NOT_SUPPORTED: {
    kind: [422, 'Batches are not supported', 'change_request'],
    detail: () =>
      sentences(
        "This workspace is a bucket, in which several files can't be changed together, all or none.",
        NOTHING_WRITTEN,
        'Send one request for each file.'
      ),
    example: { code: 'BATCH_NOT_SUPPORTED' }
  },
  FIND_NOT_SUPPORTED: {
    kind: [501, 'Finding is not supported', 'never'],
    detail: (_failure, { naming }) =>
      sentences(
        "This server can't search across files: no ripgrep is installed for its system.",
        naming.inspect === undefined
          ? 'Look at single files instead.'
          : `Use ${naming.inspect} instead: it lists a directory, and finds text in one file (search).`
      ),
    example: { code: 'FIND_NOT_SUPPORTED' }
  },
  FILE_TOO_LARGE: {
    kind: [413, 'File is too large', 'change_request'],
    detail: ({ limit, actual, together }, { shown }) => ({
      detail: together
        ? sentences(
            `The large files of this request have ${counted(actual, 'byte')} together; the limit is ${limit}.`,
            NOTHING_WRITTEN,
            'Change them in several requests.'
          )
        : sentences(
            `${shown} has ${counted(actual, 'byte')}; the limit is ${limit}.`,
            'Only the operator can raise it, with --max-file-size.'
          ),
      members: { limit, actual }
    }),
    example: { code: 'FILE_TOO_LARGE', limit: 100_000_000, actual: 250_000_000 }
  },
  BINARY_FILE: {
    kind: [415, 'File is not text', 'never'],
    about: 'read_file',
    detail: ({ encoding }, { shown }) =>
      sentences(
        `${shown} can't be edited as text:`,
        encoding === 'binary'
          ? 'it is binary (it contains a NUL byte).'
          : `it begins with the mark of ${encodingShown(encoding)}, but is not text in that encoding.`,
        NOTHING_WRITTEN,
        'If it is meant to be text, convert it to UTF-8 with another tool.'
      ),
    example: { code: 'BINARY_FILE', encoding: 'binary', file_size: 2210 }
  },
  STALE_FILE,
  ALREADY_EXISTS: {
    kind: [409, 'File already exists', 'after_read'],
    about: 'read_file',
    detail: alreadyExists,
    example: { code: 'ALREADY_EXISTS', reason: 'exists' }
  },
  PRECONDITION_REQUIRED: {
    kind: [428, 'expected_hash is required', 'after_read'],
    about: 'read_file',
    detail: ({ now }, request) =>
      now === undefined
        ? { detail: needsHash(request), members: { suggested_fixes: [readFile(request)] } }
        : needsVersion(now, request),
    brief: ({ now }, call) => {
      if (!call.naming.takes('expected_hash')) return undefined
      if (now !== undefined) return briefNeedsVersion(now, call)
      const what = 'This server requires expected_hash with every edit: send the file_hash that this call answers'
      return { what, next: inspect(call, { path: pathOf(call) }) }
    },
    example: { code: 'PRECONDITION_REQUIRED' }
  },
  FILE_LOCKED: {
    kind: [423, 'File is being edited', 'after_delay'],
    detail: ({ reason, retry_after }, { shown }) => {
      const why = {
        timeout: 'is still being edited by another request',
        queue_full: 'has too many edits waiting',
        lost: 'could not be kept locked during the edit',
        in_place: 'is being written by another server, which has not finished and may have stopped',
        client_gone: 'was being edited by another request, and the client of this one did not wait for it'
      }[reason]
      return {
        detail: sentences(`${shown} ${why}.`, NOTHING_WRITTEN, sendAgain(retry_after)),
        headers: retryAfter(retry_after)
      }
    },
    example: { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 2 }
  },
  NO_SPACE: {
    kind: [507, 'No space left', 'after_delay'],
    detail: (_failure, { shown }) =>
      sentences(
        `There is no space left for the new content of ${shown}, or in the server's state folder (disk, quota or file size limit).`,
        NOTHING_WRITTEN,
        'Send the request again when there is space.'
      ),
    example: { code: 'NO_SPACE' }
  },
  NOT_READY: {
    kind: [503, 'Not ready', 'after_delay'],
    about: 'request',
    detail: ({ reason, retry_after }) => {
      if (reason === 'store_unknown') {
        return {
          detail: sentences(
            'The object store gave no answer, so it is not known whether the change was made.',
            'Read the file before you send the change again.'
          ),
          // No Retry-After: programs would resend the request on their own.
          members: { retry: 'after_read' }
        }
      }
      if (reason === 'store_unsafe') {
        return {
          detail: sentences(
            'The object store ignores the conditions of writes, so one change could undo another unseen; this server changes',
            'nothing until the store heeds them again. If your change was just sent, it may have been made:',
            'read the file before you send it again.'
          ),
          members: { retry: 'after_read' }
        }
      }
      const why = {
        store_refused: 'The object store refuses the keys of this server, or rights that it needs',
        store_unavailable: 'The object store does not answer this server',
        root_gone: 'The workspace directory is missing',
        root_unwritable: "The workspace directory can't be written to",
        root_hangs: "The workspace's file system does not answer",
        state_unwritable: "The state folder of the server is missing or can't be written to",
        state_replaced:
          'The state folder of the server was replaced by another one, so the server has to be started again',
        history_unwritable: "The history of the server can't be written",
        history_unreadable: "The history of the server can't be read",
        audit_unwritable: "The audit file of the server can't be written",
        no_descriptors: 'The server has too many files open',
        draining: 'The server is stopping',
        searching: 'The server is busy with too many searches',
        large_files: 'The server is busy with too many large files',
        parsing: 'The server is busy parsing too many files',
        bodies: 'The server received too many large requests at once, and dropped this one',
        issuer_unreachable: "The keys of the token's issuer can't be fetched, so the token can't be checked"
      }[reason]
      return {
        detail: sentences(`${why}; nothing was done.`, sendAgain(retry_after)),
        // A connection uses a file descriptor too.
        headers: { ...retryAfter(retry_after), ...(reason === 'no_descriptors' && { connection: 'close' }) }
      }
    },
    example: { code: 'NOT_READY', reason: 'draining', retry_after: 5 }
  }
} satisfies Partial<ProblemEntries>

function alreadyExists(
  failure: FailureOf<'ALREADY_EXISTS'>,
  { path, shown, naming, file_hash, part }: FailedRequest
): string | ProblemParts {
  if (failure.reason === 'move_target') {
    const isOfCase = failure.from !== path && failure.from.toLowerCase() === path.toLowerCase()
    return sentences(
      `${shown} already exists, and a move replaces nothing.`,
      NOTHING_WRITTEN,
      'Choose another path, or delete or move that file first.',
      isOfCase
        ? 'If only letter case is to change on a file system that ignores it, move the file to another name first.'
        : ''
    )
  }
  const { reason, if_none_match } = failure
  if (reason === 'made') {
    const behind = part?.list === 'files' ? undefined : part?.behind
    const earlier = behind === undefined ? 'An earlier operation of this request' : operationNamed(behind)
    return sentences(
      `${earlier} makes ${shown}.`,
      NOTHING_WRITTEN,
      'Put all of its content there, and leave this operation out.'
    )
  }
  if (file_hash === undefined) {
    return sentences(
      `${shown} already exists but can't be read: it may be a broken link.`,
      NOTHING_WRITTEN,
      'Choose another path.'
    )
  }
  if (!naming.takes('overwrite')) {
    return {
      detail: sentences(
        `${shown} already exists.`,
        NOTHING_WRITTEN,
        `To change it, read it first, then use ${naming.edit}; or choose another path.`
      ),
      members: { suggested_fixes: [readFile({ path, naming })] }
    }
  }
  const overwrite = `"overwrite": true, "expected_hash": "${file_hash}"`
  const why = {
    exists: if_none_match ? ', and If-None-Match: * requires a new file' : '',
    needs_overwrite: ', and overwrite is not true',
    needs_expected_hash: ', and overwrite: true also requires the expected_hash of the file to be replaced'
  }[reason]
  return {
    detail: sentences(
      `${shown} already exists${why}.`,
      NOTHING_WRITTEN,
      part === undefined
        ? using('To change part of it, use', naming.edit)
        : 'To change part of it, send an edit in place of this operation.',
      `To replace all of it, read it first, then send the same ${part === undefined ? 'request' : 'batch'} with`,
      `${overwrite}${if_none_match ? ' and without If-None-Match' : ''}${part === undefined ? '' : ` in ${operationNamed(part)}`}.`
    ),
    members: {
      suggested_fixes: [
        {
          type: 'READ_FILE',
          suggestion: `Read the file as it is now; then edit it, or replace it with ${overwrite}.`,
          ...lookedAtWith(naming, { path })
        }
      ]
    }
  }
}

function needsHash({ path, naming }: FailedRequest): string {
  const call = naming.takes('expected_hash') ? naming.inspectWith({ path: cut(path) }) : undefined
  return call === undefined
    ? sentences(
        'This server requires the hash of the file with every edit, which this tool cannot send.',
        NOTHING_WRITTEN,
        'Only the operator can change that (--require-hash).'
      )
    : sentences(
        'This server requires expected_hash with every edit.',
        NOTHING_WRITTEN,
        `Call ${call} and send its file_hash as expected_hash.`
      )
}
