// The regions of a text that old_text may stand for: candidates found, checked, given their boundaries and rank. Does
// not know edits.
import { alignLines, type Alignment } from './align.ts'
import { spanOfLines, type TextSpan } from './boundaries.ts'
import { bytesOf, spanOfCodes } from './boundaries-in-line.ts'
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
export interface Region extends TextSpan {
  folded: number
  raw: number
  score: number
  rank: number
  old: OldText
  inserted: number
  elided?: true
}

/** A place where one reading of old_text fits. */
interface Candidate {
  old: OldText
  stretch: Stretch
  fit: Fit
  share: number
}

// All numbers below, and those in the code, were tuned on the development corpus (`npm run bench:suggest`), together;
// no measurement of a single one is recorded. Shares and ranks are from 0 to 1.

/** Candidates that get boundaries, and the least share of old_text that must fit. */
const MOST_FINISHED = 5
const LEAST_SHARE = 0.4
/** Places looked at: more for short texts, of which there are many like ones. */
const PLACES = 8
const SHORT_PLACES = 28
const SHORT_TEXT = 40
const MOST_SHORT = 12
/**
 * Bytes of text up to which short texts are sought everywhere: in larger ones much is like them by chance, and the pass
 * costs more than all others.
 */
const SHORT_LIMIT = 1 << 20
/**
 * Bytes from which on a text is looked at more coarsely, in words a step, the more of them the text sought has bytes.
 */
const LARGE = 1 << 20
const STEPS = [
  { least: 640, step: 4 },
  { least: 160, step: 2 },
  { least: 0, step: 1 }
]
/** Bytes from which on a text sought has pieces of 8 enough: that a large text has none of them says it all. */
const FEW_PIECES = 48
/** A text so small is a place of its own. */
const SMALL = 4096
/** Codes from which on a text is mapped by chains of runs first. */
const CHAINED = 48
/**
 * Share of old_text from which on a place beside the best is a duplicate of it, and how many are looked for on each
 * side.
 */
const DUPLICATE_SHARE = 0.75
const MOST_DUPLICATES = 2

/**
 * The regions that `olds`, the readings of one old_text, may stand for, best first. Steps: exact lines; pieces of 8
 * bytes; if nothing good came of it, of 4; short texts everywhere.
 */
export function regionsOf(haystack: Haystack, olds: readonly OldText[], budget: Budget, places?: number): Region[] {
  return new Search(haystack, olds, budget, places).run()
}

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
    const least = Math.max(LEAST_SHARE, (this.#candidates[0]?.share ?? 0) - 0.25)
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
      for (const at of findAnchor(this.#haystack.bytes, line, this.#budget)) {
        const candidate = this.#tryPlace(
          Math.max(0, at - Math.floor(before * 1.25)),
          Math.min(length, at + Math.ceil(after * 1.25)),
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
    if (longest >= 24) this.#byPieces(texts, 8, longest)
    const again = longest < 24 || ((longest < FEW_PIECES || bytes.length <= LARGE) && this.#bestRank() < 0.72)
    if (longest >= 8 && again) this.#byPieces(texts, 4, longest)
    if (this.#codes <= SHORT && bytes.length <= SHORT_LIMIT && this.#bestShare() < 0.97) {
      for (const { folded, source } of this.#olds) {
        for (const at of findShort(bytes, folded.codes, MOST_SHORT)) {
          this.#tryPlace(Math.max(0, at - Math.ceil(source.length * 1.5)), Math.min(bytes.length, at + source.length))
        }
      }
    }
    if (bytes.length < Math.max(SMALL, longest * 3) && this.#bestRank() < 0.6) this.#tryPlace(0, bytes.length)
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
      if (votes < most * (best >= 0.9 && most > 10 ? 0.6 : 0.3)) return
      best = Math.max(best, this.#tryPlace(start, end)?.share ?? 0)
    }
  }

  #bestShare(): number {
    return this.#candidates.reduce((best, { share }) => Math.max(best, share), 0)
  }

  /** The best rank among the two that fit best. */
  #bestRank(): number {
    this.#sort()
    return this.#candidates
      .slice(0, 2)
      .filter(({ share }) => share >= 0.35)
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
    const key = `${start >> 6}:${end >> 6}`
    if (this.#tried.has(key)) return undefined
    this.#tried.add(key)
    let best: Candidate | undefined
    for (const old of preferred === undefined
      ? this.#olds
      : [preferred, ...this.#olds.filter(other => other !== preferred)]) {
      const slack = Math.floor(old.source.length * 0.18) + 120
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
   * Looks for duplicates of the best candidate in its own stretch, before and after it: a stretch tells only one place.
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
    if (byLines !== undefined && byLines.cover >= 0.62) return byLines.region
    const byCharacters = this.#byCharacters(candidate)
    if (byLines === undefined || byCharacters === undefined) return byLines?.region ?? byCharacters
    return byCharacters.folded > byLines.region.folded + 0.03 ? byCharacters : byLines.region
  }

  #byLines({ old, stretch, share }: Candidate): { region: Region; cover: number } | undefined {
    if (old.filled.length < 2) return undefined
    let alignment = alignLines(old.filled, stretch.lines, this.#budget)
    if (alignment === undefined || alignment.cover < 0.9 || !isComplete(alignment, old)) {
      const reach = Math.floor(old.source.length * 0.7) + 200
      const wider = this.#haystack.stretch(stretch.start - reach, stretch.end + reach)
      const other = alignLines(old.filled, wider.lines, this.#budget)
      if (other !== undefined && other.gain > (alignment?.gain ?? -Infinity) + 1e-6) {
        alignment = other
        stretch = wider
      }
    }
    if (alignment === undefined || alignment.cover <= 0.3) return undefined
    const { cover, ratio, inserted, length } = alignment
    const region = this.#region(
      old,
      stretch,
      spanOfLines(old, stretch, alignment),
      (Math.max(ratio, Math.min(share, cover)) + cover) / 2
    )
    return (
      region && {
        region: { ...region, inserted, rank: cover - (0.9 * inserted) / (length + 20) + 0.02 * region.raw - 0.02 },
        cover
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
      region && { ...region, rank: (span.multiple ? mapped / codes.length - 0.03 : share) - 0.02 + 0.02 * region.raw }
    )
  }

  #region(old: OldText, stretch: Stretch, span: TextSpan, folded: number): Region | undefined {
    const found = stretch.folded.source.slice(span.start, span.end)
    if (found.trim() === '') return undefined
    const raw = rawLikeness(old.source, found, this.#budget)
    return {
      ...bytesOf(this.#haystack, stretch, span),
      folded,
      raw,
      score: scoreOf(folded, raw),
      rank: folded - 0.02 + 0.02 * raw,
      old,
      inserted: 0
    }
  }
}

const isComplete = ({ pairs }: Alignment, { filled }: OldText): boolean =>
  pairs[0]!.fromA === 0 && pairs.at(-1)!.toA === filled.length - 1
