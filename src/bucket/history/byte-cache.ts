// Bytes by name, as many as may be: those that were used last. Does not know what they are.

export class ByteCache {
  /** The last used at the end. */
  readonly #all = new Map<string, Buffer>()
  readonly #most: number
  #size = 0

  /** `most`: in bytes, of all together. */
  constructor(most: number) {
    this.#most = most
  }

  get(name: string): Buffer | undefined {
    const bytes = this.#all.get(name)
    if (bytes !== undefined) {
      this.#all.delete(name)
      this.#all.set(name, bytes)
    }
    return bytes
  }

  keep(name: string, bytes: Buffer): void {
    this.#size += bytes.length - (this.#all.get(name)?.length ?? 0)
    this.#all.delete(name)
    this.#all.set(name, bytes)
    for (const [oldest, { length }] of this.#all) {
      if (this.#size <= this.#most) return
      this.#all.delete(oldest)
      this.#size -= length
    }
  }
}
