// GET /docs: a page to read the document and try the routes.
import type { FastifyInstance } from 'fastify'
import type { WebPage } from '../src/http/static-file.ts'

export function docs(app: FastifyInstance, page: WebPage): void {
  app.get('/docs', page.home)
  // The page's links are relative, so they work below any path.
  app.get('/docs/', (_request, reply) => reply.redirect('../docs'))
  app.get('/docs/static/*', page.file)
}
