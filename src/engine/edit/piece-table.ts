// A text to which edits are applied one after another; it knows where each of its bytes came from.
import { type Splice, Splices } from './splice.ts'
import { spliceList, Text } from '../text/text.ts'

/** First and last line of a change, before and after, 1-based; an end before its start means no lines. */
export interface LineSpan {
  start_line: number
  end_line: number
  new_start_line: number
  new_end_line: number
}

/** The requested operation at a place. */
export type PlaceOperation = 'replace' | 'delete' | 'insert' | 'append'

/** A range of the present text, what replaces it, and which edit does so. Bytes, end exclusive. */
export interface Replacement {
  readonly edit_index: number
  readonly operation: PlaceOperation
  readonly start: number
  readonly end: number
  readonly insert: Buffer
  /** Its lines, if the planner counts in lines; otherwise they are derived from the bytes. */
  readonly span?: LineSpan
}

/** One replaced place of a request. Byte offsets, ends exclusive. */
interface Placement {
  readonly edit_index: number
  readonly operation: PlaceOperation
  /** The range of the original that it replaces; if it is inside text that an earlier edit wrote, that edit's range. */
  readonly start: number
  readonly end: number
  /** The edit that wrote the text it is in. */
  readonly inserted_by_edit: number | undefined
  /** The replaced bytes and their replacement, at the time of the edit. */
  readonly old: Buffer
  readonly insert: Buffer
  readonly span: LineSpan | undefined
}

/** A placement with its range in the final text. */
export interface Placed extends Placement {
  readonly new_start: number
  readonly new_end: number
}

/**
 * A stretch of the present text: original bytes at `origin`, or (`origin` -1) written by placement `by`; empty if
 * something was deleted.
 */
interface Piece {
  bytes: Buffer
  origin: number
  by: number
}

/**
 * A search costs extra at each boundary of two pieces: with more pieces than this for its length, copying the text is
 * cheaper.
 */
const manyPieces = (text: Text): boolean => text.pieces.length > 32 + text.length / 8192

/**
 * A piece table. The original is never copied; every piece knows where it came from. Invariant: the original's pieces
 * are in order and disjoint, so the gaps between them are the splices.
 */
export class PieceTable {
  readonly original: Buffer
  readonly placements: Placement[] = []
  readonly #pieces: Piece[]
  readonly #text: Text
  #flat: Text | undefined
  #bounds: { starts: Float64Array; ends: Float64Array } | undefined
  /** Maps a placement whose text was replaced to the placement that replaced it. */
  #replacedBy: Map<number, number> | undefined

  constructor(original: Buffer) {
    this.original = original
    this.#pieces = original.length > 0 ? [{ bytes: original, origin: 0, by: -1 }] : []
    this.#text = new Text(this.#pieces.map(({ bytes }) => bytes))
  }

  /**
   * Replaces sorted, disjoint ranges of the present text. Examines the pieces from the first range to the last; others
   * are only moved.
   */
  replace(replacements: readonly Replacement[]): void {
    const old = this.#pieces
    const next: Piece[] = []
    const first = replacements.length === 0 ? 0 : this.#text.pieceAt(replacements[0]!.start)
    let index = first
    let rest = old[index]
    let at = this.#text.startOf(first)
    for (const replacement of replacements) {
      const { edit_index, operation, start, end, insert, span } = replacement
      while (rest !== undefined && at + rest.bytes.length <= start) {
        next.push(rest)
        at += rest.bytes.length
        rest = old[++index]
      }
      if (rest !== undefined && at < start) {
        next.push(part(rest, 0, start - at))
        rest = part(rest, start - at)
        at = start
      }
      const id = this.placements.length
      const from = this.originOf(start, end)
      this.placements.push({
        edit_index,
        operation,
        start: from.start,
        end: from.end,
        inserted_by_edit: from.inserted_by_edit,
        old: this.#text.slice(start, end),
        insert,
        span
      })
      while (rest !== undefined && at < end) {
        const taken = Math.min(rest.bytes.length, end - at)
        at += taken
        if (taken < rest.bytes.length) rest = part(rest, taken)
        else {
          if (rest.by !== -1) (this.#replacedBy ??= new Map<number, number>()).set(rest.by, id)
          rest = old[++index]
        }
      }
      next.push({ bytes: insert, origin: -1, by: id })
    }
    // A piece that was cut has an entry here: what is left of it.
    if (rest !== undefined && rest !== old[index]) {
      next.push(rest)
      index++
    }
    spliceList(old, first, index, next)
    this.#text.splice(
      first,
      index,
      next.map(({ bytes }) => bytes)
    )
    this.#flat = undefined
    this.#bounds = undefined
  }

  /** The text after the edits so far; the next edit changes it. */
  get text(): Text {
    return this.#text
  }

  /** The text in few pieces, for searching: if it has too many, they are copied into one, once for each state. */
  searchable(): Text {
    if (!manyPieces(this.#text)) return this.#text
    this.#flat ??= new Text([Buffer.concat(this.#text.pieces)])
    return this.#flat
  }

  /** The range of the original that a range of the present text came from, and the edit that wrote it, if any. */
  originOf(start: number, end: number): { start: number; end: number; inserted_by_edit: number | undefined } {
    const first = this.#text.pieceAt(start)
    const last = this.#text.pieceAt(Math.max(start, end - 1))
    const from = this.#pieces[first]
    const to = this.#pieces[last]
    const writer = from?.origin === -1 ? from : to?.origin === -1 ? to : undefined
    return {
      start:
        from !== undefined && from.origin !== -1
          ? from.origin + start - this.#text.startOf(first)
          : this.#gaps().starts[first]!,
      end: to !== undefined && to.origin !== -1 ? to.origin + end - this.#text.startOf(last) : this.#gaps().ends[last]!,
      inserted_by_edit: writer === undefined ? undefined : this.placements[writer.by]!.edit_index
    }
  }

  /** All edits so far as splices of the original. */
  splices(): Splices {
    const list: Splice[] = []
    let at = 0
    let inserts: Buffer[] = []
    const close = (end: number) => {
      if (inserts.length > 0) {
        list.push({ start: at, end, insert: inserts.length === 1 ? inserts[0]! : Buffer.concat(inserts) })
        inserts = []
      }
    }
    for (const { bytes, origin } of this.#pieces) {
      if (origin === -1) inserts.push(bytes)
      else {
        close(origin)
        at = origin + bytes.length
      }
    }
    close(this.original.length)
    return new Splices(list, this.original.length)
  }

  /**
   * Every placement with its place in the present text. A placement that was replaced later has the place of its
   * replacement.
   */
  placed(): Placed[] {
    const starts = new Array<number>(this.placements.length)
    const ends = new Array<number>(this.placements.length)
    let at = 0
    for (const { bytes, by } of this.#pieces) {
      if (by !== -1) {
        starts[by] ??= at
        ends[by] = at + bytes.length
      }
      at += bytes.length
    }
    // A replacement comes after what it replaced: going backwards, its place is already known.
    for (let id = this.placements.length - 1; id >= 0; id--) {
      if (starts[id] !== undefined) continue
      const by = this.#replacedBy!.get(id)!
      starts[id] = starts[by]!
      ends[id] = ends[by]!
    }
    // Written out: spreading an object takes many times as long, and there may be a million.
    return this.placements.map(({ edit_index, operation, start, end, inserted_by_edit, old, insert, span }, id) => ({
      edit_index,
      operation,
      start,
      end,
      inserted_by_edit,
      old,
      insert,
      span,
      new_start: starts[id]!,
      new_end: ends[id]!
    }))
  }

  /** For each piece, where the original continues before and after it; computed on first use, once for each state. */
  #gaps(): { starts: Float64Array; ends: Float64Array } {
    if (this.#bounds !== undefined) return this.#bounds
    const count = this.#pieces.length
    const starts = new Float64Array(count + 1)
    const ends = new Float64Array(count + 1).fill(this.original.length)
    for (let i = 0; i < count; i++) {
      const { origin, bytes } = this.#pieces[i]!
      starts[i + 1] = origin === -1 ? starts[i]! : origin + bytes.length
    }
    for (let i = count - 2; i >= 0; i--) {
      const { origin } = this.#pieces[i + 1]!
      ends[i] = origin === -1 ? ends[i + 1]! : origin
    }
    this.#bounds = { starts, ends }
    return this.#bounds
  }
}

const part = (piece: Piece, from: number, to = piece.bytes.length): Piece => ({
  bytes: piece.bytes.subarray(from, to),
  origin: piece.origin === -1 ? -1 : piece.origin + from,
  by: piece.by
})
