// Access control: checks Host, Origin and token, in this order, before anything else runs. Does not know any operation.
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { fail, ok } from '../result.ts'
import type { Identify } from './access/grant.ts'
import { RESOURCE_METADATA_PATH } from './access/resource.ts'
import type { RequestFailure } from './request-failure.ts'

interface AccessOptions {
  /** null: requests need no token. */
  identify: Identify | null
  allowHosts: readonly string[]
  allowOrigins: readonly string[]
}

/** What a route requires of a request: health routes nothing, public routes no token. */
export type RouteAccess = 'health' | 'public' | 'token'

const HEALTH_PATHS = ['/healthz', '/readyz']
const PUBLIC_PATHS = ['/openapi.json', '/openapi.yaml', '/openapi.tools.json', RESOURCE_METADATA_PATH]

/** The review page; POST at this path is an operation. */
const PAGE_PATH = '/review'

/** `path`: the route that matched, else the requested path. */
export function accessOf(path: string, method = ''): RouteAccess {
  if (HEALTH_PATHS.includes(path)) return 'health'
  const isPage = (path === PAGE_PATH && ['GET', 'HEAD'].includes(method)) || path.startsWith('/page/')
  const isDocument =
    PUBLIC_PATHS.includes(path) ||
    path === '/docs' ||
    path.startsWith('/docs/') ||
    path.startsWith('/.well-known/oauth-protected-resource/')
  return isPage || isDocument ? 'public' : 'token'
}

/** How many headers have this lower-case name; `raw` alternates names and values. */
function countOf(name: string, raw: readonly string[]): number {
  let count = 0
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === name.length && raw[i]!.toLowerCase() === name) count++
  }
  return count
}

/** The name in a Host header, without port and brackets; null if it is invalid. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d*)?$/i.exec(host)
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null
}

const isOwnName = (name: string) => isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')

/**
 * Checks a request's headers. Returns the caller's grant (null if no token is needed) or the refusal; a promise only if
 * `identify` returns one.
 */
type AccessCheck = (request: IncomingMessage, access: RouteAccess) => ReturnType<Identify>

/** The token is what follows the last space. */
const BEARER = /^bearer +[^\s]+$/i

export function makeAccessCheck({ identify, allowHosts, allowOrigins }: AccessOptions): AccessCheck {
  const anybody = ok(null)
  // Nearly every request has the same Host as the one before.
  let last = { host: '', name: hostName('') }
  const refused = (failure: RequestFailure) => fail(failure)
  return (request, access) => {
    if (access === 'health') return anybody
    const { host = '', origin, authorization } = request.headers
    if (host !== last.host) last = { host, name: hostName(host) }
    const { name } = last
    if (name === null || countOf('host', request.rawHeaders) !== 1) {
      return refused({
        code: 'INVALID_REQUEST',
        errors: [{ pointer: '', message: 'the request needs exactly one Host header, with a name or address' }]
      })
    }
    if (!isOwnName(name) && !allowHosts.includes(name)) return refused({ code: 'FORBIDDEN_HOST', host: name })
    if (origin !== undefined && origin !== `http://${host}` && !allowOrigins.includes(origin)) {
      return refused({ code: 'FORBIDDEN_ORIGIN', origin })
    }
    // A preflight never has a token; its origin was found to be allowed just above.
    const isPreflight = request.method === 'OPTIONS' && origin !== undefined && allowOrigins.includes(origin)
    if (access === 'public' || identify === null || isPreflight) return anybody
    if (authorization === undefined) return refused({ code: 'UNAUTHORIZED', reason: 'missing' })
    return BEARER.test(authorization)
      ? identify(authorization.slice(authorization.lastIndexOf(' ') + 1))
      : refused({ code: 'UNAUTHORIZED', reason: 'malformed' })
  }
}
