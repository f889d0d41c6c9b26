// Wakes readers when there may be more to read: at once for this server's lines, and by polling for those of other
// servers. Does not know what lines say.

/** In ms, between two looks at what other servers have written. */
const LOOK = 100

export class Watch {
  readonly #look: () => Promise<void>
  readonly #wait: number
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isAlone = false
  #looking = false
  #isScheduled = false

  /**
   * `look`: reads what other servers have written, and calls `saw` if there is anything; never rejects. `wait`: ms
   * between two looks.
   */
  constructor(look: () => Promise<void>, wait = LOOK) {
    this.#look = look
    this.#wait = wait
  }

  /** If no other server writes, no polling is needed. */
  setAlone(isAlone: boolean): void {
    this.#isAlone = isAlone
    // What they wrote until now may not be read yet.
    if (isAlone && this.#timer !== undefined) this.#once()
    this.#keepLooking()
  }

  /** Calls `more` for new lines until the returned function is called. */
  add(more: () => void): () => void {
    const waiting = () => more()
    this.#waiting.add(waiting)
    this.#keepLooking()
    return () => {
      this.#waiting.delete(waiting)
      this.#keepLooking()
    }
  }

  /** A line was read, or written. */
  saw(): void {
    if (this.#waiting.size === 0 || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const more of this.#waiting) more()
    })
  }

  close(): void {
    this.#waiting.clear()
    this.#keepLooking()
  }

  #keepLooking(): void {
    const isNeeded = this.#waiting.size > 0 && !this.#isAlone
    if (isNeeded) this.#timer ??= setInterval(() => this.#once(), this.#wait).unref()
    else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Joins a look that is still running. */
  #once(): void {
    if (this.#looking) return
    this.#looking = true
    this.#look().finally(() => {
      this.#looking = false
    })
  }
}
