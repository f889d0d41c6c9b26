// The longest lines of old_text, looked for as they are: where one is found, nothing else need be searched. Knows bytes only.
import type { Budget } from './budget.ts'
import type { OldText } from './old-text.ts'

/** A line, the bytes of old_text before it and from it to the end. */
export interface Anchor { old: OldText, line: Buffer, before: number, after: number }

const LEAST_LENGTH = 8
const MOST_LENGTH = 64
const LINES_EACH = 2
const MOST_ANCHORS = 4
const MOST_FOUND = 24
/** Bytes searched a step. */
const SLOW = 4

/** At most four lines, longest first of each reading. */
export function anchorsOf (olds: readonly OldText[], encoding: 'utf8' | 'latin1'): Anchor[] {
  const anchors: Anchor[] = []
  const seen = new Set<string>()
  for (const old of olds) {
    const lines = old.filled.map(({ start, end }) => old.source.slice(start, end).trim()).filter(line => line.length >= LEAST_LENGTH)
    for (const whole of lines.sort((a, b) => b.length - a.length).slice(0, LINES_EACH)) {
      const line = whole.slice(0, MOST_LENGTH).replace(/[\ud800-\udbff]$/, '')
      if (seen.has(line)) continue
      seen.add(line)
      const before = Buffer.byteLength(old.source.slice(0, old.source.indexOf(line)), encoding)
      anchors.push({ old, line: Buffer.from(line, encoding), before, after: Buffer.byteLength(old.source, encoding) - before })
    }
  }
  return anchors.slice(0, MOST_ANCHORS)
}

/** The first places of a line, at most 24. */
export function findAnchor (text: Buffer, line: Buffer, budget: Budget): number[] {
  const found: number[] = []
  for (let at = text.indexOf(line); at !== -1 && found.length < MOST_FOUND; at = text.indexOf(line, at + 1)) found.push(at)
  budget.spend(text.length / SLOW)
  return found
}
