// How far the segments of a history have been read, as a text that a reader keeps. Does not know files or lines.
//
// A cursor names the segment with the highest number that was begun. Of those up to it, it lists the ones that may still
// grow, or aren't read to their end, each with an offset. So:
//  - not listed, and up to it in the order of `compare`: read to its end;
//  - after it: not begun.
// This holds for a segment that comes into being after the cursor was made because its number is higher than any that was
// there (writer.ts): its server makes it first, and looks for higher ones then. One that the maker of the cursor didn't
// see was made later than that, so its server sees the segment that the cursor names, unless that was removed. Therefore a
// cursor is good for nothing any more when the segment that it names is gone, whatever else is there. No clock is asked,
// and nothing that the segments hold: `forget` may overwrite it.
//
// That none was removed after it without having been read is seen by the numbers: each is one more than the last, and the
// sweep removes the last one only when no other is left.
//
// The only thing that isn't noticed: a cursor of before the first change of all, used after all that there ever was has
// been swept.
import { parseSegment, segmentName } from './segment-name.ts'

export interface SegmentId {
  nonce: string
  number: number
}

/** In bytes: no offset in a segment is higher. */
const HIGHEST = 2 ** 32
/** Characters of a nonce. */
const NONCE_LENGTH = 64

/** In the order in which segments are read. Two have one number only if a version before this one wrote them. */
export const compare = (a: SegmentId, b: SegmentId): number =>
  a.number - b.number || (a.nonce === b.nonce ? 0 : a.nonce < b.nonce ? -1 : 1)

export class Cursor {
  /** Null: none was begun. */
  readonly last: SegmentId | null
  /** Of segments up to `last`, by their names: how many bytes were read. */
  readonly offsets: ReadonlyMap<string, number>

  constructor(last: SegmentId | null, offsets: ReadonlyMap<string, number>) {
    this.last = last
    this.offsets = offsets
  }

  /** Null: it isn't the text of a cursor. */
  static parse(text: string): Cursor | null {
    const [version, last = '', ...listed] = text.split('.')
    if (version !== '1') return null
    if (last === '') return text === '1.' ? new Cursor(null, new Map()) : null
    const begun = idOf(last.split('-'))
    const offsets = new Map<string, number>()
    for (const one of listed) {
      const [offset = '', ...id] = one.split('-').reverse()
      const segment = idOf(id.reverse())
      const at = numberOf(offset, HIGHEST)
      if (begun === null || segment === null || at === null || compare(segment, begun) > 0) return null
      offsets.set(segmentName(segment.nonce, segment.number), at)
    }
    const cursor = begun && new Cursor(begun, offsets)
    return cursor?.toString() === text ? cursor : null
  }

  hasBegun(segment: SegmentId): boolean {
    return this.last !== null && compare(segment, this.last) <= 0
  }

  /** Bytes of the segment that were read; Infinity: all of it. */
  read(segment: SegmentId): number {
    if (!this.hasBegun(segment)) return 0
    return this.offsets.get(segmentName(segment.nonce, segment.number)) ?? Infinity
  }

  /** The same after more of one segment was read. All before it must have been begun. */
  with(segment: SegmentId, read: number): Cursor {
    const offsets = new Map(this.offsets)
    const name = segmentName(segment.nonce, segment.number)
    if (read === Infinity) offsets.delete(name)
    else offsets.set(name, read)
    const { number, nonce } = segment
    return new Cursor(this.hasBegun(segment) ? this.last : { number, nonce }, offsets)
  }

  /** ASCII without spaces; some 50 bytes, and as many for each server that runs. */
  toString(): string {
    if (this.last === null) return '1.'
    const listed = [...this.offsets].map(([name, offset]) => ({ ...parseSegment(name)!, offset })).sort(compare)
    const each = listed.map(one => `${textOf(one)}-${one.offset.toString(36)}`)
    return ['1', textOf(this.last), ...each].join('.')
  }
}

const textOf = ({ nonce, number }: SegmentId): string => `${number.toString(36)}-${nonce}`

function idOf([number = '', nonce = '', ...others]: readonly string[]): SegmentId | null {
  const value = numberOf(number, 1e9)
  const isWhole = others.length === 0 && /^\w+$/.test(nonce) && nonce.length <= NONCE_LENGTH
  return value === null || !isWhole ? null : { number: value, nonce }
}

function numberOf(text: string, below: number): number | null {
  const value = /^[0-9a-z]{1,8}$/.test(text) ? Number.parseInt(text, 36) : below
  return value < below ? value : null
}
