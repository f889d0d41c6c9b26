// Finds the grant of a request's token. Does not know the content of a JWT, headers, or operations.
import { hash, timingSafeEqual } from 'node:crypto'
import { fail, ok } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import type { Grant, Identified, Identify } from './grant.ts'
import type { Jwts } from './jwts.ts'

const wrong = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'wrong' })
const expired = fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'expired' })

/** An `Identify` that answers at once. */
type IdentifyNow = (token: string) => Identified

/** The single token of a server without an access file. It allows everything. */
export function oneToken(expected: string): IdentifyNow {
  const digest = hash('sha256', expected, 'buffer')
  // Digests have the same length, so the time of the comparison reveals nothing about the token.
  return token => (timingSafeEqual(hash('sha256', token, 'buffer'), digest) ? ok(null) : wrong)
}

/** A token identified by its SHA-256 in lower-case hex. */
export interface NamedToken extends Grant {
  sha256: string
}

/**
 * The tokens of an access file. Looks a token up by its hash, so the time it takes reveals nothing about the tokens.
 */
export function namedTokens(tokens: readonly NamedToken[]): IdentifyNow {
  const byHash = new Map(tokens.map(({ sha256, ...grant }) => [sha256, grant]))
  return token => {
    const grant = byHash.get(hash('sha256', token, 'hex'))
    if (grant === undefined) return wrong
    return grant.expires !== null && grant.expires <= Date.now() ? expired : ok(grant)
  }
}

/** Whether a token has the form of a signed JWT. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)

/** Tries the named tokens first: they work even if an issuer is down. */
export function identifyBy(named: IdentifyNow, jwts: Jwts | undefined): Identify {
  if (jwts === undefined) return named
  return token => {
    const found = named(token)
    return found === wrong && isJwt(token) ? jwts.identify(token) : found
  }
}
