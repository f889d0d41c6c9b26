// The published document and the page that shows it. An app of their own makes them, since few ask for them and they
// take as much time and memory to load as all else. Does not know any route.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions, HTTPMethods } from 'fastify'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { TSchema } from 'typebox'
import { late } from './late.ts'

/**
 * Fastify compiles no schema: they are only published. A body is checked by the call, whichever route or tool it came
 * through.
 */
export const UNCOMPILED = {
  compilersFactory: { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify }
  // The type asks for a validator that Ajv made.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes what is published of the route; without it the route is not in the document. */
    published?: () => object
  }
}

export interface PublishedRoute {
  url: string
  method: HTTPMethods | HTTPMethods[]
  schema(): object
}

/** Keeps the list of published routes. To be called before any route is added. */
export function collectPublished(app: FastifyInstance): readonly PublishedRoute[] {
  const routes: PublishedRoute[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    // Fastify adds the route of HEAD to that of GET.
    if (config?.published !== undefined && method !== 'HEAD') routes.push({ url, method, schema: config.published })
  })
  return routes
}

// Without upgrade-insecure-requests, which the plugin's own policy has and plain HTTP can't follow.
const CSP = [
  "default-src 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'"
].join('; ')

// Found by package.json, since this file runs from here and from dist/.
const asset = (filename: 'docs.css' | 'docs.js') => ({
  filename,
  content: readFileSync(new URL(import.meta.resolve(`#page/${filename}`)), 'utf8')
})

export interface Documentation {
  document(): Promise<object>
  yaml(): Promise<string>
  /** Answers a request for the page or one of its files. */
  page(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

export interface DocumentationOptions {
  routes: readonly PublishedRoute[]
  schemas: readonly TSchema[]
  swagger: FastifyDynamicSwaggerOptions
  /** Says how errors and requests to unknown paths are answered. */
  addFailureHandlers(app: FastifyInstance): void
}

/** Nothing is loaded or made before it is needed; what fails then rejects. */
export function makeDocumentation(options: DocumentationOptions): Documentation {
  const ids = new WeakMap<IncomingMessage, string>()
  const app = late(() => makePages(options, request => ids.get(request)!))
  return {
    document: async () => (await app()).swagger(),
    yaml: async () => (await app()).swagger({ yaml: true }),
    async page(request, reply) {
      const pages = await app()
      ids.set(request.raw, request.id)
      for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value!)
      reply.hijack()
      pages.routing(request.raw, reply.raw)
    }
  }
}

/** An app that has all published routes, of which it answers none, and the pages. */
async function makePages(
  { routes, schemas, swagger, addFailureHandlers }: DocumentationOptions,
  genReqId: (request: IncomingMessage) => string
): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: fastifySwagger }, { default: swaggerUi }] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger'),
    import('@fastify/swagger-ui')
  ])
  const app = Fastify({ genReqId, schemaController: UNCOMPILED })
  addFailureHandlers(app)
  for (const schema of schemas) app.addSchema(schema)
  await app.register(fastifySwagger, swagger)
  for (const { url, method, schema } of routes) app.route({ url, method, schema: schema(), handler: async () => {} })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CSP,
    theme: { title: 'editd', css: [asset('docs.css')], js: [asset('docs.js')] }
  })
  await app.ready()
  return app
}
