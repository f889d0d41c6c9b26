// GET /docs: a page to read the document and try the routes; it loads nothing from another host.
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { readFileSync } from 'node:fs'

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

export async function docs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CSP,
    theme: { title: 'editd', css: [asset('docs.css')], js: [asset('docs.js')] }
  })
}
