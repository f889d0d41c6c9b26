// The request log: one line per request, and one per bug. Never logs a body, a query, a token, or text of a file; the
// file's path is the only thing logged of what was sent.
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

/** What is known about a request so far, and how to log it again after its line was written. */
interface Noted {
  summary: CallSummary
  again?: () => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log line; null while nothing is known. */
    noted: Noted | null
  }
}

/** Records the code of the problem that answers a request. */
export const noteCode = (request: FastifyRequest, code: string): void => {
  request.noted = { summary: { ...request.noted?.summary, code } }
}

/** Records why a request was refused before it made a call. */
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

/** Records the outcome of a call, for its request's log line. */
export function noteCall(request: FastifyRequest, summary: CallSummary): void {
  const again = request.noted?.again
  request.noted = { summary }
  again?.()
}

/** A call's fields in a log line; without the path if `logPaths` is off. */
export function callFields(summary: CallSummary, logPaths: boolean): CallSummary {
  const fields = { ...summary }
  if (!logPaths) delete fields.path
  else if (fields.path !== undefined) fields.path = shown(fields.path)
  return fields
}

/**
 * Writes the line when the response is done or the client has left. In the latter case writes it again when a call that
 * was still running has ended, since that may have changed a file.
 */
export const requestLog =
  (logger: Logger, logPaths: boolean) =>
  (request: FastifyRequest, response: ServerResponse): void => {
    const start = performance.now()
    const write = () => {
      const fields = callFields(request.noted?.summary ?? {}, logPaths)
      fields.duration_ms = since(start)
      const route = request.routeOptions.url ?? shown(pathOf(request.url))
      // Monitoring probes these routes every few seconds.
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
 * Logs a bug and where it occurred: name, code and stack. Logs the message only for system errors, since others may
 * quote what was sent.
 */
export function logBug(logger: Logger, met: { request_id: string } | { event: string }, error: unknown): void {
  const known: Partial<NodeJS.ErrnoException & { reason: unknown }> = error instanceof Error ? error : {}
  logger.error(
    {
      ...met,
      error: known.name ?? typeof error,
      error_code: known.code,
      // An object store's name for the error.
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
