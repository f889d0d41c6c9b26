// Bounds the bytes of request bodies held at once, over all connections: when there are too many, the oldest bodies
// still arriving are dropped. Does not know their content.
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Bytes of all bodies, each counted from its arrival until its request is answered. Chosen: 40 bodies of 31 MB
 * exhausted the documented 1 GB container; this limit leaves the memory that parsing and editing four of the largest
 * takes.
 */
const BODY_MEMORY = 128 * 1024 * 1024
/** In bytes: smaller bodies aren't counted, since a connection takes as much memory anyway. Chosen, not measured. */
const SMALL = 16 * 1024

/** The code of the error with which a dropped body fails. */
export const BODY_DROPPED = 'EDITD_BODY_DROPPED'

export class BodyMemory {
  readonly #limit: number
  #held = 0
  /** How to drop each body that is still arriving; oldest first. */
  readonly #coming = new Map<IncomingMessage, () => void>()

  /** `largest`: the most bytes that one body may have; there is always room for one such body. */
  constructor(largest: number, limit = BODY_MEMORY) {
    this.#limit = Math.max(largest, limit)
  }

  /**
   * Counts the body of a request that is about to be read, until the request is answered. If the total is then too
   * large, the body that has been arriving for the longest time fails with the error code `BODY_DROPPED`.
   */
  count(request: IncomingMessage, response: ServerResponse): void {
    if (Number(request.headers['content-length'] ?? Infinity) <= SMALL) return
    let bytes = 0
    const add = ({ length }: Buffer): void => {
      bytes += length
      this.#held += length
      while (this.#held > this.#limit && this.#coming.size > 0) this.#dropOldest()
    }
    const free = (): void => {
      request.off('data', add)
      this.#coming.delete(request)
      this.#held -= bytes
      bytes = 0
    }
    this.#coming.set(request, () => {
      free()
      request.emit('error', Object.assign(new Error('too many bytes of bodies'), { code: BODY_DROPPED }))
    })
    request.on('data', add)
    request.once('end', () => this.#coming.delete(request))
    response.once('close', free)
  }

  #dropOldest(): void {
    const [drop] = this.#coming.values()
    drop!()
  }
}
