// Index of where many byte strings occur in a text, kept up to date while the text changes. Does not know line breaks.
//
// Source: none; the idea is that an edit creates and destroys occurrences only around itself. The strings are known
// beforehand, and one pass finds a key of each (gram-filter.ts). After an edit, the places before it stay, those after
// it move, and only the new text and the bytes next to it are searched again.
//
// Cost: one pass over the text at first; for each edit, the places after it and the ranges around its replacements. The
// tests compare with a search of the whole text for every edit, which is also used where the index would cost more.
import { GramFilter, keyLength, LONGEST_KEY } from './gram-filter.ts'
import { KeyPositions, KEYS, placeOf, type ChangeWindow } from './key-positions.ts'
import { Places } from './locate.ts'
import type { Text } from '../text/text.ts'
import { variedWindow } from './probe-window.ts'

/** With fewer strings than this, searching one by one is faster. */
const FEWEST = 3
/** Strings × bytes of text for which searching one by one takes as long as the index. */
const LEAST_WORK = 500_000
/**
 * One pass for all strings takes about as long as this many searches for one string: after the places were dropped,
 * this many edits are searched one by one before the next pass.
 */
const PASS = 4
/** Bytes of text for each place to keep: moving the places must cost less than a search. */
const PER_PLACE = 8
/** Places of one key that we keep in any case, however small the text. */
const FEW = 64
const NOTHING = Buffer.alloc(0)

/** Bytes `start` to `end` of the text before, which `insert` replaced. */
interface ChangedRange {
  readonly start: number
  readonly end: number
  readonly insert: Buffer
}

/** A string to search for: it has key number `key` at `offset`. */
interface Sought {
  string: Buffer
  key: number
  offset: number
}

/**
 * A turn is the index of a string. For each turn, from 0 on without gaps, call `find`, then `changed`: the index drops
 * what only earlier turns needed.
 */
export class OccurrenceIndex {
  /** By turn. */
  readonly #sought: Array<Sought | undefined> = []
  readonly #keys: Buffer[] = []
  /** For each key, the last turn that needs it. */
  readonly #lastTurn: number[] = []
  /** Length in bytes of each key that is still sought; 0 for common keys, and for keys of past turns only. */
  #lengths: Uint8Array = NOTHING
  #filter: GramFilter | undefined
  /** The places of the keys sought; undefined until they are known. */
  #places: KeyPositions | undefined
  /** Buffer for the bytes of a window, reused for each. */
  #window = NOTHING
  /** How many edits to search one by one before the next pass. */
  #owed = 0

  readonly #leastWork: number

  /** `strings`: what to search for in each turn; undefined for a turn that needs no search. */
  constructor(strings: ReadonlyArray<Buffer | undefined>, leastWork = LEAST_WORK) {
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

  /** All places of the turn's string in `text`, including overlapping ones; undefined if a search costs less. */
  find(turn: number, text: Text): Places | undefined {
    const sought = this.#sought[turn]
    if (sought === undefined || !this.#isWorthwhile(turn, text)) return undefined
    if (this.#places === undefined) {
      if (this.#owed-- > 0) return undefined
      this.#scan(turn, text.slice(0, text.length))
    }
    const { string, key, offset } = sought
    if (this.#lengths[key] === 0) return undefined
    const all = new Places()
    let compared = 0
    for (const at of this.#places!.of(key)) {
      compared += string.length
      if (compared > PER_PLACE * text.length) return undefined
      if (text.holds(string, at - offset)) all.add(at - offset, at - offset + string.length)
    }
    return all
  }

  /** Updates the index for the turn's changes, sorted and disjoint; `text` is the text after them. */
  changed(turn: number, text: Text, ranges: readonly ChangedRange[]): void {
    const sought = this.#sought[turn]
    const places = this.#places
    if (places === undefined) return
    if (sought !== undefined && this.#lastTurn[sought.key]! <= turn) this.#lengths[sought.key] = 0
    if (ranges.length === 0) return
    const windows = windowsOf(ranges, text)
    if (windows === undefined || places.count > placesKept(text) + FEW * this.#keys.length) return this.#lose()
    const fresh: number[] = []
    for (const { newStart, newEnd } of windows) {
      this.#filter!.scan(this.#read(text, newStart, newEnd), (key, at) => {
        if (this.#lengths[key] !== 0) fresh.push(placeOf(key, newStart + at))
      })
    }
    places.change(windows, this.#lengths, Float64Array.from(fresh).sort())
  }

  #isWorthwhile(turn: number, text: Text): boolean {
    const left = Math.min(this.#keys.length, this.#sought.length - turn)
    return (
      this.#keys.length < KEYS &&
      (this.#places !== undefined || (left >= FEWEST && left * text.length >= this.#leastWork))
    )
  }

  #scan(turn: number, bytes: Buffer): void {
    this.#filter ??= new GramFilter(this.#keys)
    this.#lengths = Uint8Array.from(this.#keys, (key, number) => (this.#lastTurn[number]! < turn ? 0 : key.length))
    const counts = new Uint32Array(this.#keys.length)
    const most = FEW + placesKept(bytes) / this.#keys.length
    const found: number[] = []
    this.#filter.scan(bytes, (key, at) => {
      if (this.#lengths[key] === 0) return
      if (++counts[key]! > most) this.#lengths[key] = 0
      else found.push(placeOf(key, at))
    })
    this.#places = new KeyPositions(Float64Array.from(found.filter(place => this.#lengths[place % KEYS] !== 0)).sort())
  }

  /** The bytes of a range, valid until the next call. */
  #read(text: Text, start: number, end: number): Buffer {
    if (this.#window.length < end - start) this.#window = Buffer.allocUnsafeSlow(2 * (end - start))
    text.copy(this.#window, start, end)
    return this.#window.subarray(0, end - start)
  }

  /** Drops the places, because following these changes costs more than a new pass. */
  #lose(): void {
    this.#places = undefined
    this.#owed = PASS
  }
}

const placesKept = ({ length }: { length: number }): number => length / PER_PLACE

/**
 * The changed ranges extended by all bytes that a key may share with them, overlapping ones joined; undefined if they
 * are half the text.
 */
function windowsOf(ranges: readonly ChangedRange[], after: Text): ChangeWindow[] | undefined {
  const radius = LONGEST_KEY - 1
  const lengthBefore = ranges.reduce(
    (length, range) => length + range.end - range.start - range.insert.length,
    after.length
  )
  const windows: ChangeWindow[] = []
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
