// The spans of a weave: every byte that a text ever had, in order, each with who inserted and who deleted it. Does not
// know changes, lines or conflicts.
import { CR, isBreakByte, lastBreakEndIn, LF } from '../text/lines.ts'
import type { RecordedSplice } from './change.ts'

/** Who inserted the bytes that the text began with. */
export const BASE = -1

/** Bytes with one history. Inserters and deleters are numbers of units. */
export interface Span {
  length: number
  inserter: number
  /** Shared by the parts of a span that was cut: never changed, only replaced. */
  deleters: readonly number[]
  /** They are `bytes` from `at` on; null where only the present text holds them. */
  bytes: Buffer | null
  at: number
  visible: boolean
}

/** The known bytes of a span. Those of a span that isn't visible are always known. */
export const bytesOf = ({ bytes, at, length }: Span): Buffer => bytes!.subarray(at, at + length)

/** A run of spans, and how many visible bytes they have. */
interface Chunk {
  spans: Span[]
  visible: number
}

/** Spans in a chunk, at most; looking for an offset takes about as many steps as that and as there are chunks. */
const CHUNK = 256

const NOBODY: readonly number[] = []

/** The spans of one text. Offsets are those of its visible bytes. */
export class Spans {
  readonly #chunks: Chunk[]
  #length: number

  /** `length`: of the text that it begins with. */
  constructor(length: number) {
    const base = { length, inserter: BASE, deleters: NOBODY, bytes: null, at: 0, visible: true }
    this.#chunks = [{ spans: length > 0 ? [base] : [], visible: length }]
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
   * Replaces visible bytes as `unit`. What is inserted goes behind what is replaced; where nothing is, behind all that
   * isn't visible there, but whole lines go before what belongs to the line that follows. False, and the spans are of no more use, where what is known of the bytes isn't `old`.
   */
  replace({ start, old, insert }: RecordedSplice, unit: number): boolean {
    if (start + old.length > this.#length) return false
    let [number, index] = this.#seek(start)
    const first = number
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
      span.deleters = [...span.deleters, unit]
      span.visible = false
      chunk.visible -= span.length
      done += span.length
    }
    if (old.length === 0 && isBreakByte(insert.at(-1) ?? -1)) [number, index] = this.#lineStart(number, index)
    if (insert.length > 0) this.#insert(this.#chunks[number]!, index, insert, unit)
    this.#length += insert.length - old.length
    this.#divide(Math.max(first, number))
    if (first !== number) this.#divide(Math.min(first, number))
    return true
  }

  /** Makes each span visible or not, and returns what that does to the text. */
  show(isVisible: (span: Span) => boolean): Toggled[] {
    const changes: Toggled[] = []
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
    for (let number = 0; number < this.#chunks.length; number++) {
      const chunk = this.#chunks[number]!
      if (at + chunk.visible <= offset) {
        at += chunk.visible
        continue
      }
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
    const last = this.#chunks.length - 1
    return [last, this.#chunks[last]!.spans.length]
  }

  /**
   * Where lines are inserted that may begin here or before what isn't visible before it: behind the last deleted line
   * there. A break that was deleted before other text of its line ended no line any more.
   */
  #lineStart(number: number, index: number): [chunk: number, index: number] {
    let found: { chunk: number; index: number; end: number; deleter: number } | undefined
    let followsLf = false
    const finish = (chunk: number, index: number): [chunk: number, index: number] => {
      if (found === undefined) return [chunk, index]
      const { spans } = this.#chunks[found.chunk]!
      if (found.end < spans[found.index]!.length) this.#cut(this.#chunks[found.chunk]!, found.index, found.end)
      return [found.chunk, found.index + 1]
    }
    for (;;) {
      const span = this.#chunks[number]!.spans[index - 1]
      if (span === undefined && number > 0) {
        number--
        index = this.#chunks[number]!.spans.length
        continue
      }
      if (span === undefined || span.visible) return finish(number, index)
      index--
      const deleter = span.deleters.at(-1) ?? BASE
      for (let bytes = bytesOf(span); bytes.length > 0;) {
        if (followsLf && bytes.at(-1) === CR) bytes = bytes.subarray(0, -1)
        followsLf = false
        const end = lastBreakEndIn(bytes)
        if (found !== undefined && end < bytes.length && deleter > found.deleter) found = undefined
        if (end === 0) break
        if (found !== undefined) return finish(number, index)
        found = { chunk: number, index, end, deleter }
        followsLf = bytes[end - 1] === LF
        bytes = bytes.subarray(0, end - 1)
      }
    }
  }

  /** Cuts a span after `length` bytes. */
  #cut({ spans }: Chunk, index: number, length: number): void {
    const span = spans[index]!
    spans.splice(index + 1, 0, { ...span, length: span.length - length, at: span.at + length })
    span.length = length
  }

  #insert(chunk: Chunk, index: number, bytes: Buffer, unit: number): void {
    const { length } = bytes
    chunk.spans.splice(index, 0, { length, inserter: unit, deleters: NOBODY, bytes, at: 0, visible: true })
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
