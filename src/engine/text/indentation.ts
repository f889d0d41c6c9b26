// How a text is indented.
import { lineFrom, markLength } from './lines.ts'
import { Text } from './text.ts'

export interface Indentation {
  style: 'tabs' | 'spaces' | 'mixed' | 'none'
  width?: number
}

/** Most lines to judge the indentation by. */
const SAMPLED_LINES = 10_000

/**
 * How the first lines are indented. The width is the most frequent step by which indentation grows; 4 if there is none.
 */
export function indentationOf(head: Buffer): Indentation {
  const text = new Text([head])
  let tabs = 0
  let spaces = 0
  let previous = 0
  const steps = new Map<number, number>()
  for (let at: number = markLength(text), i = 0; at < text.length && i < SAMPLED_LINES; i++) {
    const line = lineFrom(text, at)
    at = line.next
    const head = text.slice(line.start, Math.min(line.end, line.start + 200))
    const first = head.findIndex(byte => byte !== 32 && byte !== 9)
    if (first === -1) continue
    if (head[0] === 9) tabs++
    // One space is not an indentation: the second line of a block comment has it.
    else if (first > 1) spaces++
    if (head[0] !== 9 && first !== 1) {
      if (first > previous) steps.set(first - previous, (steps.get(first - previous) ?? 0) + 1)
      previous = first
    }
  }
  if (tabs === 0 && spaces === 0) return { style: 'none' }
  const [width] = [...steps].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [4]
  if (tabs === 0) return { style: 'spaces', width }
  // A few lines of the other kind don't count.
  if (spaces > tabs * 9) return { style: 'spaces', width }
  return tabs > spaces * 9 ? { style: 'tabs' } : { style: 'mixed', width }
}
