// Work that is done in the background, one run at a time. Does not know what it does.

export class BackgroundWork {
  readonly #work: () => Promise<void>
  readonly #failed: (error: unknown) => void
  #running: Promise<void> | null = null
  #isAskedAgain = false
  #isStopped = false

  constructor(work: () => Promise<void>, failed: (error: unknown) => void) {
    this.#work = work
    this.#failed = failed
  }

  /** Runs it, unless it is running. */
  begin(): void {
    if (!this.#isStopped) this.#running ??= this.#run()
  }

  /** Runs it; if it is running, once more after that, as it may have missed what this is about. */
  again(): void {
    this.#isAskedAgain = true
    this.begin()
  }

  /** Begins no more. */
  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when it isn't running. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    do {
      this.#isAskedAgain = false
      await this.#work().catch(this.#failed)
    } while (this.#isAskedAgain && !this.#isStopped)
    this.#running = null
  }
}
