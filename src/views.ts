// Makes what a caller sees: a workspace, limited to a grant, and everything that can be called on it. Does not know
// tokens, routes, or how workspaces come and go.
import { VERSION, type Config } from './config/config.ts'
import type { Grant } from './http/access/grant.ts'
import { codexApplyPatch, openAiApplyPatch } from './http/adapters/apply-patch.ts'
import { memoryTool, textEditor } from './http/adapters/text-editor.ts'
import { capabilitiesOf, deletesIn } from './http/capabilities.ts'
import { late } from './http/late.ts'
import type { Components } from './http/tools/schema.ts'
import { toolbox } from './http/tools/tool.ts'
import type { View } from './http/view.ts'
import { makeOperations, operationsIn, type Operations } from './operations.ts'
import type { Space } from './spaces.ts'
import type { Workers } from './workers/workers.ts'
import type { Workspace } from './workspace/api.ts'
import { Reads } from './workspace/reads.ts'

/** The operations of a workspace, within the limits of a server. */
export const operationsOf = (
  workspace: Workspace,
  { maxEdits, maxFileSize }: Config,
  workers: Workers,
  reads?: Reads
): Operations => makeOperations(workspace, { max_edits: maxEdits, max_file_size: maxFileSize }, workers, reads)

/** The adapters to vendors' editors. */
export const adaptersOf = (operations: Operations, memoryRoot: string) => [
  textEditor(operations),
  memoryTool(operations, memoryRoot),
  openAiApplyPatch(operations),
  codexApplyPatch(operations)
]

/** Makes views; callers with the same rights share one. `components`: parts of the published document. */
export function makeViews(workers: Workers, components: Components): (space: Space, grant: Grant | null) => View {
  const made = new WeakMap<Space, Map<string, View>>()
  const reads = new Reads()
  return (space, grant) => {
    const views = made.get(space) ?? new Map<string, View>()
    made.set(space, views)
    const key = JSON.stringify(grant && [grant.scope, grant.paths, grant.memoryRoot])
    const known = views.get(key)
    if (known !== undefined) return known
    const view = makeView(space, grant, { workers, reads, components })
    views.set(key, view)
    return view
  }
}

function makeView(
  { config, workspace: whole }: Space,
  grant: Grant | null,
  { workers, reads, components }: { workers: Workers; reads: Reads; components: Components }
): View {
  const workspace = grant === null || grant.paths === null ? whole : whole.limitedTo(grant.paths)
  const operations = operationsOf(workspace, config, workers, reads)
  const { readOnly, tools } = config
  const deletes = deletesIn(config, workspace, grant)
  const box = toolbox(operations, { readOnly, tools, scope: grant?.scope, deletes })
  return {
    workspace,
    operations,
    routed: new Map(operationsIn(operations).map(operation => [operation.id, operation])),
    box,
    adapters: new Map(
      adaptersOf(operations, grant?.memoryRoot ?? config.memoryRoot).map(adapter => [adapter.route, adapter])
    ),
    capabilities: capabilitiesOf({ config, workspace, version: VERSION, operations, grant }),
    mcp: late(async () => {
      const { mcpOverHttp, mcpServers } = await import('./http/tools/mcp.ts')
      return mcpOverHttp(mcpServers(box, components, { version: VERSION, output_schema: config.mcpOutputSchema }))
    })
  }
}
