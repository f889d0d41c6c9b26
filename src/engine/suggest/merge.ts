// What an edit does to old_text, done to the region of the file that was meant: a three-way merge, word by word. Does
// not know files or edits.
import { fail, ok, type Result } from '../../result.ts'
import { changedRanges, type ChangedRange } from './differences/changed-ranges.ts'
import { type WordsChanged, EditChanges, type ChangedLines } from './differences/edit-changes.ts'
import { indentRule, type IndentRule, type Indents } from './indent-rule.ts'
import { type KeptLine, lostLine } from './kept-lines.ts'
import { DASHES, plainDashes, plainQuotes } from './differences/typography.ts'
import {
  beginsLine,
  haveLetters,
  type LineOfWords,
  linesOfWords,
  quotePairs,
  textOf,
  type Word,
  wordsOf
} from './words.ts'

/**
 * Both sides changed the same words, or words beside each other: `changed` of old_text by the edit, `found` in the file
 * in their place. Each may be empty. `unknown_word`: the edit puts this word of old_text in, which the file doesn't
 * have. `spacing`: white space that both have changed. `too_long`: the texts are too long or differ too much. `added`:
 * line numbers or a fence were taken off old_text, and new_text has only a part of them.
 */
export type MergeConflict =
  | { reason: 'same_words'; changed: string; found: string }
  | { reason: 'unknown_word'; word: string }
  | { reason: 'spacing' | 'too_long' | 'added' }

/** Words of all three texts, and edits between two, above which nothing is merged. Chosen, not measured. */
const MOST_WORDS = 12_000
const MOST_EDITS = 2000

/**
 * `theirs` with the change that leads from `base` to `mine`: what `theirs` has otherwise than `base` stays. White space
 * between words that stay is merged too, and what is put in gets the indentation that leads from `base` to `theirs`.
 * The breaks of all three are `\n`.
 *
 * After Khanna, Kunal and Pierce, "A Formal Investigation of Diff3" (2007), on words; between a change of one side and
 * one of the other there must be a word that both have kept.
 */
export function merge(base: string, mine: string, theirs: string): Result<string, MergeConflict> {
  const words = { base: wordsOf(base), mine: wordsOf(mine), theirs: wordsOf(theirs) }
  if (words.base.length + words.mine.length + words.theirs.length > MOST_WORDS) return fail({ reason: 'too_long' })
  const changes = changedRanges(textsOf(words.base, folded), textsOf(words.theirs, folded), MOST_EDITS)
  if (changes === undefined) return fail({ reason: 'too_long' })
  const edit = new EditChanges(words.base, words.mine, MOST_EDITS)
  const byLines = edit.byLines()
  if (byLines === undefined) return fail({ reason: 'too_long' })
  const merged = new Merge(words, changes).apply(byLines)
  // A word that both have kept may be in a line that the edit takes out. How deep a line is, words don't say.
  const byWords = merged.ok || merged.failure.reason === 'spacing' ? undefined : edit.byWords()
  return byWords === undefined ? merged : new Merge(words, changes).apply(byWords)
}

const textsOf = (words: readonly Word[], keyOf: (word: string) => string): string[] =>
  words.map(({ text }) => keyOf(text))

/** The same for words that differ only in how they are written. */
export const folded = (word: string): string => plainDashes(plainQuotes(word.normalize('NFC')))

class Merge {
  readonly #base: readonly Word[]
  readonly #mine: readonly Word[]
  readonly #theirs: readonly Word[]
  readonly #changes: readonly ChangedRange[]
  /** For each word of `base` where it is in `theirs`; -1 if it isn't. The empty last ones are each other's. */
  readonly #kept: number[]
  readonly #known: { base: Set<string>; theirs: Set<string> }
  readonly #spelled: (text: string) => string
  /** The words that begin a line in both texts. */
  readonly #indents: (Indents & { at: number })[]
  readonly #rule: IndentRule | undefined
  /** Indentations of `base` that stand for several of `theirs`: there, `base` has lost some, or all. */
  readonly #lost: ReadonlySet<string>
  /** The lines of `mine`. */
  readonly #lines: readonly LineOfWords[]
  /** Neither `base` nor `mine` has any indentation, and `theirs` has. */
  readonly #isFlat: boolean
  /**
   * `mine` has an indentation, or a whole line, of `base` that `theirs` hasn't: so that where a line of it is indented as in
   * `theirs`, that is chance.
   */
  readonly #isIndentedAsBase: boolean
  #moved: ChangedLines['moved'] = new Map()
  /** Where a line of `base` begins in `theirs`, though it begins with other signs there. */
  readonly #places = new Map<number, number>()
  /** The words of `mine` that stay, each with that of `base`; and those that are put in as they are. */
  readonly #origins = new Map<number, number>()
  readonly #asSent = new Set<number>()
  /** By place in `theirs`: what is written instead of a gap; and instead of words and the gap after them. */
  readonly #gaps = new Map<number, string>()
  readonly #texts = new Map<number, { text: string; to: number }>()

  constructor(words: { base: Word[]; mine: Word[]; theirs: Word[] }, changes: readonly ChangedRange[]) {
    this.#base = words.base
    this.#mine = words.mine
    this.#theirs = words.theirs
    this.#changes = changes
    this.#kept = counterparts(words.base.length, changes)
    const textsOf = (all: readonly Word[]): Set<string> => new Set(all.map(({ text }) => text))
    this.#known = { base: textsOf(words.base), theirs: textsOf(words.theirs) }
    this.#spelled = spelling(textOf(words.base), textOf(words.theirs))
    this.#indents = this.#kept.flatMap((there, at) => {
      if (there === -1 || at === words.base.length - 1) return []
      const from = indentOf(words.base[at]!.gap, at === 0)
      const to = indentOf(words.theirs[there]!.gap, there === 0)
      return from === undefined || to === undefined ? [] : [{ at, from, to }]
    })
    this.#isIndentedAsBase = [indentsOf, linesIn].some(partsOf => {
      const [base, mine, theirs] = [words.base, words.mine, words.theirs].map(all => new Set(partsOf(all)))
      return [...mine!].some(part => base!.has(part) && !theirs!.has(part))
    })
    this.#rule = ruleOf(this.#indents)
    this.#lost = lostIndents(this.#indents)
    this.#lines = linesOfWords(words.mine)
    this.#isFlat =
      this.#indents.some(({ to }) => to !== '') && [...indentsOf(words.base), ...indentsOf(words.mine)].join('') === ''
  }

  /** Fails too where a line that the edit keeps, or a pair of quotation marks, would not be as it should. */
  apply({ edits, moved }: ChangedLines): Result<string, MergeConflict> {
    this.#moved = moved
    let [at, mineAt] = [0, 0]
    let isDone = false
    const end = { from: this.#base.length, to: 0, otherFrom: 0, otherTo: 0 }
    for (const edit of [...edits, end]) {
      // The gap before the first of them was written with the edit before it.
      for (; at < edit.from; at++, mineAt++, isDone = false) {
        const conflict = isDone ? null : this.#mergeGap(at, this.#mine[mineAt]!.gap)
        if (conflict !== null) return fail(conflict)
        this.#origins.set(mineAt, at)
      }
      if (edit === end) break
      const conflict = this.#conflictWith(edit) ?? this.#mergeWords(edit)
      if (conflict !== null) return fail(conflict)
      ;[at, mineAt, isDone] = [edit.to, edit.otherTo, true]
    }
    const merged = this.#written()
    const conflict =
      lostLine({ base: this.#base, mine: this.#mine, theirs: this.#theirs, kept: this.#kept }, merged) ??
      this.#unpaired()
    return conflict === undefined ? ok(merged) : fail({ reason: 'same_words', ...conflict })
  }

  #written(): string {
    let written = ''
    for (let at = 0; at < this.#theirs.length; at++) {
      const instead = this.#texts.get(at)
      if (instead === undefined) written += this.#gaps.get(at) ?? this.#theirs[at]!.gap
      else [written, at] = [written + instead.text, instead.to]
      written += this.#theirs[at]!.text
    }
    return written
  }

  #conflictWith(edit: WordsChanged): MergeConflict | null {
    const { from, to, otherFrom, otherTo } = edit
    const changes = this.#changes.filter(change => change.from <= to && change.to >= from)
    const [change] = changes
    if (change !== undefined && !this.#isAmongOtherSigns(edit, changes)) {
      const [start, end] = [Math.min(from, change.from), Math.max(to, change.to)]
      const there = this.#theirs.slice(change.otherFrom - (change.from - start), change.otherTo + (end - change.to))
      return { reason: 'same_words', changed: textOf(this.#base.slice(start, end)), found: textOf(there) }
    }
    // It may be what the file calls otherwise by now.
    for (let i = otherFrom; i < otherTo; i++) {
      const { text } = this.#mine[i]!
      const line = this.#moved.get(i)
      if (line !== undefined) i += line.to - line.from - 1
      else if (/^[\p{L}_$]/u.test(text) && this.#known.base.has(text) && !this.#known.theirs.has(text)) {
        return { reason: 'unknown_word', word: text }
      }
    }
    return null
  }

  /** Whether whole lines are put in or taken out, and `theirs` has as many, written otherwise. */
  #isAmongOtherSigns(edit: WordsChanged, changes: readonly ChangedRange[]): boolean {
    const { from, to, otherFrom, otherTo, isLines } = edit
    const [start, end] = [this.#lineAt(from), this.#lineAt(to)]
    if (isLines !== true || start === undefined || end === undefined) return false
    const count = (words: readonly Word[], first: number, last: number): number =>
      words.slice(first, last).filter((_, i) => beginsLine(words, first + i)).length
    const isSame =
      changes.every(change => this.#areSigns(change)) &&
      count(this.#base, from, to) === count(this.#theirs, start, end) &&
      linesOfWords(this.#mine.slice(otherFrom, otherTo + 1)).every(
        line => this.#moved.has(otherFrom + line.from) || this.#fits(line, edit, changes, start)
      )
    if (isSame) this.#places.set(from, start).set(to, end)
    return isSame
  }

  #areSigns({ from, to, otherFrom, otherTo }: ChangedRange): boolean {
    return !haveLetters(textOf(this.#base.slice(from, to)) + textOf(this.#theirs.slice(otherFrom, otherTo)))
  }

  /**
   * Whether a line can be put in as it is: none of the signs that `theirs` has at the end of the line before separates
   * it from that one, and it begins with the same sign as the line after it.
   */
  #fits(
    line: LineOfWords,
    { from, to, otherFrom }: WordsChanged,
    changes: readonly ChangedRange[],
    start: number
  ): boolean {
    const first = this.#mine[otherFrom + line.from]!.text
    return (
      from === to &&
      changes.every(change => {
        const before = [...this.#base.slice(change.from, from), ...this.#theirs.slice(change.otherFrom, start)]
        const isAfter = change.to > from || change.otherTo > start
        return before.every(({ text }) => text === ';') && (!isAfter || first === this.#base[from]!.text)
      })
    )
  }

  /** Where the line is in `theirs` that begins at word `at` of `base`, or the end; undefined if it has other lines there. */
  #lineAt(at: number): number | undefined {
    const change = this.#changes.find(({ from, to }) => from <= at && at <= to)
    if (change === undefined) return beginsLine(this.#theirs, this.#kept[at]!) ? this.#kept[at] : undefined
    const starts = (words: readonly Word[], first: number, last: number): number[] =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(word => beginsLine(words, word))
    const here = starts(this.#base, change.from, change.to)
    const there = starts(this.#theirs, change.otherFrom, change.otherTo)
    return here.length === there.length ? there[here.indexOf(at)] : undefined
  }

  /** Where word `at` of `base` is in `theirs`, or what stands there at the start of its line. */
  #there(at: number): number {
    return this.#places.get(at) ?? this.#kept[at]!
  }

  /** Quotation marks that the edit makes a pair and that would be none, as `theirs` has another sign for one of them. */
  #unpaired(): KeptLine | undefined {
    const pairs = new Map(quotePairs(this.#base))
    for (const [open, close] of quotePairs(this.#mine)) {
      const [first, last] = [this.#signAt(open), this.#signAt(close)]
      if (first === undefined || last === undefined) continue
      const wasPair = pairs.get(this.#origins.get(open)!) === this.#origins.get(close)
      const isOther = first !== plainSign(this.#mine[open]!.text)
      const isWithin = (sign: string): boolean =>
        this.#mine.slice(open + 1, close).some(({ text }, i) => text === sign && !this.#origins.has(open + 1 + i))
      if (wasPair ? isOther && isWithin(first) : first !== last) {
        return { changed: textOf(this.#mine.slice(open, close + 1)), found: first }
      }
    }
    return undefined
  }

  /** The quotation mark that stands in the result for word `at` of `mine`; undefined in a line that is moved. */
  #signAt(at: number): string | undefined {
    const origin = this.#origins.get(at)
    if (origin !== undefined) return plainSign(this.#theirs[this.#kept[origin]!]?.text ?? '')
    return this.#asSent.has(at) ? plainSign(this.#mine[at]!.text) : undefined
  }

  /** The white space before word `at` of `base`, which stays, is `wanted` in `mine`. */
  #mergeGap(at: number, wanted: string): MergeConflict | null {
    if (wanted === this.#base[at]!.gap) return null
    const there = this.#kept[at]!
    const isBetweenSame = there === (at === 0 ? 0 : this.#kept[at - 1]! + 1)
    const beginsLine = /\n/.test(wanted) && /\n/.test(this.#base[at]!.gap)
    const gap = there !== -1 && (isBetweenSame || beginsLine) ? this.#gapFor(at, wanted, at === 0) : undefined
    if (gap === undefined) return { reason: 'spacing' }
    this.#gaps.set(there, gap)
    return null
  }

  /** No change of `theirs` touches the words: each of `base` from the one before to that after them is there. */
  #mergeWords({ from, to, otherFrom, otherTo, isLines }: WordsChanged): MergeConflict | null {
    const start = this.#there(from)
    const parts: (string | undefined)[] = []
    if (!this.#areAsDeepAsAround({ from, to, otherFrom, otherTo })) return { reason: 'spacing' }
    // White space at the end of old_text may be stray; a word that is put in after it stands apart all the same.
    const isApart = from === to && otherFrom > 0 && this.#theirs[start]!.gap === ''
    // White space at the end of the line before, as `theirs` has it.
    const isKept = isLines === true && from > 0 && this.#keepsTail(otherFrom, from)
    let tail = isKept ? tailOf(this.#theirs[start]!.gap) : undefined
    for (let i = otherFrom; i < otherTo; i++) {
      const { gap, text } = this.#mine[i]!
      const isFirst = i === otherFrom && !isApart
      // What is replaced says how deep the first line is; the others are between its last line and the one after it.
      if (isFirst && from === to && !this.#isKnown(gap, from, i === 0)) return { reason: 'spacing' }
      parts.push(ended(isFirst ? this.#gapBefore(from, gap, i === 0) : this.#adapted(gap, to), tail))
      const line = this.#moved.get(i)
      const moved = line && this.#lineIn(line)
      parts.push(moved?.text ?? this.#spelled(text))
      if (moved === undefined) this.#asSent.add(i)
      else i += line!.to - line!.from - 1
      tail = moved && this.#keepsTail(i + 1, line!.to) ? moved.tail : undefined
    }
    const after = this.#mine[otherTo]!.gap
    const isLikeFirst = otherFrom === otherTo && after !== this.#base[to]!.gap && after === this.#base[from]!.gap
    // The file may lack a line break that old_text begins with; what is put in before it is a line all the same.
    const isAbove = to === 0 && after.includes('\n') && !this.#theirs[0]!.gap.includes('\n')
    const gap =
      otherTo === 0 ? this.#gapAtStart(to, after) : isAbove ? this.#adapted(after, to) : this.#gapFor(to, after)
    parts.push(isLikeFirst ? this.#theirs[start]!.gap : ended(gap, tail))
    if (parts.includes(undefined)) return { reason: 'spacing' }
    this.#texts.set(start, { text: parts.join(''), to: this.#there(to) })
    return null
  }

  /**
   * Whether lines that are put in or taken out, where `base` has lost how deep they are, leave all as deep as the lines
   * around: of two in a row one may be within the other, as what follows may be within one that opens a block.
   */
  #areAsDeepAsAround({ from, to, otherFrom, otherTo }: ChangedRange): boolean {
    const [base, mine] = [this.#base, this.#mine]
    if (this.#lost.size === 0 && !this.#isFlat) return true
    if (otherFrom === otherTo) {
      const [taken, next] = [from, to].map(at => this.#indents.find(line => line.at === at)?.to.length)
      return taken === undefined || next === undefined || next <= taken
    }
    const isLost = (at: number): boolean => this.#isFlat || this.#lost.has(indentOf(mine[at]!.gap, at === 0)!)
    const lines = this.#lines.filter(({ from: at }) => at >= otherFrom && at < otherTo && isLost(at))
    const opens = (at: number): boolean => OPENS.test(mine[at]?.text ?? '')
    const isReplaced = from < to && beginsLine(base, from)
    return (
      (lines.length < 2 || this.#lost.size === 0) &&
      lines.every(({ from: at, to: end }) => (isReplaced && at === otherFrom) || !(opens(at - 1) || opens(end - 1)))
    )
  }

  /** Whether the white space before word `at` of `mine`, at the end of a line, is that before word `was` of `base`. */
  #keepsTail(at: number, was: number): boolean {
    return tailOf(this.#mine[at]!.gap) === tailOf(this.#base[was]!.gap)
  }

  /** What `theirs` has for a line of `base`, and the white space at its end. */
  #lineIn({ from, to }: LineOfWords): { text: string; tail: string } | undefined {
    const [start, end] = [this.#lineAt(from), this.#lineAt(to)]
    if (start === undefined || end === undefined) return undefined
    return { text: textOf(this.#theirs.slice(start, end)), tail: tailOf(this.#theirs[end]!.gap) }
  }

  /**
   * What stands for the gap `wanted` of `mine` before word `at` of `base`; undefined where `theirs` changed it too.
   * `isFirst`: it begins `mine`.
   */
  #gapFor(at: number, wanted: string, isFirst = false): string | undefined {
    const [was, is] = [this.#base[at]!.gap, this.#theirs[this.#there(at)]!.gap]
    if (wanted === was || (wanted === is && !(this.#isIndentedAsBase && beginsLine(this.#base, at)))) return is
    const adapted = this.#adapted(wanted, at, isFirst)
    return adapted === is || was === is || this.#adapted(was, at, at === 0) === is ? adapted : undefined
  }

  /** The same before a word that is put in: where no line of `base` is left, it begins one all the same. */
  #gapBefore(at: number, wanted: string, isFirst: boolean): string | undefined {
    const gap = this.#gapFor(at, wanted, isFirst)
    if (at < this.#base.length - 1 || gap?.includes('\n') !== true) return gap
    const adapted = this.#adapted(wanted, at, isFirst)
    return adapted && gap.slice(0, gap.lastIndexOf('\n') + 1) + indentOf(adapted, true)!
  }

  /** The gap `wanted` that begins `mine`, where word `at` of `base` is the first that stays. */
  #gapAtStart(at: number, wanted: string): string | undefined {
    const [base, theirs] = [this.#base, this.#theirs]
    const beginsBoth = beginsLine(base, at) && beginsLine(theirs, this.#there(at))
    if (!beginsBoth || at === base.length - 1) return this.#gapFor(at, wanted)
    const [breaks, was, is] = [wanted, base[0]!.gap, theirs[0]!.gap].map(gap => gap.slice(0, gap.lastIndexOf('\n') + 1))
    const indent = this.#adapted(wanted.slice(breaks!.length), at, true)
    if (indent === undefined || (breaks !== was && breaks !== is && was !== is)) return undefined
    return (breaks === was ? is! : breaks!) + indent
  }

  /** A gap of `mine` with the indentation of `theirs` around word `at` of `base`. */
  #adapted(gap: string, at: number, isFirst = false): string | undefined {
    const plain = this.#spelled(gap)
    const indent = indentOf(plain, isFirst)
    if (indent === undefined) return plain
    const adapted = this.#indents.length === 0 ? indent : this.#indentFor(indent, at)
    return adapted === undefined ? undefined : plain.slice(0, plain.length - indent.length) + adapted
  }

  /**
   * As the lines beside word `at` of `base` have it, then by the one rule of all lines, then by that of those two.
   * Undefined too where `base` has lost it, and the two don't agree.
   */
  #indentFor(indent: string, at: number): string | undefined {
    const near = this.#beside(at)
    const same = near.filter(({ from }) => from === indent)
    if (this.#lost.has(indent) && (same.length < 2 || same[0]!.to !== same[1]!.to)) return undefined
    if (same.length > 0) return same[0]!.to
    const rule = this.#rule ?? (near.length === 2 && this.#lost.size === 0 ? indentRule(near) : undefined)
    return rule?.(indent)
  }

  /** The lines of `base` before and from word `at` on that `theirs` has too. */
  #beside(at: number): Indents[] {
    const before = this.#indents.findLast(other => other.at < at)
    const after = this.#indents.find(other => other.at >= at)
    return [before, after].filter(pair => pair !== undefined)
  }

  /** Whether it is known how deep a line is that is put in before word `at` of `base`, if `gap` begins one. */
  #isKnown(gap: string, at: number, isFirst: boolean): boolean {
    const indent = indentOf(gap, isFirst && beginsLine(this.#base, at))
    return indent === undefined || !this.#lost.has(indent) || this.#indentFor(indent, at) !== undefined
  }
}

/** The last word of a line that opens a block, or goes on in the next. */
const OPENS = /^(?:[:{([=>\\]|do|then|else|begin)$/

const TAIL = /^[^\S\n]*/
const tailOf = (gap: string): string => TAIL.exec(gap)![0]

/** A gap with another `tail` of the line before it, if it ends that. */
const ended = (gap: string | undefined, tail: string | undefined): string | undefined =>
  tail !== undefined && gap?.includes('\n') === true ? gap.replace(TAIL, () => tail) : gap

function counterparts(length: number, changes: readonly ChangedRange[]): number[] {
  const kept: number[] = []
  let shift = 0
  for (const { from, to, otherTo } of changes) {
    while (kept.length < from) kept.push(kept.length + shift)
    while (kept.length < to) kept.push(-1)
    shift = otherTo - to
  }
  while (kept.length < length) kept.push(kept.length + shift)
  return kept
}

/** The white space at the start of the line that a gap ends on; undefined where it is within a line. */
function indentOf(gap: string, isFirst: boolean): string | undefined {
  const last = gap.lastIndexOf('\n')
  return last === -1 && !isFirst ? undefined : gap.slice(last + 1)
}

/**
 * The rule of all lines. The first may have lost its own indentation only: where it has none, the others count and, if it
 * can be read as they are, it must agree.
 */
function ruleOf(indents: readonly (Indents & { at: number })[]): IndentRule | undefined {
  const [first, ...others] = indents
  const all = indentRule(indents)
  if (first?.at !== 0 || first.from !== '' || first.to === '' || others.length === 0) return all
  const rest = indentRule(others)
  if (all === undefined || others.some(({ from, to }) => from !== '' && to === first.to)) return rest
  return indent => (all(indent) === rest?.(indent) ? all(indent) : undefined)
}

/** The indentations that stand for several. The first line may have lost its own only. */
function lostIndents(indents: readonly (Indents & { at: number })[]): Set<string> {
  const [first, ...others] = indents
  const isOwn = first?.at === 0 && first.from === '' && others.some(({ from }) => from !== '')
  const known = new Map<string, string>()
  const lost = new Set<string>()
  for (const { from, to } of isOwn ? others : indents) {
    if ((known.get(from) ?? to) !== to) lost.add(from)
    known.set(from, to)
  }
  return lost
}

/** The indentation of each line. */
const indentsOf = (words: readonly Word[]): string[] =>
  words.slice(0, -1).flatMap(({ gap }, at) => indentOf(gap, at === 0) ?? [])

/** The lines with their indentation, but for blank ones. */
const linesIn = (words: readonly Word[]): string[] =>
  textOf(words)
    .split('\n')
    .filter(line => line.trim() !== '')

const PLAIN: [typographic: RegExp, plain: string][] = [
  [/[\u201c-\u201f\u00ab\u00bb\u2033]/g, '"'],
  [/[\u2018-\u201b\u2032]/g, "'"],
  [DASHES, '-'],
  [/\u2026/g, '...'],
  [/[\u00a0\u202f]/g, ' ']
]

/** A quotation mark as `'` or `"`, whichever of its forms it has. */
const plainSign = (text: string): string => PLAIN.reduce((all, [sign, instead]) => all.replace(sign, instead), text)

/** How what is put in is written where `theirs` writes otherwise what `base` has too: typographic signs, accents. */
function spelling(base: string, theirs: string): (text: string) => string {
  const plain = PLAIN.filter(([sign]) => base.search(sign) !== -1 && theirs.search(sign) === -1)
  const form = (['NFC', 'NFD'] as const).find(
    form => base.normalize(form) !== base && theirs.normalize(form) === theirs
  )
  return text => {
    const written = plain.reduce((all, [sign, instead]) => all.replace(sign, instead), text)
    return form === undefined ? written : written.normalize(form)
  }
}
