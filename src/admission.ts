// Who may send a request, how many of them, and what the request then sees. Does not know any route.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Grant, Identified } from './http/access/grant.ts'
import { makeLimits, type RateLimited } from './http/access/limits.ts'
import { makeAccessCheck, type RouteAccess } from './http/auth.ts'
import type { makeErrorHandler } from './http/errors.ts'
import type { ServerObserver } from './http/observer.ts'
import type { RequestFailure } from './http/request-failure.ts'
import { workspaceIn } from './http/workspace-url.ts'
import type { Spaces } from './spaces.ts'
import type { makeViews } from './views.ts'

interface AdmissionOptions {
  spaces: Spaces
  observer: ServerObserver | undefined
  viewFor: ReturnType<typeof makeViews>
  handleError: ReturnType<typeof makeErrorHandler>
}

type Unidentified = Extract<Identified, { ok: false }>['failure']

export interface Admission {
  /** The URL of the protected resource that a request is for; null if no issuer is configured. */
  resourceUrl(request: FastifyRequest): string | null
  /** Calls `go` with the caller of a request: at once, or later if that takes a while and the client is still there. */
  whenIdentified(
    request: FastifyRequest,
    reply: FastifyReply,
    access: RouteAccess,
    go: (caller: Identified) => void
  ): void
  /** What a caller that isn't identified is answered; RATE_LIMITED after too many wrong tokens. */
  refusal(failure: Unidentified, request: FastifyRequest): Unidentified | RateLimited
  /** Sets the caller's view on a request. Returns why the request is refused, or null. */
  admit(request: FastifyRequest, reply: FastifyReply, access: RouteAccess, grant: Grant | null): RequestFailure | null
}

export function makeAdmission({ spaces, observer, viewFor, handleError }: AdmissionOptions): Admission {
  const { config } = spaces
  const identified = makeAccessCheck({ ...config, identify: spaces.identify })
  const limits = makeLimits({
    rate: config.rate,
    hasTokens: spaces.identify !== null,
    onLimited: observer?.rateLimited
  })
  return {
    resourceUrl: ({ headers }) => spaces.resource(headers.host)?.url ?? null,

    whenIdentified(request, reply, access, go) {
      const caller = identified(request.raw, access)
      if (!(caller instanceof Promise)) {
        go(caller)
        return
      }
      caller.then(
        known => {
          if (!reply.raw.destroyed) go(known)
        },
        (error: FastifyError) => handleError(error, request, reply)
      )
    },

    refusal: (failure, request) => limits.refusal(failure, request.raw.socket.remoteAddress),

    admit(request, reply, access, grant) {
      // A preflight has no token, and isn't for a route.
      if (access !== 'token' || (config.access !== null && grant === null)) return null
      const space = spaces.of(grant)
      // When the access file is replaced, a workspace is gone before its tokens are.
      if (space === undefined) return { code: 'UNAUTHORIZED', reason: 'wrong' }
      const named = config.access === null ? null : workspaceIn(request.originalUrl)
      if (named !== null && named !== grant?.workspace) return { code: 'ROUTE_NOT_FOUND', workspace: named }
      // A preflight has no token, and must not use up the token's rate.
      const limited = request.method === 'OPTIONS' ? null : limits.request(grant, request.raw.socket.remoteAddress)
      if (limited !== null) return limited
      reply.raw.once('close', space.enter())
      request.seen = viewFor(space, grant)
      request.subject =
        grant === null ? undefined : { name: grant.name, workspace: grant.workspace, scope: grant.scope }
      request.grant = grant
      return null
    }
  }
}
