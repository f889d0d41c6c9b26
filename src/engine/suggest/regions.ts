// The regions of a text that old_text may stand for: finds candidates, checks them, sets their boundaries and ranks.
// Does not know edits.
import { alignLines, type Alignment } from './align.ts'
import { type Ranked, spanOfLines, type TextSpan } from './boundaries/boundaries.ts'
import { bytesOf, spanOfCodes } from './boundaries/boundaries-in-line.ts'
import type { Budget } from './budget.ts'
import { mapByChain, mapInBand } from './characters.ts'
import { anchorsOf, findAnchor } from './anchors.ts'
import type { Haystack, Stretch } from './haystack.ts'
import type { OldText } from './readings.ts'
import { findSeeds, seedsOf } from './seeds.ts'
import { findShort, SHORT } from './short.ts'
import { bestFit, type Fit, rawLikeness, scoreOf } from './verify.ts'
import { placesOf } from './votes.ts'

/**
 * A region that resembles old_text. Bytes; `folded` and `raw` are likenesses, `rank` orders regions (a little over the
 * score where the whole of old_text is there).
 */
export interface Region extends Ranked {
  folded: number
  raw: number
  score: number
  old: OldText
  inserted: number
  /** The middle of old_text is left out. */
  elided?: true
  /** It is a block, up to the line that closes it. */
  isBlock?: true
  /**
   * It is shown whatever its score: a block that begins with the first line of old_text, which the text has once, or that
   * defines the same name.
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

/** Candidates that get boundaries, best first; the others are dropped. */
const MOST_FINISHED = 5
/** Share by which a candidate may be behind the best; others are dropped. */
const BEHIND_BEST = 0.25

/** Places looked at: more for a text of fewer folded codes than SHORT_TEXT, of which there are many like ones. */
const PLACES = 8
const SHORT_PLACES = 28
const SHORT_TEXT = 40
/** Votes of a place, as a share of the most: below, it isn't looked at. More where much is found already. */
const LEAST_VOTES = 0.3
const LEAST_VOTES_AFTER_GOOD = 0.6
/** From this share on something good is found, if the best place had so many votes. */
const GOOD_SHARE = 0.9
const MANY_VOTES = 10
/** Bytes that a place is rounded to, as a power of two: what rounds to the same was looked at already. */
const TRIED_BITS = 6

/** Bytes sought from which on pieces of 8 are looked for; and from which on, in a large text, only those. */
const PIECES_OF_8 = 24
const ONLY_PIECES_OF_8 = 48
/** Bytes sought from which on pieces of 4 are looked for, if the best rank after pieces of 8 is lower than this. */
const PIECES_OF_4 = 8
const RANK_AFTER_PIECES = 0.72
/** Bytes of text above which it is looked at more coarsely: in words a step, by the bytes sought. */
const LARGE = 1 << 20
const STEPS = [
  { least: 640, step: 4 },
  { least: 160, step: 2 },
  { least: 0, step: 1 }
]

/** Short texts are sought everywhere if the best share is lower than this: so many places are looked at. */
const SHARE_ENOUGH = 0.97
const MOST_SHORT = 12
/** UTF-16 units before the end of such a place that are looked at, for each of the text sought. */
const SHORT_REACH = 1.5
/**
 * Bytes of text up to which short texts are sought everywhere: in larger ones much is like them by chance, and the pass
 * costs more than all others.
 */
const SHORT_LIMIT = 1 << 20
/** A text smaller than so many bytes, or than so many times the bytes sought, is a place itself below this rank. */
const SMALL = 4096
const SMALL_TIMES = 3
const SMALL_RANK = 0.6

/** Bytes looked at around an exact line, for each byte of old_text before and after it. */
const ANCHOR_REACH = 1.25
/** Bytes looked at on both sides of a place: so much of old_text's length, and so many more. */
const SLACK = 0.18
const SLACK_MORE = 120
/** The same where lines don't align well: below this cover the lines around are looked at too. */
const GOOD_COVER = 0.9
const WIDER = 0.7
const WIDER_MORE = 200

/** Covers up to which lines don't align at all, and from which on characters need not be compared. */
const NO_COVER = 0.3
const COVER_ENOUGH = 0.62
/** By how much characters must fit better than lines. */
const BETTER_BY_CHARACTERS = 0.03
/** Folded codes from which on a text is mapped by chains of runs first: a band costs their number squared. */
const CHAINED = 48
/** The least share of a candidate whose rank counts while searching, and how many are ranked. */
const RANKED_SHARE = 0.35
const MOST_RANKED = 2

/** What raw likeness adds to a rank; what an inserted line takes, of this many codes more than old_text has. */
const RAW_WEIGHT = 0.02
const INSERTED_WEIGHT = 0.9
const INSERTED_CODES = 20
/** What a region of several lines that were compared by characters loses in rank. */
const LINES_BY_CHARACTERS = 0.03

/** Share from which on a place beside the best is a duplicate of it, and how many are looked for on each side. */
const DUPLICATE_SHARE = 0.75
const MOST_DUPLICATES = 2

/**
 * The regions that `olds`, the readings of one old_text, may stand for, best first. Steps: exact lines; pieces of 8
 * bytes; if nothing good came of it, of 4; short texts everywhere.
 */
export function regionsOf(haystack: Haystack, olds: readonly OldText[], budget: Budget, places?: number): Region[] {
  return new Search(haystack, olds, budget, places).run()
}

/** How like `old` a range (bytes) of the text is, which begins and ends between characters. */
export function regionAt(haystack: Haystack, old: OldText, start: number, end: number, budget: Budget): Region {
  const { folded: text } = haystack.part(start, end)
  const longer = Math.max(old.folded.codes.length, text.codes.length)
  const fit = bestFit(old.pattern, text.codes, budget)
  const folded = fit === undefined ? 0 : (old.folded.codes.length - fit.distance) / longer
  const raw = rawLikeness(old.source, text.source, budget)
  return { start, end, ...ranked(folded, raw), old, inserted: 0 }
}

/** Likeness, and the score and rank that follow from it. */
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
  readonly #places: number
  readonly #codes: number
  readonly #candidates: Candidate[] = []
  readonly #tried = new Set<string>()
  readonly #finished = new Map<Candidate, Region | undefined>()

  constructor(haystack: Haystack, olds: readonly OldText[], budget: Budget, places?: number) {
    this.#haystack = haystack
    this.#olds = olds
    this.#budget = budget
    this.#codes = Math.max(...olds.map(({ folded }) => folded.codes.length))
    this.#places = places ?? (this.#codes < SHORT_TEXT ? SHORT_PLACES : PLACES)
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

  /** Looks where a long line of old_text is exactly; true if all of old_text fits there. */
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
    const again =
      longest < PIECES_OF_8 ||
      ((longest < ONLY_PIECES_OF_8 || bytes.length <= LARGE) && this.#bestRank() < RANK_AFTER_PIECES)
    if (longest >= PIECES_OF_4 && again) this.#byPieces(texts, 4, longest)
    if (this.#codes <= SHORT && bytes.length <= SHORT_LIMIT && this.#bestShare() < SHARE_ENOUGH) {
      for (const { folded, source } of this.#olds) {
        for (const at of findShort(bytes, folded.codes, MOST_SHORT)) {
          this.#tryPlace(
            Math.max(0, at - Math.ceil(source.length * SHORT_REACH)),
            Math.min(bytes.length, at + source.length)
          )
        }
      }
    }
    if (bytes.length < Math.max(SMALL, longest * SMALL_TIMES) && this.#bestRank() < SMALL_RANK) {
      this.#tryPlace(0, bytes.length)
    }
  }

  #byPieces(texts: readonly Buffer[], length: 4 | 8, longest: number): void {
    const { bytes } = this.#haystack
    const seeds = seedsOf(texts, length)
    if (seeds.count === 0) return
    const step = bytes.length <= LARGE || length === 4 ? 1 : STEPS.find(({ least }) => longest >= least)!.step
    const places = placesOf(findSeeds(bytes, seeds, step), seeds, longest, bytes.length, this.#places, step)
    const most = places[0]?.votes ?? 0
    let best = this.#bestShare()
    for (const { start, end, votes } of places) {
      if (votes < most * (best >= GOOD_SHARE && most > MANY_VOTES ? LEAST_VOTES_AFTER_GOOD : LEAST_VOTES)) return
      best = Math.max(best, this.#tryPlace(start, end)?.share ?? 0)
    }
  }

  #bestShare(): number {
    return this.#candidates.reduce((best, { share }) => Math.max(best, share), 0)
  }

  /** The best rank among the two candidates that fit best. */
  #bestRank(): number {
    this.#sort()
    return this.#candidates
      .slice(0, MOST_RANKED)
      .filter(({ share }) => share >= RANKED_SHARE)
      .reduce((best, candidate) => {
        const region = this.#finish(candidate)
        return region === undefined
          ? best
          : Math.max(best, region.rank, candidate.old.lines.length < 2 ? candidate.share : 0)
      }, 0)
  }

  /**
   * The reading that fits a place best, kept as a candidate; undefined where the place was tried, or the budget is used
   * up.
   */
  #tryPlace(start: number, end: number, preferred?: OldText): Candidate | undefined {
    const key = `${start >> TRIED_BITS}:${end >> TRIED_BITS}`
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
      if (best === undefined || share > best.share + 1e-9) best = { old, stretch, fit, share }
      if (fit.distance === 0) break
    }
    if (best !== undefined) this.#candidates.push(best)
    return best
  }

  /**
   * Looks for duplicates of the best candidate in its own stretch, before and after it: of a stretch only one place is
   * known.
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

  /** By lines where there are several; by characters where there is one, or the lines don't agree. */
  #bounded(candidate: Candidate): Region | undefined {
    const byLines = this.#byLines(candidate)
    if (byLines !== undefined && byLines.cover >= COVER_ENOUGH) return byLines.region
    const byCharacters = this.#byCharacters(candidate)
    if (byLines === undefined || byCharacters === undefined) return byLines?.region ?? byCharacters
    if (byCharacters.folded <= byLines.region.folded + BETTER_BY_CHARACTERS) return byLines.region
    if (!byLines.isFramed) return byCharacters
    const { start, end } = byLines.region
    return { ...byCharacters, start, end }
  }

  #byLines({ old, stretch, share }: Candidate): { region: Region; cover: number; isFramed: boolean } | undefined {
    if (old.filled.length < 2) return undefined
    let alignment = alignLines(old.filled, stretch.lines, this.#budget)
    if (alignment === undefined || alignment.cover < GOOD_COVER || !isComplete(alignment, old)) {
      const reach = Math.floor(old.source.length * WIDER) + WIDER_MORE
      const wider = this.#haystack.stretch(stretch.start - reach, stretch.end + reach)
      const other = alignLines(old.filled, wider.lines, this.#budget)
      if (other !== undefined && other.gain > (alignment?.gain ?? -Infinity) + 1e-6) {
        alignment = other
        stretch = wider
      }
    }
    if (alignment === undefined || alignment.cover <= NO_COVER) return undefined
    const { cover, ratio, inserted, length } = alignment
    const region = this.#region(
      old,
      stretch,
      spanOfLines(old, stretch, alignment),
      (Math.max(ratio, Math.min(share, cover)) + cover) / 2
    )
    return (
      region && {
        region: {
          ...region,
          inserted,
          rank: cover - (INSERTED_WEIGHT * inserted) / (length + INSERTED_CODES) + RAW_WEIGHT * region.raw - RAW_WEIGHT
        },
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
        rank:
          (span.multiple ? mapped / codes.length - LINES_BY_CHARACTERS : share) - RAW_WEIGHT + RAW_WEIGHT * region.raw
      }
    )
  }

  #region(old: OldText, stretch: Stretch, span: TextSpan, folded: number): Region | undefined {
    const found = stretch.folded.source.slice(span.start, span.end)
    if (found.trim() === '') return undefined
    const raw = rawLikeness(old.source, found, this.#budget)
    return { ...bytesOf(this.#haystack, stretch, span), ...ranked(folded, raw), old, inserted: 0 }
  }
}

/** Whether the text has the same lines, one after the other, without some amid those of old_text. */
const isFramed = (alignment: Alignment, old: OldText): boolean =>
  isComplete(alignment, old) && alignment.inserted === 0 && alignment.pairs.every(({ likeness }) => likeness === 1)

const isComplete = ({ pairs }: Alignment, { filled }: OldText): boolean =>
  pairs[0]!.fromA === 0 && pairs.at(-1)!.toA === filled.length - 1
