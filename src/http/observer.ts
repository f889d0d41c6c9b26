// What is told of requests and calls while they are served: for metrics. Types only; does not know who listens.
import type { RateLimited } from './access/limits.ts'
import type { CallSummary, Made } from './call.ts'

export interface ServerObserver {
  /** A call has ended, whichever way it came. `by`: whose it was. */
  called(by: string, summary: CallSummary, made: Made | undefined): void
  /** A request has ended. `route`: one of those of the server, or `none`. */
  answered(route: string, seconds: number): void
  rateLimited(of: RateLimited['of']): void
  /** Says how many streams of events are open, when asked. */
  streams(open: () => number): void
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Null: nobody listens. */
    observer: ServerObserver | null
  }
}
