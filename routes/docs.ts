// GET /docs: a page to read the document and try the routes; it loads nothing from another host.
import type { FastifyInstance } from 'fastify'
import type { Documentation } from '../src/http/documentation.ts'

const URLS = ['/docs', '/docs/', '/docs/json', '/docs/yaml', '/docs/static/*']

export function docs(app: FastifyInstance, { page }: Documentation): void {
  for (const url of URLS) app.get(url, page)
}
