// Writes hunks as a V4A diff, and builds a hunk for a change at known lines that fits only there.
import { isUtf8 } from 'node:buffer'
import { type FileLines, withoutBlanks } from './file-lines.ts'
import { type Hunk, type HunkLine, oldLines } from './hunk.ts'
import { HunkFinder } from './place-hunks.ts'
import { END_OF_FILE } from './v4a.ts'

const MARKERS: Record<HunkLine['kind'], string> = { keep: ' ', remove: '-', add: '+' }

/** Lines of context on each side: how many before an anchor is tried, and at most. */
const FEW = 3
const MOST = 20
/** Lines above a change that are tried as its anchor: the first lines of the blocks around it. */
const MOST_ANCHORS = 6
/** How many lines we search for them. */
const MOST_ABOVE = 5000
/** Other places with the same lines; with more, we don't search for a distinguishing context. */
const MOST_RIVALS = 10_000

/** Writes a diff of these hunks. */
export function writeDiff(hunks: readonly Hunk[]): string {
  const lines: string[] = []
  for (const { anchors, lines: own, at_end } of hunks) {
    if (anchors.length === 0) lines.push('@@')
    for (const anchor of anchors) lines.push(`@@ ${anchor}`)
    for (const { kind, text } of own) lines.push(`${MARKERS[kind]}${text}`)
    if (at_end) lines.push(END_OF_FILE)
  }
  return `${lines.join('\n')}\n`
}

/**
 * A hunk for `lines`, whose old lines are in the file from line `first` on, with enough around them that it fits only
 * there; the previous hunk ends at line `cursor`. Tries a few lines of context, then an anchor, then more context.
 * Undefined if none of these suffices, or if the surrounding lines aren't UTF-8.
 */
export function uniqueHunk(
  file: FileLines,
  lines: readonly HunkLine[],
  first: number,
  cursor: number
): Hunk | undefined {
  for (const hunk of candidates(file, lines, first, cursor)) {
    if (hunk === undefined) continue
    const placed = new HunkFinder(file, [hunk]).place(hunk, 0, cursor)
    // Context above moves the start of the hunk.
    const above = hunk.lines.indexOf(lines[0]!)
    if (placed.ok && placed.value.first + above === first) return hunk
  }
  return undefined
}

function* candidates(
  file: FileLines,
  lines: readonly HunkLine[],
  first: number,
  cursor: number
): Generator<Hunk | undefined> {
  yield inContext(file, lines, first, cursor, FEW)
  yield* anchored(file, lines, first)
  yield inContext(file, lines, first, cursor, MOST)
}

/**
 * The lines with context that distinguishes them from all other places; undefined if `most` lines on each side don't.
 */
function inContext(
  file: FileLines,
  lines: readonly HunkLine[],
  first: number,
  cursor: number,
  most: number
): Hunk | undefined {
  const sought = oldLines({ lines })
  const end = first + sought.length
  let above = 0
  let below = 0
  const canAbove = (): boolean => above < most && first - above > cursor && isText(file, first - above - 1)
  const canBelow = (): boolean => below < most && end + below < file.count && isText(file, end + below)
  let rivals: number[] | undefined
  const narrow = (offset: number): void => {
    rivals = rivals!.filter(at => sameLine(file, at + offset, first + offset))
  }
  if (sought.length === 0) {
    // A line next to an insertion identifies its place.
    if (canAbove()) above++
    else if (canBelow()) below++
    else return undefined
    const known: HunkLine[] = [{ kind: 'keep', text: file.text(first - above) }]
    rivals = placesOf(file, known, cursor, first - above)?.map(at => at + above)
  } else rivals = placesOf(file, lines, cursor, first)
  if (rivals === undefined) return undefined
  while (rivals.length > 0) {
    if (above <= below && canAbove()) narrow(-++above)
    else if (canBelow()) narrow(sought.length + below++)
    else if (canAbove()) narrow(-++above)
    else return undefined
    // A place that begins above the end of the previous hunk isn't possible.
    rivals = rivals.filter(at => at - above >= cursor)
  }
  const kept = (from: number, to: number): HunkLine[] =>
    Array.from({ length: to - from }, (_, i) => ({ kind: 'keep', text: file.text(from + i) }))
  return {
    anchors: [],
    lines: [...kept(first - above, first), ...lines, ...kept(end, end + below)],
    at_end: false,
    patch_line: 1
  }
}

/** Other places of the old lines, from `cursor` on, besides line `own`; undefined if there are too many. */
function placesOf(file: FileLines, lines: readonly HunkLine[], cursor: number, own: number): number[] | undefined {
  const places: number[] = []
  for (const at of new HunkFinder(file, [{ anchors: [], lines }]).matches({ lines }, cursor)) {
    if (at !== own && places.push(at) > MOST_RIVALS) return undefined
  }
  return places
}

/** The lines below an anchor: each first line of a block around them, alone and below each outer one. */
function* anchored(file: FileLines, lines: readonly HunkLine[], first: number): Generator<Hunk> {
  const around = blocksAround(file, first).map(line => withoutBlanks(file.text(line)))
  for (const [i, anchor] of around.entries()) {
    for (const outer of [[], ...around.slice(i + 1).map(text => [text])]) {
      yield { anchors: [...outer, anchor], lines: [...lines], at_end: false, patch_line: 1 }
    }
  }
}

/** The lines above a line with less and less indentation, the nearest first. */
function blocksAround(file: FileLines, first: number): number[] {
  const lines: number[] = []
  let indent = first < file.count ? (file.indentOf(first) ?? Infinity) : Infinity
  for (let i = first - 1; i >= Math.max(0, first - MOST_ABOVE) && indent > 0 && lines.length < MOST_ANCHORS; i--) {
    const own = file.indentOf(i)
    if (own === undefined || own >= indent) continue
    indent = own
    if (isText(file, i)) lines.push(i)
  }
  return lines
}

const isText = (file: FileLines, index: number): boolean => isUtf8(file.line(index))

const sameLine = (file: FileLines, index: number, other: number): boolean =>
  index >= 0 && index < file.count && file.line(index).equals(file.line(other))
