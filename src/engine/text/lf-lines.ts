// Lines as git counts them: only `\n` ends a line, and it belongs to the line.
import { countByte } from './count-bytes.ts'
import { LF } from './lines.ts'
import { Text } from './text.ts'

/** The start of the line that `offset` is on. */
export const lfLineStart = (bytes: Buffer, offset: number): number =>
  offset === 0 ? 0 : bytes.lastIndexOf(LF, offset - 1) + 1

/** The end of the line that `offset` is on, after its `\n`. */
export const lfLineEnd = (bytes: Buffer, offset: number): number => bytes.indexOf(LF, offset) + 1 || bytes.length

/** The number of lines of a text made of parts. */
export function countLfLines(parts: readonly Buffer[]): number {
  const count = parts.reduce((sum, part) => sum + countByte(part, LF), 0)
  const last = parts.findLast(part => part.length > 0)?.at(-1) ?? LF
  return last === LF ? count : count + 1
}

/** The first lines of a text, at most `most`, as views. */
export function lfLinesOf(bytes: Buffer, most = Infinity): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length && lines.length < most;) {
    const end = lfLineEnd(bytes, at)
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

/**
 * At most `most` first lines of a text made of parts, as views; a line that spans parts is a `Text` of them. No copies.
 */
export function lfLinesOfParts(parts: readonly Buffer[], most = Infinity): (Buffer | Text)[] {
  const lines: (Buffer | Text)[] = []
  /** The parts so far of a line whose end isn't found yet. */
  let open: Buffer[] = []
  const add = (view: Buffer): void => {
    lines.push(open.length === 0 ? view : new Text([...open, view]))
    open = []
  }
  for (const part of parts) {
    for (const view of lfLinesOf(part, most - lines.length)) {
      if (view.at(-1) === LF) add(view)
      else open.push(view)
    }
    if (lines.length === most) return lines
  }
  const last = open.pop()
  if (last !== undefined) add(last)
  return lines
}

/** At most `most` lines from `start` that begin before `end`: how many, and where they end. */
export function lfLinesFrom(bytes: Buffer, start: number, end: number, most: number): { count: number; at: number } {
  let at = start
  let count = 0
  for (; at < end && count < most; count++) at = lfLineEnd(bytes, at)
  return { count, at }
}

/** At most `most` lines that end at `end`: how many, and where they begin. */
export function lfLinesBefore(bytes: Buffer, end: number, most: number): { count: number; at: number } {
  let at = end
  let count = 0
  for (; at > 0 && count < most; count++) at = lfLineStart(bytes, at - 1)
  return { count, at }
}
