// The published document. An app of its own makes it, since few ask for it and it takes as much time and memory to load
// as all else. Does not know any route.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, FastifyServerOptions, HTTPMethods } from 'fastify'
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

interface PublishedRoute {
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

export interface Documentation {
  document(): Promise<object>
  yaml(): Promise<string>
}

interface DocumentationOptions {
  routes: readonly PublishedRoute[]
  schemas: readonly TSchema[]
  swagger: FastifyDynamicSwaggerOptions
}

/** Nothing is loaded or made before it is needed; what fails then rejects. */
export function makeDocumentation(options: DocumentationOptions): Documentation {
  const app = late(() => makeApp(options))
  return {
    document: async () => (await app()).swagger(),
    yaml: async () => (await app()).swagger({ yaml: true })
  }
}

/** An app with all published routes, only to describe them. */
async function makeApp({ routes, schemas, swagger }: DocumentationOptions): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: fastifySwagger }] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger')
  ])
  const app = Fastify({ schemaController: UNCOMPILED })
  for (const schema of schemas) app.addSchema(schema)
  await app.register(fastifySwagger, swagger)
  for (const { url, method, schema } of routes) app.route({ url, method, schema: schema(), handler: async () => {} })
  await app.ready()
  return app
}
