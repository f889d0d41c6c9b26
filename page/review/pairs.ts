// Which lines of a hunk are side by side, which words differ between two of them, and what is shown of long lines. Does
// not know the DOM.

/** A part of a line; offsets are UTF-16. */
export interface Stretch {
  start: number
  end: number
}

/** A word, a run of white space, or a single sign. */
const TOKEN = /[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu

/** One of two lines in tokens; `shared[i]` is 1 if the other line has token `i` too. */
interface Side {
  tokens: readonly string[]
  shared: Uint8Array
}

const sideOf = (text: string): Side => {
  const tokens = text.match(TOKEN) ?? []
  return { tokens, shared: new Uint8Array(tokens.length) }
}

/**
 * Where two lines differ, in order; a stretch of the one belongs to that of the other at the same index, and may be
 * empty. Null if they have so little in common that marking it wouldn't help.
 */
export function differing(left: string, right: string): { left: Stretch[]; right: Stretch[] } | null {
  const [old, now] = [sideOf(left), sideOf(right)]
  markShared(old, now)
  const common = old.tokens.reduce((sum, token, i) => sum + (old.shared[i] === 1 ? token.trim().length : 0), 0)
  if (common === 0 || common * 3 < Math.max(left.trim().length, right.trim().length)) return null
  const found: { left: Stretch[]; right: Stretch[] } = { left: [], right: [] }
  const [ofOld, ofNow] = [stretchesOf(old), stretchesOf(now)]
  for (const [i, stretch] of ofOld.entries()) {
    const other = ofNow[i]!
    if (stretch.start === stretch.end && other.start === other.end) continue
    found.left.push(stretch)
    found.right.push(other)
  }
  return found
}

/** What stands before each shared token, and after the last one, that the other line doesn't have; it may be empty. */
function stretchesOf({ tokens, shared }: Side): Stretch[] {
  const found: Stretch[] = []
  let start = 0
  let end = 0
  for (const [i, token] of tokens.entries()) {
    if (shared[i] === 1) {
      found.push({ start, end })
      start = end + token.length
    }
    end += token.length
  }
  return [...found, { start, end }]
}

/** Marks the start and the end that both have, and a longest common subsequence of what is between. */
function markShared(old: Side, now: Side): void {
  const [left, right] = [old.tokens, now.tokens]
  const mark = (i: number, j: number) => {
    old.shared[i] = 1
    now.shared[j] = 1
  }
  let lead = 0
  for (; lead < Math.min(left.length, right.length) && left[lead] === right[lead]; lead++) mark(lead, lead)
  let [leftEnd, rightEnd] = [left.length, right.length]
  while (leftEnd > lead && rightEnd > lead && left[leftEnd - 1] === right[rightEnd - 1]) mark(--leftEnd, --rightEnd)
  const between = commonTokens(left.slice(lead, leftEnd), right.slice(lead, rightEnd))
  for (const [i, j] of between) mark(lead + i, lead + j)
}

/** How many tokens may differ between the first and the last difference; with more, all between them differs. Chosen. */
const MOST_DIFFERENCES = 400

/** In an array with a place for each diagonal: where that of diagonal 0 is. */
const ZERO = MOST_DIFFERENCES + 1

/** The diagonal from which step `steps` gets to diagonal `k`; `reached` as after the step before. */
const sourceOf = (k: number, steps: number, reached: Int32Array): number =>
  k === -steps || (k !== steps && reached[ZERO + k - 1]! < reached[ZERO + k + 1]!) ? k + 1 : k - 1

/** The indexes of tokens that both have, in the same order: Myers' algorithm. Empty if too many differ. */
function commonTokens(left: readonly string[], right: readonly string[]): [number, number][] {
  /** For each diagonal: how far along `left` it is reached. */
  const reached = new Int32Array(2 * ZERO + 1)
  /** `reached` before each step. */
  const before: Int32Array[] = []
  for (let steps = 0; steps <= MOST_DIFFERENCES; steps++) {
    before.push(reached.slice())
    for (let k = -steps; k <= steps; k += 2) {
      const source = sourceOf(k, steps, reached)
      let i = reached[ZERO + source]! + (source < k ? 1 : 0)
      while (i < left.length && i - k < right.length && left[i] === right[i - k]) i++
      reached[ZERO + k] = i
      if (i >= left.length && i - k >= right.length) return walkBack(before, i, i - k)
    }
  }
  return []
}

/** The common tokens on the way that was found to the end of both texts. */
function walkBack(before: readonly Int32Array[], i: number, j: number): [number, number][] {
  const found: [number, number][] = []
  for (let steps = before.length - 1; steps >= 0; steps--) {
    const source = sourceOf(i - j, steps, before[steps]!)
    const start = before[steps]![ZERO + source]!
    while (i > start && j > start - source) found.push([--i, --j])
    ;[i, j] = [start, start - source]
  }
  return found
}

/* In UTF-16 units; chosen. */
/** A longer line is cut. */
const LONGEST = 1000
/** What is shown on each side of a difference in a long line. */
const NEAR = 100
/** What is shown of the start of a long line without differences, and of each end of a long difference. */
const MUCH = 500

/** Moves an offset to the start of the character that it is in. */
const whole = (text: string, at: number) => (/[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at)

/** The parts of a line that are shown, in order. */
export function shownParts(text: string, differing: readonly Stretch[]): Stretch[] {
  if (text.length <= LONGEST) return [{ start: 0, end: text.length }]
  const around = differing.flatMap(({ start, end }) =>
    end - start <= 2 * MUCH
      ? [{ start: start - NEAR, end: end + NEAR }]
      : [
          { start: start - NEAR, end: start + MUCH },
          { start: end - MUCH, end: end + NEAR }
        ]
  )
  const parts: Stretch[] = []
  for (const { start, end } of around.length > 0 ? around : [{ start: 0, end: MUCH }]) {
    const last = parts.at(-1)
    // A cut that leaves out next to nothing would only be in the way.
    const to = end > text.length - NEAR ? text.length : whole(text, end)
    if (last !== undefined && start <= last.end + NEAR) last.end = to
    else parts.push({ start: start < NEAR ? 0 : whole(text, start), end: to })
  }
  return parts
}

/** Two lines side by side; one of them may be missing. */
interface Pair<Line> {
  left?: Line
  right?: Line
}

/** Unchanged lines are on both sides; of removed lines and added ones after them, the first is beside the first. */
export function pairsOf<Line extends { kind: 'same' | 'added' | 'removed' }>(lines: readonly Line[]): Pair<Line>[] {
  const pairs: Pair<Line>[] = []
  let removed: Line[] = []
  let added: Line[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      const [left, right] = [removed[i], added[i]]
      pairs.push({ left, right })
    }
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'same') {
      flush()
      pairs.push({ left: line, right: line })
    } else if (line.kind === 'added') added.push(line)
    else {
      if (added.length > 0) flush()
      removed.push(line)
    }
  }
  flush()
  return pairs
}

const bare = (text: string) => text.replace(/\s+/g, '')

interface NumberedLine {
  kind: 'same' | 'added' | 'removed'
  text: string
  line?: number
  base_line?: number
}

/** The lines, with those that differ in white space only as unchanged ones. */
export function withoutSpace<Line extends NumberedLine>(lines: readonly Line[]): Line[] {
  const shown: Line[] = []
  let differ: { removed: Line[]; added: Line[] } = { removed: [], added: [] }
  const flush = () => {
    shown.push(...differ.removed, ...differ.added)
    differ = { removed: [], added: [] }
  }
  for (const { left, right } of pairsOf(lines)) {
    if (bare(left?.text ?? '') !== bare(right?.text ?? '')) {
      if (left !== undefined) differ.removed.push(left)
      if (right !== undefined) differ.added.push(right)
    } else if (right !== undefined) {
      flush()
      shown.push({ ...right, kind: 'same', base_line: left?.base_line })
    }
  }
  flush()
  return shown
}
