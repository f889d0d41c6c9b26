// What is told of requests and calls while they are served: for metrics. Types only; does not know who listens.
import type { Subject } from '../operations/operation.ts'
import type { RateLimited } from './access/limits.ts'
import type { CallSummary, Made } from './call.ts'

export interface ServerObserver {
  /** A call has ended, whichever way it came. `by`: whose it was; undefined: there are no names of tokens. */
  called(by: Subject | undefined, summary: CallSummary, made: Made | undefined): void
  /** A request has ended. `route`: one of those of the server, or `none`; `status`: or `aborted`. */
  answered(route: string, status: string, seconds: number): void
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
