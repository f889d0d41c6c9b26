// Splices: the computed form of an edit.

/** Bytes `start` to `end` (exclusive, 0-based) of a text are replaced by `insert`. `start === end` inserts. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly insert: Buffer
}

/** Where a change is in the original and in the result. Bytes, ends exclusive. */
export interface PlacedBytes {
  readonly start: number
  readonly end: number
  readonly new_start: number
  readonly new_end: number
}

/** Where each of these splices, sorted and disjoint, is in the original and in the result. */
export function placedBytes(list: readonly Splice[]): PlacedBytes[] {
  let shift = 0
  return list.map(({ start, end, insert }) => {
    const new_start = start + shift
    shift += insert.length - (end - start)
    return { start, end, new_start, new_end: new_start + insert.length }
  })
}

/** Slices shorter than this are copied together, so that the result of a hundred thousand splices is a short list. */
const COPY_BELOW = 4096
const CHUNK = 1 << 18
const NOTHING = Buffer.alloc(0)

/**
 * A set of splices of one text. Invariant, checked in the constructor: sorted, disjoint, inside the text, and none is
 * empty on both sides. Two splices may touch; of two at the same offset, the insertion comes first.
 */
export class Splices {
  readonly list: readonly Splice[]
  /** Length in bytes of the text before and after the splices. */
  readonly lengthBefore: number
  readonly lengthAfter: number

  /** Throws a RangeError if the invariant is violated, which is a bug in the planner that made them. */
  constructor(list: readonly Splice[], lengthBefore: number) {
    let at = 0
    let lengthAfter = lengthBefore
    for (const { start, end, insert } of list) {
      if (!(at <= start && start <= end && end <= lengthBefore)) {
        throw new RangeError(`splice ${start}–${end} is not after ${at} in a text of ${lengthBefore} bytes`)
      }
      at = end
      lengthAfter += insert.length - (end - start)
    }
    this.list = list.filter(({ start, end, insert }) => start !== end || insert.length > 0)
    this.lengthBefore = lengthBefore
    this.lengthAfter = lengthAfter
  }

  /**
   * The text after the splices, as buffers in order: views of `original` and of the insertions, short ones copied
   * together. `original` must be the text that the splices were made for; it isn't changed.
   */
  apply(original: Buffer): Buffer[] {
    const out = new Pieces(this.lengthAfter)
    let at = 0
    for (const { start, end, insert } of this.list) {
      out.add(original.subarray(at, start))
      out.add(insert)
      at = end
    }
    out.add(original.subarray(at))
    return out.finish()
  }

  /** The splices that turn the result back into `original`. */
  invert(original: Buffer): Splices {
    const list = placedBytes(this.list).map(({ start, end, new_start, new_end }) => ({
      start: new_start,
      end: new_end,
      insert: original.subarray(start, end)
    }))
    return new Splices(list, this.lengthAfter)
  }
}

/** Collects buffers; copies runs of short ones into one. */
class Pieces {
  readonly #out: Buffer[] = []
  #remaining: number
  #chunk = NOTHING
  #from = 0
  #used = 0

  constructor(length: number) {
    this.#remaining = length
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#remaining -= piece.length
    if (piece.length >= COPY_BELOW) {
      this.#flush()
      this.#out.push(piece)
      return
    }
    if (this.#used + piece.length > this.#chunk.length) {
      this.#flush()
      this.#chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, this.#remaining + piece.length))
      this.#from = this.#used = 0
    }
    this.#used += piece.copy(this.#chunk, this.#used)
  }

  finish(): Buffer[] {
    this.#flush()
    return this.#out
  }

  #flush(): void {
    if (this.#used > this.#from) this.#out.push(this.#chunk.subarray(this.#from, this.#used))
    this.#from = this.#used
  }
}
