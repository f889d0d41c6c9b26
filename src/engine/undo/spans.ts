// The spans of a weave: every byte that a text ever had, in order, each with the units that inserted and deleted it.
import { isBreakByte, isLineStart, lastBreakEndIn } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { RecordedSplice } from './change.ts'

/** The inserter of the bytes that the text began with. */
export const BASE = -1

/** Bytes with the same history. Inserters and deleters are unit numbers. */
export interface Span {
  length: number
  inserter: number
  /** Shared by the parts of a split span: never mutate, only replace. */
  deleters: readonly number[]
  /** The span's bytes are `bytes` from `at` on; null for bytes of the initial text that weren't needed yet. */
  bytes: Buffer | null
  at: number
  visible: boolean
  /** For a hidden span: the step in which it was hidden; see `Spans`. */
  hiddenAt: number
}

/** The bytes of a span, if known; those of a hidden span always are. */
export const bytesOf = ({ bytes, at, length }: Span): Buffer => bytes!.subarray(at, at + length)

/** A run of spans, and the number of their visible bytes. */
interface Chunk {
  spans: Span[]
  visible: number
}

/**
 * Whose history inserted layout takes if it replaces nothing: that of the byte after it, of the byte before it, or of
 * the whole text.
 */
export type LayoutOwner = 'next' | 'last' | 'text'

/** Where a span is. */
interface Place {
  chunk: number
  index: number
  span: Span
}

const hiddenAt = ({ span }: Place): number => span.hiddenAt

/** Spans per chunk, at most; finding an offset takes about this many steps plus the number of chunks. */
const CHUNK = 256

/** Bytes of a byte-order mark. */
const MARK = 3

const NOBODY: readonly number[] = []

/** The spans of one text. Offsets count visible bytes. Each mutating call is one step. */
export class Spans {
  readonly #chunks: Chunk[]
  readonly #base: (() => Buffer | null) | undefined
  #length: number
  #step = 0

  /**
   * `length`: of the initial text. `base`: returns its bytes, or null if there is no such text; called only if they
   * decide a place. Without it, whole lines also go after all hidden spans.
   */
  constructor(length: number, base?: () => Buffer | null) {
    this.#base = base
    const whole = { length, inserter: BASE, deleters: NOBODY, bytes: null, at: 0, visible: true, hiddenAt: 0 }
    this.#chunks = [{ spans: length > 0 ? [whole] : [], visible: length }]
    this.#length = length
  }

  /** How many bytes are visible. */
  get length(): number {
    return this.#length
  }

  *[Symbol.iterator](): Generator<Span> {
    for (const { spans } of this.#chunks) yield* spans
  }

  /**
   * Replaces visible bytes as `unit`. The insertion goes after what it replaces and after hidden text that others
   * inserted for the same bytes. If nothing is replaced, it goes after all hidden text there, except that whole lines
   * at a line start go before what belongs to the following line. Returns false, and leaves the spans unusable, if the
   * known bytes aren't `old`, or if the bytes that decide the place can't be known.
   */
  replace({ start, old, insert }: RecordedSplice, unit: number): boolean {
    if (start + old.length > this.#length) return false
    this.#step++
    let [number, index] = this.#seek(start)
    const first = number
    let deleters = NOBODY
    for (let done = 0; done < old.length;) {
      const chunk = this.#chunks[number]!
      const span = chunk.spans[index]
      if (span === undefined) {
        number++
        index = 0
        continue
      }
      index++
      if (!span.visible) continue
      if (span.length > old.length - done) this.#cut(chunk, index - 1, old.length - done)
      if (span.bytes === null) {
        span.bytes = old
        span.at = done
      } else if (old.compare(span.bytes, span.at, span.at + span.length, done, done + span.length) !== 0) return false
      deleters = span.deleters
      span.deleters = [...span.deleters, unit]
      span.visible = false
      span.hiddenAt = this.#step
      chunk.visible -= span.length
      done += span.length
    }
    if (old.length > 0) [number, index] = this.#behindOthers(number, index, deleters)
    else if (this.#base !== undefined && isBreakByte(insert.at(-1) ?? -1)) {
      const places = this.#hiddenBefore(number, index)
      const startsLine = places.length === 0 || this.#startsLine(places[0]!, start, this.#base)
      if (startsLine === undefined) return false
      if (startsLine) [number, index] = this.#lineStart(places, number, index)
    }
    if (insert.length > 0) this.#insert(this.#chunks[number]!, index, insert, unit)
    this.#length += insert.length - old.length
    this.#divide(Math.max(first, number))
    if (first !== number) this.#divide(Math.min(first, number))
    return true
  }

  /**
   * Replaces visible bytes and keeps their history: the new bytes are visible whenever the last replaced byte would be.
   * If nothing is replaced, they take the history of `owner`. Returns false, and leaves the spans unusable, if the
   * known bytes aren't `old`.
   */
  relay({ start, old, insert }: RecordedSplice, owner: LayoutOwner): boolean {
    if (start + old.length > this.#length) return false
    this.#step++
    let [number, index] = this.#seek(start)
    let like: Pick<Span, 'inserter' | 'deleters'> | undefined = { inserter: BASE, deleters: NOBODY }
    if (old.length === 0 && owner === 'next') like = this.#chunks[number]!.spans[index]
    if (old.length === 0 && owner === 'last') {
      ;[number, index] = this.#visibleBefore(number, index)
      like = this.#chunks[number]!.spans[index++]
    }
    for (let done = 0; done < old.length;) {
      ;[number, index] = this.#seek(start)
      const chunk = this.#chunks[number]!
      const span = chunk.spans[index]!
      if (span.length > old.length - done) this.#cut(chunk, index, old.length - done)
      const { bytes, at, length } = span
      if (bytes !== null && old.compare(bytes, at, at + length, done, done + length) !== 0) return false
      like = span
      chunk.spans.splice(index, 1)
      chunk.visible -= length
      done += length
    }
    if (insert.length > 0) this.#insert(this.#chunks[number]!, index, insert, like!.inserter, like!.deleters)
    this.#length += insert.length - old.length
    this.#divide(number)
    return true
  }

  /** Whether a hidden span is after the visible byte at `from` and before the one at `to`. */
  hidesBetween(from: number, to: number): boolean {
    let [number, index] = this.#seek(from)
    for (let at = from; number < this.#chunks.length; number++, index = 0) {
      for (const { visible, length } of this.#chunks[number]!.spans.slice(index)) {
        if (visible ? at > to : at > from && at <= to) return !visible
        if (visible) at += length
      }
    }
    return false
  }

  /** Whether no hidden span is after the last visible one. */
  get endsVisible(): boolean {
    return this.#chunks.at(-1)!.spans.at(-1)?.visible !== false
  }

  /** The visible byte at an offset; -1 outside the text, undefined if unknown. */
  byteAt(offset: number): number | undefined {
    if (offset < 0 || offset >= this.#length) return -1
    let [number, at] = [0, offset]
    while (this.#chunks[number]!.visible <= at) at -= this.#chunks[number++]!.visible
    const span = this.#chunks[number]!.spans.find(
      ({ visible, length }) => visible && (at < length || (at -= length) < 0)
    )!
    return (span.bytes ?? this.#base?.())?.[span.at + at]
  }

  /** Shows or hides each span, and returns the changes to the text. */
  show(isVisible: (span: Span) => boolean): Toggled[] {
    const changes: Toggled[] = []
    this.#step++
    let at = 0
    let last: Toggled | undefined
    for (const chunk of this.#chunks) {
      let visible = 0
      for (const span of chunk.spans) {
        const before = span.visible
        const after = isVisible(span)
        if (before !== after) {
          if (last === undefined) changes.push((last = { start: at, old: [], insert: [] }))
          const list = before ? last.old : last.insert
          list.push(span)
          span.visible = after
          span.hiddenAt = this.#step
        } else if (before) last = undefined
        if (before) at += span.length
        if (after) visible += span.length
      }
      this.#length += visible - chunk.visible
      chunk.visible = visible
    }
    return changes
  }

  /** Chunk and index of the visible span that begins at `offset`, split there if necessary; or the end. */
  #seek(offset: number): [chunk: number, index: number] {
    let at = 0
    let number = 0
    while (number < this.#chunks.length && at + this.#chunks[number]!.visible <= offset) {
      at += this.#chunks[number++]!.visible
    }
    const chunk = this.#chunks[number]
    if (chunk === undefined) return [number - 1, this.#chunks.at(-1)!.spans.length]
    for (let index = 0; ; index++) {
      const span = chunk.spans[index]!
      if (!span.visible) continue
      if (at === offset) return [number, index]
      if (at + span.length > offset) {
        this.#cut(chunk, index, offset - at)
        return [number, index + 1]
      }
      at += span.length
    }
  }

  /** The last visible span before a place. */
  #visibleBefore(number: number, index: number): [chunk: number, index: number] {
    for (;;) {
      if (index === 0) index = this.#chunks[--number]!.spans.length
      else if (this.#chunks[number]!.spans[--index]!.visible) return [number, index]
    }
  }

  /** The place after what the deleters of the previous span inserted for it. */
  #behindOthers(number: number, index: number, deleters: readonly number[]): [chunk: number, index: number] {
    const others = new Set(deleters)
    let place: [number, number] = [number, index]
    while (others.size > 0) {
      const span = this.#chunks[number]?.spans[index]
      if (span === undefined && number < this.#chunks.length) {
        number++
        index = 0
        continue
      }
      if (span === undefined || span.visible || !others.has(span.inserter)) break
      for (const unit of span.deleters) others.add(unit)
      place = [number, ++index]
    }
    return place
  }

  /**
   * Whether a line begins at `offset`, the place of the given hidden span; undefined if the bytes before it can't be
   * known.
   */
  #startsLine({ chunk, index }: Place, offset: number, base: () => Buffer | null): boolean | undefined {
    // Three bytes may be a byte-order mark.
    const count = offset === MARK ? MARK : Math.min(offset, 1)
    const before = Buffer.alloc(count)
    for (let left = count; left > 0;) {
      if (index === 0) {
        index = this.#chunks[--chunk]!.spans.length
        continue
      }
      const span = this.#chunks[chunk]!.spans[--index]!
      if (!span.visible) continue
      const bytes = span.bytes ?? base()
      if (bytes === null) return undefined
      const end = span.at + span.length
      const from = Math.max(span.at, end - left)
      bytes.copy(before, left - (end - from), from, end)
      left -= end - from
    }
    return isLineStart(new Text([before]), count)
  }

  /**
   * Where to insert whole lines before the visible span with this index, or at the end: among the hidden `places`,
   * after the preceding lines and before the start of the line that follows. The text hidden last decides first,
   * because it was part of the following line when older text no longer was. So older text never changes on which side
   * of newer text the insertion goes, and replays with different starting points agree.
   */
  #lineStart(places: readonly Place[], number: number, index: number): [chunk: number, index: number] {
    const newestFirst = places.map((_, i) => i).sort((a, b) => hiddenAt(places[b]!) - hiddenAt(places[a]!) || b - a)
    // The insertion goes before one of these places, from `from` to `to` (inclusive).
    let [from, to] = [0, places.length]
    for (let i = 0; i < newestFirst.length && from < to;) {
      const step = hiddenAt(places[newestFirst[i]!]!)
      let first = to
      for (; i < newestFirst.length && hiddenAt(places[newestFirst[i]!]!) === step; i++) {
        const at = newestFirst[i]!
        if (at < from || at >= to) continue
        const { chunk, index, span } = places[at]!
        const end = lastBreakEndIn(bytesOf(span))
        if (end === 0) first = at
        else if (end < span.length) {
          this.#cut(this.#chunks[chunk]!, index, end)
          return [chunk, index + 1]
        } else {
          from = at + 1
          break
        }
      }
      to = first
      while (i < newestFirst.length && hiddenAt(places[newestFirst[i]!]!) === step) i++
    }
    const place = places[to]
    return place === undefined ? [number, index] : [place.chunk, place.index]
  }

  /** The hidden spans directly before a span, in order. */
  #hiddenBefore(number: number, index: number): Place[] {
    const places: Place[] = []
    for (;;) {
      const span = this.#chunks[number]!.spans[--index]
      if (span?.visible === true || (span === undefined && number === 0)) return places.reverse()
      if (span !== undefined) places.push({ chunk: number, index, span })
      else index = this.#chunks[--number]!.spans.length
    }
  }

  /** Splits a span after `length` bytes. */
  #cut({ spans }: Chunk, index: number, length: number): void {
    const span = spans[index]!
    spans.splice(index + 1, 0, { ...span, length: span.length - length, at: span.at + length })
    span.length = length
  }

  #insert(chunk: Chunk, index: number, bytes: Buffer, inserter: number, deleters = NOBODY): void {
    const { length } = bytes
    const span = { length, inserter, deleters, bytes, at: 0, visible: true, hiddenAt: 0 }
    chunk.spans.splice(index, 0, span)
    chunk.visible += length
  }

  /** Splits a chunk that has too many spans. */
  #divide(number: number): void {
    const chunk = this.#chunks[number]!
    if (chunk.spans.length <= CHUNK) return
    const spans = chunk.spans.splice(chunk.spans.length >> 1)
    const visible = spans.reduce((sum, { visible, length }) => (visible ? sum + length : sum), 0)
    chunk.visible -= visible
    this.#chunks.splice(number + 1, 0, { spans, visible })
  }
}

/** Visible bytes, at `start` of the text before, that are replaced by others; both as spans. */
export interface Toggled {
  start: number
  old: Span[]
  insert: Span[]
}
