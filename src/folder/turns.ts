// Limits how many edits run at once; the others wait, first come first served. Does not know files.
//
// An edit has two parts, before and after another thread makes its temp file. The more edits run in between, the less
// data of the first part is left in the processor's caches for the second.

/**
 * How many edits run at once. With 16 clients on files of 10 KB this made 1.18 × the edits without a limit, each with
 * 0.83 × the CPU; with 64 clients 1.16 ×; synced 1.06 ×, and 1.18 × with 64 clients. A limit of 4 made fewer, 12 about
 * as many (two cores with 1 MB of cache each; a turn taken only under the file's lock brings half of that).
 */
const AT_ONCE = 8
/**
 * In ms: if no edit ends for this long, they wait for something other than this thread, such as a slow disk or a lock,
 * and all waiting edits begin. Chosen, not measured.
 */
const PATIENCE = 5

/** For one workspace. */
export class Turns {
  /** Below 0 if more have begun than the limit allows. */
  #left = AT_ONCE
  #waiting: (() => void)[] = []
  readonly #patience: number
  #timer: NodeJS.Timeout | undefined

  constructor(patience = PATIENCE) {
    this.#patience = patience
  }

  /** Does the work when it is its turn; returns and throws what the work does. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left > 0) this.#left--
    else await this.#next()
    try {
      return await work()
    } finally {
      this.#end()
    }
  }

  #next(): Promise<void> {
    this.#timer ??= setTimeout(() => this.#beginAll(), this.#patience)
    return new Promise(resolve => {
      this.#waiting.push(resolve)
    })
  }

  #end(): void {
    const next = this.#left < 0 ? undefined : this.#waiting.shift()
    if (next === undefined) this.#left++
    else next()
    if (this.#waiting.length > 0) this.#timer?.refresh()
    else this.#stop()
  }

  #beginAll(): void {
    const all = this.#waiting
    this.#left -= all.length
    this.#waiting = []
    this.#stop()
    for (const begin of all) begin()
  }

  #stop(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
