// Checks that a merge leaves the lines that the edit keeps as the file has them.
import { beginsLine, haveLetters, linesOfWords, textOf, type LineOfWords, type Word } from './words.ts'

/** A line that the edit keeps: as old_text has it, and as the file has it. */
export interface KeptLine {
  changed: string
  found: string
}

/** The three texts in words; `kept`: where each word of `base` is in `theirs`, or -1. */
interface KeptIn {
  base: readonly Word[]
  mine: readonly Word[]
  theirs: readonly Word[]
  kept: readonly number[]
}

/**
 * The first line of `base` that is in `mine` too, but that `merged` doesn't have as `theirs` has it, ignoring white
 * space around it. Lines without a letter are all treated as equal.
 */
export function lostLine({ base, mine, theirs, kept }: KeptIn, merged: string): KeptLine | undefined {
  const wanted = new Map<string, number>()
  for (const { text } of linesOfWords(mine)) wanted.set(text, (wanted.get(text) ?? 0) + 1)
  const lines = linesOfWords(base).filter(({ text }) => wanted.has(text) && haveLetters(text))
  const mapped = new Set(kept)
  const result = trimmedLines(merged)
  const places = new Map<string, number>()
  const lost = new Map<string, KeptLine[]>()
  for (const line of lines) {
    const found = lineIn(theirs, kept, mapped, line)
    const next = found === undefined ? 0 : result.indexOf(found, places.get(found))
    if (next === -1) {
      lost.set(line.text, [...(lost.get(line.text) ?? []), { changed: line.text, found: found!.trim() }])
    } else {
      wanted.set(line.text, wanted.get(line.text)! - 1)
      if (found !== undefined) places.set(found, next + 1)
    }
  }
  // If `base` has a line several times, the edit may remove some of them.
  return [...lost].find(([text]) => wanted.get(text)! > 0)?.[1][0]
}

/** The trimmed lines of a text that aren't blank, each between two breaks. */
const trimmedLines = (text: string): string => `\n${text.replace(/\s*\n\s*/g, '\n').trim()}\n`

/**
 * What `theirs` has for a line of `base`, including the breaks if it is whole lines; undefined if it has too little.
 */
function lineIn(
  theirs: readonly Word[],
  kept: readonly number[],
  mapped: ReadonlySet<number>,
  { from, to }: LineOfWords
): string | undefined {
  const there = kept.slice(from, to).filter(at => at !== -1)
  if (2 * there.length < to - from) return undefined
  let [start, end] = [there[0]!, there.at(-1)! + 1]
  while (!beginsLine(theirs, start) && !mapped.has(start - 1)) start--
  while (!beginsLine(theirs, end) && !mapped.has(end)) end++
  const text = trimmedLines(textOf(theirs.slice(start, end)))
  return text.slice(beginsLine(theirs, start) ? 0 : 1, beginsLine(theirs, end) ? undefined : -1)
}
