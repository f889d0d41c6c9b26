// GET /docs: a page to read the document and try the routes. Does not know what is in it.
import type { FastifyInstance } from 'fastify'
import type { WebPage } from '../src/http/static-file.ts'

export function docs(app: FastifyInstance, page: WebPage): void {
  app.get('/docs', page.home)
  // The links of the page are relative, so that they are right below any path.
  app.get('/docs/', (_request, reply) => reply.redirect('../docs'))
  app.get('/docs/static/*', page.file)
}
