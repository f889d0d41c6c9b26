// The address of the server as its caller knows it, also behind a proxy. Does not know routes.
import type { FastifyRequest } from 'fastify'
import { baseOf } from './workspace-url.ts'

/** Which headers of a request decide about it. */
export const ADDRESSED_BY = ['host', 'x-forwarded-proto', 'x-forwarded-prefix']

/** What a proxy took off the path, such as Traefik says it in X-Forwarded-Prefix. */
const PREFIX = /^(?:\/[\w.~-]+)+$/

/** Where the routes are, without a slash at the end: scheme, host, what a proxy took off the path, the workspace. */
export function publicUrl({ headers, originalUrl }: FastifyRequest): string {
  const { host, 'x-forwarded-proto': scheme, 'x-forwarded-prefix': said } = headers
  const prefix = String(said ?? '').replace(/\/$/, '')
  return `${scheme === 'https' ? 'https' : 'http'}://${host}${PREFIX.test(prefix) ? prefix : ''}${baseOf(originalUrl)}`
}
