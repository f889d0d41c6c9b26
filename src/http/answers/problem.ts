// failure → problem: the only place that knows status codes and titles. Its sentences are of requests and files; knows
// none of edits.
import type { Problem, ProblemCode } from '../../../schemas/problem.ts'
import { tellFailedEdit, tellStale } from './failed-edit.ts'
import type { Failure } from '../failure.ts'
import { faultInWords } from './field-faults.ts'
import { readFile } from './suggested-fixes.ts'
import { BY_ROUTE, type Asked, type CallSyntax } from './call-names.ts'
import { counted, cut, listed, quote } from './phrases.ts'
import { strayError } from './section-failure.ts'
import { NOTHING_WRITTEN, type ProblemParts } from './told.ts'

/** The status of every success. */
export const SUCCESS = 200

/** What an `If-Match` that doesn't hold answers; the same in the body answers that of the code. */
export const PRECONDITION_FAILED = 412

type Retry = Problem['retry']

/** Every code with its status, title and whether sending it again can help. */
export const KINDS: Record<ProblemCode, readonly [status: number, title: string, retry: Retry]> = {
  INVALID_JSON: [400, 'Body is not valid JSON', 'never'],
  INVALID_REQUEST: [400, 'Request is not valid', 'never'],
  INVALID_PATH: [400, 'Path is not valid', 'never'],
  INVALID_UNICODE: [400, 'Text is not valid Unicode', 'never'],
  MIXED_MODES: [400, 'Single edit and list of edits mixed', 'never'],
  NO_EDITS: [400, 'No edits given', 'never'],
  EMPTY_OLD_TEXT: [400, 'old_text is empty', 'never'],
  TOO_MANY_EDITS: [400, 'Too many edits', 'never'],
  UNAUTHORIZED: [401, 'Token required', 'never'],
  PATH_NOT_ALLOWED: [403, 'Path is not allowed', 'never'],
  PROTECTED_PATH: [403, 'Path is protected', 'never'],
  PERMISSION_DENIED: [403, 'Permission denied', 'never'],
  READ_ONLY: [403, 'Server is read-only', 'never'],
  FORBIDDEN_HOST: [403, 'Host is not allowed', 'never'],
  FORBIDDEN_ORIGIN: [403, 'Origin is not allowed', 'never'],
  FILE_NOT_FOUND: [404, 'File not found', 'never'],
  ROUTE_NOT_FOUND: [404, 'Route not found', 'never'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed', 'never'],
  REQUEST_TIMEOUT: [408, 'Request took too long to arrive', 'after_delay'],
  STALE_FILE: [409, 'File has changed', 'after_read'],
  ALREADY_EXISTS: [409, 'File already exists', 'after_read'],
  REQUEST_TOO_LARGE: [413, 'Request is too large', 'never'],
  FILE_TOO_LARGE: [413, 'File is too large', 'never'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Body is not plain JSON', 'never'],
  BINARY_FILE: [415, 'File is not text', 'never'],
  NO_MATCH: [422, 'Text not found', 'never'],
  WRONG_COUNT: [422, 'Unexpected number of matches', 'never'],
  OCCURRENCE_OUT_OF_RANGE: [422, 'No such occurrence', 'never'],
  OVERLAPPING_EDITS: [422, 'Edits overlap', 'never'],
  EXPECTED_TEXT_MISMATCH: [422, 'Lines do not match expected_text', 'after_read'],
  LINE_OUT_OF_RANGE: [422, 'No such line', 'never'],
  TARGET_NOT_FOUND: [422, 'Target not found', 'never'],
  AMBIGUOUS_TARGET: [422, 'Several targets match', 'never'],
  UNSUPPORTED_TARGET: [422, 'Target not supported', 'never'],
  NOT_A_FILE: [422, 'Not a file', 'never'],
  RESULT_TOO_LARGE: [422, 'Result is too large', 'never'],
  FILE_LOCKED: [423, 'File is being edited', 'after_delay'],
  PRECONDITION_REQUIRED: [428, 'expected_hash is required', 'after_read'],
  HEADERS_TOO_LARGE: [431, 'Headers are too large', 'never'],
  INTERNAL_ERROR: [500, 'Internal error', 'after_read'],
  NOT_READY: [503, 'Not ready', 'after_delay'],
  NO_SPACE: [507, 'No space left', 'after_delay']
}

/** What is known of the request that failed. */
export interface Context {
  /** The route, without its query. */
  instance: string
  request_id: string
  path?: string
  resolved_path?: string
  file_hash?: string
  /** The expected hash came in `If-Match`. */
  by_header?: boolean
  /** How other calls are named; by their routes where it isn't said. */
  naming?: CallSyntax
}

export interface Answer {
  body: Problem
  headers: Record<string, string>
}

/** The problem that tells a client of a failure: `detail` alone is enough to act on. */
export function toProblem(failure: Failure, context: Context): Answer {
  const { code } = failure
  const [status, title, retry] = KINDS[code]
  const { detail, members, headers } = tell(failure, context)
  const { instance, request_id, path, resolved_path, file_hash } = context
  return {
    body: {
      type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
      title,
      status: isPreconditionFailed(failure, context) ? PRECONDITION_FAILED : status,
      code,
      detail,
      instance,
      request_id,
      retry,
      ...(path !== undefined && { path: cut(path) }),
      ...(resolved_path !== undefined && { resolved_path }),
      ...members,
      ...(file_hash !== undefined && { file_hash })
    },
    headers: { ...headers, ...(file_hash !== undefined && { etag: `"${file_hash}"` }) }
  }
}

/** Whether a header asked for what isn't so. */
function isPreconditionFailed(failure: Failure, { by_header }: Context): boolean {
  if (failure.code === 'ALREADY_EXISTS') return failure.if_none_match === true
  return failure.code === 'STALE_FILE' && failure.reason === 'expected_hash' && by_header === true
}

const wait = (seconds: number) => ({
  headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
  text: `Send it again in ${counted(Math.max(1, Math.ceil(seconds)), 'second')}.`
})
/** A list of errors on one line; the rest is in `errors`. */
const told = (errors: readonly { pointer: string; message: string }[]) =>
  errors
    .slice(0, 3)
    .map(({ pointer, message }) => cut(pointer === '' ? message : `${pointer} ${message}`, 200))
    .join('; ') + (errors.length > 3 ? `; and ${errors.length - 3} more` : '')

function tell(failure: Failure, context: Context): ProblemParts {
  const { path = 'the file', naming = BY_ROUTE } = context
  const asked = { path, naming }
  const shown = cut(path, 200)
  switch (failure.code) {
    case 'INVALID_JSON':
      return invalidJson(failure)
    case 'INVALID_UNICODE':
      return failure.pointer === undefined
        ? { detail: 'The body is not valid UTF-8. Send the JSON encoded as UTF-8.' }
        : {
            detail: `The text at ${failure.pointer === '' ? 'the top level' : cut(failure.pointer, 200)} contains half of a surrogate pair (such as \\ud83d alone), which cannot be encoded as UTF-8. Send whole characters.`,
            members: { errors: [{ pointer: cut(failure.pointer), message: 'contains a lone surrogate' }] }
          }
    case 'INVALID_REQUEST': {
      const all =
        'stray' in failure
          ? [strayError(failure, naming)]
          : 'faults' in failure
            ? failure.faults.map(faultInWords)
            : failure.errors
      const errors = all.slice(0, 20).map(({ pointer, message }) => ({ pointer: cut(pointer), message: cut(message) }))
      return { detail: `The request is not valid: ${told(all)}.`, members: { errors } }
    }
    case 'MIXED_MODES':
      return {
        detail: `The request has edits as well as ${listed(failure.fields)} at the top level. Put every edit into edits, or send one edit at the top level without edits.`
      }
    case 'NO_EDITS':
      return {
        detail: `The request has no edits. Send ${listed(failure.fields)}, or edits with at least one such object.`
      }
    case 'EMPTY_OLD_TEXT': {
      const { edit_index, total_edits } = failure
      const where = edit_index === undefined ? '' : `Edit ${edit_index + 1} of ${total_edits} failed: `
      return {
        detail: `${where}old_text is empty, and empty text matches everywhere. To insert text, send nearby text of the file as old_text, and the same text with your insertion as new_text.`,
        members: { ...(edit_index !== undefined && { edit_index }), ...(total_edits !== undefined && { total_edits }) }
      }
    }
    case 'TOO_MANY_EDITS':
      return {
        detail: `The request has ${failure.actual} edits; the limit is ${failure.limit}. Send them in several requests.`,
        members: { limit: failure.limit, actual: failure.actual }
      }
    case 'UNSUPPORTED_MEDIA_TYPE': {
      const given = quote(failure.given)
      const type =
        failure.given === '' ? 'The request does not say which type its body has' : `The body has the type ${given}`
      return {
        detail: {
          type: `${type}. Send JSON with the header Content-Type: application/json.`,
          charset: `The body has the charset ${given}. Send it as UTF-8, with the header Content-Type: application/json.`,
          encoding: `The body has the Content-Encoding ${given}. Send it uncompressed.`
        }[failure.reason]
      }
    }
    case 'UNAUTHORIZED': {
      const why = {
        missing: 'The request has no token.',
        malformed: 'The Authorization header is not of the form Bearer <token>.',
        wrong: 'The token is wrong.'
      }[failure.reason]
      return {
        detail: `${why} Send the header Authorization: Bearer <token> with the token that was configured (--token, EDITD_TOKEN) or printed when the server started.`,
        headers: { 'www-authenticate': 'Bearer' }
      }
    }
    case 'FORBIDDEN_HOST':
      return {
        detail: `The Host header names ${quote(failure.host)}, which is not allowed. Use localhost or an IP address, or ask the operator to allow the name with --allow-host (EDITD_ALLOW_HOST).`
      }
    case 'FORBIDDEN_ORIGIN':
      return {
        detail: `Web pages from the origin ${quote(failure.origin)} may not call this server. The operator can allow them with --allow-origin (EDITD_ALLOW_ORIGIN).`
      }
    case 'ROUTE_NOT_FOUND':
      if ('tool' in failure) {
        return {
          detail: `There is no tool ${quote(failure.tool)}; did you mean ${failure.nearest}? The tools are ${listed(failure.tools)}.`
        }
      }
      return {
        detail: `There is no route ${failure.method} ${cut(context.instance, 200)}. The routes are ${listed(failure.routes)}.`
      }
    case 'METHOD_NOT_ALLOWED':
      return {
        detail: `${cut(context.instance, 200)} does not accept ${failure.method}. Use ${listed(failure.allow, 'or')}.`,
        headers: { allow: failure.allow.join(', ') }
      }
    case 'REQUEST_TIMEOUT':
      return {
        detail:
          'The request took too long to arrive, so nothing was done and the connection is closed. Send the whole request again.'
      }
    case 'HEADERS_TOO_LARGE':
      return {
        detail: `The headers of the request are larger than ${counted(failure.limit, 'byte')}. Send fewer or shorter ones.`,
        members: { limit: failure.limit }
      }
    case 'REQUEST_TOO_LARGE':
      return {
        detail: `The body is larger than ${counted(failure.limit, 'byte')}. Send smaller edits, in several requests; the operator can raise the limit with --body-limit.`,
        members: { limit: failure.limit }
      }
    case 'INTERNAL_ERROR':
      return {
        detail: `The server failed; its log has the reason under request_id ${context.request_id}. Look at the file before you send the request again.`
      }
    case 'INVALID_PATH': {
      const why = {
        empty: 'is empty',
        nul: 'contains a NUL character',
        too_long: 'is longer than a file system allows, or has a name in it that is'
      }[failure.reason]
      return {
        detail: `path ${why}. Send the path of a file relative to the workspace root, such as src/app.ts.`,
        members: { errors: [{ pointer: '/path', message: why }] }
      }
    }
    case 'PATH_NOT_ALLOWED':
      return failure.reason === 'outside'
        ? {
            detail: `${shown} is outside the workspace. Send a path relative to the workspace root, such as src/app.ts; ../ and links may not lead out of it.`
          }
        : {
            detail: `${shown} has an extension that is not allowed. Allowed extensions are ${listed(failure.allowed_extensions ?? [])}.`
          }
    case 'PROTECTED_PATH':
      return {
        detail: `${shown} is protected (${failure.pattern}) because changing or reading it could compromise tools that trust it. Choose another file; only the operator can allow it, with --unprotect.`
      }
    case 'PERMISSION_DENIED':
      return failure.reason === 'read_only_file'
        ? {
            detail: `${shown} is not writable by its owner, so it was not changed. ${NOTHING_WRITTEN} Ask a person to make it writable if it should be edited.`
          }
        : {
            detail: `The server has no permission to open or change ${shown}. ${NOTHING_WRITTEN} Ask a person to check the file's owner and mode.`
          }
    case 'READ_ONLY':
      return { detail: 'This server is read-only (--read-only). Nothing can be edited or previewed.' }
    case 'FILE_NOT_FOUND': {
      if (failure.missing === 'parent') {
        return {
          detail: `The directory for ${shown} was not found. ${NOTHING_WRITTEN} Set create_parents to true, or leave it out, to create it too; or correct the path.`,
          members: near(failure, naming)
        }
      }
      if (failure.missing === 'expected') {
        return {
          detail: `${shown} was not found, although expected_hash says that it exists: it was removed, or the path is wrong. ${NOTHING_WRITTEN} To create it again, leave expected_hash out.`,
          members: near(failure, naming)
        }
      }
      const { did_you_mean = [] } = failure
      return {
        detail: `${shown} was not found. ${did_you_mean.length > 0 ? `Did you mean ${listed(did_you_mean, 'or')}?` : `Check the path: it is relative to the workspace root, and case matters. ${naming.inspectWith({ path: '.' })} lists what is there.`}`,
        members: near(failure, naming)
      }
    }
    case 'NOT_A_FILE':
      if (failure.type === 'file_as_directory') {
        return {
          detail: `${shown} is a file, but the path ends with /, . or .., as only the path of a directory can. Send it without that ending: ${shown}.`,
          members: near({ did_you_mean: [path] }, naming)
        }
      }
      if (failure.type === 'trailing_slash') {
        return {
          detail: `The path ends with /, . or .., which names a directory: ${shown}. ${NOTHING_WRITTEN} End it with the name of the file to create.`
        }
      }
      if (failure.type === 'not_a_directory') {
        return {
          detail: `Part of the path ${shown} is not a directory. ${NOTHING_WRITTEN} Correct the path.`
        }
      }
      return {
        detail: `${shown} is a ${failure.type === 'fifo' ? 'named pipe' : failure.type}, not a file. ${failure.type === 'directory' ? `Send the path of a file in it; ${naming.inspectWith({ path: cut(path) })} lists them.` : 'Only regular files can be used.'}`
      }
    case 'FILE_TOO_LARGE':
      return {
        detail: `${shown} has ${counted(failure.actual, 'byte')}; the limit is ${failure.limit} (--max-file-size).`,
        members: { limit: failure.limit, actual: failure.actual }
      }
    case 'BINARY_FILE':
      return {
        detail: `${shown} can't be edited as text: it is ${failure.encoding === 'binary' ? 'binary (it contains a NUL byte)' : `${failure.encoding.toUpperCase()}, and only UTF-8, ASCII and other 8-bit text can be edited`}. ${NOTHING_WRITTEN}`
      }
    case 'STALE_FILE':
      if (failure.reason === 'changed_meanwhile') {
        return {
          detail: `${shown} was changed by another program while it was being edited. ${NOTHING_WRITTEN} Look at the file again, then decide.`,
          members: { suggested_fixes: [readFile(asked)] }
        }
      }
      return tellStale(failure, asked, context.file_hash)
    case 'ALREADY_EXISTS':
      return alreadyExists(failure, asked, context.file_hash)
    case 'PRECONDITION_REQUIRED':
      return {
        detail: `This server requires expected_hash with every edit. ${NOTHING_WRITTEN} Call ${naming.inspectWith({ path: cut(path) })} and send its file_hash as expected_hash.`,
        members: { suggested_fixes: [readFile(asked)] }
      }
    case 'FILE_LOCKED': {
      const { text, headers } = wait(failure.retry_after)
      const why = {
        timeout: 'is still being edited by another request',
        queue_full: 'has too many edits waiting',
        lost: 'lost its lock while it was being edited',
        in_place: 'is being written by another server, which has not finished and may have stopped'
      }[failure.reason]
      return { detail: `${shown} ${why}. ${NOTHING_WRITTEN} ${text}`, headers }
    }
    case 'NO_SPACE':
      return {
        detail: `There is no space left for the new content of ${shown} (disk, quota or file size limit). ${NOTHING_WRITTEN} Send the request again when there is space.`
      }
    case 'NOT_READY': {
      const { text, headers } = wait(failure.retry_after)
      const why = {
        root_gone: 'The workspace directory is missing',
        no_descriptors: 'The server has too many files open',
        draining: 'The server is stopping',
        searching: 'The server is busy with too many searches',
        large_files: 'The server is busy with too many large files',
        parsing: 'The server is busy parsing too many files'
      }[failure.reason]
      // A connection holds a descriptor too.
      const closing = failure.reason === 'no_descriptors' ? { connection: 'close' } : {}
      return { detail: `${why}; nothing was done. ${text}`, headers: { ...headers, ...closing } }
    }
    default:
      return tellFailedEdit(failure, asked)
  }
}

/** What was meant, perhaps, by a path that leads to no file. */
function near({ did_you_mean = [] }: { did_you_mean?: string[] }, naming: CallSyntax): Partial<Problem> {
  const fixes = did_you_mean.slice(0, 1).map(other => ({
    type: 'FIX_PATH' as const,
    suggestion: `Use the path ${other}, if that is the file you mean.`,
    example: naming.inspectWith({ path: other })
  }))
  return did_you_mean.length > 0 ? { did_you_mean, suggested_fixes: fixes } : {}
}

function alreadyExists(
  { reason, if_none_match }: Extract<Failure, { code: 'ALREADY_EXISTS' }>,
  { path, naming }: Asked,
  file_hash?: string
): ProblemParts {
  const shown = cut(path, 200)
  if (file_hash === undefined) {
    return {
      detail: `${shown} already exists but can't be read: it may be a broken link. ${NOTHING_WRITTEN} Choose another path.`
    }
  }
  const overwrite = `"overwrite": true, "expected_hash": "${file_hash}"`
  const why = {
    exists: if_none_match ? 'already exists, and If-None-Match: * requires a new file' : 'already exists',
    needs_overwrite: 'already exists, and overwrite is not true',
    needs_expected_hash:
      'already exists, and overwrite: true also requires the expected_hash of the file to be replaced'
  }[reason]
  return {
    detail: `${shown} ${why}. ${NOTHING_WRITTEN} To change part of it, use ${naming.edit}. To replace all of it, look at it first, then send the same request with ${overwrite}${if_none_match ? ' and without If-None-Match' : ''}.`,
    members: {
      suggested_fixes: [
        {
          type: 'READ_FILE',
          suggestion: `Look at the file as it is now; then edit it, or replace it with ${overwrite}.`,
          example: naming.inspectWith({ path })
        }
      ]
    }
  }
}

function invalidJson(failure: Extract<Failure, { code: 'INVALID_JSON' }>): ProblemParts {
  switch (failure.reason) {
    case 'empty':
      return { detail: 'The request has no body. Send one JSON object with the fields of the operation.' }
    case 'syntax':
      return {
        detail: `The body is not valid JSON${failure.where === undefined ? '' : ` (${failure.where})`}. Check that quotes, backslashes and line breaks inside strings are escaped (\\", \\\\, \\n) and that nothing is missing at the end.`
      }
    case 'duplicate_key': {
      const where = failure.pointer === '' ? '' : ` (${cut(failure.pointer, 200)})`
      return {
        detail: `The field ${quote(failure.key)} is given twice in the same object${where}. Send it once.`,
        members: { errors: [{ pointer: cut(failure.pointer), message: `has the field ${quote(failure.key)} twice` }] }
      }
    }
    case 'too_deep':
      return {
        detail: `The body is nested deeper than ${failure.limit} levels. No operation needs more than 3.`,
        members: { limit: failure.limit }
      }
  }
}
