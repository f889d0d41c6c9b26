// The calls on the file system of a root that other threads make: how many at once, and whether they are answered. Does
// not know what they do.

/** In ms: a file system whose call takes so long is taken to hang (a dead network file system, a frozen one). Chosen. */
const HANGS_AFTER = 2000

export class DiskCalls {
  readonly #atOnce: number
  /** When each that runs was begun, of performance.now(): the oldest first. */
  readonly #running = new Set<{ since: number }>()
  readonly #waiting: (() => void)[] = []

  /** `atOnce`: as many of the process's threads may wait for it. */
  constructor(atOnce = Infinity) {
    this.#atOnce = atOnce
  }

  /** Makes a call when it is its turn; `make` must not wait for another. Returns and throws what that does. */
  async call<T>(make: () => Promise<T>): Promise<T> {
    while (this.#running.size >= this.#atOnce) await new Promise<void>(resolve => this.#waiting.push(resolve))
    const begun = { since: performance.now() }
    this.#running.add(begun)
    try {
      return await make()
    } finally {
      this.#running.delete(begun)
      this.#waiting.shift()?.()
    }
  }

  /** Whether a call has been waiting for its answer for 2 s. */
  get hangs(): boolean {
    const [oldest] = this.#running
    return oldest !== undefined && performance.now() - oldest.since > HANGS_AFTER
  }
}
