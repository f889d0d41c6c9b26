// What an observer hears of requests and calls while they are served: for metrics. Types only; does not know who
// listens.
import type { Subject } from '../operations/operation.ts'
import type { RateLimited } from './access/limits.ts'
import type { CallSummary, EndedCall } from './call.ts'

export interface ServerObserver {
  /** A call has ended, from any route or tool. `by`: the caller; undefined: there is no access file. */
  called(by: Subject | undefined, summary: CallSummary, made: EndedCall | undefined): void
  /** A request has ended. `route`: one of the server's routes, or `none`; `status`: or `aborted`. */
  answered(route: string, status: string, seconds: number): void
  rateLimited(of: RateLimited['of']): void
  /** Receives a function that returns how many event streams are open. */
  streams(open: () => number): void
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Null: nobody observes. */
    observer: ServerObserver | null
  }
}
