// Where many byte strings are in a text, kept true while the text changes. Knows no line breaks and no edits' rules.
//
// Source: none; the idea is that an edit makes and destroys places only around itself. The strings are known beforehand,
// one pass finds a key of each (gram-filter.ts), and after an edit the places before it stay, those behind it move, and
// only the new text and the bytes beside it are looked at again.
//
// Cost: a pass over the text at first; for each edit, the places that are kept (`most` of them at the most) and the
// stretches around its replacements. The naive way, a search of the whole text for every edit, is its oracle in the
// tests, and does the work where all this would cost more.
import { GramFilter, keyLength, LONGEST_KEY } from './gram-filter.ts'
import { Places } from './locate.ts'
import type { Text } from './text.ts'
import { variedWindow } from './varied-window.ts'

/** A place is one number: offset × KEYS + number of the key. Exact up to 2^53, so for texts of 8 GB. */
const KEYS = 2 ** 20
/** Fewer strings than this are found sooner one by one. */
const FEWEST = 3
/** String × bytes of text that one by one take as long as all that is done here. */
const LEAST_WORK = 500_000
/** A pass for all strings takes as long as so many searches for one: after places were lost, so many are made first. */
const PASS = 4
/** Bytes of text for each place that is kept: moving them must cost less than a search. */
const PER_PLACE = 8
/** Places kept of one key, whatever the text. */
const FEW = 64

/** Bytes `start` to `end` of the text before, that gave way to `insert`. */
interface ChangedRange { readonly start: number, readonly end: number, readonly insert: Buffer }

/** A string that is asked for: it has key number `key` at `offset`. */
interface Sought { string: Buffer, key: number, offset: number }

export class Sightings {
  /** By turn. */
  readonly #sought: Array<Sought | undefined> = []
  readonly #keys: Buffer[] = []
  /** For each key, the last turn in which it is asked for. */
  readonly #lastTurn: number[] = []
  #turn = 0
  #filter: GramFilter | undefined
  /** The places of all keys still to come but the common ones, in order; undefined until they are known. */
  #places: Float64Array | undefined
  #common = new Uint8Array(0)
  /** Searches that are to be made one by one before the next pass. */
  #owed = 0

  readonly #leastWork: number

  /** `strings`: what will be asked for, in each turn one; undefined where nothing will be. */
  constructor (strings: ReadonlyArray<Buffer | undefined>, leastWork = LEAST_WORK) {
    this.#leastWork = leastWork
    if (strings.length < FEWEST) return
    const numbers = new Map<string, number>()
    for (const [turn, string] of strings.entries()) {
      const length = string === undefined ? 0 : keyLength(string.length)
      if (string === undefined || length === 0) continue
      const offset = variedWindow(string, length)
      const key = string.subarray(offset, offset + length)
      const name = key.toString('latin1')
      const number = numbers.get(name) ?? this.#keys.push(key) - 1
      numbers.set(name, number)
      this.#lastTurn[number] = turn
      this.#sought[turn] = { string, key: number, offset }
    }
  }

  /** All places of this turn's string in `text`, overlapping ones too; undefined where a search costs less. */
  find (text: Text): Places | undefined {
    const sought = this.#sought[this.#turn]
    if (sought === undefined || !this.#isWorthwhile(text)) return undefined
    if (this.#places === undefined) {
      if (this.#owed-- > 0) return undefined
      this.#scan(text.slice(0, text.length))
    }
    const { string, key, offset } = sought
    if (this.#common[key] === 1) return undefined
    const places = this.#places!
    const all = new Places()
    let compared = 0
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!
      const at = Math.floor(place / KEYS)
      if (place - at * KEYS !== key) continue
      compared += string.length
      if (compared > PER_PLACE * text.length) return undefined
      const start = at - offset
      if (text.holds(string, start)) all.add(start, start + string.length)
    }
    return all
  }

  /** Takes note of the changes that this turn made, sorted and disjoint; `text` is the text after them. Ends the turn. */
  changed (text: Text, ranges: readonly ChangedRange[]): void {
    this.#turn++
    const old = this.#places
    if (old === undefined) return
    const windows = windowsOf(ranges, text)
    if (windows === undefined || old.length > placesKept(text) + FEW * this.#keys.length) return this.#lose()
    const fresh: number[] = []
    for (const { newStart, newEnd } of windows) {
      this.#filter!.scan(text.slice(newStart, newEnd), (key, at) => {
        if (this.#isKept(key)) fresh.push((newStart + at) * KEYS + key)
      })
    }
    const stayed = this.#stayed(old, windows)
    this.#places = fresh.length === 0 ? stayed : merged(stayed, Float64Array.from(fresh).sort())
  }

  #isWorthwhile (text: Text): boolean {
    const left = Math.min(this.#keys.length, this.#sought.length - this.#turn)
    return this.#keys.length < KEYS && (this.#places !== undefined || (left >= FEWEST && left * text.length >= this.#leastWork))
  }

  #isKept (key: number): boolean {
    return this.#lastTurn[key]! >= this.#turn && this.#common[key] === 0
  }

  #scan (bytes: Buffer): void {
    this.#filter ??= new GramFilter(this.#keys)
    this.#common = new Uint8Array(this.#keys.length)
    const counts = new Uint32Array(this.#keys.length)
    const most = FEW + placesKept(bytes) / this.#keys.length
    const found: number[] = []
    this.#filter.scan(bytes, (key, at) => {
      if (!this.#isKept(key)) return
      if (++counts[key]! > most) this.#common[key] = 1
      else found.push(at * KEYS + key)
    })
    this.#places = Float64Array.from(found.filter(place => this.#common[place % KEYS] === 0)).sort()
  }

  /** What the changes cost more to follow than a new pass. */
  #lose (): void {
    this.#places = undefined
    this.#owed = PASS
  }

  /** The old places that no window holds whole, moved along: what it holds was seen again, all others touch no change. In place. */
  #stayed (old: Float64Array, windows: readonly Window[]): Float64Array {
    let count = 0
    let next = 0
    let shift = 0
    for (let i = 0; i < old.length; i++) {
      const place = old[i]!
      const at = Math.floor(place / KEYS)
      const key = place - at * KEYS
      if (!this.#isKept(key)) continue
      while (next < windows.length && windows[next]!.end <= at) shift = windows[next++]!.shift
      const window = windows[next]
      if (window === undefined || at < window.start) old[count++] = place + shift * KEYS
      else if (at + this.#keys[key]!.length > window.end) old[count++] = place + window.shift * KEYS
    }
    return old.subarray(0, count)
  }
}

const placesKept = ({ length }: { length: number }): number => length / PER_PLACE

/** A stretch around changes, in the text before them and after; what lies behind it has moved by `shift`. */
interface Window { start: number, end: number, newStart: number, newEnd: number, shift: number }

/** The changed ranges with all bytes that a key may share with them, those that touch joined; undefined where that is half the text. */
function windowsOf (ranges: readonly ChangedRange[], after: Text): Window[] | undefined {
  const radius = LONGEST_KEY - 1
  const lengthBefore = ranges.reduce((length, range) => length + range.end - range.start - range.insert.length, after.length)
  const windows: Window[] = []
  let shift = 0
  let size = 0
  for (const { start, end, insert } of ranges) {
    const last = windows.at(-1)
    const from = Math.max(0, start - radius)
    const joins = last !== undefined && from <= last.end
    if (joins) size -= last.newEnd - last.newStart
    const window = joins ? last : { start: from, end, newStart: from + shift, newEnd: 0, shift }
    shift += insert.length - (end - start)
    window.end = Math.min(lengthBefore, end + radius)
    window.newEnd = window.end + shift
    window.shift = shift
    if (!joins) windows.push(window)
    size += window.newEnd - window.newStart
    if (size > after.length / 2) return undefined
  }
  return windows
}

/** Two sorted lists as one. */
function merged (a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length)
  for (let i = 0, j = 0, k = 0; k < all.length; k++) all[k] = j === b.length || (i < a.length && a[i]! < b[j]!) ? a[i++]! : b[j++]!
  return all
}
