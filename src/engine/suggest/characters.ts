// Maps folded codes of old_text to codes of the text, one by one, for single lines and parts of lines.
import type { Budget } from './budget.ts'
import type { Fit } from './verify.ts'

/** For each code of old_text, the index of the equal code of the text; -1 if there is none. */
export type CodeMap = Int32Array

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Most cells in the table of a band, and in that of a gap between runs; what needs more isn't mapped. */
const MOST_CELLS = 8_000_000
const MOST_GAP_CELLS = 200_000
/** Codes in the piece that starts a run. */
const PIECE = 4
/** Most runs to keep (the longest), and most places of the same piece to follow (the first). */
const MOST_RUNS = 4000
const MOST_SAME = 12
/** How many of the runs before one to consider as its predecessor in a chain. */
const MOST_BEFORE = 80
/** Cost of a gap in a chain, in codes: for each code of its shorter side, and once if its sides differ in length. */
const GAP_COST = 0.35
const SKEW_COST = 1.2
/** Cost of each extra code on one side: in the text, and in old_text. */
const INSERTED_COST = 0.035
const LOST_COST = 0.1
/** Most codes to map before the first run and after the last. */
const MOST_EDGE = 400

/** Greater than any edit distance. */
const NOWHERE = 1 << 29

/**
 * The map of an edit script of `fit.distance` steps that ends at `fit.end`, computed in a band that extends by the
 * distance to both sides. Undefined if that is too much work.
 */
export function mapInBand(a: Uint16Array, b: Uint16Array, fit: Fit, budget: Budget): CodeMap | undefined {
  const { distance, end } = fit
  const width = 2 * distance + 1
  if (a.length * width > MOST_CELLS || !budget.spend(a.length * width * 4)) return undefined
  const base = end - a.length - distance
  const moves = new Uint8Array((a.length + 1) * width)
  let before = new Int32Array(width + 2).fill(NOWHERE)
  let row = new Int32Array(width + 2).fill(NOWHERE)
  for (let k = 0; k < width; k++) if (base + k >= 0 && base + k <= end) before[k + 1] = 0
  for (let i = 1; i <= a.length; i++) {
    row[0] = row[width + 1] = NOWHERE
    for (let k = 0; k < width; k++) {
      const j = base + i + k
      let cost = NOWHERE
      let move = 0
      if (j >= 0 && j <= end) {
        if (j > 0) {
          cost = before[k + 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
          move = 1
        }
        if (before[k + 2]! + 1 < cost) {
          cost = before[k + 2]! + 1
          move = 2
        }
        if (row[k]! + 1 < cost) {
          cost = row[k]! + 1
          move = 3
        }
      }
      row[k + 1] = cost
      moves[i * width + k] = move
    }
    ;[before, row] = [row, before]
  }
  const map = new Int32Array(a.length).fill(-1)
  for (let i = a.length, k = distance; i > 0;) {
    const move = moves[i * width + k]!
    if (move === 3) k--
    else {
      const j = base + i + k
      if (move === 1 && a[i - 1] === b[j - 1]) map[i - 1] = j - 1
      if (move === 2) k++
      i--
    }
  }
  return map
}

/** Equal codes, `length` long, from `a[i]` and `b[j]`, with the run before it in the best chain. */
interface Run {
  i: number
  j: number
  length: number
  score: number
  previous: number
}

/**
 * The map along the best chain of equal runs; the gaps between runs are filled by edit distance. Undefined if no piece
 * is equal.
 */
export function mapByChain(a: Uint16Array, b: Uint16Array, budget: Budget): CodeMap | undefined {
  const runs = runsOf(a, b, budget)
  if (runs.length === 0) return undefined
  const chain = chainOf(runs)
  const map = new Int32Array(a.length).fill(-1)
  let [i, j] = [-1, -1]
  for (const run of chain) {
    const overlap = i < 0 ? 0 : Math.max(0, i - run.i, j - run.j)
    for (let k = overlap; k < run.length; k++) map[run.i + k] = run.j + k
    if (i >= 0) fill(map, a, b, [i, run.i], [j, run.j], 'both', budget)
    i = Math.max(i, run.i + run.length)
    j = Math.max(j, run.j + run.length)
  }
  const first = chain[0]!
  const head = Math.min(first.i, MOST_EDGE)
  fill(map, a, b, [first.i - head, first.i], [Math.max(0, first.j - reach(head)), first.j], 'end', budget)
  const tail = Math.min(a.length - i, MOST_EDGE)
  fill(map, a, b, [i, i + tail], [j, Math.min(b.length, j + reach(tail))], 'start', budget)
  return map
}

/** Codes of the text that may hold `length` codes at an edge of old_text. */
const reach = (length: number): number => length + (length >> 1)

function runsOf(a: Uint16Array, b: Uint16Array, budget: Budget): Run[] {
  const index = new Map<number, number[]>()
  const hash = (codes: Uint16Array, at: number) => {
    let h = 0
    for (let k = 0; k < PIECE; k++) h = (Math.imul(h, 131) + codes[at + k]!) | 0
    return h
  }
  for (let i = 0; i + PIECE <= a.length; i++) {
    const h = hash(a, i)
    const places = index.get(h)
    if (places === undefined) index.set(h, [i])
    else if (places.length < MOST_SAME) places.push(i)
  }
  // How far each diagonal has been followed.
  const followed = new Int32Array(a.length + b.length + 1).fill(-1)
  const runs: Run[] = []
  for (let j = 0; j + PIECE <= b.length; j++) {
    for (const i of index.get(hash(b, j)) ?? []) {
      const diagonal = j - i + a.length
      if (followed[diagonal]! >= j + PIECE) continue
      let length = 0
      while (i + length < a.length && j + length < b.length && a[i + length] === b[j + length]) length++
      if (length < PIECE || !budget.spend(length)) continue
      followed[diagonal] = j + length
      runs.push({ i, j, length, score: length, previous: -1 })
    }
  }
  if (runs.length > MOST_RUNS) runs.sort((x, y) => y.length - x.length).length = MOST_RUNS
  return runs.sort((x, y) => x.j + x.length - (y.j + y.length) || x.i - y.i)
}

function chainOf(runs: Run[]): Run[] {
  let best = 0
  for (const [index, run] of runs.entries()) {
    for (let k = index - 1; k >= Math.max(0, index - MOST_BEFORE); k--) {
      const other = runs[k]!
      if (other.i >= run.i || other.j >= run.j) continue
      const [endI, endJ] = [other.i + other.length, other.j + other.length]
      const overlap = Math.max(0, endI - run.i, endJ - run.j)
      if (overlap >= run.length) continue
      const gapI = Math.max(0, run.i + overlap - endI)
      const gapJ = Math.max(0, run.j + overlap - endJ)
      const skew = Math.abs(gapI - gapJ)
      const cost =
        Math.min(gapI, gapJ) * GAP_COST +
        (skew === 0 ? 0 : SKEW_COST + skew * (gapJ > gapI ? INSERTED_COST : LOST_COST))
      const score = other.score + run.length - overlap - cost
      if (score > run.score) {
        run.score = score
        run.previous = k
      }
    }
    if (run.score > runs[best]!.score) best = index
  }
  const chain: Run[] = []
  for (let at = best; at !== -1; at = runs[at]!.previous) chain.unshift(runs[at]!)
  return chain
}

/**
 * Maps the equal codes of two ranges by edit distance. `fixed`: which ends of the ranges correspond: both, only the
 * end, or only the start.
 */
function fill(
  map: CodeMap,
  a: Uint16Array,
  b: Uint16Array,
  [fromA, toA]: [number, number],
  [fromB, toB]: [number, number],
  fixed: 'both' | 'start' | 'end',
  budget: Budget
): void {
  const [rows, columns] = [toA - fromA, toB - fromB]
  if (rows <= 0 || columns <= 0 || rows * columns > MOST_GAP_CELLS || !budget.spend(rows * columns * 2)) return
  const width = columns + 1
  const costs = new Uint16Array((rows + 1) * width)
  const isEqual = (i: number, j: number) => a[fromA + i - 1] === b[fromB + j - 1]
  if (fixed !== 'end') for (let j = 0; j <= columns; j++) costs[j] = j
  for (let i = 1; i <= rows; i++) {
    costs[i * width] = i
    for (let j = 1; j <= columns; j++) {
      const at = i * width + j
      costs[at] = Math.min(costs[at - width - 1]! + (isEqual(i, j) ? 0 : 1), costs[at - width]! + 1, costs[at - 1]! + 1)
    }
  }
  let j = columns
  if (fixed === 'start') {
    for (let k = columns; k >= 0; k--) if (costs[rows * width + k]! <= costs[rows * width + j]!) j = k
  }
  for (let i = rows; i > 0 && j > 0;) {
    const at = i * width + j
    if (costs[at - width - 1]! + (isEqual(i, j) ? 0 : 1) === costs[at]) {
      if (isEqual(i, j)) map[fromA + i - 1] = fromB + j - 1
      i--
      j--
    } else if (costs[at - width]! + 1 === costs[at]) i--
    else j--
  }
}
