// Lines of old_text to lines of the text: equal, similar, joined, split, left out, inserted. Knows folded lines only.
import type { Budget } from './budget.ts'
import type { FoldedLine } from './fold.ts'
import { likeness } from './verify.ts'

/** Lines `fromA` to `toA` of old_text stand for lines `fromB` to `toB` of the text (indexes, inclusive). */
export interface Pair {
  fromA: number
  toA: number
  fromB: number
  toB: number
  likeness: number
}

export interface Alignment {
  /** In order, at least one. */
  pairs: Pair[]
  /** Worth of the alignment, for comparing two. */
  gain: number
  /** Share of old_text's codes that are matched, weighted by likeness. */
  cover: number
  /** Twice the codes matched, of those on both sides. */
  ratio: number
  /** Lines of the text between the pairs. */
  inserted: number
  /** Codes of old_text. */
  length: number
}

// All numbers below, and those in the code, were tuned on the development corpus (`npm run bench:suggest`), together;
// no measurement of a single one is recorded.

/** Pairs of lines that are compared at most. */
const MOST_CELLS = 60_000
const MOST_JOINED = 14
const MATCH = 1
const DELETE = 2
const INSERT = 3
const JOIN = 16
const SPLIT = 64
/** From this likeness on two lines are one; from the lower on they may be, if nothing better is there. */
const SIMILAR = 0.42
const PERHAPS = 0.3

const weight = (length: number): number => Math.min(length, 60) + 2
const worth = (length: number, like: number): number => weight(length) * (like >= 0.999 ? 1.1 : (like - 0.38) * 1.5)
const deleteCost = (length: number): number => 1.5 + 0.25 * Math.min(length, 60)

/**
 * The best alignment of all of `a` to any run of `b` (semi-global, affine gaps in `b`), blank lines left out of both.
 * Undefined for a single line, for too many, or where nothing is alike. Time: lines × lines × their likeness.
 */
export function alignLines(a: readonly FoldedLine[], b: readonly FoldedLine[], budget: Budget): Alignment | undefined {
  if (a.length < 2 || b.length === 0 || a.length * b.length > MOST_CELLS || !budget.spend(a.length * b.length * 4)) {
    return undefined
  }
  const width = b.length + 1
  const cells = (a.length + 1) * width
  const table: Table = {
    width,
    score: new Float64Array(cells),
    move: new Uint8Array(cells),
    like: new Float32Array(cells),
    gap: new Uint16Array(cells)
  }
  const lettersA = a.map(letters)
  const lettersB = b.map(letters)
  for (let i = 1; i <= a.length; i++) {
    const line = a[i - 1]!.text
    const drop = deleteCost(line.length)
    table.score[i * width] = table.score[(i - 1) * width]! - drop
    table.move[i * width] = DELETE
    let gap = -Infinity
    let gapLines = 0
    for (let j = 1; j <= b.length; j++) {
      const at = i * width + j
      const other = b[j - 1]!.text
      table.score[at] = table.score[at - width]! - drop
      table.move[at] = DELETE
      const extend = 0.5 + 0.012 * Math.min(other.length, 60)
      const open = table.score[at - 1]! - 0.6 - extend
      if (open >= gap - extend) {
        gap = open
        gapLines = 1
      } else {
        gap -= extend
        gapLines++
      }
      if (gap > table.score[at]!) {
        table.score[at] = gap
        table.move[at] = INSERT
        table.gap[at] = gapLines
      }
      const like = likeLines(line, other, lettersA[i - 1]!, lettersB[j - 1]!, i === 1, i === a.length, budget)
      if (like >= SIMILAR) {
        take(table, at, at - width - 1, worth(Math.min(line.length, other.length), like), MATCH, like)
      } else if (like >= PERHAPS && Math.max(line.length, other.length) > 4) {
        take(table, at, at - width - 1, 0.4, MATCH, like)
      }
      if (line.length > other.length) {
        joins(line, b, j, budget, (count, like) =>
          take(table, at, at - width - count, worth(line.length, like) - 0.5, JOIN + count, like)
        )
      } else if (other.length > line.length) {
        joins(other, a, i, budget, (count, like) =>
          take(table, at, at - width * count - 1, worth(other.length, like) - 0.5, SPLIT + count, like)
        )
      }
    }
  }
  return traced(table, a, b)
}

interface Table {
  width: number
  score: Float64Array
  move: Uint8Array
  like: Float32Array
  gap: Uint16Array
}

function take(table: Table, at: number, from: number, gain: number, move: number, like: number): void {
  const score = table.score[from]! + gain
  if (score <= table.score[at]!) return
  table.score[at] = score
  table.move[at] = move
  table.like[at] = like
}

/** Which of 32 classes of codes a line has: lines with few in common need no closer look. */
function letters({ text }: FoldedLine): number {
  let set = 0
  for (let i = 0; i < text.length; i++) set |= 1 << (text.charCodeAt(i) & 31)
  return set
}

function bits(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555)
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function likeLines(
  a: string,
  b: string,
  inA: number,
  inB: number,
  first: boolean,
  last: boolean,
  budget: Budget
): number {
  if (a === b) return 1
  const like = bits(inA ^ inB) > 0.62 * bits(inA | inB) ? 0 : likeness(a, b, 0.45, budget)
  // The first line may begin, the last may end amid a line of the text.
  const part = b.length > a.length && a.length >= 4 && ((first && b.endsWith(a)) || (last && b.startsWith(a)))
  return part ? Math.max(like, 0.9) : like
}

/** Lines before `end` (exclusive) which, put together, are like `whole`: two to fourteen of them. */
function joins(
  whole: string,
  lines: readonly FoldedLine[],
  end: number,
  budget: Budget,
  found: (count: number, like: number) => void
): void {
  if (whole.length < 3) return
  let joined = lines[end - 1]!.text
  for (let count = 2; count <= MOST_JOINED && count <= end; count++) {
    joined = lines[end - count]!.text + joined
    if (joined.length > whole.length * 1.35 + 4) return
    if (joined.length < whole.length * 0.7) continue
    if (
      whole.length < 14
        ? joined !== whole
        : joined.charCodeAt(0) !== whole.charCodeAt(0) && joined.charCodeAt(2) !== whole.charCodeAt(2)
    ) {
      continue
    }
    const like = likeness(joined, whole, 0.7, budget)
    if (like >= 0.8) found(count, like)
  }
}

function traced(table: Table, a: readonly FoldedLine[], b: readonly FoldedLine[]): Alignment | undefined {
  const row = a.length * table.width
  let end = 1
  for (let j = 1; j <= b.length; j++) if (table.score[row + j]! > table.score[row + end]!) end = j
  const pairs: Pair[] = []
  for (let i = a.length, j = end; i > 0 && j > 0;) {
    const move = table.move[i * table.width + j]!
    if (move === DELETE) i--
    else if (move === INSERT) j -= table.gap[i * table.width + j]!
    else {
      const ofA = move > SPLIT ? move - SPLIT : 1
      const ofB = move > JOIN && move < SPLIT ? move - JOIN : 1
      pairs.unshift({
        fromA: i - ofA,
        toA: i - 1,
        fromB: j - ofB,
        toB: j - 1,
        likeness: table.like[i * table.width + j]!
      })
      i -= ofA
      j -= ofB
    }
  }
  if (pairs.length === 0) return undefined
  const sizes = a.map(({ text }) => text.length)
  const length = sizes.reduce((sum, size) => sum + size, 0)
  trimEdges(pairs, sizes, length)
  let matched = 0
  for (const pair of pairs) matched += sum(sizes, pair.fromA, pair.toA) * pair.likeness
  let there = 0
  for (let i = pairs[0]!.fromB; i <= pairs.at(-1)!.toB; i++) there += b[i]!.text.length
  let inserted = 0
  for (let i = 1; i < pairs.length; i++) inserted += pairs[i]!.fromB - pairs[i - 1]!.toB - 1
  return {
    pairs,
    gain: table.score[row + end]!,
    cover: matched / length,
    ratio: (2 * matched) / (length + there),
    inserted,
    length
  }
}

const sum = (sizes: readonly number[], from: number, to: number): number =>
  sizes.slice(from, to + 1).reduce((total, size) => total + size, 0)

/**
 * Lines at the edge that are far from the rest, or resemble only weakly and aren't beside it, are no part of the
 * region.
 */
function trimEdges(pairs: Pair[], sizes: readonly number[], length: number): void {
  const far = Math.max(3, Math.ceil(sizes.length * 0.6))
  for (const side of ['first', 'last'] as const) {
    const [edge, next] = side === 'first' ? [pairs[0], pairs[1]] : [pairs.at(-1), pairs.at(-2)]
    if (edge === undefined || next === undefined || (edge.likeness >= 0.95 && sizes[edge.toA]! >= 8)) continue
    const gap = side === 'first' ? next.fromB - edge.toB : edge.fromB - next.toB
    if (gap - 1 > far && sum(sizes, edge.fromA, edge.toA) < 0.3 * length) pairs.splice(side === 'first' ? 0 : -1, 1)
  }
  const isLoose = (edge: Pair, gap: number) => edge.likeness < 0.62 && gap > 1
  while (pairs.length > 1) {
    if (isLoose(pairs[0]!, pairs[1]!.fromB - pairs[0]!.toB)) pairs.shift()
    else if (isLoose(pairs.at(-1)!, pairs.at(-1)!.fromB - pairs.at(-2)!.toB)) pairs.pop()
    else return
  }
}
