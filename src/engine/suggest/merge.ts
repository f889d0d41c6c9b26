// What an edit does to old_text, done to the region of the file that was meant: a three-way merge, word by word. Does
// not know files or edits.
import { fail, ok, type Result } from '../../result.ts'
import { changedRanges, type ChangedRange } from './differences/changed-ranges.ts'
import { indentRule, type Indents } from './indent-rule.ts'
import { DASHES, plainDashes, plainQuotes } from './differences/typography.ts'

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

/** A word, or another sign, with the white space before it. The last of a text is empty. */
interface Word {
  gap: string
  text: string
}

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
  const edits = changesOf(words.base, words.mine, text => text)
  const changes = changesOf(words.base, words.theirs, folded)
  if (edits === undefined || changes === undefined) return fail({ reason: 'too_long' })
  return new Merge(words, changes).apply(edits)
}

const WIDE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`
const WORD = new RegExp(String.raw`(\s*)([${WIDE}]|(?:(?![${WIDE}])[\p{L}\p{M}\p{N}_$])+|\S|$)`, 'gu')

function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const [, gap = '', word = ''] of text.matchAll(WORD)) {
    words.push({ gap, text: word })
    if (word === '') break
  }
  return words
}

/** The same for words that differ only in how they are written. */
export const folded = (word: string): string => plainDashes(plainQuotes(word.normalize('NFC')))

function changesOf(
  base: readonly Word[],
  other: readonly Word[],
  keyOf: (word: string) => string
): ChangedRange[] | undefined {
  const keys = (words: readonly Word[]): string[] => words.map(({ text }) => keyOf(text))
  return changedRanges(keys(base), keys(other), MOST_EDITS)
}

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
  readonly #rule: ((indent: string) => string | undefined) | undefined
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
    // The first line may have lost its own indentation only.
    const [first, ...others] = this.#indents
    this.#rule = indentRule(first?.at === 0 && others.length > 0 ? others : this.#indents)
  }

  apply(edits: readonly ChangedRange[]): Result<string, MergeConflict> {
    let [at, mineAt] = [0, 0]
    let isDone = false
    const end = { from: this.#base.length, to: 0, otherFrom: 0, otherTo: 0 }
    for (const edit of [...edits, end]) {
      // The gap before the first of them was written with the edit before it.
      for (; at < edit.from; at++, mineAt++, isDone = false) {
        const conflict = isDone ? null : this.#mergeGap(at, this.#mine[mineAt]!.gap)
        if (conflict !== null) return fail(conflict)
      }
      if (edit === end) break
      const conflict = this.#conflictWith(edit) ?? this.#mergeWords(edit)
      if (conflict !== null) return fail(conflict)
      ;[at, mineAt, isDone] = [edit.to, edit.otherTo, true]
    }
    return ok(this.#written())
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

  #conflictWith({ from, to, otherFrom, otherTo }: ChangedRange): MergeConflict | null {
    const change = this.#changes.find(change => change.from <= to && change.to >= from)
    if (change !== undefined) {
      const [start, end] = [Math.min(from, change.from), Math.max(to, change.to)]
      const there = this.#theirs.slice(change.otherFrom - (change.from - start), change.otherTo + (end - change.to))
      return { reason: 'same_words', changed: textOf(this.#base.slice(start, end)), found: textOf(there) }
    }
    // It may be what the file calls otherwise by now.
    const stale = this.#mine
      .slice(otherFrom, otherTo)
      .find(({ text }) => /^[\p{L}_$]/u.test(text) && this.#known.base.has(text) && !this.#known.theirs.has(text))
    return stale === undefined ? null : { reason: 'unknown_word', word: stale.text }
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
  #mergeWords({ from, to, otherFrom, otherTo }: ChangedRange): MergeConflict | null {
    const start = this.#kept[from]!
    const parts: (string | undefined)[] = []
    // White space at the end of old_text may be stray; a word that is put in after it stands apart all the same.
    const isApart = from === to && otherFrom > 0 && this.#theirs[start]!.gap === ''
    for (let i = otherFrom; i < otherTo; i++) {
      const { gap, text } = this.#mine[i]!
      const isFirst = i === otherFrom && !isApart
      parts.push(isFirst ? this.#gapFor(from, gap, i === 0) : this.#adapted(gap, from), this.#spelled(text))
    }
    const after = this.#mine[otherTo]!.gap
    const isLikeFirst = otherFrom === otherTo && after !== this.#base[to]!.gap && after === this.#base[from]!.gap
    parts.push(isLikeFirst ? this.#theirs[start]!.gap : this.#gapFor(to, after))
    if (parts.includes(undefined)) return { reason: 'spacing' }
    this.#texts.set(start, { text: parts.join(''), to: this.#kept[to]! })
    return null
  }

  /**
   * What stands for the gap `wanted` of `mine` before word `at` of `base`; undefined where `theirs` changed it too.
   * `isFirst`: it begins `mine`.
   */
  #gapFor(at: number, wanted: string, isFirst = false): string | undefined {
    const [was, is] = [this.#base[at]!.gap, this.#theirs[this.#kept[at]!]!.gap]
    if (wanted === was || wanted === is) return is
    const adapted = this.#adapted(wanted, at, isFirst)
    return adapted === is || was === is || this.#adapted(was, at, at === 0) === is ? adapted : undefined
  }

  /** A gap of `mine` with the indentation of `theirs` around word `at` of `base`. */
  #adapted(gap: string, at: number, isFirst = false): string | undefined {
    const plain = this.#spelled(gap)
    const indent = indentOf(plain, isFirst)
    if (indent === undefined) return plain
    const adapted = this.#indents.length === 0 ? indent : this.#indentFor(indent, at)
    return adapted === undefined ? undefined : plain.slice(0, plain.length - indent.length) + adapted
  }

  /** As the lines beside word `at` of `base` have it, then by the one rule of all lines, then by that of those two. */
  #indentFor(indent: string, at: number): string | undefined {
    const before = this.#indents.findLast(other => other.at < at)
    const after = this.#indents.find(other => other.at >= at)
    const near = [before, after].filter(pair => pair !== undefined)
    const same = near.find(({ from }) => from === indent)
    if (same !== undefined) return same.to
    const rule = this.#rule ?? (near.length === 2 ? indentRule(near) : undefined)
    return rule?.(indent)
  }
}

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

/** Words as they stand, without the white space before the first. */
const textOf = (words: readonly Word[]): string =>
  words.map(({ gap, text }, i) => (i === 0 ? text : gap + text)).join('')

const PLAIN: [typographic: RegExp, plain: string][] = [
  [/[\u201c-\u201f\u00ab\u00bb\u2033]/g, '"'],
  [/[\u2018-\u201b\u2032]/g, "'"],
  [DASHES, '-'],
  [/\u2026/g, '...'],
  [/[\u00a0\u202f]/g, ' ']
]

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
