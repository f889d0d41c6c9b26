// The layout of a text: its line breaks and trailing white space. Finds the parts of a replacement that change nothing
// else.
import {
  ANY_BREAK,
  BREAK_TEXT,
  BreakCounter,
  breakEndIn,
  CR,
  isBreakByte,
  LF,
  lineEndingOf,
  textEndIn
} from '../text/lines.ts'
import type { RecordedSplice } from './change.ts'
import { lineHunks, stepsOfComparison } from '../edit/line-hunks.ts'
import { recordedSplices } from './refine.ts'

/** Part of a splice: trailing white space with its line break, or anything else. */
interface SplicePart extends RecordedSplice {
  isLayout: boolean
}

/** The bytes next to a splice; -1 at the start or end of the text, undefined if unknown. */
interface Beside {
  before: number | undefined
  behind: number | undefined
}

/**
 * The parts of a splice, in order, as offsets into the text before it; undefined if no part is only layout. Lines are
 * equal if they differ only in layout; a break at the end of the text is layout too. About linear in its bytes.
 */
export function layoutParts({ start, old, insert }: RecordedSplice, beside: Beside): SplicePart[] | undefined {
  if (mayPartBreak(old, insert, beside)) return undefined
  const [before, after] = [linesOf(old, beside), linesOf(insert, beside)]
  const parts: SplicePart[] = []
  let [line, other] = [0, 0]
  const same = (to: number): void => {
    for (; line < to; line++, other++) {
      const [from, ends] = [before.textEnds[line]!, before.starts[line + 1]!]
      const oldEnd = old.subarray(from, ends)
      const newEnd = insert.subarray(after.textEnds[other]!, after.starts[other + 1]!)
      if (oldEnd.equals(newEnd)) continue
      parts.push({ start: start + from, old: oldEnd, insert: newEnd, isLayout: true })
    }
  }
  for (const { from, to, otherFrom, otherTo } of lineHunks(before.plain, after.plain, stepsOfComparison())) {
    same(before.lineAt(from))
    const [lineEnd, otherEnd] = [before.lineAt(to), after.lineAt(otherTo)]
    const at = before.starts[line]!
    const was = old.subarray(at, before.starts[lineEnd]!)
    const is = insert.subarray(after.starts[after.lineAt(otherFrom)]!, after.starts[otherEnd]!)
    for (const splice of recordedSplices(was, [{ start: 0, end: was.length, insert: is }])) {
      parts.push({ ...splice, start: start + at + splice.start, isLayout: false })
    }
    ;[line, other] = [lineEnd, otherEnd]
  }
  same(before.textEnds.length)
  return parts.some(({ isLayout }) => isLayout) ? parts : undefined
}

/** Whether a splice replaces lines by lines with another kind of line break. */
export function breaksChange({ old, insert }: RecordedSplice): boolean {
  const [before, after] = [old, insert].map(bytes => new Set(bytes.toString('latin1').match(ANY_BREAK)))
  return before!.size > 0 && [...after!].some(text => !before!.has(text))
}

/**
 * Returns a function that gives replacement bytes for `start` to `end` the line breaks of the text; undefined if the
 * text has several kinds, or none.
 */
export function withBreaksIn(
  text: Buffer
): ((bytes: Buffer, place: { start: number; end: number }) => Buffer) | undefined {
  const counter = new BreakCounter()
  counter.push(text)
  const ending = lineEndingOf(counter.finish(0).counts)
  if (ending === 'mixed' || ending === 'none') return undefined
  return (bytes, { start, end }) => {
    const beside = { before: text[start - 1] ?? -1, behind: text[end] ?? -1 }
    if (mayPartBreak(bytes, bytes, beside)) return bytes
    return Buffer.from(bytes.toString('latin1').replace(ANY_BREAK, BREAK_TEXT[ending]), 'latin1')
  }
}

/** Whether half of a `\r\n` may lie outside the splice: then the half inside is no break. */
const mayPartBreak = (old: Buffer, insert: Buffer, { before, behind }: Beside): boolean =>
  [old, insert].some(
    bytes => (bytes[0] === LF && (before ?? CR) === CR) || (bytes.at(-1) === CR && (behind ?? LF) === LF)
  )

interface Lines {
  /** The start of each line, and the end of the last one. */
  starts: number[]
  /** The start of each line's layout. */
  textEnds: number[]
  /**
   * The lines without layout; `\n` stands for each break, including the one after these bytes, or the missing one at
   * the end of the text.
   */
  plain: Buffer
  /** The line that begins at an offset of `plain`. */
  lineAt(offset: number): number
}

function linesOf(text: Buffer, { before, behind }: Beside): Lines {
  const endsText = behind === -1
  const endsLine = endsText || (behind !== undefined && isBreakByte(behind))
  const starts = [0]
  const textEnds: number[] = []
  const pieces: Buffer[] = []
  const lineAt = new Map([[0, 0]])
  let length = 0
  const add = (from: number, textEnd: number, next: number, hasBreak: boolean): void => {
    pieces.push(text.subarray(from, textEnd))
    if (hasBreak) pieces.push(BREAK)
    length += textEnd - from + (hasBreak ? 1 : 0)
    textEnds.push(textEnd)
    starts.push(next)
    lineAt.set(length, textEnds.length)
  }
  let at = 0
  for (let breakAt = textEndIn(text, at); breakAt < text.length; breakAt = textEndIn(text, at)) {
    const next = breakEndIn(text, breakAt)
    add(at, withoutBlanks(text, at, breakAt), next, true)
    at = next
  }
  const isOpen =
    at > 0 ? at < text.length : text.length > 0 || (before !== undefined && before !== -1 && !isBreakByte(before))
  if (endsLine && (!endsText || isOpen)) add(at, withoutBlanks(text, at, text.length), text.length, true)
  else if (at < text.length) add(at, text.length, text.length, false)
  return { starts, textEnds, plain: Buffer.concat(pieces), lineAt: offset => lineAt.get(offset)! }
}

const BREAK = Buffer.of(LF)
const BLANKS: readonly number[] = [0x20, 0x09]

function withoutBlanks(text: Buffer, from: number, to: number): number {
  while (to > from && BLANKS.includes(text[to - 1]!)) to--
  return to
}

/**
 * Gives lines the indentation that similar lines have now: `was` became `now`. Undefined if the new indentation isn't
 * known. All are Latin-1, to allow any bytes.
 */
export function reindented(lines: string, was: string, now: string): string | undefined {
  const [before, after] = [was, now].map(indentationsOf)
  if (before!.join('\n') === after!.join('\n')) return lines
  if (was.replace(INDENTATION, '') !== now.replace(INDENTATION, '')) return before![0] === after![0] ? lines : undefined
  const known = new Map<string, string>()
  for (const [i, indentation] of before!.entries()) {
    if ((known.get(indentation) ?? after![i]) !== after![i]) return undefined
    known.set(indentation, after![i]!)
  }
  if (indentationsOf(lines).some(indentation => !known.has(indentation))) return undefined
  return lines.replace(INDENTATION, indentation => known.get(indentation)!)
}

/** The indentation of each line that isn't blank. */
const INDENTATION = /^[ \t]*(?=[^ \t\r\n])/gm
const indentationsOf = (text: string): string[] => text.match(INDENTATION) ?? []
