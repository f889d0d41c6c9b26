// The URL of a request: the workspace that it names, /w/NAME before the path of any route, and the address of the server
// as its caller knows it, also behind a proxy. Does not know workspaces or routes.
import type { FastifyRequest } from 'fastify'

const WORKSPACE = /^\/w\/([^/?#]+)(?=[/?]|$)/

/** The name in a URL; null where there is none. */
export const workspaceIn = (url: string): string | null => WORKSPACE.exec(url)?.[1] ?? null

/** What stands before the path of a route. */
export const baseOf = (url: string): string => WORKSPACE.exec(url)?.[0] ?? ''

/** The URL without it. */
export function withoutWorkspace(url: string): string {
  const rest = url.slice(baseOf(url).length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

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
