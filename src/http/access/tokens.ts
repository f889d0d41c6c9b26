// Which of the known tokens a request has. Does not know JWTs, headers, or what is asked for.
import { hash, timingSafeEqual } from 'node:crypto'
import { fail, ok } from '../../result.ts'
import type { RequestFailure } from '../failure.ts'
import type { Grant, Identify } from './grant.ts'

const wrong = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'wrong' })
const expired = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'expired' })

/** The one token of a server without an access file, which may do everything. */
export function oneToken(expected: string): Identify {
  const digest = hash('sha256', expected, 'buffer')
  // Digests have the same length, so the time of the comparison reveals nothing about the token.
  return token => (timingSafeEqual(hash('sha256', token, 'buffer'), digest) ? ok(null) : wrong)
}

/** A token that is known by its SHA-256 in lower-case hex. `expires` in ms since 1970; null: never. */
export interface NamedToken extends Grant {
  sha256: string
  expires: number | null
}

/**
 * The tokens of an access file. A token is looked up by its hash: how long that takes says nothing of the tokens
 * themselves.
 */
export function namedTokens(tokens: readonly NamedToken[]): Identify {
  const byHash = new Map(tokens.map(({ sha256, expires, ...grant }) => [sha256, { expires, grant }]))
  return token => {
    const known = byHash.get(hash('sha256', token, 'hex'))
    if (known === undefined) return wrong
    return known.expires !== null && known.expires <= Date.now() ? expired : ok(known.grant)
  }
}
