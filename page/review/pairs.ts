// Which lines of a hunk are side by side, and what differs between two of them. Does not know the DOM.

/** Where two texts differ: between their common start and end. Offsets are UTF-16. */
interface Differing {
  start: number
  left_end: number
  right_end: number
}

const isHigh = (text: string, at: number) => /[\ud800-\udbff]/.test(text[at] ?? '')

/** Null if they have so little in common that marking it wouldn't help. */
export function differing(left: string, right: string): Differing | null {
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  // Mark both halves of a surrogate pair, or neither.
  if (start > 0 && isHigh(left, start - 1)) start--
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++
  if (end > 0 && isHigh(left, left.length - end - 1)) end--
  const common = left.slice(0, start).trim().length + (end > 0 ? left.slice(-end).trim().length : 0)
  if (common === 0 || common * 3 < Math.max(left.trim().length, right.trim().length)) return null
  return { start, left_end: left.length - end, right_end: right.length - end }
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
