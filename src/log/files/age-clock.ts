// The time by which ages are judged. A clock that jumps ahead, or was wrong for a while, makes nothing old at once. Does not
// know what is kept.
import { closeSync, openSync, statSync, utimesSync } from 'node:fs'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'

/** In ms: how far it follows a clock that is ahead when a server starts, since it may have been off for so long. */
const AT_START = 12 * 60 * 60 * 1000
/** From there it goes so many times as fast as time passes, until it has the time of the clock. */
const FASTER = 2
/** In ms: a clock that is ahead by more is reported. */
const REPORTED = 60 * 60 * 1000

export class AgeClock {
  readonly #path: string
  readonly #report: HistoryOptions['report']
  #isReported = false
  /** What it said last, in ms since 1970, and when that was, of performance.now(). */
  #last: { said: number; at: number } | undefined

  /** `path`: of a file whose time is the last one that a server on this history has seen; it is made by `keep`. */
  constructor(path: string, report: HistoryOptions['report']) {
    this.#path = path
    this.#report = report
  }

  /** In ms since 1970: the system's time, or one before it. */
  now(): number {
    const time = Date.now()
    const at = performance.now()
    const most = this.#last === undefined ? this.#seen() + AT_START : this.#last.said + FASTER * (at - this.#last.at)
    const said = Math.min(time, most)
    this.#last = { said, at }
    if (time - said > REPORTED && !this.#isReported) {
      this.#isReported = true
      const [now, taken_for] = [time, said].map(ms => new Date(ms).toISOString())
      this.#report({ event: 'clock_ahead', now, taken_for })
    }
    return said
  }

  /** Writes down what it is, for the next start. Reports the system's error: then that knows an earlier time. */
  keep(): void {
    const now = new Date(this.now())
    try {
      closeSync(openSync(this.#path, 'a', 0o600))
      utimesSync(this.#path, now, now)
    } catch (error) {
      this.#report({ event: 'history_sweep_failed', code: codeOf(error) })
    }
  }

  #seen(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  }
}
