// Where keys stand in a text that changes: one list by offset, changed in place. Does not know the text.
//
// Source: none; two flat arrays side by side, so that to move the places behind an edit is to add to one number after
// the other.
// Cost: of a look-up, the places; of a change, those behind it.
import { firstIndex } from '../text/bisect.ts'

/** A stretch around changes, in the text before them and after; what lies behind it has moved by `shift`. */
export interface ChangeWindow {
  start: number
  end: number
  newStart: number
  newEnd: number
  shift: number
}

/** A place as one number: exact up to 2^53, so for texts of 8 GB. */
export const KEYS = 2 ** 20
export const placeOf = (key: number, at: number): number => at * KEYS + key

export class KeyPositions {
  #offsets: Float64Array
  #keys: Uint32Array
  #count: number

  /** `places`: what `placeOf` gives, sorted. */
  constructor(places: Float64Array) {
    this.#count = places.length
    this.#offsets = new Float64Array(places.length)
    this.#keys = new Uint32Array(places.length)
    for (let i = 0; i < places.length; i++) this.#set(i, places[i]!)
  }

  get count(): number {
    return this.#count
  }

  /** Where `key` stands, from left to right. */
  of(key: number): number[] {
    const found: number[] = []
    const keys = this.#keys
    for (let i = 0; i < this.#count; i++) if (keys[i] === key) found.push(this.#offsets[i]!)
    return found
  }

  /**
   * Moves the places along with a text that changed within `windows` (one at least, sorted and disjoint), each of which
   * holds every place that touches a change. Places that lie wholly in a window are replaced by `fresh`, what stands in
   * the windows now, sorted. `length`: the bytes of each key, 0 for those that are looked for no more.
   */
  change(windows: readonly ChangeWindow[], length: Uint8Array, fresh: Float64Array): void {
    const offsets = this.#offsets
    const keys = this.#keys
    let count = firstIndex(this.#count, index => offsets[index]! >= windows[0]!.start)
    let next = 0
    let shift = 0
    for (let i = count; i < this.#count; i++) {
      const at = offsets[i]!
      const key = keys[i]!
      if (length[key] === 0) continue
      while (next < windows.length && windows[next]!.end <= at) shift = windows[next++]!.shift
      let moved = shift
      if (next < windows.length) {
        const window = windows[next]!
        if (at >= window.start) {
          if (at + length[key]! <= window.end) continue
          moved = window.shift
        }
      }
      offsets[count] = at + moved
      keys[count++] = key
    }
    this.#count = count
    if (fresh.length > 0) this.#merge(fresh)
  }

  /** From the right, so that nothing is overwritten. */
  #merge(fresh: Float64Array): void {
    let old = this.#count - 1
    this.#count += fresh.length
    if (this.#count > this.#offsets.length) {
      const [offsets, keys] = [this.#offsets, this.#keys]
      this.#offsets = new Float64Array(2 * this.#count)
      this.#keys = new Uint32Array(2 * this.#count)
      this.#offsets.set(offsets.subarray(0, old + 1))
      this.#keys.set(keys.subarray(0, old + 1))
    }
    for (let put = this.#count - 1, left = fresh.length - 1; left >= 0; put--) {
      if (old >= 0 && placeOf(this.#keys[old]!, this.#offsets[old]!) > fresh[left]!) {
        this.#offsets[put] = this.#offsets[old]!
        this.#keys[put] = this.#keys[old--]!
      } else this.#set(put, fresh[left--]!)
    }
  }

  #set(index: number, place: number): void {
    const at = Math.floor(place / KEYS)
    this.#offsets[index] = at
    this.#keys[index] = place - at * KEYS
  }
}
