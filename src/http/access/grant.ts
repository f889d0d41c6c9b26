// What a bearer token stands for. Does not know HTTP, or how a token is checked.
import type { Scope } from '../../../schemas/access.ts'
import type { Rate } from '../../config/config.ts'
import type { Result } from '../../result.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import type { RequestFailure } from '../request-failure.ts'

/** What the holder of a token may do; where there is no access file, `null` stands for everything. */
export interface Grant {
  /** Of the token; of a JWT its issuer and subject, `ISS#SUB`, which no token of an access file can be called. */
  name: string
  workspace: string
  scope: Scope
  /** Patterns as of `Workspace.limitedTo`; null: all of the workspace. */
  paths: readonly string[] | null
  /** The folder of Anthropic's memory tool; null: that of the workspace. */
  memoryRoot: string | null
  /** In ms since 1970; null: never. */
  expires: number | null
  /** The token is a JWT: its holder may get another one that reaches further. What its issuer calls each scope. */
  byIssuer?: Readonly<Record<Scope, string>>
  /** Instead of the one of the settings. */
  rate?: Rate
}

/** NOT_READY: it can't be known now. */
export type Identified = Result<Grant | null, RequestFailure | Extract<FileFailure, { code: 'NOT_READY' }>>

/** Who holds a token. A promise only where it is a JWT. */
export type Identify = (token: string) => Identified | Promise<Identified>
