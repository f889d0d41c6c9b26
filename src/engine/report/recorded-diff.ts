// The diff of a change from its record: the splices and the text around each, without the file. Does not know records
// of files, or where they are kept.
import { countByte } from '../text/count-bytes.ts'
import { LF } from '../text/lines.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import { type Diff, diffOfParts, type DiffOptions, type DiffPart } from './diff.ts'

/** A splice as it was recorded: what it replaced, by what. `start` in bytes of the text before the change. */
export interface KnownSplice {
  readonly start: number
  readonly old: Buffer
  readonly insert: Buffer
}

/**
 * Its first line, 1-based, and the text on both sides: whole lines from there on, unless one was too long to be kept.
 */
export interface Surroundings {
  readonly start_line: number
  readonly before: Buffer
  readonly after: Buffer
}

/** Splices that are near each other, and the text from before the first to after the last. */
interface Stretch {
  original: Buffer[]
  /** Where it begins in the whole text, and where it ends, both in bytes; how many lines lie before it. */
  start: number
  end: number
  lines: number
  splices: KnownSplice[]
}

/** `kept`: bytes of the text that were kept on each side of a splice at most. */
export interface RecordedDiffOptions extends DiffOptions {
  kept: number
}

/**
 * The diff of a change, as `unifiedDiff` would have made it: of each of `splices` (sorted, disjoint) the one of
 * `around` with the same index. Where a line is longer than what was kept, the diff is unavailable (too_long). Line
 * numbers are right unless a lone `\r` ends lines of the file.
 */
export function recordedDiff(
  splices: readonly KnownSplice[],
  around: readonly Surroundings[],
  options: RecordedDiffOptions
): Diff {
  const isCut = (text: Buffer) => text.length >= options.kept && !text.includes(LF)
  if (around.some(({ before, after }) => isCut(before) || isCut(after))) return { diff_unavailable: 'too_long' }
  return diffOfParts(stretchesOf(splices, around).map(toPart), options)
}

function stretchesOf(splices: readonly KnownSplice[], around: readonly Surroundings[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const [i, splice] of splices.entries()) {
    const { start_line, before, after } = around[i]!
    const last = stretches.at(-1)
    const from = splice.start - before.length
    const end = splice.start + splice.old.length
    if (last !== undefined && from <= last.end) join(last, splice, before)
    else {
      const lines = start_line - 1 - countByte(before, LF, 0, before.length)
      stretches.push({ original: [before, splice.old], start: from, end, lines, splices: [splice] })
    }
    const stretch = stretches.at(-1)!
    stretch.original.push(after)
    stretch.end = end + after.length
  }
  return stretches
}

/** The text after the last splice reaches to this one, or into it, or what is before this one begins there. */
function join(stretch: Stretch, splice: KnownSplice, before: Buffer): void {
  const after = stretch.original.pop()!
  const known = stretch.end
  stretch.original.push(
    known >= splice.start
      ? after.subarray(0, after.length - (known - splice.start))
      : Buffer.concat([after, before.subarray(before.length - (splice.start - known))]),
    splice.old
  )
  stretch.splices.push(splice)
}

function toPart({ original, start, lines, splices }: Stretch): DiffPart {
  const bytes = Buffer.concat(original)
  const list = splices.map((splice): Splice => {
    const at = splice.start - start
    return { start: at, end: at + splice.old.length, insert: splice.insert }
  })
  return {
    original: bytes,
    splices: new Splices(list, bytes.length),
    lineFeedsBefore: offset => lines + countByte(bytes, LF, 0, offset)
  }
}
