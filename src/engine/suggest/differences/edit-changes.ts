// How an edit changes a text: in whole lines if possible, else in words.
import { beginsLine, haveLetters, linesOfWords, quotePairs, type LineOfWords, type Word } from '../words.ts'
import { changedRanges, type ChangedRange } from './changed-ranges.ts'

/** A range of words; `isLines`: whole lines are inserted, removed, or both. */
export interface WordsChanged extends ChangedRange {
  isLines?: boolean
}

export interface ChangedLines {
  edits: WordsChanged[]
  /** Moved lines: the first word in the new text, with the line of the old text. */
  moved: Map<number, LineOfWords>
}

/** The change from `base` to `mine`. Its methods return undefined if more than `mostEdits` lines or words differ. */
export class EditChanges {
  readonly #base: readonly Word[]
  readonly #mine: readonly Word[]
  readonly #mostEdits: number
  /** The words before which a string is open. */
  readonly #quoted: { base: ReadonlySet<number>; mine: ReadonlySet<number> }

  constructor(base: readonly Word[], mine: readonly Word[], mostEdits: number) {
    this.#base = base
    this.#mine = mine
    this.#mostEdits = mostEdits
    this.#quoted = { base: insideQuotes(base), mine: insideQuotes(mine) }
  }

  /** The changes by lines: lines that both have stay, whatever words they share with neighbouring lines. */
  byLines(): ChangedLines | undefined {
    const [base, mine] = [linesOfWords(this.#base), linesOfWords(this.#mine)]
    const [keys, otherKeys] = [base.map(({ key }) => key), mine.map(({ key }) => key)]
    const found = changedRanges(keys, otherKeys, this.#mostEdits)
    if (found === undefined) return undefined
    const asWords = ({ from, to, otherFrom, otherTo }: ChangedRange): ChangedRange => ({
      from: base[from]?.from ?? this.#base.length - 1,
      to: base[to]?.from ?? this.#base.length - 1,
      otherFrom: mine[otherFrom]?.from ?? this.#mine.length - 1,
      otherTo: mine[otherTo]?.from ?? this.#mine.length - 1
    })
    // An inserted or removed block begins after blank lines, if there are any.
    const breaks = (range: ChangedRange): number => {
      const { words, start } = this.#changed(asWords(range))
      return words[start]!.gap.split('\n').length
    }
    const ranges = slid(found, keys, otherKeys, all =>
      all.reduce((best, next) => (breaks(next) >= breaks(best) ? next : best))
    )
    const moved = movedLines(ranges, base, mine)
    const gone = new Set(moved.values())
    const edits: WordsChanged[] = []
    for (const range of ranges) {
      const isReplaced = range.from < range.to && range.otherFrom < range.otherTo
      const isLines = !isReplaced || base.slice(range.from, range.to).every(line => gone.has(line))
      const inner = isLines ? [{ ...asWords(range), isLines }] : this.#inWords(asWords(range))
      if (inner === undefined) return undefined
      edits.push(...inner)
    }
    return { edits, moved: new Map([...moved].map(([line, from]) => [line.from, from])) }
  }

  byWords(): ChangedLines | undefined {
    const all = { from: 0, to: this.#base.length, otherFrom: 0, otherTo: this.#mine.length }
    const edits = this.#inWords(all)
    return edits && { edits, moved: new Map() }
  }

  /** The changes by words: whole lines if possible, else whole strings. */
  #inWords({ from, to, otherFrom, otherTo }: ChangedRange): ChangedRange[] | undefined {
    const keys = this.#base.slice(from, to).map(({ text }) => text)
    const otherKeys = this.#mine.slice(otherFrom, otherTo).map(({ text }) => text)
    const found = changedRanges(keys, otherKeys, this.#mostEdits)
    if (found === undefined) return undefined
    const shifted = (range: ChangedRange): ChangedRange => ({
      from: range.from + from,
      to: range.to + from,
      otherFrom: range.otherFrom + otherFrom,
      otherTo: range.otherTo + otherFrom
    })
    const isWhole = (range: ChangedRange): boolean => {
      const { words, start, end } = this.#changed(shifted(range))
      return beginsLine(words, start) && beginsLine(words, end)
    }
    const isOutside = (range: ChangedRange): boolean => {
      const { quoted, start } = this.#changed(shifted(range))
      return !quoted.has(start)
    }
    return slid(found, keys, otherKeys, (all, range) => all.find(isWhole) ?? all.find(isOutside) ?? range).map(shifted)
  }

  /** The inserted words, or the removed ones if none are inserted. */
  #changed({ from, to, otherFrom, otherTo }: ChangedRange) {
    return otherFrom < otherTo
      ? { words: this.#mine, quoted: this.#quoted.mine, start: otherFrom, end: otherTo }
      : { words: this.#base, quoted: this.#quoted.base, start: from, end: to }
  }
}

/** Inserted lines, each with an equal line that is removed. */
function movedLines(
  ranges: readonly ChangedRange[],
  base: readonly LineOfWords[],
  mine: readonly LineOfWords[]
): Map<LineOfWords, LineOfWords> {
  const taken = ranges.flatMap(({ from, to }) => base.slice(from, to))
  const moved = new Map<LineOfWords, LineOfWords>()
  for (const line of ranges.flatMap(({ otherFrom, otherTo }) => mine.slice(otherFrom, otherTo))) {
    // A bracket alone isn't enough to recognize a line.
    const at = haveLetters(line.text) ? taken.findIndex(({ text }) => text === line.text) : -1
    if (at !== -1) moved.set(line, taken.splice(at, 1)[0]!)
  }
  return moved
}

function insideQuotes(words: readonly Word[]): Set<number> {
  const inside = new Set<number>()
  for (const [open, close] of quotePairs(words)) for (let at = open + 1; at <= close; at++) inside.add(at)
  return inside
}

type Pick = (all: ChangedRange[], range: ChangedRange) => ChangedRange

/**
 * The ranges; one with items of only one list moves to the place that `pick` chooses among all equivalent places. A
 * common item stays between two ranges.
 */
function slid(
  ranges: readonly ChangedRange[],
  list: readonly string[],
  other: readonly string[],
  pick: Pick
): ChangedRange[] {
  let least = 0
  return ranges.map((range, i) => {
    const most = ranges[i + 1] === undefined ? list.length : ranges[i + 1]!.from - 1
    const isOneSided = range.from === range.to || range.otherFrom === range.otherTo
    const found = isOneSided ? pick(placesOf(range, list, other, least, most), range) : range
    least = found.to + 1
    return found
  })
}

/** All equivalent places of a range with items of only one list, between items `least` and `most` of `list`. */
function placesOf(
  range: ChangedRange,
  list: readonly string[],
  other: readonly string[],
  least: number,
  most: number
): ChangedRange[] {
  const [items, start, end] =
    range.from === range.to ? [other, range.otherFrom, range.otherTo] : [list, range.from, range.to]
  let [up, down] = [0, 0]
  while (range.from - up > least && items[start - up - 1] === items[end - up - 1]) up++
  while (range.to + down < most && items[start + down] === items[end + down]) down++
  return Array.from({ length: up + down + 1 }, (_, i) => ({
    from: range.from + i - up,
    to: range.to + i - up,
    otherFrom: range.otherFrom + i - up,
    otherTo: range.otherTo + i - up
  }))
}
