// What a bearer token grants. Does not know HTTP, or how a token is checked.
import type { Scope } from '../../../schemas/access.ts'
import type { Rate } from '../../config/config.ts'
import type { Result } from '../../result.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import type { RequestFailure } from '../request-failure.ts'

/** What the holder of a token may do. Without an access file, `null` is used, which allows everything. */
export interface Grant {
  /**
   * The token's name. For a JWT, `ISS#SUB` from its issuer and subject; no token of an access file can have such a
   * name.
   */
  name: string
  workspace: string
  scope: Scope
  /** Patterns for `Workspace.limitedTo`; null: the whole workspace. */
  paths: readonly string[] | null
  /** The folder of Anthropic's memory tool; null: the workspace's own setting. */
  memoryRoot: string | null
  /** In ms since 1970; null: never. */
  expires: number | null
  /** Set only for a JWT, whose holder can get another token with a wider scope: the issuer's name for each scope. */
  byIssuer?: Readonly<Record<Scope, string>>
  /** Overrides the rate in the settings. */
  rate?: Rate
}

/** NOT_READY: the token can't be checked now. */
export type Identified = Result<Grant | null, RequestFailure | Extract<FileFailure, { code: 'NOT_READY' }>>

/** Finds the grant of a token. Returns a promise only for a JWT. */
export type Identify = (token: string) => Identified | Promise<Identified>
