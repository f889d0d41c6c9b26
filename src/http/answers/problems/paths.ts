// Why a file can't be read, changed or created, and what to do next. Does not know statuses or the edits of a request.
import type { Problem } from '../../../../schemas/problem.ts'
import type { HistoryFailure, RemovedFile } from '../../../operations/operation.ts'
import type { FileFailure } from '../../../workspace/failure.ts'
import type { OddPath } from '../../../workspace/odd-name.ts'
import { DEFAULT_PROTECTED } from '../../../workspace/policy.ts'
import { type CallSyntax, lookedAtWith, pathShown, pathsShown } from '../call-names.ts'
import { sentences, NOTHING_WRITTEN, counted, cut, ECHO_MAX, encodingShown, listed, quote } from '../phrases.ts'
import { type Descriptions, type FailedRequest, type ProblemParts, retryAfter, sendAgain } from './entry.ts'
import { behindNamed, operationNamed } from '../part.ts'
import { describeStaleFile } from './stale-file.ts'
import { readFile } from '../suggested-fixes.ts'
import { howRemoved, linkNow } from './undo-conflict.ts'

type Of<C extends FileFailure['code']> = Extract<FileFailure, { code: C }>

/** Patterns that a sentence names. */
const NAMED_PATTERNS = 5

function patternsListed(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'no path'
  const named = patterns.slice(0, NAMED_PATTERNS).map(pattern => cut(pattern, 200))
  const more = patterns.length - named.length
  return `${listed(more > 0 ? [...named, `${more} more`] : named)} only`
}

export const FILE_FAILURES: Descriptions<
  Exclude<FileFailure, { code: 'HISTORY_GONE' }> | Extract<HistoryFailure, { code: 'NOT_A_FILE' | 'FILE_NOT_FOUND' }>
> = {
  INVALID_PATH: (failure, { shown, naming }) => {
    if (isOdd(failure)) return oddName(failure, shown, naming)
    const { reason } = failure
    const why = {
      empty: 'is empty',
      nul: 'contains a NUL character',
      too_long: 'is too long, or one of its names is'
    }[reason]
    return {
      detail: `path ${why}. Send the path of a file ${rootOf(naming).relative}, such as ${rootOf(naming).example}.`,
      members: { errors: [{ pointer: '/path', message: why }] }
    }
  },
  PATH_NOT_ALLOWED: ({ reason, allowed_extensions = [], allowed_paths = [], did_you_mean = [] }, { shown, naming }) => {
    if (reason === 'token') {
      return sentences(
        `This token may not use ${shown}; it may use ${patternsListed(allowed_paths)}.`,
        allowed_paths.length > 0 ? 'Choose a path there, or ask the operator.' : 'Only the operator can allow it.'
      )
    }
    return reason === 'outside'
      ? {
          detail: sentences(
            `${shown} is outside the workspace.`,
            did_you_mean.length > 0
              ? `Paths are ${rootOf(naming).relative}. Did you mean ${listed(pathsShown(naming, did_you_mean), 'or')}?`
              : `Send a path ${rootOf(naming).relative}, such as ${rootOf(naming).example} ` +
                  `(${rootOf(naming).shown} is the root); ../ and links may not lead out of it.`
          ),
          members: similarPaths(did_you_mean, naming)
        }
      : sentences(
          `${shown} has an extension that is not allowed.`,
          `Allowed extensions are ${listed(allowed_extensions)}.`
        )
  },
  PROTECTED_PATH: ({ pattern }, { shown }) =>
    pattern === null
      ? `${shown} belongs to editd itself and can't be used. Choose another file.`
      : DEFAULT_PROTECTED.includes(pattern)
        ? sentences(
            `${shown} is protected (${pattern}), because changing or reading it could compromise tools that trust it.`,
            'Choose another file; only the operator can allow it, with --unprotect.'
          )
        : sentences(
            `${shown} is protected (${pattern}) by the operator of this server.`,
            'Choose another file; only the operator can allow it, in --protect or protect of the access file.'
          ),
  PERMISSION_DENIED: ({ reason }, { shown }) =>
    reason === 'read_only_file'
      ? sentences(
          `${shown} is read-only: its owner has no write permission.`,
          NOTHING_WRITTEN,
          'Ask a person to make it writable if it should be edited.'
        )
      : reason === 'several_names'
        ? sentences(
            `${shown} has several names (hard links) and can't be replaced by a new file here, so that writing it would`,
            'change the others too, also outside the workspace.',
            NOTHING_WRITTEN,
            'Ask a person to give the server ownership of it, or to replace the link by a copy.'
          )
        : reason === 'names_kept'
          ? sentences(
              `${shown} can't be made: its folder has an attribute by which names stay in it (chattr +a or +i).`,
              NOTHING_WRITTEN,
              'Ask a person to take that attribute from the folder.'
            )
          : reason === 'store_denies'
            ? sentences(
                `The object store denies this server the right to read or write ${shown}.`,
                NOTHING_WRITTEN,
                'Ask a person to allow it in the policy of the bucket, if it should be edited.'
              )
            : sentences(
                `The server has no permission to open or change ${shown}.`,
                NOTHING_WRITTEN,
                'Ask a person to check owner and mode of the file and of its folder, and whether its file system is mounted read-only.'
              ),
  READ_ONLY: () =>
    'This server or workspace is read-only (--read-only, or read_only in the access file). ' +
    'Nothing can be edited or previewed.',
  DELETE_NOT_ALLOWED: ({ reason }, { shown }) => {
    const why = {
      setting: `${shown} can't be deleted or moved: this server doesn't allow that.`,
      history_off: `${shown} can't be deleted or moved: this server keeps no history that could bring it back (--history off).`,
      texts_not_kept: sentences(
        `${shown} can't be deleted or moved: the history doesn't keep what it holds, so nothing could bring it back`,
        '(--history meta, or a file that often holds secrets).'
      ),
      bucket: sentences(
        `${shown} can't be deleted or moved: this workspace is a bucket, in which that could also delete`,
        'what somebody else has just written.'
      )
    }[reason]
    const operator = {
      setting: 'Only the operator can allow it, with --allow-delete.',
      history_off: 'Only the operator can turn the history on.',
      texts_not_kept: 'Only the operator can change what is kept.',
      bucket: 'Ask a person to delete it in the bucket if it should be gone.'
    }[reason]
    return sentences(why, NOTHING_WRITTEN, operator, 'You can still change what is in the file, or empty it.')
  },
  BATCH_NOT_SUPPORTED: () =>
    sentences(
      "This workspace is a bucket, in which several files can't be changed together, all or none.",
      NOTHING_WRITTEN,
      'Send one request for each file.'
    ),
  FILE_NOT_FOUND: (failure, { shown, naming }) => ({
    detail: notFound(failure, shown, naming),
    members: 'removals' in failure ? waysToRemoved(failure, naming) : similarPaths(failure.did_you_mean, naming)
  }),
  NOT_A_FILE: (failure, request) =>
    failure.type === 'link_now' ? linkNow(failure.leads_to, request.shown) : notAFile(failure, request),
  FILE_TOO_LARGE: ({ limit, actual, together }, { shown }) => ({
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
  BINARY_FILE: ({ encoding }, { shown }) =>
    sentences(
      `${shown} can't be edited as text:`,
      encoding === 'binary'
        ? 'it is binary (it contains a NUL byte).'
        : `it begins with the mark of ${encodingShown(encoding)}, but is no such text.`,
      NOTHING_WRITTEN,
      'If it is meant to be text, convert it to UTF-8 with another tool.'
    ),
  STALE_FILE: describeStaleFile,
  ALREADY_EXISTS: alreadyExists,
  PRECONDITION_REQUIRED: (_failure, request) => ({
    detail: needsHash(request),
    members: { suggested_fixes: [readFile(request)] }
  }),
  FILE_LOCKED: ({ reason, retry_after }, { shown }) => {
    const why = {
      timeout: 'is still being edited by another request',
      queue_full: 'has too many edits waiting',
      lost: 'could not be kept locked during the edit',
      in_place: 'is being written by another server, which has not finished and may have stopped',
      client_gone: 'was being edited by another request, for which the client of this one did not wait'
    }[reason]
    return {
      detail: sentences(`${shown} ${why}.`, NOTHING_WRITTEN, sendAgain(retry_after)),
      headers: retryAfter(retry_after)
    }
  },
  NO_SPACE: (_failure, { shown }) =>
    sentences(
      `There is no space left for the new content of ${shown}, or in the server's state folder (disk, quota or file size limit).`,
      NOTHING_WRITTEN,
      'Send the request again when there is space.'
    ),
  NOT_READY: ({ reason, retry_after }) => {
    if (reason === 'store_unknown') {
      return {
        detail: sentences(
          'The object store gave no answer, so it is not known whether the change was made.',
          'Read the file before you send the change again.'
        ),
        // Without Retry-After: programs send again by themselves what has it.
        members: { retry: 'after_read' }
      }
    }
    if (reason === 'store_unsafe') {
      return {
        detail: sentences(
          'The object store ignores the conditions of writes, so that one change could undo another unseen; this server makes',
          'none until it keeps them again. If yours was just sent, it may have been made: read the file before you send it again.'
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
      // A connection holds a descriptor too.
      headers: { ...retryAfter(retry_after), ...(reason === 'no_descriptors' && { connection: 'close' }) }
    }
  }
}

/** Where paths begin, as the caller writes them. */
function rootOf(naming: CallSyntax): { shown: string; relative: string; example: string } {
  const shown = naming.pathShown('.') ?? '.'
  return shown === '.'
    ? { shown, relative: 'relative to the workspace root', example: 'src/app.ts' }
    : { shown, relative: `below ${shown}`, example: `${shown}/notes.md` }
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

function notFound(failure: Of<'FILE_NOT_FOUND'> | RemovedFile, shown: string, naming: CallSyntax): string {
  const { missing, did_you_mean = [], folder = '.' } = failure
  if (missing === 'parent') {
    return sentences(
      `The directory for ${shown} was not found.`,
      NOTHING_WRITTEN,
      naming.takes('create_parents')
        ? 'Set create_parents to true, or leave it out, to create it too; or correct the path.'
        : 'Correct the path.'
    )
  }
  const removed = 'removals' in failure ? failure : undefined
  if (missing === 'expected') {
    return sentences(
      `${shown} was not found, although ${naming.takes('expected_hash') ? 'expected_hash says that it exists' : 'it was read before'}: ` +
        `${removed === undefined ? 'it was removed, or the path is wrong' : howGone(removed, naming)}.`,
      NOTHING_WRITTEN,
      removed === undefined ? '' : wayToRemoved(removed, naming),
      naming.takes('expected_hash') ? 'To create it again, leave expected_hash out.' : ''
    )
  }
  if (missing === 'removed') {
    return sentences(
      `An earlier operation of this request deletes or moves ${shown}.`,
      NOTHING_WRITTEN,
      'To change the file, send one update of it instead; to make another file in its place, send a second request.'
    )
  }
  if (missing === 'made') {
    return sentences(
      `${shown} is not there yet: an earlier operation of this request makes it.`,
      NOTHING_WRITTEN,
      'Leave both operations out, or make the file where it should be.'
    )
  }
  if (missing === 'link_target') {
    return sentences(
      `${shown} is, or lies behind, a symbolic link to something that is not there.`,
      NOTHING_WRITTEN,
      'Use another path.'
    )
  }
  if (removed !== undefined) {
    return sentences(`${shown} was not found: ${howGone(removed, naming)}.`, wayToRemoved(removed, naming))
  }
  if (did_you_mean.length > 0) {
    return `${shown} was not found. Did you mean ${listed(pathsShown(naming, did_you_mean), 'or')}?`
  }
  const listing = naming.inspectWith({ path: folder })
  return sentences(
    `${shown} was not found.`,
    `Check the path: it is ${rootOf(naming).relative}, and case matters.`,
    listing === undefined ? '' : `${listing} lists what is there.`
  )
}

/** What removed a file, in words. */
export function howGone({ removals, now_at }: RemovedFile, naming: CallSyntax): string {
  const how = listed(removals.map(({ by, ...removal }) => howRemoved(by, removal, naming)))
  return removals.at(-1)?.moved_to === undefined || now_at !== undefined ? how : `${how}, where it is not any more`
}

/** The call that brings a file back which was deleted, if the caller can send it. */
export function bringingBackRemoved(
  { undo: edit_id }: RemovedFile,
  naming: CallSyntax
): { name: string; arguments: { edit_ids: string[] } } | undefined {
  const name = naming.undo
  return edit_id === undefined || name === undefined ? undefined : { name, arguments: { edit_ids: [edit_id] } }
}

function wayToRemoved(removed: RemovedFile, naming: CallSyntax): string {
  if (removed.now_at !== undefined) return 'Use the path that it has now.'
  const back = bringingBackRemoved(removed, naming)
  return back === undefined ? '' : `To bring it back, call ${back.name} with ${JSON.stringify(back.arguments)}.`
}

function waysToRemoved(removed: RemovedFile, naming: CallSyntax): Partial<Problem> {
  const { did_you_mean, suggested_fixes = [] } = similarPaths(removed.did_you_mean, naming)
  const call = bringingBackRemoved(removed, naming)
  const undo = { type: 'USE_UNDO' as const, suggestion: 'Bring the file back, then send this request again.' }
  const fixes = [...suggested_fixes, ...(call === undefined ? [] : [{ ...undo, call }])]
  return { did_you_mean, ...(fixes.length > 0 && { suggested_fixes: fixes }) }
}

function notAFile({ type }: Of<'NOT_A_FILE'>, { path, shown, naming, part }: FailedRequest): string | ProblemParts {
  const behind = part && behindNamed(part, naming)
  if (behind !== undefined) {
    return sentences(
      type === 'directory'
        ? `${shown} can't be a file: ${behind} makes a file in it.`
        : `${shown} can't be made: ${behind} makes a file where it needs a directory.`,
      NOTHING_WRITTEN,
      'Give one of the two another path.'
    )
  }
  switch (type) {
    case 'file_as_directory':
      return {
        detail: `${shown} is a file, but the path ends in /, . or .., as only a directory's can. Send ${shown}.`,
        members: similarPaths([path], naming)
      }
    case 'trailing_slash':
      return sentences(
        `The path that was sent ends in /, . or .., so it names a directory, ${shown}.`,
        NOTHING_WRITTEN,
        'End it with the name of the file to create.'
      )
    case 'link':
      return sentences(
        `A symbolic link is part of the path ${shown}, so that it is not clear what is to be deleted or moved.`,
        NOTHING_WRITTEN,
        'Send the path that it leads to, which is resolved_path.'
      )
    case 'not_a_directory':
      return sentences(`Part of the path ${shown} is not a directory.`, NOTHING_WRITTEN, 'Correct the path.')
    case 'directory': {
      const listing = naming.inspectWith({ path: cut(path) })
      return sentences(
        `${shown} is a directory, not a file.`,
        `Send the path of a file in it${listing === undefined ? '' : `; ${listing} lists them`}.`
      )
    }
    default:
      return `${shown} is a ${type === 'fifo' ? 'named pipe' : type}, not a file. Only regular files can be used.`
  }
}

/** The paths that may have been meant, the likeliest first, and a fix for that one. */
function similarPaths(did_you_mean: string[] = [], naming: CallSyntax): Partial<Problem> {
  const [first] = did_you_mean
  if (first === undefined) return {}
  const fix = {
    type: 'FIX_PATH' as const,
    suggestion: `Use the path ${pathShown(naming, first)}, if that is the file you mean.`,
    ...lookedAtWith(naming, { path: first })
  }
  return { did_you_mean: pathsShown(naming, did_you_mean), suggested_fixes: [fix] }
}

/** Whether it is the name of a new file that is hardly meant so. */
export const isOdd = (failure: Of<'INVALID_PATH'>): failure is Of<'INVALID_PATH'> & OddPath => failure.reason in WHY_ODD

const WHY_ODD: Record<OddPath['reason'], string> = {
  control: 'has a line break or another control character, which no path here may have',
  spaces: 'begins or ends with white space',
  quoted: 'is in quotes or backticks, which would be part of the name',
  url: 'is a URL',
  home: 'begins with ~, which does not stand for a home directory here',
  drive: 'begins with the drive of a Windows path',
  encoded: 'is percent-encoded, as in a URL',
  backslash: 'has backslashes, which do not separate directories here'
}

/** What is wrong with a path, and in what way it is meant if it is. */
export const oddWords = ({ reason }: OddPath, naming: CallSyntax): { why: string; literal: string } => ({
  why: `path ${WHY_ODD[reason]}`,
  literal:
    reason !== 'control' && naming.takes('literal_path')
      ? 'If the name is meant as it is, send it again with literal_path: true.'
      : ''
})

function oddName(failure: OddPath, shown: string, naming: CallSyntax): ProblemParts {
  const { why, literal } = oddWords(failure, naming)
  const meant = pathsShown(naming, failure.meant === undefined ? [] : [failure.meant])
  const [first] = meant
  const instead =
    first === undefined
      ? `Send a path ${rootOf(naming).relative}, such as ${rootOf(naming).example}.`
      : `Send it again with the path ${quote(first, ECHO_MAX)}.`
  return {
    detail: sentences(`${quote(shown, 200)} can't be created: ${why}.`, NOTHING_WRITTEN, instead, literal),
    members: {
      errors: [{ pointer: '/path', message: WHY_ODD[failure.reason] }],
      ...(first !== undefined && {
        did_you_mean: meant,
        suggested_fixes: [{ type: 'FIX_PATH' as const, suggestion: instead }]
      })
    }
  }
}

function alreadyExists(
  { reason, if_none_match }: Of<'ALREADY_EXISTS'>,
  { path, shown, naming, file_hash, part }: FailedRequest
): string | ProblemParts {
  if (reason === 'made') {
    return sentences(
      `${part?.behind === undefined || part.list === 'files' ? 'An earlier operation of this request' : operationNamed(part.behind)} makes ${shown}.`,
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
        ? `To change part of it, use ${naming.edit}.`
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
