// The places of a patch's hunks in a file: the single rule by which a patch fits or not.
//
// The rule:
// 1. Hunks are in file order. Each begins at the end of the previous one or below; none overlaps another.
// 2. An anchor equals a line of the file, ignoring spaces and tabs around it. The first anchor must occur once in the
//    file, each further one once below the previous anchor; or, if it occurs more often, once in the block that the
//    previous anchor begins. It may be above the previous hunk: both may change the same function.
// 3. The old lines of a hunk are consecutive lines of the file, byte for byte. They must occur once below the last
//    anchor and the previous hunk; or, if they occur more often, once completely inside the block that the last anchor
//    begins. Overlapping places count separately. block.ts defines a block.
// 4. With `*** End of File` they must be the last lines of the file, and other places don't count.
// 5. Additions without old lines go below the last anchor; with `*** End of File`, to the end; with neither they have
//    no place, except in a file without lines.
// 6. After a final line break, and in a file without lines, a hunk without `*** End of File` may end with an empty kept
//    line: tools that split a file at its line breaks see one there.
import { fail, ok, type Result } from '../../result.ts'
import { firstIndex } from '../text/bisect.ts'
import { blockEnd } from './block.ts'
import type { FileLines, LinePlaces } from './file-lines.ts'
import { type Hunk, oldLines } from './hunk.ts'

/**
 * The place of a hunk: the 0-based line that is its first old line, or before which its additions go, and how many
 * lines of the file it covers.
 */
export interface HunkPlace {
  first: number
  count: number
}

/** Why a hunk has no place. `cursor`: the line after the previous hunk. Lines are 0-based. */
export type HunkMisfit = { hunk_index: number; cursor: number } & (
  | { reason: 'no_anchor'; anchor: number; below: number }
  | { reason: 'anchor_twice'; anchor: number; below: number; lines: number[] }
  /** `from`: the line from which the search started. */
  | { reason: 'no_lines'; from: number }
  | { reason: 'lines_twice'; from: number; lines: number[] }
  /** The old lines exist, but not at the end. */
  | { reason: 'not_at_end'; from: number }
  /** Additions without an anchor. */
  | { reason: 'no_place' }
  /** Additions below an anchor that is above the previous hunk. */
  | { reason: 'above'; at: number }
)

/** Finds places of hunks; the constructor must receive all their lines. */
export class HunkFinder {
  readonly #file: FileLines
  readonly #lines: LinePlaces
  readonly #anchors: LinePlaces
  readonly #blocks = new Map<number, number | undefined>()

  constructor(file: FileLines, hunks: readonly Pick<Hunk, 'anchors' | 'lines'>[]) {
    this.#file = file
    this.#lines = file.find(textsOf(hunks))
    this.#anchors = file.findTrimmed(hunks.flatMap(({ anchors }) => anchors))
  }

  /** The place of hunk `hunk_index`, at line `cursor` or below. */
  place(hunk: Hunk, hunk_index: number, cursor: number): Result<HunkPlace, HunkMisfit> {
    const misfit = { hunk_index, cursor }
    const anchored = this.#anchorOf(hunk, misfit)
    if (!anchored.ok) return anchored
    const anchor = anchored.value
    const from = Math.max(cursor, anchor + 1)
    const { count } = this.#file
    const sought = oldLines(hunk)
    if (hunk.at_end) {
      const first = count - sought.length
      if (first >= from && this.#lines.holds(sought, first)) return ok({ first, count: sought.length })
      const there = this.#lines.blocks(sought, from).next().done !== true
      return fail({ ...misfit, reason: there ? 'not_at_end' : 'no_lines', from })
    }
    if (sought.length === 0) {
      if (anchor === -1) return count === 0 ? ok({ first: 0, count: 0 }) : fail({ ...misfit, reason: 'no_place' })
      const at = anchor + 1
      return at < cursor ? fail({ ...misfit, reason: 'above', at }) : ok({ first: at, count: 0 })
    }
    const matches = this.matches(hunk, from)
    const first = matches.next().value
    if (first === undefined) return fail({ ...misfit, reason: 'no_lines', from })
    const second = matches.next().value
    const end = second === undefined || anchor === -1 ? undefined : this.#blockEnd(anchor)
    const isOneInside = end !== undefined && first + sought.length <= end && second! + sought.length > end
    if (second === undefined || isOneInside) return ok({ first, count: Math.min(sought.length, count - first) })
    return fail({ ...misfit, reason: 'lines_twice', from, lines: [first, second, ...matches] })
  }

  /** Every place of a hunk's old lines (at least one), from a line on; each is where they begin. */
  *matches(hunk: Pick<Hunk, 'lines'>, from: number): Generator<number, undefined> {
    yield* this.#lines.blocks(oldLines(hunk), from)
    const last = this.#behindEnd(hunk)
    if (last !== undefined && last >= from) yield last
    return undefined
  }

  /** Where a hunk begins whose last old line is the empty one after the end. */
  #behindEnd({ lines }: Pick<Hunk, 'lines'>): number | undefined {
    const last = lines.findLast(({ kind }) => kind !== 'add')
    if (!this.#file.isEnded || last?.kind !== 'keep' || last.text !== '') return undefined
    const above = oldLines({ lines }).slice(0, -1)
    const first = this.#file.count - above.length
    return this.#lines.holds(above, first) ? first : undefined
  }

  /** The line of the last anchor; -1 if there are no anchors. */
  #anchorOf({ anchors }: Hunk, misfit: { hunk_index: number; cursor: number }): Result<number, HunkMisfit> {
    let line = -1
    for (const [anchor, text] of anchors.entries()) {
      const below = line + 1
      const places = this.#anchors.of(text)
      const at = firstIndex(places.length, index => places[index]! >= below)
      const [first, second] = [places[at], places[at + 1]]
      if (first === undefined) return fail({ ...misfit, reason: 'no_anchor', anchor, below })
      const end = second === undefined || line === -1 ? undefined : this.#blockEnd(line)
      if (second !== undefined && !(end !== undefined && first < end && second >= end)) {
        return fail({ ...misfit, reason: 'anchor_twice', anchor, below, lines: [...places.subarray(at)] })
      }
      line = first
    }
    return ok(line)
  }

  #blockEnd(line: number): number | undefined {
    if (!this.#blocks.has(line)) this.#blocks.set(line, blockEnd(this.#file, line))
    return this.#blocks.get(line)
  }
}

function* textsOf(hunks: readonly Pick<Hunk, 'lines'>[]): Generator<string> {
  for (const { lines } of hunks) for (const { kind, text } of lines) if (kind !== 'add') yield text
}

/** The place of each hunk, in order; fails with the first hunk that has none. */
export function placeHunks(file: FileLines, hunks: readonly Hunk[]): Result<HunkPlace[], HunkMisfit> {
  const finder = new HunkFinder(file, hunks)
  const places: HunkPlace[] = []
  let cursor = 0
  for (const [index, hunk] of hunks.entries()) {
    const placed = finder.place(hunk, index, cursor)
    if (!placed.ok) return placed
    places.push(placed.value)
    cursor = placed.value.first + placed.value.count
  }
  return ok(places)
}
