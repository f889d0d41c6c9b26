// What runs in a workspace, counted over all who use it: closing it waits for that. Does not know what is done.

/** How many files stay pinned while their locks are waited for. A bound on descriptors; chosen, not measured. */
const KEPT_LIMIT = 64

export class Running {
  #count = 0
  /** How many wait for a lock with a file pinned, or could. */
  #kept = 0
  #closed = false
  #idle: (() => void) | null = null

  /** Nothing more is to begin. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Does work that `close` waits for. */
  async counted<R>(work: () => Promise<R>): Promise<R> {
    this.#count++
    try {
      return await work()
    } finally {
      if (--this.#count === 0) this.#idle?.()
    }
  }

  /** Waits for a lock with the file pinned, unless many do already: each needs a descriptor. */
  async keeping<T>(pin: { close(): void } | null, wait: () => Promise<T>): Promise<T> {
    if (this.#kept >= KEPT_LIMIT) pin?.close()
    this.#kept++
    try {
      return await wait()
    } finally {
      this.#kept--
    }
  }

  /** Lets nothing more begin, and waits for what is running. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#count > 0) {
      await new Promise<void>(resolve => {
        this.#idle = resolve
      })
    }
  }
}
