// Lets other requests run while something long runs on the event loop. Does not know what runs.
import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** In ms: how long it runs at a time. Chosen: a short edit waits for about ten turns of the event loop. */
const STRETCH = 0.3

export class Pace {
  #since = performance.now()

  /** Whether it is time to rest. Cheaper than a rest that isn't needed, where there may be very many. */
  get isLong(): boolean {
    return performance.now() - this.#since >= STRETCH
  }

  /** Waits for a turn of the event loop if the last one is long ago. */
  async rest(): Promise<void> {
    if (!this.isLong) return
    await yieldToOthers()
    this.#since = performance.now()
  }
}
