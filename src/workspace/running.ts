// Counts the work running in a workspace and its views; closing waits for it. Does not know what the work is.

/** How many files stay pinned while waiting for their locks. A bound on descriptors; chosen, not measured. */
const KEPT_LIMIT = 64

export class Running {
  #count = 0
  /** How many requests wait, or may wait, for a lock with a file pinned. */
  #kept = 0
  #closed = false
  #idle: (() => void) | null = null

  /** Nothing more may begin. */
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

  /** Waits for a lock with the file pinned; unpins it if many do so already, as each needs a descriptor. */
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
