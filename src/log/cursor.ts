// How far a reader has read the segments of a history, as a text that it keeps. Does not know files or lines.
//
// A cursor names the segment with the highest number that was begun. Of the segments up to it, it lists those that may
// still grow, or aren't read to their end, each with an offset. So:
//  - not listed, and up to it in the order of `compare`: read to its end;
//  - after it: not begun.
// This also holds for segments created after the cursor, because their numbers are higher than any that existed
// (writer.ts): a server creates its segment first, and looks for higher ones then. A segment that the maker of the
// cursor didn't see was created later, so its server sees the segment that the cursor names, unless that was removed.
// Therefore a cursor is invalid once the segment it names is gone, whatever else exists. It depends on no clock, and on
// no content of the segments: `forget` may overwrite it.
//
// Numbers show whether a later segment was removed unread: each is one more than the last, and the sweep removes the
// last segment only when no other is left.
//
// The one case that isn't noticed: a cursor from before the very first change, used after the whole history was swept.
import { parseSegment, segmentName } from './segment-name.ts'

export interface SegmentId {
  nonce: string
  number: number
}

/** In bytes: no offset in a segment is higher. */
const HIGHEST = 2 ** 32
/** The longest nonce, in characters. */
const NONCE_LENGTH = 64

/** The order in which segments are read. Two have the same number only if a version before this one wrote them. */
export const compare = (a: SegmentId, b: SegmentId): number =>
  a.number - b.number || (a.nonce === b.nonce ? 0 : a.nonce < b.nonce ? -1 : 1)

export class Cursor {
  /** Null: no segment was begun. */
  readonly last: SegmentId | null
  /** By name, for segments up to `last`: how many bytes were read. */
  readonly offsets: ReadonlyMap<string, number>

  constructor(last: SegmentId | null, offsets: ReadonlyMap<string, number>) {
    this.last = last
    this.offsets = offsets
  }

  /** Null: not the text of a cursor. */
  static parse(text: string): Cursor | null {
    const [version, last = '', ...listed] = text.split('.')
    if (version !== '1') return null
    if (last === '') return text === '1.' ? new Cursor(null, new Map()) : null
    const lastSegment = idOf(last.split('-'))
    const offsets = new Map<string, number>()
    for (const one of listed) {
      const [offset = '', ...id] = one.split('-').reverse()
      const segment = idOf(id.reverse())
      const at = numberOf(offset, HIGHEST)
      if (lastSegment === null || segment === null || at === null || compare(segment, lastSegment) > 0) return null
      offsets.set(segmentName(segment.nonce, segment.number), at)
    }
    const cursor = lastSegment && new Cursor(lastSegment, offsets)
    return cursor?.toString() === text ? cursor : null
  }

  hasStarted(segment: SegmentId): boolean {
    return this.last !== null && compare(segment, this.last) <= 0
  }

  /** How many bytes of the segment were read; Infinity: all. */
  read(segment: SegmentId): number {
    if (!this.hasStarted(segment)) return 0
    return this.offsets.get(segmentName(segment.nonce, segment.number)) ?? Infinity
  }

  /** Returns the cursor after more of one segment was read. All segments before it must have been begun. */
  with(segment: SegmentId, read: number): Cursor {
    const offsets = new Map(this.offsets)
    const name = segmentName(segment.nonce, segment.number)
    if (read === Infinity) offsets.delete(name)
    else offsets.set(name, read)
    const { number, nonce } = segment
    return new Cursor(this.hasStarted(segment) ? this.last : { number, nonce }, offsets)
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
