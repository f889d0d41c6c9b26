// A text as a list of buffers that reads like one buffer.

/**
 * A text made of buffers, which it neither copies nor changes. Offsets are bytes, 0-based; ends are exclusive. All
 * methods accept offsets from 0 to `length`. Only `splice` changes it, and only its owner may call that.
 */
export class Text {
  readonly #pieces: Buffer[]
  /** The start of each piece, plus one more entry: `length`. Has spare room after that. */
  #starts: Float64Array
  #length = 0
  #last = 0

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces.slice()
    this.#starts = new Float64Array(pieces.length + 1)
    for (let i = 0; i < pieces.length; i++) {
      this.#length += pieces[i]!.length
      this.#starts[i + 1] = this.#length
    }
  }

  get pieces(): readonly Buffer[] {
    return this.#pieces
  }

  get length(): number {
    return this.#length
  }

  /** Replaces the pieces from `from` to `to` (exclusive). Later pieces are moved, not read. */
  splice(from: number, to: number, put: readonly Buffer[]): void {
    const count = this.#pieces.length + put.length - (to - from)
    const starts = this.#starts.length > count ? this.#starts : new Float64Array(2 * count)
    const change = put.reduce((sum, { length }) => sum + length, 0) - (this.#starts[to]! - this.#starts[from]!)
    if (starts !== this.#starts) starts.set(this.#starts)
    starts.copyWithin(from + put.length, to, this.#pieces.length + 1)
    for (let i = from + put.length; i <= count; i++) starts[i]! += change
    for (let i = 0; i < put.length; i++) starts[from + i + 1] = starts[from + i]! + put[i]!.length
    spliceList(this.#pieces, from, to, put)
    this.#starts = starts
    this.#length += change
    this.#last = 0
  }

  /** Index of the piece that holds the byte at `offset`, never of an empty piece; `pieces.length` at the end. */
  pieceAt(offset: number): number {
    if (offset >= this.#length) return this.#pieces.length
    const starts = this.#starts
    // Reads come in runs, so the piece of the last read is the likely answer.
    if (starts[this.#last]! <= offset && offset < starts[this.#last + 1]!) return this.#last
    let low = 0
    let high = this.#pieces.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    this.#last = low
    return low
  }

  /** The offset where piece `index` begins. */
  startOf(index: number): number {
    return this.#starts[index]!
  }

  /** The byte at `offset`, or -1 outside the text. */
  byteAt(offset: number): number {
    if (offset < 0 || offset >= this.#length) return -1
    const index = this.pieceAt(offset)
    return this.#pieces[index]![offset - this.#starts[index]!]!
  }

  /**
   * The start of the UTF-8 character that holds the byte at `offset`; `offset` itself if none begins within three
   * bytes.
   */
  characterStart(offset: number): number {
    for (let at = offset; at > offset - 4; at--) if ((this.byteAt(at) & 0xc0) !== 0x80) return at
    return offset
  }

  /** The bytes of a range: a view if one piece holds them, else a copy; empty if the range ends before it starts. */
  slice(start: number, end: number): Buffer {
    const index = this.pieceAt(start)
    const from = start - this.#starts[index]!
    const to = from + Math.max(0, end - start)
    const piece = this.#pieces[index]
    if (piece !== undefined && to <= piece.length) return piece.subarray(from, to)
    const parts = [...this.parts(start, end)]
    return Buffer.concat(parts)
  }

  /** Copies the bytes of a range to the beginning of `into`. */
  copy(into: Buffer, start: number, end: number): void {
    for (let index = this.pieceAt(start), at = start; at < end; index++) {
      const from = this.#starts[index]!
      at += this.#pieces[index]!.copy(into, at - start, at - from, end - from)
    }
  }

  /** The range as views, in order, without empty ones. */
  *parts(start: number, end: number): Generator<Buffer> {
    for (let index = this.pieceAt(start), at = start; at < end; index++) {
      const piece = this.#pieces[index]!
      if (piece.length === 0) continue
      const from = at - this.#starts[index]!
      const to = Math.min(piece.length, end - this.#starts[index]!)
      yield piece.subarray(from, to)
      at += to - from
    }
  }

  /**
   * Whether the text has `bytes` at `at` (which may lie outside the text). Copies nothing if one piece holds the range.
   */
  holds(bytes: Buffer, at: number): boolean {
    const end = at + bytes.length
    if (at < 0 || end > this.#length) return false
    const index = this.pieceAt(at)
    const from = at - this.#starts[index]!
    const piece = this.#pieces[index]
    if (piece === undefined) return true
    if (from + bytes.length <= piece.length) return bytes.compare(piece, from, from + bytes.length) === 0
    return this.slice(at, end).equals(bytes)
  }

  /** The first place at or after `from` where `needle` (not empty) begins, or -1. */
  indexOf(needle: Buffer, from: number): number {
    const overhang = needle.length - 1
    for (let index = this.pieceAt(from); index < this.#pieces.length; index++) {
      const piece = this.#pieces[index]!
      const start = this.#starts[index]!
      const within = piece.indexOf(needle, Math.max(0, from - start))
      if (within !== -1) return start + within
      // A match that begins in the last bytes of this piece ends in a later one.
      const end = start + piece.length
      const seam = Math.max(from, start, end - overhang)
      if (seam < end && end < this.#length) {
        const across = this.slice(seam, Math.min(this.#length, end + overhang)).indexOf(needle)
        if (across !== -1) return seam + across
      }
    }
    return -1
  }
}

/** Replaces the members from `from` to `to` (exclusive) by `put`, which may have more members than a call can take. */
export function spliceList<T>(list: T[], from: number, to: number, put: readonly T[]): void {
  const BATCH = 10_000
  if (put.length <= BATCH) {
    list.splice(from, to - from, ...put)
    return
  }
  const rest = list.slice(to)
  list.length = from
  for (const more of [put, rest]) for (const member of more) list.push(member)
}
