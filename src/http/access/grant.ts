// What a bearer token stands for. Does not know HTTP, or how a token is checked.
import type { Scope } from '../../../schemas/access.ts'
import type { Result } from '../../result.ts'
import type { RequestFailure } from '../failure.ts'

/** What the holder of a token may do; where there is no access file, `null` stands for everything. */
export interface Grant {
  /** Of the token. */
  name: string
  workspace: string
  scope: Scope
  /** Patterns as of `Workspace.limitedTo`; null: all of the workspace. */
  paths: readonly string[] | null
  /** The folder of Anthropic's memory tool; null: that of the workspace. */
  memoryRoot: string | null
}

export type Identified = Result<Grant | null, RequestFailure>

/** Who holds a token. */
export type Identify = (token: string) => Identified
