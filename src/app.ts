// The composition root: settings, workspace and routes become one server. Does not know the process: no argv, no env,
// no listening.
import Fastify, { type FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { adapters } from '../routes/adapters.ts'
import { capabilities } from '../routes/capabilities.ts'
import { docs } from '../routes/docs.ts'
import { events } from '../routes/events.ts'
import { healthz } from '../routes/healthz.ts'
import { mcp } from '../routes/mcp.ts'
import { openapi } from '../routes/openapi.ts'
import { openapiToolsJson } from '../routes/openapi-tools-json.ts'
import { operations } from '../routes/operations.ts'
import { page } from '../routes/page.ts'
import { readyz } from '../routes/readyz.ts'
import { tool } from '../routes/tool.ts'
import { tools } from '../routes/tools.ts'
import { VERSION, type Config } from './config/config.ts'
import { accessOf, makeAccessCheck } from './http/auth.ts'
import { prefersPage } from './http/accept.ts'
import { capabilitiesOf } from './http/capabilities.ts'
import {
  collectRoutes,
  followSockets,
  HEADER_BYTES,
  makeClientErrorHandler,
  makeConnectHandler,
  makeErrorHandler,
  makeExpectationHandler
} from './http/errors.ts'
import { makeDrain } from './http/drain.ts'
import { makeEventStreams } from './http/event-streams.ts'
import { collectPublished, makeDocumentation, UNCOMPILED } from './http/documentation.ts'
import { late } from './http/late.ts'
import { components, swaggerOptions } from './http/openapi.ts'
import { logBug, pathOf, requestLog } from './http/request-log.ts'
import { codexApplyPatch, openAiApplyPatch } from './http/adapters/apply-patch.ts'
import { memoryTool, textEditor } from './http/adapters/text-editor.ts'
import { makeReviewPage } from './http/review-page.ts'
import { sendProblem } from './http/send.ts'
import { componentsById } from './http/tools/schema.ts'
import { toolbox } from './http/tools/tool.ts'
import { Workers } from './workers/workers.ts'
import { makeOperations } from './operations.ts'
import type { Workspace } from './workspace/workspace.ts'

export interface AppOptions {
  config: Config
  workspace: Workspace
  logger: Logger
  /**
   * Milliseconds: how long a request may take to arrive, its headers alone, how often that is looked at, and between two
   * signs of life of a stream.
   */
  timeouts?: { request: number; headers: number; check: number; heartbeat?: number }
}

export interface App {
  app: FastifyInstance
  /** The published document, also where it isn't served. */
  document(): Promise<object>
  documentYaml(): Promise<string>
  /** Answers NOT_READY to requests from now on; resolves when those that run are done. */
  drain(): Promise<void>
}

const TIMEOUTS = { request: 30_000, headers: 10_000, check: 1_000, heartbeat: 15_000 }
/** Longer than the idle time of usual proxies, so that they close first. */
const KEEP_ALIVE = 72_000
const REQUESTS_PER_SOCKET = 10_000

const requestId = (request: IncomingMessage): string => {
  const id = request.headers['x-request-id']
  return typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id) ? id : randomUUID()
}

/** The server, ready to listen. */
export async function buildApp({ config, workspace, logger, timeouts = TIMEOUTS }: AppOptions): Promise<App> {
  const drain = makeDrain()
  const logWhenDone = requestLog(logger, config.logPaths)
  const refusalOf = makeAccessCheck(config)
  const handleError = makeErrorHandler(logger, config.bodyLimit)
  const app = Fastify({
    http: {
      requireHostHeader: false,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      maxHeaderSize: HEADER_BYTES
    },
    requestTimeout: timeouts.request,
    keepAliveTimeout: KEEP_ALIVE,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET,
    bodyLimit: config.bodyLimit,
    return503OnClosing: false,
    schemaController: UNCOMPILED,
    genReqId: requestId,
    clientErrorHandler: makeClientErrorHandler(logger, () => sockets),
    frameworkErrors(error, request, reply) {
      logWhenDone(request, reply.raw)
      reply.header('x-request-id', request.id)
      const refused = refusalOf(request.raw, accessOf(pathOf(request.url), request.method))
      if (refused === null) handleError(error, request, reply)
      else sendProblem(reply, refused)
    }
  })
  const sockets = followSockets(app.server)
  app.server.on('checkExpectation', makeExpectationHandler(logger))
  app.server.on('connect', makeConnectHandler(logger))
  // Bytes as they came: operationRoute parses them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })

  const routes = collectRoutes(app)
  // Without a history there is nothing to review.
  const review = config.docs && config.history !== 'off' ? makeReviewPage() : null
  const published = collectPublished(app)
  const addFailureHandlers = (to: FastifyInstance) => {
    to.setErrorHandler(handleError)
    to.setNotFoundHandler((request, reply) => sendProblem(reply, routes.missing(request.method, pathOf(request.url))))
  }
  addFailureHandlers(app)
  // Callbacks, not promises, where every request passes.
  app.addHook('onRequest', (request, reply, done) => {
    logWhenDone(request, reply.raw)
    reply.raw.once('close', drain.enter())
    reply.header('x-request-id', request.id)
    const path = pathOf(request.url)
    // Not a route: all other requests for / are answered like those for any unknown path.
    const isHome = path === '/' && ['GET', 'HEAD'].includes(request.method)
    const wantsPage = config.docs && isHome && prefersPage(request.headers.accept)
    const route = request.is404 ? path : (request.routeOptions.url ?? path)
    const access = wantsPage ? 'public' : accessOf(route, request.method)
    const refused = refusalOf(request.raw, access)
    if (refused !== null) sendProblem(reply, refused)
    else if (drain.closed && path !== '/healthz') {
      sendProblem(reply.header('connection', 'close'), { code: 'NOT_READY', reason: 'draining', retry_after: 5 })
    } else if (wantsPage && review !== null) review.home(request, reply).catch(done)
    // Relative, so that it is right behind a proxy that puts the server below another path.
    else if (wantsPage) reply.header('vary', 'accept').redirect('./docs')
    else done()
  })
  if (config.allowOrigins.length > 0) {
    // The plugin would answer every OPTIONS as a preflight.
    app.addHook('onRequest', async (request, reply) => {
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] === undefined) {
        return sendProblem(reply, routes.missing(request.method, pathOf(request.url)))
      }
    })
    const { default: cors } = await import('@fastify/cors')
    await app.register(cors, {
      origin: config.allowOrigins,
      methods: ['GET', 'POST'],
      allowedHeaders: [
        'authorization',
        'content-type',
        'if-match',
        'if-none-match',
        'x-request-id',
        'idempotency-key',
        'last-event-id',
        'editd-agent',
        'editd-session',
        'mcp-protocol-version',
        'mcp-method',
        'mcp-name'
      ],
      exposedHeaders: ['etag', 'idempotency-replayed', 'retry-after', 'x-request-id'],
      maxAge: 600,
      strictPreflight: false
    })
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) sendProblem(reply, routes.missing(request.method, pathOf(request.url)))
    else done()
  })

  // The answer to these was that nothing was done, so nothing may be done.
  app.addHook('preHandler', (request, reply, done) => {
    if (sockets.refused.has(request.raw.socket)) {
      reply.hijack()
      request.raw.socket.destroySoon()
    } else done()
  })

  const workers = new Workers({ onCrash: error => logBug(logger, { event: 'parser_failed' }, error) })
  app.addHook('onClose', () => workers.close())
  const limits = { max_edits: config.maxEdits, max_file_size: config.maxFileSize }
  const table = makeOperations(workspace, limits, workers)
  const schemas = components(table)
  operations(app, table)
  const box = toolbox(table, config)
  const byId = componentsById(schemas)
  const documentation = makeDocumentation({
    routes: published,
    schemas,
    swagger: swaggerOptions(VERSION, table),
    addFailureHandlers
  })
  const output_schema = config.mcpOutputSchema
  tools(app, box, byId, output_schema)
  tool(app, table, box)
  const answerMcp = late(async () => {
    const { mcpOverHttp, mcpServers } = await import('./http/tools/mcp.ts')
    return mcpOverHttp(mcpServers(box, byId, { version: VERSION, output_schema }))
  })
  mcp(app, answerMcp, logger)
  const all = [textEditor(table), memoryTool(table, config.memoryRoot), openAiApplyPatch(table), codexApplyPatch(table)]
  adapters(app, all, table)
  capabilities(app, capabilitiesOf(config, workspace.confinement, VERSION, table))
  events(
    app,
    workspace,
    makeEventStreams(error => logBug(logger, { event: 'stream_failed' }, error), timeouts.heartbeat)
  )
  healthz(app)
  readyz(app, workspace)
  if (config.docs) {
    openapi(app, documentation)
    openapiToolsJson(app, box, byId, VERSION)
    docs(app, documentation)
  }
  if (review !== null) page(app, review, routes)
  await app.ready()
  return {
    app,
    document: documentation.document,
    documentYaml: documentation.yaml,
    drain() {
      const drained = drain.close()
      workspace.endFollowing()
      return drained
    }
  }
}
