// GET /.well-known/oauth-protected-resource: where clients get a token for this server (RFC 9728). Also serves every
// path below it, where clients look for the metadata of a URL with that path. Does not know how a token is checked.
import type { FastifyInstance } from 'fastify'
import { RESOURCE_METADATA_PATH, type Resource } from '../src/http/access/resource.ts'
import type { Routes } from '../src/http/errors.ts'
import { sendProblem } from '../src/http/send.ts'

/** `spaces`: see `Spaces`. */
export function resourceMetadata(
  app: FastifyInstance,
  spaces: { resource(host: string | undefined): Resource | null },
  routes: Routes
): void {
  for (const url of [RESOURCE_METADATA_PATH, `${RESOURCE_METADATA_PATH}/*`]) {
    app.route({
      method: 'GET',
      url,
      handler(request, reply) {
        const found = spaces.resource(request.headers.host)
        if (found === null) return sendProblem(reply, routes.unknown(request.method))
        return reply.send(found.metadata)
      }
    })
  }
}
