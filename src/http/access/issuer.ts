// An issuer whose JWTs we accept. Does not know how they are checked.
import type { Scope } from '../../../schemas/access.ts'

export interface Issuer {
  /** The URL in `iss`, as it is written there. */
  issuer: string
  /** This server's URL as clients see it, which must be in `aud`. */
  audience: string
  /** Names from RFC 7518 and 8037; other algorithms are refused. */
  algorithms: readonly string[]
  /** The expected `aud` if the issuer doesn't identify servers by URL. */
  aud?: string
  /** The scopes that clients should ask for, in the issuer's words; empty: no advice. */
  scopes: readonly string[]
  /**
   * The claims that hold the scopes, and which of the issuer's words means which scope; absent: the usual claims, our
   * words.
   */
  scopeClaims?: readonly string[]
  scopeValues?: ReadonlyMap<string, Scope>
  /**
   * The claim that holds the workspace, and which value means which workspace; absent: the claim `workspace`, holding
   * our names.
   */
  workspaceClaim?: string
  workspaceValues?: ReadonlyMap<string, string>
  /** The workspace of all its tokens, whatever their claims. */
  workspace?: string
}
