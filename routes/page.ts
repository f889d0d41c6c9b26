// GET /review and /page/*: the page where a person reviews what agents did, and its files.
import type { FastifyInstance } from 'fastify'
import type { WebPage } from '../src/http/static-file.ts'

export function page(app: FastifyInstance, review: WebPage): void {
  app.get('/review', review.home)
  app.get('/page/*', review.file)
}
