// An issuer whose JWTs are taken. Does not know how they are checked.
import type { Scope } from '../../../schemas/access.ts'

export interface Issuer {
  /** The URL in `iss`, as it is written there. */
  issuer: string
  /** The URL that clients have of this server, which has to be in `aud`. */
  audience: string
  /** Names of RFC 7518 and 8037; no others are taken. */
  algorithms: readonly string[]
  /** What clients are told to ask for; empty: they are told nothing. */
  scopes: readonly Scope[]
}
