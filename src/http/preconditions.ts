// If-Match and If-None-Match → the hashes that a file may have. Knows no file.
import type { IncomingHttpHeaders } from 'node:http'
import { fail, ok, type Result } from '../result.ts'
import type { RequestFailure } from './failure.ts'

const invalid = (message: string) => fail<RequestFailure>({ code: 'INVALID_REQUEST', errors: [{ pointer: '', message }] })

/**
 * The hashes of `If-Match`, any of which will do; none for `*`, which asks only that the file exists, and none where the
 * body has said the same. Fails on weak or malformed tags, on another hash than the body's, on `If-None-Match`, and where
 * the operation takes none.
 */
export function readPreconditions (headers: IncomingHttpHeaders, taken: boolean, expected_hash?: string): Result<string[], RequestFailure> {
  const match = headers['if-match']?.trim()
  if (headers['if-none-match'] !== undefined) return invalid('the header If-None-Match belongs to operations that create a file; this one takes none')
  if (match === undefined) return ok([])
  if (!taken) return invalid('the header If-Match belongs to operations that edit; this one takes none')
  if (match === '*') return ok([])
  const tags = match.split(',').map(tag => tag.trim())
  if (tags.some(tag => tag.startsWith('W/'))) return invalid('the header If-Match holds a weak tag (W/…), which never matches; send the ETag of an answer as it is')
  const hashes = tags.map(tag => /^"([0-9a-f]{16})"$/.exec(tag)?.[1] ?? '')
  if (hashes.includes('')) return invalid('the header If-Match has to hold quoted file hashes of 16 hex digits, such as "9f86d081884c7d65"')
  if (expected_hash === undefined) return ok(hashes)
  return hashes.includes(expected_hash) ? ok([]) : invalid('the header If-Match and the field expected_hash hold different hashes; send one of them')
}
