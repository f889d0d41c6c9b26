// Hashes files for answers that report something else. Does not know which answers.
import type { Pin } from './root/pin.ts'
import { scanPinned, untouched } from './scan.ts'

export class PresentHashes {
  readonly #limit: number
  /** Readings in progress, by the file's identity and times. */
  readonly #looks = new Map<string, Promise<string | null>>()

  /** `limit`: bytes; a larger file isn't read. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Empty if it can't be read. Concurrent callers share one reading: a thousand may give up waiting for a large file at
   * once.
   */
  async of(pin: Pin): Promise<{ file_hash?: string }> {
    const { dev, ino, size, mtimeNs, ctimeNs } = pin.stat
    const key = [dev, ino, size, mtimeNs, ctimeNs].join()
    const file_hash = await (this.#looks.get(key) ?? this.#look(pin, key))
    return file_hash === null ? {} : { file_hash }
  }

  #look(pin: Pin, key: string): Promise<string | null> {
    const look = scanPinned(pin, this.#limit, untouched)
      .then(
        read => (read.ok ? read.value.digest : null),
        () => null
      )
      .finally(() => {
        this.#looks.delete(key)
      })
    this.#looks.set(key, look)
    return look
  }
}
