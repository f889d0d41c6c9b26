// The page to read the published document and try the routes: Swagger UI, served entirely from this host, with our
// additions. Does not know the document.
import type { Routes } from './errors.ts'
import { makePage, type WebPage } from './static-file.ts'

// Swagger UI adds inline styles to the page.
const CSP = [
  "default-src 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'"
].join('; ')

/** Files of the swagger-ui package, except its own page. */
const SWAGGER_UI = ['index.css', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map(
  name => new URL(name, import.meta.resolve('@fastify/swagger-ui/static/index.html'))
)

/** Located through package.json, since this file runs from here and from dist/. */
const OWN = ['docs.html', 'docs.css', 'docs.js'].map(name => new URL(name, import.meta.resolve('#page/docs.html')))

export const makeDocsPage = (routes: Routes): WebPage =>
  makePage(
    { home: 'docs.html', urls: async () => [...SWAGGER_UI, ...OWN], headers: { 'content-security-policy': CSP } },
    routes
  )
