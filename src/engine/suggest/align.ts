// Aligns the lines of old_text with lines of the text: equal, similar, joined, split, left out or inserted. Works on
// folded lines only.
import type { Budget } from './budget.ts'
import type { FoldedLine } from './fold.ts'
import { likeness } from './verify.ts'

/** Lines `fromA` to `toA` of old_text correspond to lines `fromB` to `toB` of the text (indexes, inclusive). */
interface Pair {
  fromA: number
  toA: number
  fromB: number
  toB: number
  likeness: number
}

export interface Alignment {
  /** In order, at least one. */
  pairs: Pair[]
  /** Score of the alignment, for comparing two. */
  gain: number
  /** Share of old_text's codes that are matched, weighted by likeness. */
  cover: number
  /** Twice the number of matched codes, divided by the codes on both sides. */
  ratio: number
  /** Lines of the text between the pairs. */
  inserted: number
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Most pairs of lines to compare; above it we map characters instead of aligning lines. */
const MOST_CELLS = 60_000
/** Most lines that may be joined into one line, or split from one. */
const MOST_JOINED = 14
/** Greatest length of the joined lines, as a multiple of the one line. */
const LONGEST_JOINED = 1.35
/** Joined lines match the one line from this likeness on. */
const SIMILAR_JOIN = 0.8

/** Two lines match from the first likeness on; from the second on they match if there is nothing better. */
const SIMILAR = 0.42
const PERHAPS = 0.3
/** Lines aren't alike if more than this share of their letters differ. */
const OTHER_LETTERS = 0.62
/** Likeness of a line that is only the end of the first line or only the beginning of the last. */
const PART = 0.9

// Score of lines, in codes: a line counts by its length.
/** Codes added to the length of each line. */
const WEIGHT_MORE = 2
/** Score of a code in an equal line; in a similar line a code scores the likeness minus `WORTHLESS`. */
const EQUAL_WORTH = 1.1
const EQUAL = 0.999
const WORTHLESS = 0.38
/** Cost of a line that only old_text has, and of one that only the text has. */
const DROP_COST = 1.5
const INSERT_COST = 0.5

/** An edge less like than this is dropped if it isn't next to the other pairs. */
const LOOSE_EDGE = 0.62

// Moves of the table.
const MATCH = 1
const DELETE = 2
const INSERT = 3
const JOIN = 16
const SPLIT = 64

const worth = (length: number, like: number): number =>
  (length + WEIGHT_MORE) * (like >= EQUAL ? EQUAL_WORTH : like - WORTHLESS)

/**
 * The best alignment of all of `a` with any run of lines in `b` (semi-global); both come without blank lines.
 * Undefined for a single line, for too many lines, or where nothing is alike. Time: lines × lines × their likeness.
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
    like: new Float32Array(cells)
  }
  const lettersA = a.map(letters)
  const lettersB = b.map(letters)
  for (let i = 1; i <= a.length; i++) {
    const line = a[i - 1]!.text
    table.score[i * width] = table.score[(i - 1) * width]! - DROP_COST
    table.move[i * width] = DELETE
    for (let j = 1; j <= b.length; j++) {
      const at = i * width + j
      const other = b[j - 1]!.text
      table.score[at] = table.score[at - width]! - DROP_COST
      table.move[at] = DELETE
      take(table, at, at - 1, -INSERT_COST, INSERT, 0)
      const like = likeLines(line, other, lettersA[i - 1]!, lettersB[j - 1]!, i === 1, i === a.length, budget)
      if (like >= SIMILAR) {
        take(table, at, at - width - 1, worth(Math.min(line.length, other.length), like), MATCH, like)
      } else if (like >= PERHAPS) {
        take(table, at, at - width - 1, 0, MATCH, like)
      }
      if (line.length > other.length) {
        joins(line, b, j, budget, (count, length, like) =>
          take(table, at, at - width - count, worth(length, like), JOIN + count, like)
        )
      } else if (other.length > line.length) {
        joins(other, a, i, budget, (count, length, like) =>
          take(table, at, at - width * count - 1, worth(length, like), SPLIT + count, like)
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
}

function take(table: Table, at: number, from: number, gain: number, move: number, like: number): void {
  const score = table.score[from]! + gain
  if (score <= table.score[at]!) return
  table.score[at] = score
  table.move[at] = move
  table.like[at] = like
}

/** The classes of codes (32) that a line contains: lines that share few of them need no closer look. */
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
  const like = bits(inA ^ inB) > OTHER_LETTERS * bits(inA | inB) ? 0 : likeness(a, b, PERHAPS, budget)
  // The first line of old_text may start in the middle of a line of the text, the last may end in the middle of one.
  const part = b.length > a.length && ((first && b.endsWith(a)) || (last && b.startsWith(a)))
  return part ? Math.max(like, PART) : like
}

/** Finds 2 to 14 lines before `end` (exclusive) that, joined, are like `whole`. */
function joins(
  whole: string,
  lines: readonly FoldedLine[],
  end: number,
  budget: Budget,
  found: (count: number, length: number, like: number) => void
): void {
  let joined = lines[end - 1]!.text
  for (let count = 2; count <= MOST_JOINED && count <= end; count++) {
    joined = lines[end - count]!.text + joined
    if (joined.length > whole.length * LONGEST_JOINED) return
    if (joined.charCodeAt(0) !== whole.charCodeAt(0) && joined.charCodeAt(2) !== whole.charCodeAt(2)) continue
    const like = likeness(joined, whole, SIMILAR_JOIN, budget)
    if (like >= SIMILAR_JOIN) found(count, Math.min(joined.length, whole.length), like)
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
    else if (move === INSERT) j--
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
  trimEdges(pairs)
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
    inserted
  }
}

const sum = (sizes: readonly number[], from: number, to: number): number =>
  sizes.slice(from, to + 1).reduce((total, size) => total + size, 0)

/** Drops pairs at the edge that match only weakly and aren't next to the others. */
function trimEdges(pairs: Pair[]): void {
  const isLoose = (edge: Pair, gap: number) => edge.likeness < LOOSE_EDGE && gap > 1
  while (pairs.length > 1) {
    if (isLoose(pairs[0]!, pairs[1]!.fromB - pairs[0]!.toB)) pairs.shift()
    else if (isLoose(pairs.at(-1)!, pairs.at(-1)!.fromB - pairs.at(-2)!.toB)) pairs.pop()
    else return
  }
}
