// The regions of a text that old_text may mean: finds candidates, checks them, sets their boundaries and ranks them.
import { alignLines, type Alignment } from './align.ts'
import { type Ranked, spanOfLines, type TextSpan } from './boundaries/boundaries.ts'
import { bytesOf, spanOfCodes } from './boundaries/boundaries-in-line.ts'
import type { Budget } from './budget.ts'
import { mapByChain, mapInBand } from './characters.ts'
import { anchorsOf, findAnchor } from './anchors.ts'
import type { Haystack, Stretch } from './haystack.ts'
import type { OldText } from './readings.ts'
import { findSeeds, seedsOf } from './seeds.ts'
import { findShort } from './short.ts'
import { bestFit, type Fit, rawLikeness, scoreOf } from './verify.ts'
import { placesOf } from './votes.ts'

/**
 * A region that resembles old_text, in bytes. `folded` and `raw` are likenesses; `rank` orders regions (slightly above
 * the score if all of old_text is there).
 */
export interface Region extends Ranked {
  folded: number
  raw: number
  score: number
  old: OldText
  /** The middle of old_text is left out. */
  elided?: true
  /** It is a whole block, up to the line that closes it. */
  isBlock?: true
  /**
   * It is shown whatever its score: a block that begins with the first line of old_text, which occurs once in the text,
   * or a block that defines the same name.
   */
  isShown?: true
}

/** A place where one reading of old_text fits. */
interface Candidate {
  old: OldText
  stretch: Stretch
  fit: Fit
  share: number
}

// Thresholds. Shares and ranks are from 0 to 1; a share is how much of old_text fits. What changes when one is halved
// or doubled is measured in docs/decisions/suggestions.md.

/** Most candidates that get boundaries, best first; the others are dropped. */
const MOST_FINISHED = 5
/** How far a candidate's share may be behind the best; others are dropped. */
const BEHIND_BEST = 0.25

/**
 * Places to check; more for a text of fewer folded codes than SHORT_TEXT, as a large text has many that resemble it.
 */
const PLACES = 8
const SHORT_PLACES = 28
const SHORT_TEXT = 40
/** Least votes of a place to check, as a share of the most votes. */
const LEAST_VOTES = 0.3

/** Bytes sought from which on we search for pieces of 8; below the second, also for 4 if no share reaches the third. */
const PIECES_OF_8 = 24
const PIECES_OF_4 = 48
const SHARE_ENOUGH = 0.8
/** Bytes of text above which we search more coarsely: words per step, by the bytes sought. */
const LARGE = 1 << 20
const STEPS = [
  { least: 640, step: 4 },
  { least: 160, step: 2 },
  { least: 0, step: 1 }
]

/**
 * Most places of a short text, which is searched for everywhere in a text that isn't large: much resembles it by
 * chance, and the pass costs more than all others.
 */
const MOST_SHORT = 12
/** A text of fewer bytes is itself a place if there is no other. */
const SMALL = 4096

/** Bytes to compare around an exact line, for each byte of old_text before and after it. */
const ANCHOR_REACH = 1.25
/** Bytes to compare on both sides of a place: a share of old_text's length, plus a constant. */
const SLACK = 0.18
const SLACK_MORE = 120
/** Below this cover of aligned lines, the lines around are compared too, within this many more bytes. */
const GOOD_COVER = 0.9
const WIDER = 200

/** Cover of lines above which characters need no comparison. */
const COVER_ENOUGH = 0.62
/**
 * Folded codes from which on we map a text by chains of runs first: the cost of a band is the square of their number.
 */
const CHAINED = 48

/** What raw likeness adds to a rank. */
const RAW_WEIGHT = 0.02

/** Share from which on a place beside the best is its duplicate, and how many to look for on each side. */
const DUPLICATE_SHARE = 0.75
const MOST_DUPLICATES = 2

/**
 * The regions that `olds`, the readings of one old_text, may mean, best first. Searches by exact lines, else by
 * pieces of 8 bytes, or 4; short texts everywhere.
 */
export function regionsOf(haystack: Haystack, olds: readonly OldText[], budget: Budget): Region[] {
  return new Search(haystack, olds, budget).run()
}

/** How well a range (bytes) of the text, which begins and ends between characters, matches `old`. */
export function regionAt(haystack: Haystack, old: OldText, start: number, end: number, budget: Budget): Region {
  const { folded: text } = haystack.part(start, end)
  const longer = Math.max(old.folded.codes.length, text.codes.length)
  const fit = bestFit(old.pattern, text.codes, budget)
  const folded = fit === undefined ? 0 : (old.folded.codes.length - fit.distance) / longer
  const raw = rawLikeness(old.source, text.source, budget)
  return { start, end, ...ranked(folded, raw), old }
}

/** The likenesses, with the score and rank computed from them. */
export const ranked = (folded: number, raw: number): Pick<Region, 'folded' | 'raw' | 'score' | 'rank'> => ({
  folded,
  raw,
  score: scoreOf(folded, raw),
  rank: folded - RAW_WEIGHT + RAW_WEIGHT * raw
})

class Search {
  readonly #haystack: Haystack
  readonly #olds: readonly OldText[]
  readonly #budget: Budget
  readonly #candidates: Candidate[] = []
  readonly #tried = new Set<string>()
  readonly #finished = new Map<Candidate, Region | undefined>()

  constructor(haystack: Haystack, olds: readonly OldText[], budget: Budget) {
    this.#haystack = haystack
    this.#olds = olds
    this.#budget = budget
  }

  run(): Region[] {
    if (!this.#byAnchors()) this.#bySeeds()
    this.#sort()
    this.#besideBest()
    this.#sort()
    const least = (this.#candidates[0]?.share ?? 0) - BEHIND_BEST
    return this.#candidates
      .slice(0, MOST_FINISHED)
      .filter(({ share }) => share >= least)
      .map(candidate => this.#finish(candidate))
      .filter(region => region !== undefined)
  }

  #sort(): void {
    this.#candidates.sort((a, b) => b.share - a.share)
  }

  /** Searches for long lines of old_text exactly as they are; true if all of old_text fits at one of them. */
  #byAnchors(): boolean {
    const { length } = this.#haystack.bytes
    let exact = false
    for (const { old, line, before, after } of anchorsOf(this.#olds, this.#haystack.encoding)) {
      if (exact) break
      for (const at of findAnchor(this.#haystack, line, this.#budget)) {
        const candidate = this.#tryPlace(
          Math.max(0, at - Math.floor(before * ANCHOR_REACH)),
          Math.min(length, at + Math.ceil(after * ANCHOR_REACH)),
          old
        )
        if (candidate?.fit.distance === 0) exact = true
      }
    }
    return exact
  }

  #bySeeds(): void {
    const { bytes, encoding } = this.#haystack
    const texts = this.#olds.flatMap(({ source }) =>
      [...new Set([source, source.normalize('NFC'), source.normalize('NFD')])].map(text => Buffer.from(text, encoding))
    )
    const longest = Math.max(...texts.map(({ length }) => length))
    if (longest >= PIECES_OF_8) this.#byPieces(texts, 8, longest)
    if (longest < PIECES_OF_4 && this.#candidates.every(({ share }) => share < SHARE_ENOUGH)) {
      this.#byPieces(texts, 4, longest)
    }
    if (bytes.length > LARGE) return
    for (const { folded, source } of this.#olds) {
      for (const at of findShort(bytes, folded.codes, MOST_SHORT)) {
        this.#tryPlace(Math.max(0, at - source.length), Math.min(bytes.length, at + source.length))
      }
    }
    if (this.#candidates.length === 0 && bytes.length < SMALL) this.#tryPlace(0, bytes.length)
  }

  #byPieces(texts: readonly Buffer[], length: 4 | 8, longest: number): void {
    const { bytes } = this.#haystack
    const seeds = seedsOf(texts, length)
    if (seeds.count === 0) return
    const step = bytes.length <= LARGE || length === 4 ? 1 : STEPS.find(({ least }) => longest >= least)!.step
    const wanted = Math.max(...this.#olds.map(({ folded }) => folded.codes.length)) < SHORT_TEXT ? SHORT_PLACES : PLACES
    const places = placesOf(findSeeds(bytes, seeds, step), seeds, longest, bytes.length, wanted, step)
    const most = places[0]?.votes ?? 0
    for (const { start, end, votes } of places) if (votes >= most * LEAST_VOTES) this.#tryPlace(start, end)
  }

  /**
   * Keeps the reading that fits a place best as a candidate; undefined if the place was already tried, or the budget is
   * used up.
   */
  #tryPlace(start: number, end: number, preferred?: OldText): Candidate | undefined {
    const key = `${start}:${end}`
    if (this.#tried.has(key)) return undefined
    this.#tried.add(key)
    let best: Candidate | undefined
    for (const old of preferred === undefined
      ? this.#olds
      : [preferred, ...this.#olds.filter(other => other !== preferred)]) {
      const slack = Math.floor(old.source.length * SLACK) + SLACK_MORE
      const stretch = this.#haystack.stretch(start - slack, end + slack)
      const fit = bestFit(old.pattern, stretch.folded.codes, this.#budget)
      if (fit === undefined) break
      const share = 1 - fit.distance / old.folded.codes.length
      if (best === undefined || share > best.share) best = { old, stretch, fit, share }
      if (fit.distance === 0) break
    }
    if (best !== undefined) this.#candidates.push(best)
    return best
  }

  /**
   * Searches for duplicates of the best candidate in its own stretch, before and after it, because we find only one
   * place in each stretch.
   */
  #besideBest(): void {
    const [best] = this.#candidates
    const region = best && this.#finish(best)
    if (best === undefined || region === undefined || best.share < DUPLICATE_SHARE) return
    const { start, end } = best.stretch
    for (let from = region.end, duplicates = 0; from < end && duplicates < MOST_DUPLICATES; duplicates++) {
      from = this.#duplicateIn(best.old, from, end)?.end ?? end
    }
    for (let to = region.start, duplicates = 0; to > start && duplicates < MOST_DUPLICATES; duplicates++) {
      to = this.#duplicateIn(best.old, start, to)?.start ?? start
    }
  }

  #duplicateIn(old: OldText, start: number, end: number): Region | undefined {
    const stretch = this.#haystack.part(start, end)
    const { codes } = old.folded
    const fit =
      stretch.folded.codes.length < codes.length * DUPLICATE_SHARE
        ? undefined
        : bestFit(old.pattern, stretch.folded.codes, this.#budget)
    if (fit === undefined || 1 - fit.distance / codes.length < DUPLICATE_SHARE) return undefined
    const duplicate = { old, stretch, fit, share: 1 - fit.distance / codes.length }
    this.#candidates.push(duplicate)
    return this.#finish(duplicate)
  }

  #finish(candidate: Candidate): Region | undefined {
    if (!this.#finished.has(candidate)) this.#finished.set(candidate, this.#bounded(candidate))
    return this.#finished.get(candidate)
  }

  /** Sets boundaries by lines if there are several; by characters if there is one, or the lines don't agree. */
  #bounded(candidate: Candidate): Region | undefined {
    const byLines = this.#byLines(candidate)
    if (byLines !== undefined && byLines.cover >= COVER_ENOUGH) return byLines.region
    const byCharacters = this.#byCharacters(candidate)
    if (byLines === undefined || byCharacters === undefined) return byLines?.region ?? byCharacters
    if (byCharacters.folded <= byLines.region.folded) return byLines.region
    if (!byLines.isFramed) return byCharacters
    const { start, end } = byLines.region
    return { ...byCharacters, start, end }
  }

  #byLines({ old, stretch, share }: Candidate): { region: Region; cover: number; isFramed: boolean } | undefined {
    if (old.filled.length < 2) return undefined
    let alignment = alignLines(old.filled, stretch.lines, this.#budget)
    if (alignment === undefined || alignment.cover < GOOD_COVER || !isComplete(alignment, old)) {
      const wider = this.#haystack.stretch(stretch.start - WIDER, stretch.end + WIDER)
      const other = alignLines(old.filled, wider.lines, this.#budget)
      if (other !== undefined && other.gain > (alignment?.gain ?? -Infinity)) {
        alignment = other
        stretch = wider
      }
    }
    if (alignment === undefined) return undefined
    const { cover, ratio } = alignment
    const region = this.#region(
      old,
      stretch,
      spanOfLines(old, stretch, alignment),
      (Math.max(ratio, Math.min(share, cover)) + cover) / 2
    )
    return (
      region && {
        region: { ...region, rank: cover - RAW_WEIGHT + RAW_WEIGHT * region.raw },
        cover,
        isFramed: isFramed(alignment, old)
      }
    )
  }

  #byCharacters({ old, stretch, fit, share }: Candidate): Region | undefined {
    const { codes } = old.folded
    const chained =
      codes.length >= CHAINED && fit.distance > 0 ? mapByChain(codes, stretch.folded.codes, this.#budget) : undefined
    const map = chained ?? mapInBand(codes, stretch.folded.codes, fit, this.#budget)
    const span = map && spanOfCodes(old, stretch, map, share)
    if (map === undefined || span === undefined) return undefined
    const mapped = map.reduce((sum, at) => sum + (at >= 0 ? 1 : 0), 0)
    const folded = Math.max(share, Math.min(1, (2 * mapped) / (codes.length + span.codes)))
    const region = this.#region(old, stretch, span, folded)
    return (
      region && {
        ...region,
        rank: (span.multiple ? mapped / codes.length : share) - RAW_WEIGHT + RAW_WEIGHT * region.raw
      }
    )
  }

  #region(old: OldText, stretch: Stretch, span: TextSpan, folded: number): Region | undefined {
    const found = stretch.folded.source.slice(span.start, span.end)
    if (found.trim() === '') return undefined
    const raw = rawLikeness(old.source, found, this.#budget)
    return { ...bytesOf(this.#haystack, stretch, span), ...ranked(folded, raw), old }
  }
}

/**
 * Whether the text has lines of old_text exactly and in a row, from its first to its last; inner ones may be missing.
 */
const isFramed = (alignment: Alignment, old: OldText): boolean =>
  isComplete(alignment, old) && alignment.inserted === 0 && alignment.pairs.every(({ likeness }) => likeness === 1)

const isComplete = ({ pairs }: Alignment, { filled }: OldText): boolean =>
  pairs[0]!.fromA === 0 && pairs.at(-1)!.toA === filled.length - 1
