// One line for each request, and one for each bug. Never a body, a query, a token, or text of a file.
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

/** The code of the problem that a response carries. */
const codes = new WeakMap<ServerResponse, string>()
export const noteCode = (response: ServerResponse, code: string): void => {
  codes.set(response, code)
}

/** Writes the line when the response is done, or its client gone. */
export function logWhenDone(logger: Logger, request: FastifyRequest, response: ServerResponse): void {
  const start = performance.now()
  response.once('close', () => {
    const code = codes.get(response)
    logger.info({
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? pathOf(request.url).slice(0, 200),
      ...(response.writableFinished ? { status: response.statusCode } : { aborted: true }),
      ...(code !== undefined && { code }),
      duration_ms: Math.round((performance.now() - start) * 10) / 10
    })
  })
}

/** A bug: name, code and where, but for errors of the system not the message, which may hold what was sent. */
export function logBug(logger: Logger, request_id: string, error: unknown): void {
  const known: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {}
  logger.error(
    {
      request_id,
      error: known.name ?? typeof error,
      ...(known.code !== undefined && { error_code: known.code }),
      ...(known.errno !== undefined && { message: known.message }),
      stack: (known.stack ?? '')
        .split('\n')
        .filter(line => /^\s+at /.test(line))
        .map(line => line.trim())
    },
    'bug'
  )
}
