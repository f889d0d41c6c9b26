// The other composition root: settings, workspace and tools over MCP on two streams, without HTTP. Does not know the
// process.
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Logger } from 'pino'
import { VERSION, type Config } from './config/config.ts'
import type { CallSummary } from './http/call.ts'
import { deletesIn } from './http/capabilities.ts'
import { components } from './http/openapi.ts'
import { callFields, logBug } from './http/request-log.ts'
import { mcpServers } from './http/tools/mcp.ts'
import { componentsById } from './http/tools/schema.ts'
import { StdioTransport } from './http/tools/stdio-transport.ts'
import { toolbox } from './http/tools/tool.ts'
import { Workers } from './workers/workers.ts'
import { makeOperations } from './operations.ts'
import type { Workspace } from './workspace/api.ts'

/** Speaks until the input ends and everything is answered; the output has nothing but the protocol. */
export async function speakMcp({
  config,
  workspace,
  logger,
  input,
  output
}: {
  config: Config
  workspace: Workspace
  logger: Logger
  input: Readable
  output: Writable
}): Promise<void> {
  const workers = new Workers({ onCrash: error => logBug(logger, { event: 'parser_failed' }, error) })
  const operations = makeOperations(
    workspace,
    { max_edits: config.maxEdits, max_file_size: config.maxFileSize },
    workers
  )
  const box = toolbox(operations, { ...config, deletes: deletesIn(config, workspace, null) })
  const serverFor = mcpServers(box, componentsById(components(operations)), {
    version: VERSION,
    output_schema: config.mcpOutputSchema
  })
  const exchangeOf = () => {
    const request_id = randomUUID()
    return {
      request_id,
      // A host may start this again: it is still the same client.
      address: `process ${process.ppid}`,
      onAnswer: (summary: CallSummary) => logger.info({ request_id, ...callFields(summary, config.logPaths) }),
      onBug: (error: unknown) => logBug(logger, { request_id }, error)
    }
  }
  const transport = new StdioTransport(input, output, config.bodyLimit)
  const handle = serveStdio(() => serverFor(exchangeOf), {
    transport,
    maxSubscriptions: 0,
    onerror: error => logger.debug({ mcp: error.message })
  })
  await transport.closed
  await handle.close()
  await workers.close()
}
