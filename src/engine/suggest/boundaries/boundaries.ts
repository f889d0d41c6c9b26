// Where the region begins and ends, from an alignment of lines: whole lines, or from within one. Does not know how it
// was found.
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
 * Folded codes that may follow in a line where old_text has a break: up to so many, the line is taken whole, as old_text
 * says that it ends there, and what follows is told as a difference. With more, its end isn't what was meant.
 */
const MOST_REST = 120

/**
 * The region of an alignment by lines: from the start of its first line to the end of its last, with the break where
 * old_text has one. Where old_text's first line is exactly the end of its line, from there; where its last line is
 * exactly the beginning of its line, to there, unless old_text has a break after it and little follows (`MOST_REST`).
 * Signs that another line of the region has beyond old_text as well, such as `;`, belong to it at its edges too.
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
    const isBegun = !isWhole(last) && line.text.length > sought.length && line.text.startsWith(sought)
    const isCut = isBegun && (!isEnded || line.to - line.from - sought.length > MOST_REST)
    if (isCut && !isStyle(line.text.slice(sought.length), true)) {
      end = stretch.folded.offsets[line.from + sought.length - 1]! + 1
      while (end < source.length && isCombining(source.charCodeAt(end))) end++
    } else if (isEnded) end = afterBreak(source, end)
  }
  return { start, end }
}

/** What a line begins with that ends as the one sought; empty if it doesn't. */
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
  // A backslash at the start of a line is folded away: it is left out where old_text has none.
  const there = source.slice(line.start, line.end)
  if (line.text === sought.text && /^[^\s\\]/.test(old.source.slice(sought.start)) && /^\s*\\/.test(there)) {
    return line.start + there.indexOf('\\') + 1
  }
  return line.start
}

/** The offset after the break at `at`, or `at` where there is none. */
export function afterBreak(source: string, at: number): number {
  const past = source[at] === '\r' ? at + 1 : at
  return source[past] === '\n' ? past + 1 : past
}
