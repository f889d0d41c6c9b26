// Three-way merge, word by word: applies what an edit does to old_text to the region of the file that was meant.
import { fail, ok, type Result } from '../../result.ts'
import { changedRanges, type ChangedRange } from './differences/changed-ranges.ts'
import { type WordsChanged, EditChanges, type ChangedLines } from './differences/edit-changes.ts'
import { indentRule, type IndentRule, type Indents } from './indent-rule.ts'
import { type KeptLine, lostLine } from './kept-lines.ts'
import { DASHES, plainDashes, plainQuotes } from './differences/typography.ts'
import { inSameLines } from './same-lines.ts'
import {
  beginsLine,
  haveLetters,
  isGoneFrom,
  type LineOfWords,
  linesOfWords,
  quotePairs,
  textOf,
  type Word,
  wordsOf
} from './words.ts'

/**
 * Why two changes conflict. `same_words`: both sides changed the same words, or words next to each other: the edit
 * changed `changed` of old_text, the file has `found` in their place; each may be empty, and lines are whole if there
 * are several. `unknown_word`: the edit inserts this word of old_text, which the file doesn't have. `spacing`: both
 * changed the same white space. `too_long`: the texts are too long or differ too much. `added`: line numbers or a fence
 * were removed from old_text, and new_text has only a part of them. `uncertain`: the change fits, but the region is too
 * unlike old_text.
 */
export type MergeConflict =
  | { reason: 'same_words'; changed: string; found: string }
  | { reason: 'unknown_word'; word: string }
  | { reason: 'spacing' | 'too_long' | 'added' | 'uncertain' }

/** Most words in all three texts, and most edits between two of them, for a merge. Chosen, not measured. */
const MOST_WORDS = 12_000
export const MOST_EDITS = 2000

/**
 * Applies the change from `base` to `mine` to `theirs`, and keeps what `theirs` changed. White space between kept words
 * is merged too, and inserted text gets the indentation of `theirs`, by the rule from `base` to `theirs`. All three
 * texts must have `\n` breaks.
 *
 * After Khanna, Kunal and Pierce, "A Formal Investigation of Diff3" (2007), on words: between a change of one side and
 * a change of the other there must be a word that both kept. Two cases are no conflict: `theirs` has other items of a
 * list beside the replaced words, or it has the changed lines as they are in `base`, just once.
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
  // A word that both kept may be in a line that the edit removes. Words don't say how deep a line is indented.
  const byWords = merged.ok || merged.failure.reason === 'spacing' ? undefined : edit.byWords()
  const inWords = byWords === undefined ? merged : new Merge(words, changes).apply(byWords)
  if (inWords.ok || inWords.failure.reason !== 'same_words') return inWords
  const same = inSameLines(base, mine, theirs, MOST_EDITS)
  return same === undefined ? inWords : ok(same)
}

const textsOf = (words: readonly Word[], keyOf: (word: string) => string): string[] =>
  words.map(({ text }) => keyOf(text))

/** Makes words that differ only in how they are written equal. */
export const folded = (word: string): string =>
  plainDashes(plainQuotes(word.normalize('NFC').replace(/[\ufe0e\ufe0f]/g, '')))

class Merge {
  readonly #base: readonly Word[]
  readonly #mine: readonly Word[]
  readonly #theirs: readonly Word[]
  readonly #changes: readonly ChangedRange[]
  /** For each word of `base`, its index in `theirs`, or -1. The empty last words correspond to each other. */
  readonly #kept: number[]
  readonly #isGone: (word: Word) => boolean
  readonly #spelled: (text: string) => string
  /** Indentations at the words that begin a line in both `base` and `theirs`. */
  readonly #indents: (Indents & { at: number })[]
  readonly #rule: IndentRule | undefined
  /** Indentations of `base` that correspond to several in `theirs`: `base` has lost some indentation there, or all. */
  readonly #lost: ReadonlySet<string>
  readonly #lines: readonly LineOfWords[]
  /** Neither `base` nor `mine` has any indentation, but `theirs` has. */
  readonly #isFlat: boolean
  /**
   * `mine` shares an indentation, or a whole line, with `base` that `theirs` lacks; so if one of its lines is indented
   * as in `theirs`, that is chance.
   */
  readonly #isIndentedAsBase: boolean
  #moved: ChangedLines['moved'] = new Map()
  /** Where a line of `base` begins in `theirs` if it begins with other signs there. */
  readonly #places = new Map<number, number>()
  /** Kept words of `mine`, each with its word of `base`; and the words that are inserted as sent. */
  readonly #origins = new Map<number, number>()
  readonly #asSent = new Set<number>()
  /** By index in `theirs`: replacements for a gap; and replacements for words and the gap after them. */
  readonly #gaps = new Map<number, string>()
  readonly #texts = new Map<number, { text: string; to: number }>()

  constructor(words: { base: Word[]; mine: Word[]; theirs: Word[] }, changes: readonly ChangedRange[]) {
    this.#base = words.base
    this.#mine = words.mine
    this.#theirs = words.theirs
    this.#changes = changes
    this.#kept = counterparts(words.base.length, changes)
    this.#isGone = isGoneFrom(words.base, words.theirs)
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

  /** Fails also if a line that the edit keeps, or a pair of quotation marks, would come out wrong. */
  apply({ edits, moved }: ChangedLines): Result<string, MergeConflict> {
    this.#moved = moved
    let [at, mineAt] = [0, 0]
    let isDone = false
    const end = { from: this.#base.length, to: 0, otherFrom: 0, otherTo: 0 }
    for (const edit of [...edits, end]) {
      // The gap before the first of these words was written with the previous edit.
      for (; at < edit.from; at++, mineAt++, isDone = false) {
        const conflict = isDone ? null : this.#mergeGap(at, this.#mine[mineAt]!.gap)
        if (conflict !== null) return fail(conflict)
        this.#origins.set(mineAt, at)
      }
      if (edit === end) break
      const isMade = this.#isMade(edit)
      const conflict = isMade ? null : (this.#conflictWith(edit) ?? this.#mergeWords(edit))
      if (conflict !== null) return fail(conflict)
      ;[at, mineAt, isDone] = [edit.to, edit.otherTo, !isMade]
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

  /** Whether the file has these words of the edit already, in the same place. */
  #isMade({ from, to, otherFrom, otherTo }: WordsChanged): boolean {
    const change = this.#changes.find(one => one.from === from && one.to === to)
    if (change === undefined || otherTo - otherFrom !== change.otherTo - change.otherFrom) return false
    return this.#mine.slice(otherFrom, otherTo).every(({ text, gap }, i) => {
      const there = this.#theirs[change.otherFrom + i]!
      return there.text === text && there.gap === gap
    })
  }

  #conflictWith(edit: WordsChanged): MergeConflict | null {
    const { from, to, otherFrom, otherTo } = edit
    const changes = this.#changes.filter(change => change.from <= to && change.to >= from)
    const [change] = changes
    if (change !== undefined && !this.#isAmongOtherSigns(edit, changes) && !this.#isBesideItems(edit, changes)) {
      const [start, end] = [Math.min(from, change.from), Math.max(to, change.to)]
      const there = [change.otherFrom - (change.from - start), change.otherTo + (end - change.to)] as const
      return { reason: 'same_words', changed: partOf(this.#base, start, end), found: partOf(this.#theirs, ...there) }
    }
    // The file may have renamed this word.
    for (let i = otherFrom; i < otherTo; i++) {
      const word = this.#mine[i]!
      const line = this.#moved.get(i)
      if (line !== undefined) i += line.to - line.from - 1
      else if (this.#isGone(word)) return { reason: 'unknown_word', word: word.text }
    }
    return null
  }

  /** Whether whole lines are inserted or removed, and `theirs` has as many lines there, written with other signs. */
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

  /**
   * Whether the edit replaces words that `theirs` has unchanged, and just once, by as many items of a list, and `theirs`
   * only adds or lacks items beside them.
   */
  #isBesideItems({ from, to, otherFrom, otherTo }: WordsChanged, changes: readonly ChangedRange[]): boolean {
    const [own, instead] = [this.#base.slice(from, to), this.#mine.slice(otherFrom, otherTo)]
    const isBeside =
      haveLetters(textOf(own)) &&
      instead.length > 0 &&
      separatorsIn(own) === separatorsIn(instead) &&
      changes.every(
        change =>
          (change.from >= to || change.to <= from) &&
          [this.#base.slice(change.from, change.to), this.#theirs.slice(change.otherFrom, change.otherTo)].every(
            words => areOtherItems(words, own, change.from >= to)
          )
      ) &&
      [this.#base, this.#theirs].every(words => placesIn(words, own) === 1)
    // The word after them may be another one in `theirs`.
    if (isBeside) this.#places.set(to, this.#kept[to - 1]! + 1)
    return isBeside
  }

  #areSigns({ from, to, otherFrom, otherTo }: ChangedRange): boolean {
    return !haveLetters(textOf(this.#base.slice(from, to)) + textOf(this.#theirs.slice(otherFrom, otherTo)))
  }

  /**
   * Whether a line can be inserted as it is: no sign that `theirs` has at the end of the line before separates the two,
   * and the line begins with the same sign as the line after it.
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

  /** Where in `theirs` the line begins that starts (or ends) at word `at` of `base`; undefined if lines don't match. */
  #lineAt(at: number): number | undefined {
    const change = this.#changes.find(({ from, to }) => from <= at && at <= to)
    if (change === undefined) return beginsLine(this.#theirs, this.#kept[at]!) ? this.#kept[at] : undefined
    const starts = (words: readonly Word[], first: number, last: number): number[] =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(word => beginsLine(words, word))
    const here = starts(this.#base, change.from, change.to)
    const there = starts(this.#theirs, change.otherFrom, change.otherTo)
    return here.length === there.length ? there[here.indexOf(at)] : undefined
  }

  /** The index in `theirs` of word `at` of `base`, or of what begins its line there. */
  #there(at: number): number {
    return this.#places.get(at) ?? this.#kept[at]!
  }

  /** A pair of quotation marks from the edit that wouldn't match, because `theirs` has another sign for one of them. */
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

  /** The quotation mark in the result for word `at` of `mine`; undefined in a moved line. */
  #signAt(at: number): string | undefined {
    const origin = this.#origins.get(at)
    if (origin !== undefined) return plainSign(this.#theirs[this.#kept[origin]!]?.text ?? '')
    return this.#asSent.has(at) ? plainSign(this.#mine[at]!.text) : undefined
  }

  /** Merges a white space change before kept word `at` of `base`: `mine` has `wanted` there. */
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

  /**
   * Merges words that no change of `theirs` touches: it has the words of `base` and those just before and after them.
   */
  #mergeWords({ from, to, otherFrom, otherTo, isLines }: WordsChanged): MergeConflict | null {
    const start = this.#there(from)
    const parts: (string | undefined)[] = []
    if (!this.#areAsDeepAsAround({ from, to, otherFrom, otherTo })) return { reason: 'spacing' }
    // White space at the end of old_text may be stray; a word inserted after it must be separate all the same.
    const isApart = from === to && otherFrom > 0 && this.#theirs[start]!.gap === ''
    // Keep white space at the end of the line before as `theirs` has it.
    const isKept = isLines === true && from > 0 && this.#keepsTail(otherFrom, from)
    let tail = isKept ? tailOf(this.#theirs[start]!.gap) : undefined
    for (let i = otherFrom; i < otherTo; i++) {
      const { gap, text } = this.#mine[i]!
      const isFirst = i === otherFrom && !isApart
      // The replaced line says how deep the first line is; the others lie between its last line and the one after it.
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
    // The file may lack a line break that old_text begins with; what is inserted before it is a line all the same.
    const isAbove = to === 0 && after.includes('\n') && !this.#theirs[0]!.gap.includes('\n')
    const gap =
      otherTo === 0 ? this.#gapAtStart(to, after) : isAbove ? this.#adapted(after, to) : this.#gapFor(to, after)
    parts.push(isLikeFirst ? this.#theirs[start]!.gap : ended(gap, tail))
    if (parts.includes(undefined)) return { reason: 'spacing' }
    this.#texts.set(start, { text: parts.join(''), to: this.#there(to) })
    return null
  }

  /**
   * Where `base` has lost its indentation: whether the inserted or removed lines leave every line as deep as the lines
   * around. They may not if two lines are inserted (one may be inside the other), or a line opens a block.
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

  /** Whether `mine` has before word `at` the same white space at the end of a line as `base` before word `was`. */
  #keepsTail(at: number, was: number): boolean {
    return tailOf(this.#mine[at]!.gap) === tailOf(this.#base[was]!.gap)
  }

  /** The text of a line of `base` in `theirs`, and the white space at its end. */
  #lineIn({ from, to }: LineOfWords): { text: string; tail: string } | undefined {
    const [start, end] = [this.#lineAt(from), this.#lineAt(to)]
    if (start === undefined || end === undefined) return undefined
    return { text: textOf(this.#theirs.slice(start, end)), tail: tailOf(this.#theirs[end]!.gap) }
  }

  /**
   * The replacement for the gap `wanted` of `mine` before word `at` of `base`; undefined if `theirs` changed it too.
   * `isFirst`: the gap begins `mine`.
   */
  #gapFor(at: number, wanted: string, isFirst = false): string | undefined {
    const [was, is] = [this.#base[at]!.gap, this.#theirs[this.#there(at)]!.gap]
    if (wanted === was || (wanted === is && !(this.#isIndentedAsBase && beginsLine(this.#base, at)))) return is
    const adapted = this.#adapted(wanted, at, isFirst)
    return adapted === is || was === is || this.#adapted(was, at, at === 0) === is ? adapted : undefined
  }

  /** The gap before an inserted word: after the last line of `base` it still begins a line. */
  #gapBefore(at: number, wanted: string, isFirst: boolean): string | undefined {
    const gap = this.#gapFor(at, wanted, isFirst)
    if (at < this.#base.length - 1 || gap?.includes('\n') !== true) return gap
    const adapted = this.#adapted(wanted, at, isFirst)
    return adapted && gap.slice(0, gap.lastIndexOf('\n') + 1) + indentOf(adapted, true)!
  }

  /** The gap `wanted` that begins `mine`, when word `at` of `base` is the first kept one. */
  #gapAtStart(at: number, wanted: string): string | undefined {
    const [base, theirs] = [this.#base, this.#theirs]
    const beginsBoth = beginsLine(base, at) && beginsLine(theirs, this.#there(at))
    if (!beginsBoth || at === base.length - 1) return this.#gapFor(at, wanted)
    const [breaks, was, is] = [wanted, base[0]!.gap, theirs[0]!.gap].map(gap => gap.slice(0, gap.lastIndexOf('\n') + 1))
    const indent = this.#adapted(wanted.slice(breaks!.length), at, true)
    if (indent === undefined || (breaks !== was && breaks !== is && was !== is)) return undefined
    return (breaks === was ? is! : breaks!) + indent
  }

  /** A gap of `mine`, with the indentation that `theirs` has around word `at` of `base`. */
  #adapted(gap: string, at: number, isFirst = false): string | undefined {
    const plain = this.#spelled(gap)
    const indent = indentOf(plain, isFirst)
    if (indent === undefined) return plain
    const adapted = this.#indents.length === 0 ? indent : this.#indentFor(indent, at)
    return adapted === undefined ? undefined : plain.slice(0, plain.length - indent.length) + adapted
  }

  /**
   * The indentation as in the lines next to word `at` of `base`, else by the one rule of all lines, else by the rule of
   * those two. Undefined also if `base` has lost it and the two don't agree.
   */
  #indentFor(indent: string, at: number): string | undefined {
    const near = this.#beside(at)
    const same = near.filter(({ from }) => from === indent)
    if (this.#lost.has(indent) && (same.length < 2 || same[0]!.to !== same[1]!.to)) return undefined
    if (same.length > 0) return same[0]!.to
    const rule = this.#rule ?? (near.length === 2 && this.#lost.size === 0 ? indentRule(near) : undefined)
    return rule?.(indent)
  }

  /** The nearest lines of `base` before word `at` and from it on that `theirs` has too. */
  #beside(at: number): Indents[] {
    const before = this.#indents.findLast(other => other.at < at)
    const after = this.#indents.find(other => other.at >= at)
    return [before, after].filter(pair => pair !== undefined)
  }

  /** Whether we know the indentation of a line inserted before word `at` of `base`, if `gap` begins a line. */
  #isKnown(gap: string, at: number, isFirst: boolean): boolean {
    const indent = indentOf(gap, isFirst && beginsLine(this.#base, at))
    return indent === undefined || !this.#lost.has(indent) || this.#indentFor(indent, at) !== undefined
  }
}

/** What separates the items of a list, and what only looks like that. */
const SEPARATOR = /^[,;]$/
const IN_NUMBER = /\p{N},\p{N}/u

const separatorsIn = (words: readonly Word[]): number => words.filter(({ text }) => SEPARATOR.test(text)).length

/** Whether a separator is between `own` and the words just after it (or before it), if there are any. */
function areOtherItems(words: readonly Word[], own: readonly Word[], areAfter: boolean): boolean {
  if (words.length === 0) return true
  const border = areAfter ? [own.at(-1)!, ...words.slice(0, 2)] : [...words.slice(-2), own[0]!]
  return SEPARATOR.test(words.at(areAfter ? 0 : -1)!.text) && !IN_NUMBER.test(textOf(border))
}

/** How often `words` has these words in a row. */
const placesIn = (words: readonly Word[], sought: readonly Word[]): number =>
  words.filter((_, at) => sought.every(({ text }, i) => words[at + i]?.text === text)).length

/** The last word of a line that opens a block, or continues on the next line. */
const OPENS = /^(?:[:{([=>\\]|do|then|else|begin)$/

/** The text of words; if it has several lines, whole ones. */
function partOf(words: readonly Word[], start: number, end: number): string {
  const text = textOf(words.slice(start, end))
  if (!text.includes('\n')) return text
  let [from, to] = [start, end]
  while (!beginsLine(words, from)) from--
  while (to < words.length && !beginsLine(words, to)) to++
  return textOf(words.slice(from, to))
}

const TAIL = /^[^\S\n]*/
const tailOf = (gap: string): string => TAIL.exec(gap)![0]

/** The gap with `tail` as white space at the end of the line before, if the gap ends a line. */
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

/** The white space at the start of the line that a gap leads to; undefined within a line. */
function indentOf(gap: string, isFirst: boolean): string | undefined {
  const last = gap.lastIndexOf('\n')
  return last === -1 && !isFirst ? undefined : gap.slice(last + 1)
}

/**
 * The indentation rule of all lines. The first line alone may have lost its indentation: if it has none, the others
 * decide, and the rule of all lines, if there is one, must agree.
 */
function ruleOf(indents: readonly (Indents & { at: number })[]): IndentRule | undefined {
  const [first, ...others] = indents
  const all = indentRule(indents)
  if (first?.at !== 0 || first.from !== '' || first.to === '' || others.length === 0) return all
  const rest = indentRule(others)
  if (all === undefined || others.some(({ from, to }) => from !== '' && to === first.to)) return rest
  return indent => (all(indent) === rest?.(indent) ? all(indent) : undefined)
}

/** Indentations that correspond to several. The first line alone may have lost its own, so it may not count. */
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

const indentsOf = (words: readonly Word[]): string[] =>
  words.slice(0, -1).flatMap(({ gap }, at) => indentOf(gap, at === 0) ?? [])

/** The lines that aren't blank, with their indentation. */
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

/** A quotation mark as `'` or `"`, from any of its typographic forms. */
const plainSign = (text: string): string => PLAIN.reduce((all, [sign, instead]) => all.replace(sign, instead), text)

/** How to write inserted text where `theirs` writes something of `base` differently: typographic signs, accents. */
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
