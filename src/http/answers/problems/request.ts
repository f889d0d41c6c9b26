// Why a request is refused before any file is touched, and what to send instead. Does not know files or edits.
import type { Scope } from '../../../../schemas/access.ts'
import type { Rate } from '../../../config/config.ts'
import type { InvalidField, JwtFault } from '../../request-failure.ts'
import { type Brief, CALLS_LENGTH, type FailedCall, pathOf } from '../brief/call.ts'
import { BY_TOOL, type CallSyntax, using } from '../call-names.ts'
import { counted, cut, listed, NOTHING_WRITTEN, quote, sentences } from '../phrases.ts'
import { type ProblemEntries, type FailureOf, type ProblemParts, retryAfter, sendAgain } from './entry.ts'
import { faultInWords } from './field-faults.ts'
import { howToFill } from './no-match.ts'
import { strayError } from './sections.ts'

export const REQUEST = {
  INVALID_JSON: {
    kind: [400, 'Body is not valid JSON', 'change_request'],
    about: 'request',
    detail: invalidJson,
    example: { code: 'INVALID_JSON', reason: 'syntax', where: 'at character 17' }
  },
  INVALID_UNICODE: {
    kind: [400, 'Text is not valid Unicode', 'change_request'],
    about: 'request',
    detail: invalidUnicode,
    example: { code: 'INVALID_UNICODE', pointer: '/new_text' }
  },
  INVALID_REQUEST: {
    kind: [400, 'Request is not valid', 'change_request'],
    detail: (failure, { naming }) => {
      const errors = fieldErrors(failure, naming)
      return { detail: `The request is not valid: ${onOneLine(errors)}.`, members: { errors: echoed(errors) } }
    },
    example: {
      code: 'INVALID_REQUEST',
      errors: [{ pointer: '/old_txt', message: 'is an unknown field (did you mean old_text?)' }]
    }
  },
  MIXED_MODES: {
    kind: [400, 'Single edit and list of edits mixed', 'change_request'],
    detail: ({ fields }) =>
      sentences(
        `The request has edits as well as ${listed(fields)} at the top level.`,
        'Put every edit into edits, or send one edit at the top level without edits.'
      ),
    example: { code: 'MIXED_MODES', fields: ['old_text', 'new_text'] }
  },
  NO_EDITS: {
    kind: [400, 'No edits given', 'change_request'],
    detail: (failure, { naming }) =>
      'none_of' in failure
        ? 'The request has no operations. Send at least one, such as an edit with path, ' +
          `${naming.field('old_text')} and ${naming.field('new_text')}.`
        : `The request has no edits. Send ${listed(failure.fields.map(field => inWords(field, naming)))}` +
          (naming.takes('edits') ? ', or edits with at least one such object.' : '.'),
    example: { code: 'NO_EDITS', fields: ['old_text', 'new_text'] }
  },
  EMPTY_OLD_TEXT: {
    kind: [400, 'old_text is empty', 'change_request'],
    detail: ({ edit_index, total_edits, there }, { naming, path, shown }) => {
      const which = edit_index === undefined ? '' : `Edit ${edit_index + 1} of ${total_edits} failed: `
      const empty = `${which}${naming.field('old_text')} is empty,`
      return {
        detail:
          there === 'no_file'
            ? sentences(`${empty} and there is no file ${shown}.`, using('To create it, use', naming.create))
            : there === 'empty_file'
              ? sentences(`${empty} and so is ${shown}.`, howToFill(path, naming))
              : sentences(
                  `${empty} and empty text matches everywhere.`,
                  `To insert text, send nearby text from the file as ${naming.field('old_text')},`,
                  `and the same text with your insertion as ${naming.field('new_text')}.`
                ),
        members: { edit_index, total_edits }
      }
    },
    brief: briefEmptyOldText,
    example: { code: 'EMPTY_OLD_TEXT', edit_index: 1, total_edits: 3 }
  },
  TOO_MANY_EDITS: {
    kind: [400, 'Too many edits', 'change_request'],
    detail: ({ limit, actual }) => ({
      detail: `The request has ${actual} edits; the limit is ${limit}. Send them in several requests.`,
      members: { limit, actual }
    }),
    example: { code: 'TOO_MANY_EDITS', limit: 1000, actual: 1200 }
  },
  TOO_MANY_OPERATIONS: {
    kind: [400, 'Too many operations', 'change_request'],
    about: 'request',
    detail: ({ what, limit, actual }) => ({
      detail: sentences(
        {
          operations: `The request has ${actual} operations; the limit is ${limit}.`,
          paths: `The request names ${actual} paths; the limit is ${limit}.`,
          files: `The directories of the request have ${actual} files; the limit is ${limit}.`,
          found_files: `old_text is in ${actual} files, and one request changes at most ${limit}.`
        }[what],
        {
          operations: 'Send several requests.',
          paths: 'Send several requests.',
          files: 'Send several requests, each for a part of them.',
          found_files: 'Send several requests, each with a narrower path, include or exclude.'
        }[what]
      ),
      members: { limit, actual }
    }),
    example: { code: 'TOO_MANY_OPERATIONS', what: 'operations', limit: 1000, actual: 1200 }
  },
  UNSUPPORTED_MEDIA_TYPE: {
    kind: [415, 'Body is not plain JSON', 'change_request'],
    about: 'request',
    detail: ({ reason, given }) =>
      ({
        type: sentences(
          given === '' ? 'The request does not say which type its body has.' : `The body has the type ${quote(given)}.`,
          'Send JSON with the header Content-Type: application/json.'
        ),
        charset: sentences(
          `The body has the charset ${quote(given)}.`,
          'Send it as UTF-8, with the header Content-Type: application/json.'
        ),
        encoding: `The body has the Content-Encoding ${quote(given)}. Send it uncompressed.`
      })[reason],
    example: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'type', given: 'text/plain' }
  },
  UNAUTHORIZED: {
    kind: [401, 'Token required', 'change_request'],
    about: 'request',
    detail: failure => ({
      detail:
        failure.reason === 'jwt'
          ? sentences(
              'claim' in failure
                ? `The token is not valid here: its claim ${failure.claim} is missing, or is not what it should be.`
                : `The token is not valid here: ${JWT_FAULTS[failure.fault]}.`,
              'Get a new one for this server from an issuer of its access file (--access).'
            )
          : sentences(
              {
                missing: 'The request has no token.',
                malformed: 'The Authorization header is not of the form Bearer <token>.',
                wrong: 'The token is wrong.',
                expired: 'The token has expired.'
              }[failure.reason],
              failure.reason === 'expired'
                ? 'Ask the operator for one with a later date in the access file (--access).'
                : 'Send the header Authorization: Bearer <token> with the token that was configured (--token, EDITD_TOKEN) ' +
                    'or printed when the server started, or with one of the access file (--access).'
            ),
      headers: { 'www-authenticate': CHALLENGES[failure.reason] }
    }),
    example: { code: 'UNAUTHORIZED', reason: 'missing' }
  },
  FORBIDDEN_SCOPE: {
    kind: [403, 'Scope is not enough', 'change_request'],
    detail: (failure, { shown }) => {
      if ('lacks' in failure) {
        return failure.lacks === 'scope'
          ? { detail: `${NO_SCOPE} ${NOTHING_WRITTEN}`, headers: insufficientScope(failure.ask) }
          : `${NO_WORKSPACE} ${NOTHING_WRITTEN}`
      }
      const { needs, has, for: what } = failure
      return {
        detail: sentences(
          {
            operation: `This request needs a token with the scope ${needs}.`,
            others_edits:
              `Not all of these edits were made with this token: taking back what others did, or making again what ` +
              `others took back, needs the scope ${needs}.`,
            delete: `${shown} can't be deleted or moved: that needs a token with the scope ${needs}.`
          }[what],
          `This token has the scope ${has}: ${MAY[has]}.`,
          NOTHING_WRITTEN,
          "Only the operator can allow more, in the server's access file or at the token's issuer."
        ),
        headers: insufficientScope(needs)
      }
    },
    example: { code: 'FORBIDDEN_SCOPE', needs: 'edit', has: 'read', for: 'operation' }
  },
  RATE_LIMITED: {
    kind: [429, 'Too many requests', 'after_delay'],
    about: 'request',
    detail: ({ of, rate, retry_after }) => ({
      ...(of === 'wrong_tokens' && { members: { retry: 'change_request' } }),
      detail: {
        token: sentences(tooMany('This token may send', rate), NOTHING_WRITTEN, sendAgain(retry_after), IN_ONE),
        address: sentences(
          tooMany('Without a token, an address may send', rate),
          NOTHING_WRITTEN,
          sendAgain(retry_after),
          IN_ONE
        ),
        wrong_tokens: sentences(
          `The token is wrong, and this address has sent more than ${rate.requests} wrong ones in ${PERIOD[rate.per]}.`,
          'Do not send it again: use the token that was configured (--token, EDITD_TOKEN)',
          'or printed when the server started, or one from the access file (--access); a right one is accepted at once.'
        )
      }[of],
      headers: retryAfter(retry_after)
    }),
    example: { code: 'RATE_LIMITED', of: 'token', rate: { requests: 600, per: 'min' }, retry_after: 2 }
  },
  FORBIDDEN_HOST: {
    kind: [403, 'Host is not allowed', 'change_request'],
    about: 'request',
    detail: ({ host }) =>
      sentences(
        `The Host header names ${quote(host)}, which is not allowed.`,
        'Use localhost or an IP address, or ask the operator to allow the name with --allow-host (EDITD_ALLOW_HOST).'
      ),
    example: { code: 'FORBIDDEN_HOST', host: 'editd.example' }
  },
  FORBIDDEN_ORIGIN: {
    kind: [403, 'Origin is not allowed', 'change_request'],
    about: 'request',
    detail: ({ origin }) =>
      sentences(
        `Web pages from the origin ${quote(origin)} may not call this server.`,
        'The operator can allow them with --allow-origin (EDITD_ALLOW_ORIGIN).'
      ),
    example: { code: 'FORBIDDEN_ORIGIN', origin: 'https://page.example' }
  },
  ROUTE_NOT_FOUND: {
    kind: [404, 'Route not found', 'change_request'],
    about: 'request',
    detail: (failure, { instance }) =>
      'tool' in failure
        ? sentences(
            `There is no tool ${quote(failure.tool)}${failure.meant === undefined ? '.' : `; did you mean ${failure.meant}?`}`,
            `The tools are ${listed(failure.tools)}.`
          )
        : 'workspace' in failure
          ? sentences(
              `This token is not for a workspace ${quote(failure.workspace)}.`,
              `Leave /w/${cut(failure.workspace, 64)} out of the URL: the token says which workspace it is for.`
            )
          : sentences(
              `There is no route ${failure.method} ${cut(instance, 200)}.`,
              `The routes are ${listed(failure.routes)}.`
            ),
    example: { code: 'ROUTE_NOT_FOUND', method: 'POST', routes: ['POST /edit', 'POST /inspect'] }
  },
  METHOD_NOT_ALLOWED: {
    kind: [405, 'Method not allowed', 'change_request'],
    about: 'request',
    detail: ({ method, allow }, { instance }) => ({
      detail: `${cut(instance, 200)} does not accept ${method}. Use ${listed(allow, 'or')}.`,
      headers: { allow: allow.join(', ') }
    }),
    example: { code: 'METHOD_NOT_ALLOWED', method: 'DELETE', allow: ['POST'] }
  },
  REQUEST_TIMEOUT: {
    kind: [408, 'Request took too long to arrive', 'after_delay'],
    about: 'request',
    detail: () =>
      sentences(
        'The request took too long to arrive, so nothing was done and the connection is closed.',
        'Send the whole request again.'
      ),
    example: { code: 'REQUEST_TIMEOUT' }
  },
  HEADERS_TOO_LARGE: {
    kind: [431, 'Headers are too large', 'change_request'],
    about: 'request',
    detail: ({ limit }) => ({
      detail: `The request headers are larger than ${counted(limit, 'byte')}. Send fewer or shorter ones.`,
      members: { limit }
    }),
    example: { code: 'HEADERS_TOO_LARGE', limit: 16_384 }
  },
  REQUEST_TOO_LARGE: {
    kind: [413, 'Request is too large', 'change_request'],
    about: 'request',
    detail: ({ limit }) => ({
      detail: sentences(
        `The body is larger than ${counted(limit, 'byte')}.`,
        'Send smaller edits, in several requests; the operator can raise the limit with --body-limit.'
      ),
      members: { limit }
    }),
    example: { code: 'REQUEST_TOO_LARGE', limit: 32_000_000 }
  },
  INTERNAL_ERROR: {
    kind: [500, 'Internal error', 'after_read'],
    about: 'request',
    detail: (_failure, { request_id }) =>
      sentences(
        `The server failed; its log has the reason under request_id ${request_id}.`,
        'Read the file again before you repeat the request.'
      ),
    example: { code: 'INTERNAL_ERROR' }
  }
} satisfies Partial<ProblemEntries>

function invalidJson(failure: FailureOf<'INVALID_JSON'>): string | ProblemParts {
  switch (failure.reason) {
    case 'empty':
      return 'The request has no body. Send one JSON object with the fields of the operation.'
    case 'syntax':
      return sentences(
        `The body is not valid JSON${failure.where === undefined ? '' : ` (${failure.where})`}.`,
        'Check that quotes, backslashes and line breaks inside strings are escaped (\\", \\\\, \\n)',
        'and that nothing is missing at the end.'
      )
    case 'duplicate_key': {
      const where = failure.pointer === '' ? '' : ` (${cut(failure.pointer, 200)})`
      return {
        detail: `The field ${quote(failure.key)} is given twice in the same object${where}. Send it once.`,
        members: { errors: [{ pointer: cut(failure.pointer), message: `has the field ${quote(failure.key)} twice` }] }
      }
    }
    case 'too_deep':
      return {
        detail: `The body is nested deeper than ${failure.limit} levels. No operation needs more than 5.`,
        members: { limit: failure.limit }
      }
  }
}

function invalidUnicode({ pointer }: FailureOf<'INVALID_UNICODE'>): string | ProblemParts {
  if (pointer === undefined) return 'The body is not valid UTF-8. Send the JSON encoded as UTF-8.'
  const where = pointer === '' ? 'the top level' : cut(pointer, 200)
  return {
    detail: sentences(
      `The text at ${where} contains half of a surrogate pair (such as \\ud83d alone),`,
      'which cannot be encoded as UTF-8. Send whole characters.'
    ),
    members: { errors: [{ pointer: cut(pointer), message: 'contains a lone surrogate' }] }
  }
}

function fieldErrors(failure: FailureOf<'INVALID_REQUEST'>, naming: CallSyntax): InvalidField[] {
  if ('stray' in failure) return [strayError(failure, naming)]
  return 'faults' in failure ? failure.faults.map(fault => faultInWords(fault, naming)) : failure.errors
}

/** The first few errors in one sentence; the body lists more. */
function onOneLine(errors: readonly InvalidField[]): string {
  const first = errors.slice(0, 3).map(({ pointer, message }) => {
    const shown = cut(message)
    return pointer === '' ? shown : `${cut(pointer, 100)} ${shown}`
  })
  return [...first, ...(errors.length > 3 ? [`and ${errors.length - 3} more`] : [])].join('; ')
}

/** The errors that the body lists. */
const echoed = (errors: readonly InvalidField[]): InvalidField[] =>
  errors.slice(0, 20).map(({ pointer, message }) => ({ pointer: cut(pointer), message: cut(message) }))

/** The caller's name for a field that an edit needs. */
const inWords = (field: string, naming: CallSyntax): string =>
  field === 'old_text' || field === 'new_text' ? naming.field(field) : field

const JWT_FAULTS: Record<JwtFault, string> = {
  length: 'it is too long',
  form: 'its header or claims are not what a signed access token has',
  type: 'its type (typ) is not that of an access token',
  issuer: 'its issuer (iss) is not one of this server',
  algorithm: 'its algorithm (alg) is not accepted from its issuer',
  key: 'its signature, or the key that it names (kid), is not of its issuer',
  audience: 'its audience (aud) is not this server',
  time: 'it is not valid yet (nbf, iat)',
  expired: 'it has expired (exp)',
  bound: 'it is bound to a key of its holder (cnf), which this server does not check'
}

/** WWW-Authenticate challenges by RFC 6750. */
const CHALLENGES = {
  missing: 'Bearer',
  malformed: 'Bearer',
  wrong: 'Bearer error="invalid_token"',
  expired: 'Bearer error="invalid_token"',
  jwt: 'Bearer error="invalid_token"'
}

/** What a token with each scope may do, for refusals. */
const MAY: Record<Exclude<Scope, 'review'>, string> = {
  read: 'it may look, preview and send dry runs',
  edit: 'it may change files, and take back its own edits'
}

/** Why a valid token grants nothing. */
const NO_SCOPE =
  'The scopes of this token (scope, scp, roles) have none of read, edit and review, nor any of the words that the ' +
  'access file has for them. Get a token that has one of them.'

const NO_WORKSPACE =
  'This token is for no workspace of this server, or for several. Its issuer has to set the claim that names the ' +
  'workspace (workspace, unless workspace_claim in the access file names another) so that it means exactly one.'

const insufficientScope = (scope: string) => ({
  'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"`
})

const IN_ONE = 'Several edits can go in one request.'

const PERIOD = { s: 'a second', min: 'a minute', h: 'an hour' } satisfies Record<Rate['per'], string>

const tooMany = (who: string, { requests, per }: Rate): string =>
  `${who} ${counted(requests, 'request')} ${PERIOD[per]}, and this is one too many.`

/** The call that puts `new_text` where there is no text; undefined if there is some, or the call would be long. */
function briefEmptyOldText({ there, new_text }: FailureOf<'EMPTY_OLD_TEXT'>, call: FailedCall): Brief | undefined {
  if (there === undefined) return undefined
  const { naming, made, shown } = call
  const path = pathOf(call)
  const line =
    there === 'no_file'
      ? naming.write(BY_TOOL.create, { path, content: new_text }, made)
      : naming.write(BY_TOOL.edit_lines, { path, start_line: 1, end_line: 0, new_text }, made)
  if (line === undefined || line.length > CALLS_LENGTH) return undefined
  const empty = `${naming.field('old_text')} is empty, and`
  return there === 'no_file'
    ? { what: `${empty} there is no file ${shown}`, next: ['To create it, send:', line] }
    : { what: `${empty} so is ${shown}`, next: ['To put text into it, send:', line] }
}
