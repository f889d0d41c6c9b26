// What a caller sees of the server: one workspace, or a part of it, with everything that can be called on it. Does not
// know tokens.
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
  /** The operations that have a route, by id. */
  readonly routed: ReadonlyMap<Operation['id'], Operation>
  readonly box: Toolbox
  /** By route. */
  readonly adapters: ReadonlyMap<Adapter['route'], Adapter>
  readonly capabilities: Capabilities
  /** Resolves with the function that answers MCP messages. */
  mcp(): Promise<(request: McpRequest) => Promise<Response>>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the caller sees; null before the caller is known, and on public routes. */
    seen: View | null
    /** Absent if there is no access file. */
    subject: Subject | undefined
    /** What the token grants; set together with `subject`. */
    grant: Grant | null
  }
}

/** What a request's caller sees. Throws on a route that needs no token. */
export function viewOf({ seen }: { seen: View | null }): View {
  if (seen === null) throw new Error('the caller of this route is not known')
  return seen
}
