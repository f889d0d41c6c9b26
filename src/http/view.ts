// What a caller sees of the server: one workspace, or a part of it, with all that can be called on it. Does not know
// tokens.
import type { Capabilities } from '../../schemas/capabilities.ts'
import type { Operation, Subject } from '../operations/operation.ts'
import type { Operations } from '../operations.ts'
import type { Workspace } from '../workspace/api.ts'
import type { Grant } from './access/grant.ts'
import type { Adapter } from './adapters/adapter.ts'
import type { McpRequest } from './tools/mcp.ts'
import type { Toolbox } from './tools/tool.ts'

export interface View {
  readonly workspace: Workspace
  readonly operations: Operations
  /** Those with a route, by their id. */
  readonly routed: ReadonlyMap<Operation['id'], Operation>
  readonly box: Toolbox
  /** By their routes. */
  readonly adapters: ReadonlyMap<Adapter['route'], Adapter>
  readonly capabilities: Capabilities
  /** Resolves with what answers messages of MCP. */
  mcp(): Promise<(request: McpRequest) => Promise<Response>>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What its caller sees; null before it is known who that is, and where a route is for everybody. */
    seen: View | null
    /** Absent where there is no access file. */
    subject: Subject | undefined
    /** As the subject: what the token stands for. */
    grant: Grant | null
  }
}

/** What the caller of a request sees. Only of routes that need a token. */
export function viewOf({ seen }: { seen: View | null }): View {
  if (seen === null) throw new Error('the caller of this route is not known')
  return seen
}
