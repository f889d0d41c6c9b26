// The spans of a weave: every byte that a text ever had, in order, each with who inserted and who deleted it. Does not
// know changes, lines or conflicts.
import { isBreakByte, isLineStart, lastBreakEndIn } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { RecordedSplice } from './change.ts'

/** Who inserted the bytes that the text began with. */
export const BASE = -1

/** Bytes with one history. Inserters and deleters are numbers of units. */
export interface Span {
  length: number
  inserter: number
  /** Shared by the parts of a span that was cut: never changed, only replaced. */
  deleters: readonly number[]
  /** They are `bytes` from `at` on; null: they are those of the text that it began with, and weren't needed yet. */
  bytes: Buffer | null
  at: number
  visible: boolean
  /** Of one that isn't visible: the step since which it isn't; see `Spans`. */
  hiddenAt: number
}

/** The known bytes of a span. Those of a span that isn't visible are always known. */
export const bytesOf = ({ bytes, at, length }: Span): Buffer => bytes!.subarray(at, at + length)

/** A run of spans, and how many visible bytes they have. */
interface Chunk {
  spans: Span[]
  visible: number
}

/** Whose history layout has that replaces nothing: that of the byte behind it, of the one before it, or of the whole text. */
export type LayoutOwner = 'next' | 'last' | 'text'

/** Where a span is. */
interface Place {
  chunk: number
  index: number
  span: Span
}

const hiddenAt = ({ span }: Place): number => span.hiddenAt

/** Spans in a chunk, at most; looking for an offset takes about as many steps as that and as there are chunks. */
const CHUNK = 256

/** Bytes of a byte-order mark. */
const MARK = 3

const NOBODY: readonly number[] = []

/** The spans of one text. Offsets are those of its visible bytes. Each call that changes it is one step. */
export class Spans {
  readonly #chunks: Chunk[]
  readonly #base: (() => Buffer | null) | undefined
  #length: number
  #step = 0

  /**
   * `length`: of the text that it begins with. `base`: gives its bytes, or null where there is no such text; asked only
   * where they decide a place. Without it whole lines go behind all that isn't visible, too.
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
   * Replaces visible bytes as `unit`. What is inserted goes behind what is replaced, and behind what others inserted
   * for that and isn't visible; where nothing is replaced, behind all that isn't visible there, but whole lines, where
   * a line begins, go before what belongs to the line that follows. False, and the spans are of no more use, where what
   * is known of the bytes isn't `old`, or those that decide the place can't be known.
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
   * Replaces visible bytes by others with their history: these are there whenever the last one replaced would be. Where
   * none is replaced, they have that of `owner`. False, and the spans are of no more use, where what is known of the bytes
   * isn't `old`.
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

  /** Whether anything that isn't visible is behind the visible byte at `from` and before the one at `to`. */
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

  /** Whether nothing that isn't visible is behind all that is. */
  get endsVisible(): boolean {
    return this.#chunks.at(-1)!.spans.at(-1)?.visible !== false
  }

  /** The visible byte at an offset; -1 where none is, undefined where it isn't known. */
  byteAt(offset: number): number | undefined {
    if (offset < 0 || offset >= this.#length) return -1
    let [number, at] = [0, offset]
    while (this.#chunks[number]!.visible <= at) at -= this.#chunks[number++]!.visible
    const span = this.#chunks[number]!.spans.find(
      ({ visible, length }) => visible && (at < length || (at -= length) < 0)
    )!
    return (span.bytes ?? this.#base?.())?.[span.at + at]
  }

  /** Makes each span visible or not, and returns what that does to the text. */
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

  /** Chunk and index of the visible span that begins at `offset`, which is cut there if need be; or the end. */
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

  /** Behind what those who deleted the span before once inserted for it. */
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
   * Whether a line begins at `offset`, which is where the given hidden span is; undefined where the bytes before it
   * can't be known.
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
   * Where whole lines are inserted before the visible span with this index, or at the end: of what isn't visible there,
   * `places`, behind the lines and before the beginning of the line that follows. What was hidden last decides first,
   * as it was text of the line that followed when older text wasn't any more. So no older text changes on which side of
   * newer text they are, and replays that begin earlier or later agree.
   */
  #lineStart(places: readonly Place[], number: number, index: number): [chunk: number, index: number] {
    const newestFirst = places.map((_, i) => i).sort((a, b) => hiddenAt(places[b]!) - hiddenAt(places[a]!) || b - a)
    // The place is before one of these, from `from` to `to` (inclusive).
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

  /** What isn't visible before a span and behind the visible one before it, in order. */
  #hiddenBefore(number: number, index: number): Place[] {
    const places: Place[] = []
    for (;;) {
      const span = this.#chunks[number]!.spans[--index]
      if (span?.visible === true || (span === undefined && number === 0)) return places.reverse()
      if (span !== undefined) places.push({ chunk: number, index, span })
      else index = this.#chunks[--number]!.spans.length
    }
  }

  /** Cuts a span after `length` bytes. */
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

  /** Makes two chunks of one that has too many spans. */
  #divide(number: number): void {
    const chunk = this.#chunks[number]!
    if (chunk.spans.length <= CHUNK) return
    const spans = chunk.spans.splice(chunk.spans.length >> 1)
    const visible = spans.reduce((sum, { visible, length }) => (visible ? sum + length : sum), 0)
    chunk.visible -= visible
    this.#chunks.splice(number + 1, 0, { spans, visible })
  }
}

/** Visible bytes, at `start` of the text before, that give way to others; each as the spans that they are. */
export interface Toggled {
  start: number
  old: Span[]
  insert: Span[]
}
