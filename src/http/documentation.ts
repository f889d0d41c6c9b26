// Makes the published document in a separate app, since few clients ask for it and loading it takes as much time and
// memory as everything else. Does not know any route.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, FastifyServerOptions, HTTPMethods } from 'fastify'
import type { TSchema } from 'typebox'
import { late } from './late.ts'

/**
 * Stops Fastify from compiling schemas: they are only published. The call validates a body, whichever route or tool it
 * came through.
 */
export const UNCOMPILED = {
  compilersFactory: { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify }
  // Fastify's type requires a validator made by Ajv.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes the route's part of the document; a route without it isn't published. */
    published?: () => object
  }
}

interface PublishedRoute {
  url: string
  method: HTTPMethods | HTTPMethods[]
  schema(): object
}

/** Collects the published routes. Call it before adding any route. */
export function collectPublished(app: FastifyInstance): readonly PublishedRoute[] {
  const routes: PublishedRoute[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    // Fastify adds a HEAD route for each GET route.
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

/** Loads and makes everything on first use; a failure rejects that use. */
export function makeDocumentation(options: DocumentationOptions): Documentation {
  const app = late(() => makeApp(options))
  return {
    document: async () => (await app()).swagger(),
    yaml: async () => (await app()).swagger({ yaml: true })
  }
}

/** An app with all published routes, used only to describe them. */
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
