// Who may call: Host, Origin and token are checked, in this order, before anything else runs. Does not know any
// operation.
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

/** What a request for a path has to show: for health nothing, for public paths no token. */
export type RouteAccess = 'health' | 'public' | 'token'

export const HEALTH_PATHS = ['/healthz', '/readyz']
const PUBLIC_PATHS = ['/openapi.json', '/openapi.yaml', '/openapi.tools.json']

/** The page; POST at the same path is an operation. */
const PAGE_PATH = '/review'

/** `path`: the route that matched, or where none did the path that was requested. */
export function accessOf(path: string, method = ''): RouteAccess {
  if (HEALTH_PATHS.includes(path)) return 'health'
  const isPage = (path === PAGE_PATH && ['GET', 'HEAD'].includes(method)) || path.startsWith('/page/')
  const isDocument = PUBLIC_PATHS.includes(path) || path === '/docs' || path.startsWith('/docs/')
  return isPage || isDocument ? 'public' : 'token'
}

/** The name in a Host header, without port and brackets; null if there is no valid one. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d*)?$/i.exec(host)
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null
}

const isOwnName = (name: string) => isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')

/** Why a request is refused, by its headers; null where it may pass. */
export function makeAccessCheck(
  options: AccessOptions
): (request: IncomingMessage, access: RouteAccess) => RequestFailure | null {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const expected = options.token === null ? null : digest(options.token)
  return (request, access) => {
    if (access === 'health') return null
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
    // A preflight never has a token; its origin was found to be allowed just now.
    const isPreflight = request.method === 'OPTIONS' && origin !== undefined && options.allowOrigins.includes(origin)
    if (access === 'public' || expected === null || isPreflight) return null
    if (authorization === undefined) return { code: 'UNAUTHORIZED', reason: 'missing' }
    const token = /^bearer +([^\s]+)$/i.exec(authorization)?.[1]
    if (token === undefined) return { code: 'UNAUTHORIZED', reason: 'malformed' }
    // Digests have the same length, so the time of the comparison reveals nothing about the token.
    return timingSafeEqual(digest(token), expected) ? null : { code: 'UNAUTHORIZED', reason: 'wrong' }
  }
}
