// Where the region begins and ends, given an alignment of lines: at line boundaries, or within a line.
import type { Alignment } from '../align.ts'
import { isCombining, isDash, type FoldedLine } from '../fold.ts'
import type { Stretch } from '../haystack.ts'
import type { OldText } from '../readings.ts'
import { haveLetters } from '../words.ts'

/** A part of a stretch: UTF-16 offsets. */
export interface TextSpan {
  start: number
  end: number
}

/** A region (bytes) with its rank, found for the text `old`. */
export interface Ranked {
  start: number
  end: number
  rank: number
  old: { source: string }
}

/**
 * Folded codes that may follow in a line where old_text has a break: up to this many, the line is taken whole, because
 * old_text says that it ends there, and the rest is reported as a difference. With more, another line end was meant.
 */
const MOST_REST = 120

/**
 * The region of an alignment by lines: from the start of its first line to the end of its last, with the break if
 * old_text has one. If old_text's first line is exactly the end of its line, the region starts there; if its last line
 * is exactly the beginning of its line, the region ends there, unless old_text has a break after it and little follows
 * (`MOST_REST`). Signs, such as `;`, that another line of the region has beyond old_text also count at its edges.
 */
export function spanOfLines(old: OldText, stretch: Stretch, { pairs }: Alignment): TextSpan {
  const [first, last] = [pairs[0]!, pairs.at(-1)!]
  const { source } = stretch.folded
  const isWhole = (pair: typeof first) => pair.fromA !== pair.toA || pair.fromB !== pair.toB
  const isStyle = (signs: string, isAtEnd: boolean): boolean =>
    !haveLetters(signs) &&
    pairs.some(pair => {
      const [sought, there] = [old.filled[pair.fromA]!.text, stretch.lines[pair.fromB]!.text]
      const isEdge = pair === (isAtEnd ? last : first)
      return !isEdge && !isWhole(pair) && there === (isAtEnd ? sought + signs : signs + sought)
    })
  let { start } = stretch.lines[first.fromB]!
  const before = signsBefore(old.filled[0]!, stretch.lines[first.fromB]!)
  if (first.fromA === 0 && !isWhole(first) && !isStyle(before, false)) {
    start = startIn(old.filled[0]!, old, stretch, stretch.lines[first.fromB]!)
  }
  const line = stretch.lines[last.toB]!
  let end = line.end
  if (last.toA === old.filled.length - 1) {
    const sought = old.filled.at(-1)!.text
    const isEnded = old.source.endsWith('\n')
    const isPrefix = !isWhole(last) && line.text.length > sought.length && line.text.startsWith(sought)
    const isCut = isPrefix && (!isEnded || line.to - line.from - sought.length > MOST_REST)
    if (isCut && !isStyle(line.text.slice(sought.length), true)) {
      end = stretch.folded.offsets[line.from + sought.length - 1]! + 1
      while (end < source.length && isCombining(source.charCodeAt(end))) end++
    } else if (isEnded) end = afterBreak(source, end)
  }
  return { start, end }
}

/** What a line has before `sought`, if it ends with it; else empty. */
const signsBefore = (sought: FoldedLine, { text }: FoldedLine): string =>
  text.endsWith(sought.text) ? text.slice(0, text.length - sought.text.length) : ''

function startIn(sought: FoldedLine, old: OldText, stretch: Stretch, line: FoldedLine): number {
  const { source, offsets } = stretch.folded
  if (line.text.length > sought.text.length && line.text.endsWith(sought.text)) {
    let start = offsets[line.to - sought.text.length]!
    if (isDash(old.source.slice(sought.start).trimStart()[0])) {
      while (start > line.start && source[start - 1] === '-') start--
    }
    return source.slice(line.start, start).trim() === '' ? line.start : start
  }
  // Folding removes a backslash at the start of a line: it is left out if old_text has none.
  const there = source.slice(line.start, line.end)
  if (line.text === sought.text && /^[^\s\\]/.test(old.source.slice(sought.start)) && /^\s*\\/.test(there)) {
    return line.start + there.indexOf('\\') + 1
  }
  return line.start
}

/** The offset after the break at `at`, or `at` if there is none. */
export function afterBreak(source: string, at: number): number {
  const past = source[at] === '\r' ? at + 1 : at
  return source[past] === '\n' ? past + 1 : past
}
