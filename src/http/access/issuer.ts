// An issuer whose JWTs are taken. Does not know how they are checked.
import type { Scope } from '../../../schemas/access.ts'

export interface Issuer {
  /** The URL in `iss`, as it is written there. */
  issuer: string
  /** The URL that clients have of this server, which has to be in `aud`. */
  audience: string
  /** Names of RFC 7518 and 8037; no others are taken. */
  algorithms: readonly string[]
  /** What `aud` has instead, where the issuer doesn't name servers by URL. */
  aud?: string
  /** What clients are told to ask for, in the issuer's words; empty: they are told nothing. */
  scopes: readonly string[]
  /** Which claims say what a token may do, and which word is for which scope; absent: the usual ones, our scopes. */
  scopeClaims?: readonly string[]
  scopeValues?: ReadonlyMap<string, Scope>
  /** Which claim says what workspace a token is for, and which value is which; absent: `workspace`, the names. */
  workspaceClaim?: string
  workspaceValues?: ReadonlyMap<string, string>
  /** That of all its tokens, whatever they say. */
  workspace?: string
}
