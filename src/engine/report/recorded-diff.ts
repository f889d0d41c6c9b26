// The diff of a change from its record: the splices and the text around each, without the file.
import { countByte } from '../text/count-bytes.ts'
import { LF } from '../text/lines.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import { type Diff, diffOfParts, type DiffOptions, type DiffPart } from './diff.ts'

/** A splice as recorded: `insert` replaced `old`. `start` in bytes of the text before the change. */
interface KnownSplice {
  readonly start: number
  readonly old: Buffer
  readonly insert: Buffer
}

/** The 1-based first line, and the text on both sides: whole lines from there on, unless one was too long to keep. */
export interface Surroundings {
  readonly start_line: number
  readonly before: Buffer
  readonly after: Buffer
}

/** Splices close to each other, and the text from before the first to after the last. */
interface Stretch {
  original: Buffer[]
  /** Where the stretch begins and ends in the whole text, in bytes; `lines`: the number of lines before it. */
  start: number
  end: number
  lines: number
  splices: KnownSplice[]
}

/** `kept`: the most bytes of text kept on each side of a splice. */
export interface RecordedDiffOptions extends DiffOptions {
  kept: number
}

/**
 * The diff of a change, as `unifiedDiff` would have made it; each of `splices` (sorted, disjoint) has the `around`
 * entry with the same index. Unavailable (too_long) if a line is longer than what was kept. Line numbers are correct
 * unless a lone `\r` ends lines of the file.
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

/** Joins a splice to a stretch if the text kept after the last splice reaches it or the text kept before it. */
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
