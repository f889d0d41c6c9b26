// Background work, one run at a time. Does not know what it does.

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

  /** Starts a run, unless one is running. */
  begin(): void {
    if (!this.#isStopped) this.#running ??= this.#run()
  }

  /** Starts a run; if one is running, another follows, as the present one may miss what this call is about. */
  again(): void {
    this.#isAskedAgain = true
    this.begin()
  }

  /** Starts no more runs. */
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
