// Compares this machine's clock with the store's when a server starts.
import type { CommonOptions } from '../workspace/api.ts'

/** In ms. Chosen: edit ids carry this machine's time, and objects the store's (last-writes.ts). */
const REPORTED = 60_000
const REFUSED = 60 * 60 * 1000

/** The clock is too wrong to keep a history. */
export class ClockWrong extends Error {
  /** `now`: this machine's time, `store`: the store's time, both in ms since 1970. */
  constructor(now: number, store: number) {
    const [own, right] = [now, store].map(ms => new Date(ms).toISOString())
    super(`the clock of this machine says ${own}, that of the object store ${right}`)
  }
}

/**
 * `store`: its time in ms since 1970. Reports a clock that is off by more than a minute; throws ClockWrong beyond an
 * hour.
 */
export function compareClocks(store: number, report: NonNullable<CommonOptions['report']>): void {
  const now = Date.now()
  const apart = Math.abs(now - store)
  if (apart > REFUSED) throw new ClockWrong(now, store)
  if (apart > REPORTED) {
    report({ event: 'clock_off', now: new Date(now).toISOString(), store: new Date(store).toISOString() })
  }
}
