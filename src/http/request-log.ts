// One line for each request, and one for each bug. Never a body, a query, a token, or text of a file; of what was sent
// only the path of the file.
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { printable } from '../logger.ts'
import { cut } from './answers/phrases.ts'
import { since, type CallSummary } from './call.ts'
import type { Failure } from './request-failure.ts'
import { traceOf } from './requests/traceparent.ts'

export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** The most characters of a path that are logged. */
const PATH_MAX = 200
const shown = (path: string) => printable(cut(path, PATH_MAX))

const PROBES = ['/healthz', '/readyz']

/** What has become known of a request, and how it is logged once more after its line was written. */
interface Noted {
  summary: CallSummary
  again?: () => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For its log line; null where nothing is known yet. */
    noted: Noted | null
  }
}

/** Notes the code of the problem that a request is answered with. */
export const noteCode = (request: FastifyRequest, code: string): void => {
  request.noted = { summary: { ...request.noted?.summary, code } }
}

/** Notes why a request was refused before it was a call. */
export function noteReason(request: FastifyRequest, failure: Failure): void {
  const { code } = failure
  const reason =
    code === 'UNAUTHORIZED'
      ? failure.reason === 'jwt'
        ? failure.fault
        : failure.reason
      : code === 'FORBIDDEN_SCOPE' && 'lacks' in failure
        ? failure.lacks
        : undefined
  if (reason !== undefined) request.noted = { summary: { ...request.noted?.summary, reason } }
}

/** Notes what a call has done, for the line of its request. */
export function noteCall(request: FastifyRequest, summary: CallSummary): void {
  const again = request.noted?.again
  request.noted = { summary }
  again?.()
}

/** What a line has of a call; no path where `logPaths` is off. */
export function callFields(summary: CallSummary, logPaths: boolean): CallSummary {
  const fields = { ...summary }
  if (!logPaths) delete fields.path
  else if (fields.path !== undefined) fields.path = shown(fields.path)
  return fields
}

/**
 * Writes the line when the response is done, or its client gone; in that case once more when a call that was running
 * has ended, since it may have written.
 */
export const requestLog =
  (logger: Logger, logPaths: boolean) =>
  (request: FastifyRequest, response: ServerResponse): void => {
    const start = performance.now()
    const write = () => {
      const fields = callFields(request.noted?.summary ?? {}, logPaths)
      fields.duration_ms = since(start)
      const route = request.routeOptions.url ?? shown(pathOf(request.url))
      // Those who watch a server ask every few seconds.
      const isProbe = PROBES.includes(route) && response.writableFinished && response.statusCode === 200
      logger[isProbe ? 'debug' : 'info']({
        request_id: request.id,
        method: request.method,
        route,
        ...(response.writableFinished ? { status: response.statusCode } : { aborted: true }),
        ...(request.subject !== undefined && { workspace: request.subject.workspace, token: request.subject.name }),
        ...traceOf(request.headers),
        ...fields
      })
    }
    response.once('close', () => {
      write()
      if (!response.writableFinished) request.noted = { summary: {}, again: write }
    })
  }

/**
 * A bug, with what says where it was met: name, code and stack, but for errors of the system not the message, which may
 * hold what was sent.
 */
export function logBug(logger: Logger, met: { request_id: string } | { event: string }, error: unknown): void {
  const known: Partial<NodeJS.ErrnoException & { reason: unknown }> = error instanceof Error ? error : {}
  logger.error(
    {
      ...met,
      error: known.name ?? typeof error,
      error_code: known.code,
      // What an object store calls it.
      ...(typeof known.reason === 'string' && { reason: known.reason }),
      ...(known.errno !== undefined && { message: known.message }),
      stack: (known.stack ?? '')
        .split('\n')
        .filter(line => /^\s+at /.test(line))
        .map(line => line.trim())
    },
    'bug'
  )
}
