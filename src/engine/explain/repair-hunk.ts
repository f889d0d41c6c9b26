// Repairs a hunk that has no place in the file: finds what it probably meant, as hunks that fit, and writes whole diffs
// with them. Does not know sentences.
import type { DiffFix } from '../failure.ts'
import type { FileLines } from '../patch/file-lines.ts'
import { type Hunk, type HunkLine, newLines, oldLines } from '../patch/hunk.ts'
import { HunkFinder, type HunkMisfit, type HunkPlace, placeHunks } from '../patch/place-hunks.ts'
import { uniqueHunk, writeDiff } from '../patch/write-hunk.ts'
import { changedRanges } from '../suggest/differences/changed-ranges.ts'
import { indentRule } from '../suggest/indent-rule.ts'
import { merge } from '../suggest/merge.ts'
import { MARGIN, suggest, type Suggestions } from '../suggest/suggest.ts'
import { decode } from '../text/encoding.ts'
import { breakBefore, splitAtBreaks, withLf } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { MEDIUM } from './similar-content.ts'

/** Most places of one hunk to propose. */
const MOST_PLACES = 3
/** How often to place the hunks of one diff until all fit. */
const MOST_TRIES = 24
/** Most UTF-16 units of a diff to offer: it is given whole or not at all. */
const DIFF_LENGTH = 64_000
/** Most lines that only one of two texts may have. */
const MOST_EDITS = 2000

/** A hunk that fits, and the 0-based lines of the file that it covers, end exclusive. */
interface Repaired {
  hunk: Hunk
  from: number
  to: number
}

/** Text of the file that resembles the text sought: what `suggest` finds in the bytes from `offset` on. */
export interface Similar {
  suggestions: Suggestions
  offset: number
}

/** What resembles `text` from a line on; if nothing does, what resembles it in the whole file. */
function similarTo(file: FileLines, text: string, from: number): Similar {
  const offset = file.starts[Math.min(from, file.count)]!
  const below = suggest(file.bytes.subarray(offset), text)
  const isClear = below.candidates.some(({ score }) => score >= MEDIUM)
  return isClear || from === 0 ? { suggestions: below, offset } : { suggestions: suggest(file.bytes, text), offset: 0 }
}

/** The text that a misfit is about: an anchor, or the old lines. */
export function soughtText(hunk: Hunk, misfit: HunkMisfit): string {
  return 'anchor' in misfit ? hunk.anchors[misfit.anchor]! : oldLines(hunk).join('\n')
}

/**
 * Diffs in which all hunks fit, one for each of the first places that the misfit hunk may mean; if it has one place and
 * a later hunk has several, one for each of these. `similar`: what resembles the text that the hunk lacks. `too_long`:
 * there are diffs, but none is short enough.
 */
export function correctedDiffs(
  file: FileLines,
  hunks: readonly Hunk[],
  misfit: HunkMisfit,
  similar: Similar | undefined
): { diffs: DiffFix[]; too_long?: true } {
  const { hunk_index, reason } = misfit
  const type = reason === 'lines_twice' || reason === 'anchor_twice' ? 'ADD_CONTEXT' : 'USE_EXACT_TEXT'
  const ordered = inOrder(file, hunks, misfit) ?? sorted(file, hunks, misfit)
  const ways = ordered === undefined ? [...repairs(file, hunks[hunk_index]!, misfit, similar)] : []
  const found =
    ordered === undefined
      ? [...addedAtEnd(file, hunks, misfit), ...fixesFor(file, hunks, ways, { type, hunk_index, before: [] })]
      : [fixOf(type, ordered.hunks, ordered, ordered.corrected)]
  const [only, another] = ways
  if (found.length === 0 && only !== undefined && another === undefined) {
    found.push(...forLaterHunk(file, hunks.with(hunk_index, only.hunk), hunk_index))
  }
  // After adapting to the file, the removed lines may equal the added ones.
  const changing = found.filter(
    ({ diff }, i) => /^[-+]/m.test(diff) && found.findIndex(other => other.diff === diff) === i
  )
  const diffs = changing.filter(({ diff }) => diff.length <= DIFF_LENGTH)
  return { diffs, ...(diffs.length < changing.length && diffs.length === 0 && { too_long: true as const }) }
}

/** The diff in which all additions that have no place are at the end of the file, below the other hunks. */
function addedAtEnd(file: FileLines, hunks: readonly Hunk[], { reason }: HunkMisfit): DiffFix[] {
  const isPlaced = (hunk: Hunk): boolean => hunk.at_end || hunk.anchors.length > 0 || oldLines(hunk).length > 0
  const placed = hunks.flatMap((hunk, i) => (isPlaced(hunk) ? [i] : []))
  if (reason !== 'no_place' || hunks.length === 1) return []
  const order = [...placed, ...[...hunks.keys()].filter(i => !placed.includes(i))]
  const moved = order.map((i, to) => (to < placed.length ? hunks[i]! : { ...hunks[i]!, at_end: true }))
  const whole = completed(file, moved, [...moved.keys()].slice(placed.length))
  const { count } = file
  if (whole === undefined) return []
  const corrected = whole.corrected.map(i => order[i]!).sort((a, b) => a - b)
  return [fixOf('USE_EXACT_TEXT', whole.hunks, { from: count, to: count }, corrected)]
}

/** One diff for each of the first repairs with which all hunks fit; `before`: hunks that are already repaired. */
function fixesFor(
  file: FileLines,
  hunks: readonly Hunk[],
  ways: Iterable<Repaired>,
  { type, hunk_index, before }: { type: DiffFix['type']; hunk_index: number; before: number[] }
): DiffFix[] {
  const found: DiffFix[] = []
  for (const repair of ways) {
    const whole = completed(file, hunks.with(hunk_index, repair.hunk), [...before, hunk_index])
    if (whole !== undefined) found.push(fixOf(type, whole.hunks, repair, whole.corrected))
    if (found.length === MOST_PLACES) break
  }
  return found
}

/** Fixes for the next hunk that doesn't fit after the hunk `before` was repaired. */
function forLaterHunk(file: FileLines, hunks: readonly Hunk[], before: number): DiffFix[] {
  const placed = placeHunks(file, hunks)
  if (placed.ok || placed.failure.hunk_index === before) return []
  const { hunk_index } = placed.failure
  const ways = repairsOf(file, hunks, placed.failure)
  const fixes = fixesFor(file, hunks, ways, { type: 'ADD_CONTEXT', hunk_index, before: [before] })
  return fixes.map(fix => ({ ...fix, hunk_index }))
}

const fixOf = (
  type: DiffFix['type'],
  hunks: readonly Hunk[],
  { from, to }: { from: number; to: number },
  corrected: number[]
): DiffFix => ({ type, diff: writeDiff(hunks), lines: [from + 1, Math.max(from + 1, to)], corrected })

/** Hunks that all fit; `corrected`: indexes of the hunks that differ from those sent. */
interface Completed {
  hunks: readonly Hunk[]
  corrected: number[]
}

/**
 * The hunks, with the others that don't fit replaced too; undefined if one can't be, or may mean several places.
 */
function completed(file: FileLines, hunks: readonly Hunk[], corrected: number[]): Completed | undefined {
  const [one, another] = completions(file, hunks, corrected, { left: MOST_TRIES })
  return another === undefined ? one : undefined
}

/** The first two ways to replace them; none if finding them would take more than `tries`. */
function completions(
  file: FileLines,
  hunks: readonly Hunk[],
  corrected: number[],
  tries: { left: number }
): Completed[] {
  if (tries.left-- <= 0) return []
  const placed = placeHunks(file, hunks)
  if (placed.ok) return [{ hunks, corrected }]
  const { hunk_index } = placed.failure
  if (corrected.includes(hunk_index)) return []
  const found: Completed[] = []
  for (const { hunk: other } of repairsOf(file, hunks, placed.failure)) {
    found.push(...completions(file, hunks.with(hunk_index, other), [...corrected, hunk_index], tries))
    if (tries.left < 0) return []
    if (found.length > 1) break
  }
  return found
}

/** Whether a misfit is due to a text that isn't there. */
export const needsSimilar = ({ reason }: HunkMisfit): boolean => reason === 'no_lines' || reason === 'no_anchor'

/** What resembles the text that a hunk lacks. */
export const similarFor = (file: FileLines, hunk: Hunk, misfit: HunkMisfit): Similar =>
  similarTo(file, soughtText(hunk, misfit), 'from' in misfit ? misfit.from : 'below' in misfit ? misfit.below : 0)

/** All hunks in the order of the file, and the lines of the one that was above the hunk before. */
interface Ordered extends Completed {
  from: number
  to: number
}

/** The hunks, with one whose place is above the hunk before moved to its position in the order of the file. */
function inOrder(file: FileLines, hunks: readonly Hunk[], misfit: HunkMisfit): Ordered | undefined {
  const { hunk_index, cursor, reason } = misfit
  if (cursor === 0 || (reason !== 'above' && reason !== 'no_lines')) return undefined
  const hunk = hunks[hunk_index]!
  const alone = new HunkFinder(file, [hunk]).place(hunk, 0, 0)
  if (!alone.ok) return undefined
  const { first, count } = alone.value
  const before = placeHunks(file, hunks.slice(0, hunk_index))
  const to = before.ok ? before.value.findIndex(place => place.first >= first + count) : -1
  if (to === -1) return undefined
  const moved = hunks.toSpliced(hunk_index, 1).toSpliced(to, 0, hunk)
  if (!placeHunks(file, moved).ok) return undefined
  return { hunks: moved, corrected: [hunk_index], from: first, to: first + count }
}

/** The hunks sorted by their places, if each has a place in the whole file and several are out of order. */
function sorted(file: FileLines, hunks: readonly Hunk[], { hunk_index, cursor }: HunkMisfit): Ordered | undefined {
  if (cursor === 0) return undefined
  const finder = new HunkFinder(file, hunks)
  const placed: { index: number; place: HunkPlace }[] = []
  for (const [index, hunk] of hunks.entries()) {
    const alone = finder.place(hunk, index, 0)
    if (!alone.ok) return undefined
    placed.push({ index, place: alone.value })
  }
  const { first, count } = placed[hunk_index]!.place
  placed.sort((a, b) => a.place.first - b.place.first)
  const moved = placed.map(({ index }) => hunks[index]!)
  const corrected = placed.flatMap(({ index }, i) => (index === i ? [] : [index])).sort((a, b) => a - b)
  return placeHunks(file, moved).ok ? { hunks: moved, corrected, from: first, to: first + count } : undefined
}

/** The repairs of the hunk that doesn't fit, from what resembles the text that it lacks. */
function repairsOf(file: FileLines, hunks: readonly Hunk[], misfit: HunkMisfit): Generator<Repaired> {
  const hunk = hunks[misfit.hunk_index]!
  return repairs(file, hunk, misfit, needsSimilar(misfit) ? similarFor(file, hunk, misfit) : undefined)
}

/** The hunk for each place that it may mean, the likeliest first. */
function* repairs(file: FileLines, hunk: Hunk, misfit: HunkMisfit, similar: Similar | undefined): Generator<Repaired> {
  const { cursor } = misfit
  if (oldLines(hunk).length === 0) {
    yield* additions(file, hunk, misfit, similar)
    return
  }
  const seen = new Set<number>()
  const exact = placesOf(file, hunk, misfit, similar)
  for (const first of exact) {
    if (seen.has(first) || seen.size === MOST_PLACES) continue
    seen.add(first)
    yield* repaired(file, inFile(file, hunk, first), first, cursor)
  }
  if (seen.size > 0) return
  const from = 'from' in misfit ? misfit.from : cursor
  for (const start of new Set([from, cursor])) {
    for (const first of trimmedPlaces(file, hunk, start)) {
      if (seen.has(first) || seen.size === MOST_PLACES) continue
      seen.add(first)
      const lines = readjusted(file, hunk, first)
      if (lines !== undefined) yield* repaired(file, lines, first, cursor)
    }
  }
  if (seen.size > 0) return
  const found =
    needsSimilar(misfit) && misfit.reason === 'no_lines' ? similar! : similarTo(file, oldLines(hunk).join('\n'), cursor)
  yield* likely(file, hunk, cursor, found)
}

function* repaired(file: FileLines, lines: readonly HunkLine[], first: number, cursor: number): Generator<Repaired> {
  const hunk = lines.length > 0 ? uniqueHunk(file, lines, first, cursor) : undefined
  if (hunk !== undefined) yield { hunk, from: first, to: first + oldLines({ lines }).length }
}

/** Additions without old lines: below each line that may be their anchor, else at the end and at the top. */
function* additions(
  file: FileLines,
  hunk: Hunk,
  misfit: HunkMisfit,
  similar: Similar | undefined
): Generator<Repaired> {
  const { cursor, reason } = misfit
  const below = reason === 'anchor_twice' ? misfit.lines : similar === undefined ? [] : linesLike(file, similar)
  let any = false
  for (const line of below.slice(0, MOST_PLACES)) {
    const at = line + 1
    if (at < cursor) continue
    for (const found of repaired(file, hunk.lines, at, cursor)) {
      any = true
      yield found
    }
  }
  if (any) return
  const { count } = file
  if (reason === 'above') yield* repaired(file, hunk.lines, cursor, cursor)
  yield { hunk: { ...hunk, anchors: [], at_end: true }, from: count, to: count }
  if (reason !== 'above') yield* repaired(file, hunk.lines, cursor, cursor)
}

/** Lines of the file that resemble an anchor. */
function linesLike(file: FileLines, { suggestions, offset }: Similar): number[] {
  const { candidates, margin } = suggestions
  return (margin < MARGIN ? candidates : candidates.slice(0, 1))
    .filter(({ score }) => score >= MEDIUM)
    .map(({ end }) => lineAt(file, offset + end - 1))
}

/** Where the old lines are exactly, below the hunk before; first the places that the anchors point to. */
function* placesOf(file: FileLines, hunk: Hunk, misfit: HunkMisfit, similar: Similar | undefined): Generator<number> {
  const { cursor, reason } = misfit
  const finder = new HunkFinder(file, [hunk])
  const below = (line: number): Generator<number> => finder.matches(hunk, Math.max(cursor, line))
  if (reason === 'anchor_twice') {
    for (const line of misfit.lines.slice(0, MOST_PLACES)) {
      const first = below(line + 1).next().value
      if (first !== undefined) yield first
    }
  } else if (reason === 'no_anchor') {
    for (const line of linesLike(file, similar!)) {
      const first = below(line + 1).next().value
      if (first !== undefined) yield first
    }
  }
  yield* below('from' in misfit ? misfit.from : cursor)
  yield* below(cursor)
}

/** Where the old lines are, ignoring spaces and tabs around each. */
export function* trimmedPlaces(file: FileLines, hunk: Hunk, from: number): Generator<number> {
  const sought = oldLines(hunk)
  yield* file.findTrimmed(sought).blocks(sought, from)
}

/**
 * A hunk's lines, the old ones taken from the file from line `first` on; without the empty one after the file's end.
 */
const inFile = (file: FileLines, { lines }: Hunk, first: number): HunkLine[] => {
  let at = first
  return lines.flatMap(line => {
    if (line.kind === 'add') return [line]
    return at < file.count ? [{ kind: line.kind, text: file.text(at++) }] : []
  })
}

/**
 * A hunk's lines for old lines that differ from those at `first` only in white space around them: the old ones as in
 * the file, the new ones indented like the file. Undefined if lines of the file aren't UTF-8, or the indentation isn't
 * clear.
 */
function readjusted(file: FileLines, hunk: Hunk, first: number): HunkLine[] | undefined {
  const sought = oldLines(hunk)
  const there = linesFrom(file, first, first + sought.length)
  if (there === undefined) return undefined
  const merged = merge(sought.join('\n'), newLines(hunk).join('\n'), there.join('\n'))
  if (merged.ok) return linesBetween(there, endingAsIn(hunk, merged.value.split('\n'), there))
  const indents = sought.map((text, i) => ({ from: indentOf(text), to: indentOf(there[i]!) }))
  // If white space can't be merged, keep the lines as sent, provided that the file's indentation is the same.
  if (merged.failure.reason === 'spacing' && indents.some(({ from, to }) => from !== to)) return undefined
  const rule = indentRule(indents)
  const lines = inFile(file, hunk, first).map(line => {
    const indent = indentOf(line.text)
    const wanted = line.kind === 'add' ? rule?.(indent) : indent
    return wanted === undefined ? undefined : { ...line, text: wanted + line.text.slice(indent.length) }
  })
  return lines.every(line => line !== undefined) ? lines : undefined
}

/**
 * The lines to put in place of `there`. If only some of those that differ kept the white space at the end of the file's
 * lines, all of them end as in the hunk.
 */
function endingAsIn(hunk: Hunk, put: readonly string[], there: readonly string[]): readonly string[] {
  const kept = new Set(there)
  if (put.every(text => kept.has(text) || text !== text.trimEnd())) return put
  const sent = new Map(newLines(hunk).map(text => [text.trim(), text.slice(text.trimEnd().length)]))
  return put.map(text => {
    const tail = kept.has(text) ? undefined : sent.get(text.trim())
    return tail === undefined ? text : text.trimEnd() + tail
  })
}

/** The spaces and tabs at the start of a text. */
export const indentOf = (text: string): string => /^[ \t]*/.exec(text)![0]

/** Hunks for the regions that resemble the old lines. */
function* likely(file: FileLines, hunk: Hunk, cursor: number, { suggestions, offset }: Similar): Generator<Repaired> {
  const { candidates, margin } = suggestions
  const sought = oldLines(hunk).join('\n')
  for (const { start, end, score, read } of margin < MARGIN ? candidates : candidates.slice(0, 1)) {
    if (score < MEDIUM) continue
    const [first, last] = [lineAt(file, offset + start), lineAt(file, offset + end - 1)]
    if (first < cursor) continue
    const there = linesFrom(file, first, last + 1)
    const { text, lossy } = decode(file.bytes.subarray(offset + start, offset + end))
    const [base, mine] = [read(sought, 'old'), read(newLines(hunk).join('\n'), 'new')]
    if (there === undefined || lossy || base === null || mine === null) continue
    const merged = merge(base, mine, withLf(text))
    if (!merged.ok) continue
    const before = file.bytes.toString('utf8', file.starts[first], offset + start)
    const after = file.bytes.toString('utf8', offset + end, Math.max(offset + end, file.ends[last]!))
    const behindBreak = breakBefore(new Text([file.bytes]), offset + end) !== undefined
    const put = splitAtBreaks(`${before}${merged.value}${after}`)
    if (behindBreak && put.at(-1) === '') put.pop()
    const lines = linesBetween(there, endingAsIn(hunk, put, there))
    if (lines.some(({ kind }) => kind !== 'keep')) yield* repaired(file, lines, first, cursor)
  }
}

/** Lines of the file as texts; undefined where one isn't UTF-8. */
function linesFrom(file: FileLines, from: number, to: number): string[] | undefined {
  const lines = Array.from({ length: to - from }, (_, i) => decode(file.line(from + i)))
  return lines.some(({ lossy }) => lossy) ? undefined : lines.map(({ text }) => text)
}

/** The 0-based line that a byte is on. */
const lineAt = (file: FileLines, offset: number): number => {
  let low = 0
  let high = file.count - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (file.starts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** The hunk lines that change some lines into others. */
function linesBetween(before: readonly string[], after: readonly string[]): HunkLine[] {
  const as = (kind: HunkLine['kind'], texts: readonly string[]): HunkLine[] => texts.map(text => ({ kind, text }))
  const ranges = changedRanges(before, after, MOST_EDITS) ?? [
    { from: 0, to: before.length, otherFrom: 0, otherTo: after.length }
  ]
  let at = 0
  const lines = ranges.flatMap(({ from, to, otherFrom, otherTo }) => {
    const kept = as('keep', before.slice(at, from))
    at = to
    return [...kept, ...as('remove', before.slice(from, to)), ...as('add', after.slice(otherFrom, otherTo))]
  })
  return [...lines, ...as('keep', before.slice(at))]
}
