// How many bytes of bodies are held at once, over all connections: those that came first go where it is too much. Does
// not know what is in them.
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Bytes of all bodies from when they come until their requests are answered. Chosen: of the documented container of
 * 1 GB, which 40 bodies of 31 MB ended, it leaves the room that four of the largest need to be parsed and edited.
 */
const BODY_MEMORY = 128 * 1024 * 1024
/** Bodies up to so many bytes aren't counted: their connections take as much. Chosen, not measured. */
const SMALL = 16 * 1024

/** What the error of a body that was dropped is known by. */
export const BODY_DROPPED = 'EDITD_BODY_DROPPED'

export class BodyMemory {
  readonly #limit: number
  #held = 0
  /** How to drop each that is still coming; the one that began first is the first. */
  readonly #coming = new Map<IncomingMessage, () => void>()

  /** `largest`: bytes that one body may have, for which there is always room. */
  constructor(largest: number, limit = BODY_MEMORY) {
    this.#limit = Math.max(largest, limit)
  }

  /**
   * Counts the body of a request that is about to be read, until it is answered. Where that makes too much, the body
   * that has been coming for the longest time fails, with an error of the code `BODY_DROPPED`.
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
