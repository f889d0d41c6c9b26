// Splits a text into words, each with the white space before it; finds lines and pairs of quotation marks among them.

/** A word, or another sign, with the white space before it. The last one of a text has empty `text`. */
export interface Word {
  gap: string
  text: string
}

const WIDE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`
const WORD = new RegExp(String.raw`(\s*)([${WIDE}]|(?:(?![${WIDE}])[\p{L}\p{M}\p{N}_$])+|\S[\ufe0e\ufe0f]?|$)`, 'gu')
const QUOTE = /^["'`]$/
const LETTER = /[\p{L}\p{N}_$]/u

export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const [, gap = '', word = ''] of text.matchAll(WORD)) {
    words.push({ gap, text: word })
    if (word === '') break
  }
  return words
}

/** The text of words, without the white space before the first. */
export const textOf = (words: readonly Word[]): string =>
  words.map(({ gap, text }, i) => (i === 0 ? text : gap + text)).join('')

/** Whether a text is more than punctuation. */
export const haveLetters = (text: string): boolean => LETTER.test(text)

/** Whether a line begins at word `at`, or all lines end there. */
export const beginsLine = (words: readonly Word[], at: number): boolean =>
  at === 0 || at === words.length - 1 || words[at]!.gap.includes('\n')

/** A line that isn't blank: its words, end exclusive. `text`: without white space around it; `key`: without any. */
export interface LineOfWords {
  from: number
  to: number
  text: string
  key: string
}

export function linesOfWords(words: readonly Word[]): LineOfWords[] {
  const lines: LineOfWords[] = []
  for (let from = 0; from < words.length - 1;) {
    let to = from + 1
    while (!beginsLine(words, to)) to++
    const line = words.slice(from, to)
    lines.push({ from, to, text: textOf(line), key: line.map(({ text }) => text).join(' ') })
    from = to
  }
  return lines
}

/** Pairs of quotation marks on one line, as indexes of words. A mark after a backslash doesn't count. */
export function quotePairs(words: readonly Word[]): [open: number, close: number][] {
  const pairs: [number, number][] = []
  const isMark = (at: number): boolean => QUOTE.test(words[at]!.text) && words[at - 1]?.text !== '\\'
  for (const { from, to } of linesOfWords(words)) {
    for (let open = from; open < to; open++) {
      if (!isMark(open)) continue
      let close = open + 1
      while (close < to && !(isMark(close) && words[close]!.text === words[open]!.text)) close++
      if (close === to) continue
      pairs.push([open, close])
      open = close
    }
  }
  return pairs
}

/**
 * Tells the words that `base` has and `theirs` lacks: `theirs` may have renamed them. Signs and numbers are no such
 * words.
 */
export function isGoneFrom(base: readonly Word[], theirs: readonly Word[]): (word: Word) => boolean {
  const [own, there] = [base, theirs].map(words => new Set(words.map(({ text }) => text)))
  return ({ text }) => /^[\p{L}_$]/u.test(text) && own!.has(text) && !there!.has(text)
}
