// How many bytes of large files are in work at once; who would take more waits, first come first served. Knows no files.

interface Waiting { bytes: number, tell: (release: (() => void) | null) => void, timer: NodeJS.Timeout }

export class Memory {
  #free: number
  readonly #waiting: Waiting[] = []

  /** `bytes`: at least what one request may take. */
  constructor (bytes: number) {
    this.#free = bytes
  }

  /** Takes so many bytes; answers what gives them back, or null where they couldn't be had within `time` milliseconds. */
  take (bytes: number, time: number): Promise<(() => void) | null> {
    return new Promise(resolve => {
      const waiting: Waiting = {
        bytes,
        tell: resolve,
        timer: setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
          resolve(null)
          this.#next()
        }, time)
      }
      this.#waiting.push(waiting)
      this.#next()
    })
  }

  #next (): void {
    for (let first = this.#waiting[0]; first !== undefined && first.bytes <= this.#free; first = this.#waiting[0]) {
      const { bytes, tell, timer } = first
      this.#waiting.shift()
      clearTimeout(timer)
      this.#free -= bytes
      tell(() => {
        this.#free += bytes
        this.#next()
      })
    }
  }
}
