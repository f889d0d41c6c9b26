// Who may call: Host, Origin, token, in this order, before anything else runs. Does not know any operation.
import { hash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { RequestFailure } from './failure.ts'

export interface AccessOptions {
  /** null: no token is asked for. */
  token: string | null
  allowHosts: readonly string[]
  allowOrigins: readonly string[]
}

/** What a request has to pass, by its path: health routes nothing, public ones no token. */
export type RouteAccess = 'health' | 'public' | 'token'

export const HEALTH_PATHS = ['/healthz', '/readyz']
const PUBLIC_PATHS = ['/openapi.json', '/openapi.yaml', '/openapi.tools.json']

/** `path` is the matched route, or, where none matched, the path that was asked for. */
export const doorOf = (path: string): RouteAccess =>
  HEALTH_PATHS.includes(path)
    ? 'health'
    : PUBLIC_PATHS.includes(path) || path === '/docs' || path.startsWith('/docs/')
      ? 'public'
      : 'token'

/** The name in a Host header, without port and brackets; null if there is no valid one. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d*)?$/i.exec(host)
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null
}

const isOwnName = (name: string) => isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')

/** Decides on a request by its headers; null: come in. */
export function makeAccess(
  options: AccessOptions
): (request: IncomingMessage, door: RouteAccess) => RequestFailure | null {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const expected = options.token === null ? null : digest(options.token)
  return (request, door) => {
    if (door === 'health') return null
    const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length
    const { host = '', origin, authorization } = request.headers
    const name = hostName(host)
    if (hosts !== 1 || name === null) {
      return {
        code: 'INVALID_REQUEST',
        errors: [{ pointer: '', message: 'the request needs exactly one Host header, with a name or address' }]
      }
    }
    if (!isOwnName(name) && !options.allowHosts.includes(name)) return { code: 'FORBIDDEN_HOST', host: name }
    if (origin !== undefined && origin !== `http://${host}` && !options.allowOrigins.includes(origin)) {
      return { code: 'FORBIDDEN_ORIGIN', origin }
    }
    // A preflight carries no token by design; it comes from an origin that was allowed just now.
    const isPreflight = request.method === 'OPTIONS' && origin !== undefined && options.allowOrigins.includes(origin)
    if (door === 'public' || expected === null || isPreflight) return null
    if (authorization === undefined) return { code: 'UNAUTHORIZED', reason: 'missing' }
    const token = /^bearer +([^\s]+)$/i.exec(authorization)?.[1]
    if (token === undefined) return { code: 'UNAUTHORIZED', reason: 'malformed' }
    // Digests are of one length, so that the comparison's time says nothing of the token.
    return timingSafeEqual(digest(token), expected) ? null : { code: 'UNAUTHORIZED', reason: 'wrong' }
  }
}
