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
import { resourceMetadata } from '../routes/resource-metadata.ts'
import { tool } from '../routes/tool.ts'
import { tools } from '../routes/tools.ts'
import { makeAdmission, type Admission } from './admission.ts'
import { VERSION } from './config/config.ts'
import { BodyMemory } from './http/body-memory.ts'
import { accessOf } from './http/auth.ts'
import { prefersPage } from './http/requests/accept.ts'
import {
  collectRoutes,
  followSockets,
  HEADER_BYTES,
  makeClientErrorHandler,
  makeConnectHandler,
  makeErrorHandler,
  makeExpectationHandler,
  type Routes
} from './http/errors.ts'
import { makeDocsPage } from './http/docs-page.ts'
import { makeDrain, untilLeft, type Drain } from './http/drain.ts'
import { makeEventStreams } from './http/event-streams.ts'
import { collectPublished, makeDocumentation, UNCOMPILED } from './http/documentation.ts'
import { components, swaggerOptions } from './http/openapi.ts'
import type { ServerObserver } from './http/observer.ts'
import { logBug, pathOf, requestLog } from './http/request-log.ts'
import { JSON_TYPE } from './http/requests/json.ts'
import { makeReviewPage } from './http/review-page.ts'
import { sendProblem } from './http/send.ts'
import type { WebPage } from './http/static-file.ts'
import { componentsById } from './http/tools/schema.ts'
import { toolbox } from './http/tools/tool.ts'
import { withoutWorkspace } from './http/workspace-url.ts'
import type { Spaces } from './spaces.ts'
import { adaptersOf, makeViews, operationsOf } from './views.ts'
import { Workers } from './workers/workers.ts'

export interface AppOptions {
  spaces: Spaces
  logger: Logger
  observer?: ServerObserver
  /**
   * In ms: how long a request may take to arrive, and its headers alone; how often that is checked; the time between
   * two heartbeats of a stream; and how long connections stay open after the last request.
   */
  timeouts?: { request: number; headers: number; check: number; heartbeat?: number; late?: number }
}

interface App {
  app: FastifyInstance
  /** The published document, even if it isn't served. */
  document(): Promise<object>
  documentYaml(): Promise<string>
  /** Ends all streams: their readers show their token again when they reconnect. */
  endStreams(): void
  /**
   * From now on /readyz says that the server is stopping; other requests are answered, and their connections closed.
   */
  announceStop(): void
  /**
   * Answers NOT_READY to requests from now on; resolves when running requests are done, and everything that clients had
   * sent by then is answered.
   */
  drain(): Promise<void>
}

const TIMEOUTS: NonNullable<AppOptions['timeouts']> = {
  request: 30_000,
  headers: 10_000,
  check: 1_000,
  heartbeat: 15_000
}
/**
 * How long connections stay open, in ms: longer than the network delay of most clients; chosen. Of 128 clients that
 * sent one edit after the other, 52 were cut off without an answer when the server was stopped, and with this none.
 */
const LATE = 100
/** Longer than the idle time of usual proxies, so that they close first. */
const KEEP_ALIVE = 72_000
const REQUESTS_PER_SOCKET = 10_000

const requestId = (request: IncomingMessage): string => {
  const id = request.headers['x-request-id']
  return typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id) ? id : randomUUID()
}

/** Reports each request to the observer, by route, when it has ended. */
function observeRequests(app: FastifyInstance, observer: ServerObserver): void {
  app.addHook('onRequest', (request, reply, done) => {
    const start = performance.now()
    reply.raw.once('close', () => {
      const status = reply.raw.writableFinished ? String(reply.raw.statusCode) : 'aborted'
      observer.answered(request.routeOptions.url ?? 'none', status, (performance.now() - start) / 1000)
    })
    done()
  })
}

/** What the hooks and handlers of all routes share. */
interface Handling {
  admission: Admission
  handleError: ReturnType<typeof makeErrorHandler>
  logWhenDone: ReturnType<typeof requestLog>
}

/** Fastify without routes; requests that it can't parse are answered, and bodies are kept as they came. */
function makeServer(
  { spaces: { config }, logger, timeouts = TIMEOUTS }: AppOptions,
  { admission, handleError, logWhenDone }: Handling
) {
  const app: FastifyInstance = Fastify({
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
      request.resourceMetadata = admission.resourceUrl(request)
      admission.whenIdentified(request, reply, accessOf(pathOf(request.url), request.method), caller => {
        if (caller.ok) handleError(error, request, reply)
        else sendProblem(reply, admission.refusal(caller.failure, request))
      })
    },
    rewriteUrl: ({ url = '/' }: IncomingMessage) => (config.access === null ? url : withoutWorkspace(url))
  })
  const sockets = followSockets(app.server)
  app.server.on('checkExpectation', makeExpectationHandler(logger))
  app.server.on('connect', makeConnectHandler(logger))
  // Keep bytes as they came: operationRoute parses them. JSON is named because Fastify finds only such a type without
  // parsing the header, which costs 0.6 KB.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser([JSON_TYPE, '*'], { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })

  const bodies = new BodyMemory(config.bodyLimit)
  app.addHook('preParsing', (request, reply, payload, done) => {
    bodies.count(request.raw, reply.raw)
    done(null, payload)
  })
  return { app, sockets }
}

/** What the members that are set on a request begin with. */
function decorate(app: FastifyInstance, observer: ServerObserver | undefined): void {
  app.decorateRequest('seen', null)
  app.decorateRequest('noted', null)
  app.decorate('observer', observer ?? null)
  app.decorateRequest('subject', undefined)
  app.decorateRequest('grant', null)
  app.decorateRequest('resourceMetadata', null)
}

/** How far the server has stopped. */
interface Stopping {
  drain: Drain
  isAnnounced: boolean
}

/** The first hook of every request: logs it, and lets it pass, redirects or refuses it. */
function checkRequests(
  app: FastifyInstance,
  docs: boolean,
  review: WebPage | null,
  { admission, logWhenDone, stopping }: Handling & { stopping: Stopping }
): void {
  const { drain } = stopping
  // Callbacks, not promises, since every request passes here.
  app.addHook('onRequest', (request, reply, done) => {
    logWhenDone(request, reply.raw)
    reply.raw.once('close', drain.enter())
    reply.header('x-request-id', request.id)
    // So that the client's next request goes to another server.
    if (stopping.isAnnounced) reply.header('connection', 'close')
    const path = pathOf(request.url)
    // Not a route: any other request for / is answered like one for an unknown path.
    const isHome = path === '/' && ['GET', 'HEAD'].includes(request.method)
    const wantsPage = docs && isHome && prefersPage(request.headers.accept)
    const route = request.is404 ? path : (request.routeOptions.url ?? path)
    const access = wantsPage ? 'public' : accessOf(route, request.method)
    request.resourceMetadata = admission.resourceUrl(request)
    admission.whenIdentified(request, reply, access, caller => {
      const refused = caller.ok
        ? admission.admit(request, reply, access, caller.value)
        : admission.refusal(caller.failure, request)
      if (refused !== null) sendProblem(reply, refused)
      else if ((drain.closed && path !== '/healthz') || (stopping.isAnnounced && path === '/readyz')) {
        sendProblem(reply.header('connection', 'close'), { code: 'NOT_READY', reason: 'draining', retry_after: 5 })
      } else if (wantsPage && review !== null) review.home(request, reply).catch(done)
      else done()
    })
  })
}

/** Lets pages of these origins call the server. */
async function allowPages(app: FastifyInstance, origins: string[], routes: Routes): Promise<void> {
  // Else the plugin would answer every OPTIONS as a preflight.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] === undefined) {
      return sendProblem(reply, routes.missing(request.method, pathOf(request.url)))
    }
  })
  const { default: cors } = await import('@fastify/cors')
  // An allowed page may send any header: clients have some of their own, as Open WebUI has X-Session-Id.
  await app.register(cors, {
    origin: origins,
    methods: ['GET', 'POST'],
    exposedHeaders: ['etag', 'idempotency-replayed', 'retry-after', 'x-request-id'],
    maxAge: 600,
    strictPreflight: false
  })
}

/** The last hooks before a route: what has none is refused, and so is what was answered already. */
function refuseStrays(app: FastifyInstance, routes: Routes, sockets: ReturnType<typeof followSockets>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) sendProblem(reply, routes.missing(request.method, pathOf(request.url)))
    else done()
  })
  // These requests were answered with an error already, so they must have no effect.
  app.addHook('preHandler', (request, reply, done) => {
    if (sockets.refused.has(request.raw.socket)) {
      reply.hijack()
      request.raw.socket.destroySoon()
    } else done()
  })
}

/** The server, ready to listen. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { spaces, logger, observer, timeouts = TIMEOUTS } = options
  const { config } = spaces
  const workers = new Workers({ onCrash: error => logBug(logger, { event: 'parser_failed' }, error) })
  // Names, routes and schemas are the same for all workspaces.
  const table = operationsOf(spaces.any().workspace, config, workers)
  const schemas = components(table)
  const byId = componentsById(schemas)

  const handleError = makeErrorHandler(logger, config.bodyLimit)
  const admission = makeAdmission({ spaces, observer, viewFor: makeViews(workers, byId), handleError })
  const handling = { admission, handleError, logWhenDone: requestLog(logger, config.logPaths) }
  const { app, sockets } = makeServer(options, handling)
  app.addHook('onClose', () => workers.close())
  const routes = collectRoutes(app)
  const published = collectPublished(app)
  app.setErrorHandler(handleError)
  app.setNotFoundHandler((request, reply) => sendProblem(reply, routes.missing(request.method, pathOf(request.url))))
  decorate(app, observer)

  // Each request passes these hooks in this order.
  const stopping: Stopping = { drain: makeDrain(), isAnnounced: false }
  // Without a history there is nothing to review.
  const review = config.docs ? makeReviewPage(routes) : null
  if (observer !== undefined) observeRequests(app, observer)
  checkRequests(app, config.docs, review, { ...handling, stopping })
  if (config.allowOrigins.length > 0) await allowPages(app, config.allowOrigins, routes)
  refuseStrays(app, routes, sockets)

  const documentation = makeDocumentation({ routes: published, schemas, swagger: swaggerOptions(VERSION, table) })
  const streams = makeEventStreams(error => logBug(logger, { event: 'stream_failed' }, error), timeouts.heartbeat)
  observer?.streams(() => streams.count)
  operations(app, table)
  tools(app, byId, config.mcpOutputSchema)
  tool(app, table)
  mcp(app, logger)
  adapters(app, adaptersOf(table, config.memoryRoot), table)
  capabilities(app)
  events(app, streams)
  healthz(app)
  readyz(app, spaces)
  if (config.access !== null) resourceMetadata(app, spaces, routes)
  if (config.docs) {
    openapi(app, documentation)
    openapiToolsJson(
      app,
      toolbox(table, { ...config, deletes: config.allowDelete || config.access !== null }),
      byId,
      VERSION
    )
    docs(app, makeDocsPage(routes))
  }
  if (review !== null) page(app, review)
  await app.ready()

  return {
    app,
    document: documentation.document,
    documentYaml: documentation.yaml,
    endStreams: () => streams.endAll(),
    announceStop() {
      stopping.isAnnounced = true
    },
    async drain() {
      const drained = stopping.drain.close()
      spaces.endFollowing()
      await drained
      await untilLeft(app.server, timeouts.late ?? LATE)
    }
  }
}
