// The URL of a request: the workspace that it names, /w/NAME before the path of any route, and the server's address as
// the caller sees it, also behind a proxy. Does not know workspaces or routes.
import type { FastifyRequest } from 'fastify'

const WORKSPACE = /^\/w\/([^/?#]+)(?=[/?]|$)/

/** The workspace's name in a URL; null if there is none. */
export const workspaceIn = (url: string): string | null => WORKSPACE.exec(url)?.[1] ?? null

/** The part of a URL before the route's path. */
export const baseOf = (url: string): string => WORKSPACE.exec(url)?.[0] ?? ''

/** The URL without the workspace. */
export function withoutWorkspace(url: string): string {
  const rest = url.slice(baseOf(url).length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The request headers that decide the public URL. */
export const ADDRESSED_BY = ['host', 'x-forwarded-proto', 'x-forwarded-prefix']

/** The prefix that a proxy removed from the path, as Traefik reports it in X-Forwarded-Prefix. */
const PREFIX = /^(?:\/[\w.~-]+)+$/

/**
 * The base URL of the routes, without a trailing slash: scheme, host, the prefix that a proxy removed, the workspace.
 */
export function publicUrl({ headers, originalUrl }: FastifyRequest): string {
  const { host, 'x-forwarded-proto': scheme, 'x-forwarded-prefix': sent } = headers
  const prefix = String(sent ?? '').replace(/\/$/, '')
  return `${scheme === 'https' ? 'https' : 'http'}://${host}${PREFIX.test(prefix) ? prefix : ''}${baseOf(originalUrl)}`
}
