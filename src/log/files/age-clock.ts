// The clock for ages: if the system's clock jumps ahead, or is wrong for a while, nothing becomes old at once.
import { closeSync, openSync, statSync, utimesSync } from 'node:fs'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'

/**
 * In ms: how far it follows a system clock that is ahead when a server starts, since the server may have been off that
 * long.
 */
const AT_START = 12 * 60 * 60 * 1000
/** After that it runs this many times as fast as time passes, until it reaches the system's clock. */
const FASTER = 2
/** In ms: a system clock that is further ahead is reported. */
const REPORTED = 60 * 60 * 1000

export class AgeClock {
  readonly #path: string
  readonly #report: HistoryOptions['report']
  #isReported = false
  /** The last result, in ms since 1970, and when it was returned, on the clock of performance.now(). */
  #last: { time: number; at: number } | undefined

  /** `path`: a file whose time is the last one seen by a server of this history; `keep` creates it. */
  constructor(path: string, report: HistoryOptions['report']) {
    this.#path = path
    this.#report = report
  }

  /** In ms since 1970: the system's time, or an earlier one. */
  now(): number {
    const time = Date.now()
    const at = performance.now()
    const most = this.#last === undefined ? this.#seen() + AT_START : this.#last.time + FASTER * (at - this.#last.at)
    const bounded = Math.min(time, most)
    this.#last = { time: bounded, at }
    if (time - bounded > REPORTED && !this.#isReported) {
      this.#isReported = true
      const [now, taken_for] = [time, bounded].map(ms => new Date(ms).toISOString())
      this.#report({ event: 'clock_ahead', now, taken_for })
    }
    return bounded
  }

  /** Saves the time for the next start. Reports the system's error: then the next start knows an earlier time. */
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
