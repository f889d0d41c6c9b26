// Whether this machine's clock agrees with the store's when a server starts. Does not know what is judged by them.
import type { CommonOptions } from '../workspace/api.ts'

/** In ms. Chosen: an edit's id has the one time, its object the other (last-writes.ts). */
const REPORTED = 60_000
const REFUSED = 60 * 60 * 1000

/** The clock is so wrong that no history can be kept by it. */
export class ClockWrong extends Error {
  /** `now`: this machine's time, `store`: that of the store, in ms since 1970. */
  constructor(now: number, store: number) {
    const [own, right] = [now, store].map(ms => new Date(ms).toISOString())
    super(`the clock of this machine says ${own}, that of the object store ${right}`)
  }
}

/** `store`: its time in ms since 1970. Reports a clock that is more than a minute off; throws ClockWrong from an hour on. */
export function compareClocks(store: number, report: NonNullable<CommonOptions['report']>): void {
  const now = Date.now()
  const apart = Math.abs(now - store)
  if (apart > REFUSED) throw new ClockWrong(now, store)
  if (apart > REPORTED) {
    report({ event: 'clock_off', now: new Date(now).toISOString(), store: new Date(store).toISOString() })
  }
}
