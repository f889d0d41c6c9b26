// Which of the known tokens a request has. Does not know what is in a JWT, headers, or what is asked for.
import { hash, timingSafeEqual } from 'node:crypto'
import { fail, ok } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import type { Grant, Identified, Identify } from './grant.ts'
import type { Jwts } from './jwts.ts'

const wrong = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'wrong' })
const expired = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'expired' })

/** Who holds a token, known at once. */
type IdentifyNow = (token: string) => Identified

/** The one token of a server without an access file, which may do everything. */
export function oneToken(expected: string): IdentifyNow {
  const digest = hash('sha256', expected, 'buffer')
  // Digests have the same length, so the time of the comparison reveals nothing about the token.
  return token => (timingSafeEqual(hash('sha256', token, 'buffer'), digest) ? ok(null) : wrong)
}

/** A token that is known by its SHA-256 in lower-case hex. */
export interface NamedToken extends Grant {
  sha256: string
}

/**
 * The tokens of an access file. A token is looked up by its hash: how long that takes says nothing of the tokens
 * themselves.
 */
export function namedTokens(tokens: readonly NamedToken[]): IdentifyNow {
  const byHash = new Map(tokens.map(({ sha256, ...grant }) => [sha256, grant]))
  return token => {
    const grant = byHash.get(hash('sha256', token, 'hex'))
    if (grant === undefined) return wrong
    return grant.expires !== null && grant.expires <= Date.now() ? expired : ok(grant)
  }
}

/** Whether a token is of the form of a JWT with a signature. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)

/** The named tokens first: they go on whatever an issuer does. */
export function identifyBy(named: IdentifyNow, jwts: Jwts | undefined): Identify {
  if (jwts === undefined) return named
  return token => {
    const found = named(token)
    return found === wrong && isJwt(token) ? jwts.identify(token) : found
  }
}
