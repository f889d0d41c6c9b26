// The positions of keys in a text that changes: one list sorted by offset, updated in place.
//
// Source: none; two flat parallel arrays, so that moving the places after an edit only adds to one number after the
// other.
// Cost of a look-up: the number of places; of a change: the number of places after it.
import { firstIndex } from '../text/bisect.ts'

/** A range around changes, in the text before them and after; what follows it has moved by `shift`. */
export interface ChangeWindow {
  start: number
  end: number
  newStart: number
  newEnd: number
  shift: number
}

/** Packs a place into one number, which is exact up to 2^53, so for texts of up to 8 GB. */
export const KEYS = 2 ** 20
export const placeOf = (key: number, at: number): number => at * KEYS + key

export class KeyPositions {
  #offsets: Float64Array
  #keys: Uint32Array
  #count: number

  /** `places`: results of `placeOf`, sorted. */
  constructor(places: Float64Array) {
    this.#count = places.length
    this.#offsets = new Float64Array(places.length)
    this.#keys = new Uint32Array(places.length)
    for (let i = 0; i < places.length; i++) this.#set(i, places[i]!)
  }

  get count(): number {
    return this.#count
  }

  /** The offsets of `key`, from left to right. */
  of(key: number): number[] {
    const found: number[] = []
    const keys = this.#keys
    for (let i = 0; i < this.#count; i++) if (keys[i] === key) found.push(this.#offsets[i]!)
    return found
  }

  /**
   * Updates the places after the text changed within `windows` (at least one, sorted and disjoint); each must
   * hold every place that touches a change. `fresh`, the sorted places now in the windows, replaces places that lay
   * wholly in a window. `length`: the bytes of each key, 0 for a key that is no longer sought.
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

  /** Merges from the right, so that nothing is overwritten. */
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
