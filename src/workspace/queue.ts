// Queues requests of this process for the same file, first come first served. Does not know what they do with it.
import { fail, ok, type Result } from '../result.ts'
import type { FileFailure } from './failure.ts'

/** How many requests may wait for one file in this process. A bound on memory; chosen, not measured. */
const QUEUE_LIMIT = 1000

/** The right to change one file, or to do what a name stands for. */
export interface Lock {
  /** The name of the one temp file that may be made under this lock. Nobody else knows it, and no other lock has it. */
  readonly temp: string
  /**
   * While it is held, no other server edits this file, nor has any for as long as our locks have had this value here.
   * Null: one may have.
   */
  readonly alone_since: string | null
  /** Whether it is still ours; synchronous, for the instant before a rename. */
  held(): boolean
  release(): Promise<void>
}

export type FileLocked = Extract<FileFailure, { code: 'FILE_LOCKED' }>
const locked = (reason: FileLocked['reason']): Result<never, FileLocked> =>
  fail({ code: 'FILE_LOCKED', reason, retry_after: 1 })

/** How a turn came about. */
export type Turn = 'first' | 'next' | 'yield_to_other_process'

export class Queues {
  readonly #timeout: number
  readonly #waiting = new Map<string, ((turn: Turn) => void)[]>()

  /** In ms: how long a request waits for its turn. */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  /** Until when a request that asks now waits for its turn; on the clock of performance.now(). */
  deadline(): number {
    return performance.now() + this.#timeout
  }

  /** A turn, until it is released. Failure: FILE_LOCKED (timeout, queue_full). */
  async acquire(path: Buffer, deadline: number): Promise<Result<Pick<Lock, 'release'>, FileLocked>> {
    const key = path.toString('latin1')
    const turn = await this.turn(key, deadline)
    return turn.ok ? ok({ release: async () => this.pass(key, 'next') }) : turn
  }

  /**
   * Waits for a request's turn; 'first' if nobody had it. Every turn must be handed on with `pass`, whatever happened.
   * Failure: FILE_LOCKED (timeout, queue_full).
   */
  turn(key: string, deadline: number): Promise<Result<Turn, FileLocked>> {
    const queue = this.#waiting.get(key)
    if (queue === undefined) {
      this.#waiting.set(key, [])
      return Promise.resolve(ok('first'))
    }
    if (queue.length >= QUEUE_LIMIT) return Promise.resolve(locked('queue_full'))
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(called), 1)
        resolve(locked('timeout'))
      }, deadline - performance.now())
      const called = (turn: Turn): void => {
        clearTimeout(timer)
        resolve(ok(turn))
      }
      queue.push(called)
    })
  }

  /** Hands the turn to the next request, as `turn`. */
  pass(key: string, turn: Turn): void {
    const next = this.#waiting.get(key)?.shift()
    if (next === undefined) this.#waiting.delete(key)
    else next(turn)
  }
}
