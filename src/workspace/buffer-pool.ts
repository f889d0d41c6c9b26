// Limits how many bytes of large files are worked on at once: a request that would exceed the limit waits, first come
// first served. Keeps their buffers for the next requests. Does not know files.

/**
 * In bytes: buffers from this size up are worth keeping. Sizes are rounded up to it, so that a file that grows fits
 * again.
 */
const UNIT = 1024 * 1024
/**
 * How many bytes of idle buffers are kept, and for how many ms. They are kept because fresh pages cost more than
 * reading, and the garbage collector lags (test/workspace/buffer-pool.test.ts holds the memory down); the two numbers
 * were chosen, not measured.
 */
const IDLE = 64 * UNIT
const KEPT = 5000

interface Waiting {
  bytes: number
  tell: (release: (() => void) | null) => void
  timer: NodeJS.Timeout
}

/** For one workspace. */
export class BufferPool {
  /** In bytes: the most that can be taken. */
  readonly size: number
  #free: number
  readonly #waiting: Waiting[] = []
  /** The last used one is last. */
  #idle: ArrayBuffer[] = []
  #timer: NodeJS.Timeout | undefined

  /** `bytes`: at least the most that one request may take. */
  constructor(bytes: number) {
    this.size = bytes
    this.#free = bytes
  }

  /**
   * Takes `bytes` bytes; returns a callback that gives them back, or null if they weren't available within `time` ms.
   */
  take(bytes: number, time: number): Promise<(() => void) | null> {
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

  /**
   * A buffer for `size` bytes of a file; write its bytes before reading them. A large one may be reused, as the garbage
   * collector would free it too late.
   */
  buffer(size: number): Buffer {
    if (size <= UNIT) return Buffer.allocUnsafeSlow(size)
    const fits = this.#idle.findLastIndex(({ byteLength }) => byteLength >= size && byteLength <= 2 * size)
    const [found] = fits === -1 ? [] : this.#idle.splice(fits, 1)
    return Buffer.from(found ?? Buffer.allocUnsafeSlow(Math.ceil((size + 1) / UNIT) * UNIT).buffer, 0, size)
  }

  /**
   * Takes back a buffer that `buffer` gave, once no view of it is left. Does nothing if its bytes were moved to a
   * thread and stayed there.
   */
  reuse({ buffer }: Buffer): void {
    if (buffer.byteLength <= UNIT || buffer.byteLength > IDLE) return
    this.#idle.push(buffer as ArrayBuffer)
    while (this.#idle.reduce((sum, { byteLength }) => sum + byteLength, 0) > IDLE) this.#idle.shift()
    this.#timer ??= setTimeout(() => {
      this.#idle = []
      this.#timer = undefined
    }, KEPT).unref()
  }

  #next(): void {
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
