// Reads If-Match and If-None-Match: what they require of the file. Does not know any file.
import type { IncomingHttpHeaders } from 'node:http'
import { ok, type Result } from '../../result.ts'
import { invalidField, type RequestFailure } from '../request-failure.ts'

/** Which preconditions the operation supports. */
export interface Takes {
  expects_hash: boolean
  expects_none: boolean
  /** Set if the operation may change several files. */
  many_in?: string
}

/** `expected_hash`: only if the body has none. */
interface Preconditions {
  expected_hash?: string
  if_none_match?: true
}

/**
 * The hash in `If-Match`; none for `*`, which requires only that the file exists, and none if the body has the same
 * hash or more digits of it. Fails on a list, on weak or malformed tags, on a hash that differs from the body's, on an
 * `If-None-Match` other than `*`, on both headers together, and on a header that the operation doesn't support.
 */
export function readPreconditions(
  headers: IncomingHttpHeaders,
  takes: Takes,
  expected_hash?: string
): Result<Preconditions, RequestFailure> {
  const match = headers['if-match']?.trim()
  const none = headers['if-none-match']?.trim()
  if (takes.many_in !== undefined && (match ?? none) !== undefined) {
    const header = match === undefined ? 'If-None-Match' : 'If-Match'
    return invalidField(
      '',
      `the header ${header} is of one file, but there may be several here; send expected_hash in the ${takes.many_in}`
    )
  }
  if (none !== undefined) {
    if (!takes.expects_none) {
      return invalidField('', 'the header If-None-Match is only for the operation that creates a file')
    }
    if (none !== '*') return invalidField('', 'the header If-None-Match may only be *: the file must not exist')
    return match === undefined
      ? ok({ if_none_match: true })
      : invalidField('', 'the headers If-Match and If-None-Match are mutually exclusive; send one of them')
  }
  if (match === undefined) return ok({})
  if (!takes.expects_hash) return invalidField('', 'the header If-Match is only for operations that edit')
  if (match === '*') {
    return takes.expects_none
      ? invalidField(
          '',
          'the header If-Match may not be * where a file may be created: send the ETag of the file that is replaced, ' +
            'or If-None-Match: * for a new one'
        )
      : ok({})
  }
  if (match.startsWith('W/')) {
    return invalidField(
      '',
      'the header If-Match has a weak tag (W/…), which never matches; send the ETag of an answer as it is'
    )
  }
  const hash = /^"([0-9a-f]{16,64})"$/.exec(match)?.[1]
  if (hash === undefined) {
    return invalidField(
      '',
      'the header If-Match must be one quoted file hash of 16 to 64 hex digits, such as "9f86d081884c7d65"'
    )
  }
  if (expected_hash?.startsWith(hash) === true) return ok({})
  return expected_hash === undefined || hash.startsWith(expected_hash)
    ? ok({ expected_hash: hash })
    : invalidField('', 'the header If-Match and the field expected_hash have different hashes; send one of them')
}
