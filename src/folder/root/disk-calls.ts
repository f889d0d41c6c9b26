// The calls on the file system of a root that other threads make: how many at once, and whether they are answered. Does
// not know what they do.

/** In ms: a file system whose call takes so long is taken to hang (a dead network file system, a frozen one). Chosen. */
const HANGS_AFTER = 2000

export class DiskCalls {
  readonly #atOnce: number
  #running = 0
  /** Those of them that hang. */
  #hanging = 0
  readonly #waiting: (() => void)[] = []

  /** `atOnce`: as many of the process's threads may wait for it. */
  constructor(atOnce = Infinity) {
    this.#atOnce = atOnce
  }

  /** Makes a call when it is its turn; `make` must not wait for another. Returns and throws what that does. */
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

  /** Whether a call has been waiting for its answer for 2 s; false where any number of calls may wait. */
  get hangs(): boolean {
    return this.#hanging > 0
  }

  /** Watches a call until what is returned is called. */
  #watch(): () => void {
    let hangs = false
    // A turn later: where this thread was busy, the answer may be there by now.
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
