// Calls on a root's file system that other threads make: limits how many run at once, and sees whether they are
// answered. Does not know what they do.

/**
 * In ms: a file system counts as hanging if a call takes this long (a dead network file system, a frozen one). Chosen.
 */
const HANGS_AFTER = 2000

export class DiskCalls {
  readonly #atOnce: number
  #running = 0
  /** How many of the running calls hang. */
  #hanging = 0
  readonly #waiting: (() => void)[] = []

  /** `atOnce`: how many of the process's threads may wait for the file system. */
  constructor(atOnce = Infinity) {
    this.#atOnce = atOnce
  }

  /** Makes a call when it is its turn; `make` must not wait for another call. Returns and throws what `make` does. */
  async call<T>(make: () => Promise<T>): Promise<T> {
    while (this.#running >= this.#atOnce) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#running++
    const watch = this.#atOnce === Infinity ? undefined : this.#watch()
    try {
      return await make()
    } finally {
      watch?.()
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  /** Whether a call has been waiting for its answer for 2 s; false if any number of calls may wait. */
  get hangs(): boolean {
    return this.#hanging > 0
  }

  /** Watches a call until the returned callback is called. */
  #watch(): () => void {
    let hangs = false
    // One turn later: if this thread was busy, the answer may have come by now.
    let turn: NodeJS.Immediate | undefined
    const timer = setTimeout(() => {
      turn = setImmediate(() => {
        hangs = true
        this.#hanging++
      })
    }, HANGS_AFTER).unref()
    return () => {
      clearTimeout(timer)
      clearImmediate(turn)
      if (hangs) this.#hanging--
    }
  }
}
