// What the caller probably meant, after a miss: takes a text and old_text, returns candidates. Does not know answers.
import { isUtf8 } from 'node:buffer'
import { bomLength, decode, eightBitEncodingOf } from '../text/encoding.ts'
import { LF, splitAtBreaks, withLf } from '../text/lines.ts'
import { Budget } from './budget.ts'
import { firstOf } from './anchors.ts'
import { type Cause, classify, type Difference } from './differences/classify.ts'
import { bridge, endsOfElided, endsOfLong } from './elided.ts'
import { Haystack } from './haystack.ts'
import { withInsertions } from './inserted.ts'
import { withOwnFence } from './boundaries/own-fence.ts'
import { likeLines } from './like-lines.ts'
import { withOtherWord } from './other-word.ts'
import { isPlaceholder } from './placeholders.ts'
import { type OldText, oldTextOf, readings } from './readings.ts'
import { type Region, regionAt, regionsOf } from './regions.ts'
import { definedAlike, rankedByName } from './same-name.ts'
import { rankedByWords } from './same-words.ts'
import { withTwins } from './twins.ts'
import { blockOf, endOfBlock, startOfBlock } from './boundaries/whole-block.ts'
import { rankedByEdges, wholeStatement } from './boundaries/whole-statement.ts'

/** A region that resembles the text sought. Bytes, end exclusive; `score` from 0 to 1. */
export interface Candidate {
  start: number
  end: number
  score: number
  /** It begins or ends differently from old_text, in the middle of a long line. */
  isCut: boolean
  /** It is a whole block, up to the line that closes it, as old_text is one. */
  isBlock: boolean
  /** See `Classified`. */
  differences: Difference[]
  more_differences?: number
  cause: Cause
  /** Removes what was added to old_text by mistake, such as line numbers (see `OldText`); breaks are `\n`. */
  read: OldText['read']
}

export interface Suggestions {
  /** Best first, at most three; none overlaps half of another. */
  candidates: Candidate[]
  /** How far the second best is behind, shown or not (see `marginOf`); 1 if there is none. */
  margin: number
  /**
   * A name that old_text and one of the first candidates define; another resembles old_text but defines another name.
   */
  name?: string
  /** Only a part of the text was searched, or the search ended early. */
  truncated: boolean
}

// Thresholds. Scores and ranks are from 0 to 1. What changes when one is halved or doubled is measured in
// docs/decisions/suggestions.md.

/** The lead in rank that the best needs over the next to count as the one meant; with less, no edit is offered. */
export const MARGIN = 0.03
/** Regions shown; the others are dropped. */
const MOST_SHOWN = 3
/** Overlap, as a share of the shorter of two regions, above which only the better one is kept. */
const OVERLAP = 0.5
/** Least score to show a region: for long texts; what is added for short ones; and how fast the addition fades. */
const LEAST_SCORE = 0.62
const LEAST_SCORE_SHORT = 0.22
const FADE_CHARACTERS = 25
/** Characters of the shortest line to show when nothing resembles the whole. */
const LEAST_LINE = 10
/** Size in bytes above which the least score rises, and by how much: more resembles old_text by chance. */
const LARGE_TEXT = 1 << 20
const LARGE_TEXT_SCORE = 0.05
/** Most bytes to search; the rest isn't searched, and the answer says so. */
const MOST_BYTES = 64 << 20
/** Most steps (see `Budget`), about a second at worst; then the search ends, and the answer says so. */
const MOST_STEPS = 300_000_000
/** UTF-16 units, and folded codes, of old_text above which we search only for its beginning and end. */
const HUGE = 20_000
const LONG = 5000
/** With no region above this rank, old_text that has a placeholder or is long is also sought by its two ends. */
const RANK_ENOUGH = 0.93
/** Bytes from which on a line is very long: a difference in a part of it is a cause of its own. */
const VERY_LONG_LINE = 400
/** Least number of bytes, and of UTF-16 units, to count as work: smaller ones cost no less. */
const LEAST_WORK = 1000

/**
 * The regions of `text` that `oldText` may have meant. Texts are compared folded (see `fold`), so differences in white
 * space, case, quotes and the like don't count; a region is whole lines, or starts within a line where `oldText` does.
 * Its score is 0.8 × folded + 0.2 × raw likeness; regions below a bound, which is higher for short texts, aren't shown.
 * Time: about linear in `text` (a pass or two over its words, four bytes each), plus what a budget of steps allows.
 * Method: sampled seeds, votes by diagonal, Myers' semi-global distance, alignment by lines. Searches at most 64 MiB.
 */
export function suggest(text: Buffer, oldText: string): Suggestions {
  const mark = bomLength(text)
  const end = text.length <= MOST_BYTES ? text.length : Math.max(mark, text.lastIndexOf(LF, MOST_BYTES) + 1)
  const haystack = new Haystack(text.subarray(mark, end))
  const budget = new Budget(MOST_STEPS)
  const sent = withLf(oldText.replace(/^\ufeff/, ''))
  const eightBit = haystack.encoding === 'utf8' ? null : eightBitEncodingOf([haystack.bytes])
  // If most of the text is UTF-8 but not all, we compare its bytes with the UTF-8 bytes of old_text.
  const asBytes = haystack.encoding === 'latin1' && eightBit === null
  const sought = asBytes ? Buffer.from(sent).toString('latin1') : sent
  const all = withInsertions(haystack, allRegions(haystack, sought, budget), budget)
  const found = distinct(wholeBlocks(haystack, all, sought, budget))
  const edged = withLikeLines(haystack, rankedByEdges(haystack, found), sought, budget)
  const ranked = rankedByWords(haystack, distinct(edged.sort(better))).sort(better)
  const { regions: named, name } = rankedByName(haystack, ranked, budget)
  const alike = withTwins(haystack, named, budget)
  const least = leastScore(sent.replace(/\s+/g, '').length) + (text.length > LARGE_TEXT ? LARGE_TEXT_SCORE : 0)
  // Many places resemble a short text by chance, but a single one that folds to the same is worth showing.
  const alone = alike.length === 1 && alike[0]!.folded === 1
  const likely = alike.filter(({ score, isShown }) => alone || isShown === true || score >= least)
  const defined = likely.length === 0 ? definedAlike(haystack, sought, budget) : []
  const regions = defined.length > 0 ? defined : alike
  const shown = (defined.length > 0 ? defined : likely).slice(0, MOST_SHOWN)
  const last = shown.length === 0 ? lastResort(haystack, regions, sought, budget) : undefined
  return {
    candidates: (last === undefined ? shown : [last]).map(region => {
      const { start, end, isCut } = wholeStatement(haystack, region.start, region.end, region.old.source)
      const bytes = haystack.bytes.subarray(start, end)
      const encoding = isUtf8(bytes) ? undefined : (eightBit ?? 'unknown-8bit')
      const { old } = region
      return {
        start: start + mark,
        end: end + mark,
        isCut,
        isBlock: region.isBlock === true,
        score: Math.round(region.score * 1000) / 1000,
        read: old.read,
        ...classify(
          {
            sent: oldText,
            old: asBytes ? { ...old, source: old.read(sent, 'old') ?? sent } : old,
            elided: region.elided === true,
            inLongLine: isInLongLine(haystack, region),
            encoding
          },
          encoding === 'latin-1' ? haystack.text(start, end) : decode(bytes).text
        )
      }
    }),
    margin: marginOf(regions),
    name,
    truncated: budget.exhausted || end < text.length
  }
}

/** The lead of the best in rank. */
function marginOf([best, next]: readonly Region[]): number {
  if (best === undefined || next === undefined) return 1
  return best.rank - next.rank
}

/** Least score to show a region: short texts have many chance matches. `characters` excludes white space. */
export const leastScore = (characters: number): number =>
  LEAST_SCORE + LEAST_SCORE_SHORT * Math.exp(-characters / FADE_CHARACTERS)

/** How much work (see `suggestWork`) a plan may cost. */
export interface WorkWithin {
  work_within: number
}

/**
 * The work of searching a text of `length` bytes for what `oldText` meant: bytes × UTF-16 units, at least a thousand of
 * each.
 */
export const suggestWork = (length: number, oldText: string): number =>
  Math.max(LEAST_WORK, length) * Math.max(LEAST_WORK, oldText.length)

/** Whether that work is at most `within`. */
export const fitsWorkBudget = (length: number, oldText: string, within: number): boolean =>
  suggestWork(length, oldText) <= within

function allRegions(haystack: Haystack, sought: string, budget: Budget): Region[] {
  if (sought.length > HUGE) {
    // Too long to fold each reading of it; its ends are enough.
    const start = oldTextOf(sought.slice(0, HUGE) + (sought.endsWith('\n') ? '\n' : ''))
    const whole = bridge(haystack, start, endsOfLong(sought), budget)
    return whole === undefined ? [] : [{ ...whole, old: { ...start, source: sought } }]
  }
  const olds = readings(sought)
    .map(({ source, reading, read }) => oldTextOf(source, reading, read))
    .filter(({ folded }) => folded.codes.length > 0)
  const [old] = olds
  if (old === undefined || haystack.bytes.length === 0) return []
  const isLong = old.folded.codes.length > LONG
  const regions = isLong
    ? []
    : regionsOf(haystack, olds, budget)
        .sort(better)
        .map(region => withOwnFence(haystack, region, old))
  const elided = elidedIn(olds)
  const ends = elided?.ends ?? (isLong ? endsOfLong(old.source) : undefined)
  if (ends === undefined || isEnough(haystack, regions[0], elided !== undefined)) return regions
  const whole = bridge(haystack, elided?.old ?? old, ends, budget)
  return whole === undefined ? regions : [elided === undefined ? whole : { ...whole, elided: true }, ...regions]
}

/**
 * Whether a region is so good that we need not search for the ends of old_text. If old_text has a placeholder, the
 * region must have one too: another line in its place is one of the lines left out.
 */
function isEnough(haystack: Haystack, region: Region | undefined, isElided: boolean): boolean {
  if (region === undefined || region.rank <= RANK_ENOUGH) return false
  return !isElided || splitAtBreaks(haystack.text(region.start, region.end)).some(isPlaceholder)
}

/** Whether a region is part of one very long line. */
function isInLongLine(haystack: Haystack, { start, end }: Region): boolean {
  const [own, before, after] = [
    haystack.text(start, end),
    haystack.text(Math.max(0, start - VERY_LONG_LINE), start),
    haystack.text(end, Math.min(haystack.bytes.length, end + VERY_LONG_LINE))
  ]
  const around = /[^\r\n]*$/.exec(before)![0].length + /^[^\r\n]*/.exec(after)![0].length
  return !/[\r\n]/.test(own) && around + own.length >= VERY_LONG_LINE && around >= own.length
}

/**
 * The regions, each extended to the line that closes its block. If none of them is nearly equal, the block that begins
 * with the first line of `sought` comes first, if the text has that line once: it is the one meant, however much else
 * has changed.
 */
function wholeBlocks(haystack: Haystack, regions: readonly Region[], sought: string, budget: Budget): Region[] {
  const whole = regions.map(region => {
    const block = blockOf(region.old.source)
    const end = block && endOfBlock(haystack, region.start, block)
    return end === undefined ? region : { ...region, end, isBlock: true as const }
  })
  const isClear = whole.some(({ rank }) => rank > RANK_ENOUGH)
  const block = isClear || sought.length > HUGE ? undefined : blockOf(sought)
  const start = block && startOfBlock(haystack, block, budget)
  const end = start === undefined ? undefined : endOfBlock(haystack, start, block!)
  if (end === undefined) return whole
  const known = whole.find(region => region.end === end)
  const region = known ?? regionAt(haystack, oldTextOf(sought), start!, end, budget)
  return [{ ...region, isBlock: true, isShown: true }, ...whole]
}

/** When nothing resembles `sought` enough: the place that has all of it except one word, else a line of it. */
function lastResort(
  haystack: Haystack,
  regions: readonly Region[],
  sought: string,
  budget: Budget
): Region | undefined {
  const place = withOtherWord(haystack, sought, budget)
  return place === undefined
    ? withExactLine(haystack, regions, sought, budget)
    : regionAt(haystack, oldTextOf(sought), place.start, place.end, budget)
}

/**
 * When nothing resembles `sought` enough: the best of `regions` that has a line of it, else the first line of the text
 * that equals one of its lines.
 */
function withExactLine(
  haystack: Haystack,
  regions: readonly Region[],
  sought: string,
  budget: Budget
): Region | undefined {
  const trimmed = (text: string): string[] => splitAtBreaks(text).map(line => line.trim())
  const lines = new Set(trimmed(sought).filter(line => line.length >= LEAST_LINE))
  if (lines.size === 0) return undefined
  const region = regions.find(({ start, end }) => trimmed(haystack.text(start, end)).some(line => lines.has(line)))
  if (region !== undefined) return region
  const line = firstOf(haystack, lines)
  return line && regionAt(haystack, oldTextOf(sought.slice(0, HUGE)), line.start, line.end, budget)
}

/**
 * The regions, plus the lines that resemble `sought` if it is a single line. A region within such a line ranks at least
 * as high as the line; if a region extends beyond the line, the line gets at least its score, and the better rank wins.
 */
function withLikeLines(haystack: Haystack, regions: readonly Region[], sought: string, budget: Budget): Region[] {
  const found = regions.some(({ folded }) => folded === 1) ? [] : likeLines(haystack, sought, budget)
  const lines = rankedByEdges(haystack, found)
  const isWithin = (region: Region, line: Region): boolean => region.start >= line.start && region.end <= line.end
  const raised = regions.map(region => {
    const rank = lines.find(line => isWithin(region, line))?.rank ?? 0
    return rank > region.rank ? { ...region, rank } : region
  })
  const others = lines.filter(line => !regions.some(region => isWithin(region, line)))
  return [
    ...raised,
    ...others.map(line => {
      const around = regions.filter(({ start, end }) => start < line.end && end > line.start)
      return { ...line, score: Math.max(line.score, ...around.map(({ score }) => score)) }
    })
  ]
}

function elidedIn(olds: readonly OldText[]) {
  for (const old of olds) {
    const ends = endsOfElided(old.source)
    if (ends !== undefined) return { old, ends }
  }
  return undefined
}

const better = (a: Region, b: Region): number => b.rank - a.rank || b.raw - a.raw

/** Drops regions that mostly overlap a better one. */
function distinct(regions: readonly Region[]): Region[] {
  const kept: Region[] = []
  for (const region of regions) {
    const overlaps = (other: Region) =>
      Math.min(other.end, region.end) - Math.max(other.start, region.start) >
      OVERLAP * Math.min(other.end - other.start, region.end - region.start)
    if (!kept.some(overlaps)) kept.push(region)
  }
  return kept
}
