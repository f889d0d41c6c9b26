// The change of an edit, made to lines that the file has as old_text has them, whatever else differs.
import { changedRanges } from './differences/changed-ranges.ts'
import { haveLetters, isGoneFrom, wordsOf } from './words.ts'

/**
 * Replaces and removes the lines that differ between `base` and `mine` in `theirs`. Undefined if more than `mostEdits`
 * lines differ; if lines are only added; if `base` or `theirs` doesn't have the lines just once; if a new line has a
 * word of `base` that `theirs` lacks; or if the depth of the new lines in `theirs` isn't known. `isOnce`: whether all
 * of the file has these lines of `theirs`, and the same ones around them, just once. All texts must have `\n` breaks.
 */
export function inSameLines(
  base: string,
  mine: string,
  theirs: string,
  mostEdits: number,
  isOnce: (lines: string) => boolean = () => true
): string | undefined {
  const [own, wanted, there] = [base, mine, theirs].map(text => text.split('\n')) as [string[], string[], string[]]
  const changes = changedRanges(own, wanted, mostEdits)
  if (changes === undefined) return undefined
  const [ownTexts, texts] = [own, there].map(lines => lines.map(line => line.trim())) as [string[], string[]]
  const isGone = isGoneFrom(wordsOf(base), wordsOf(theirs))
  const isAsDeep = areAsDeep(own, there)
  let end = there.length
  let merged = there
  for (const { from, to, otherFrom, otherTo } of changes.toReversed()) {
    const sought = ownTexts.slice(from, to)
    const at = haveLetters(sought.join()) && placeOf(ownTexts, sought) === from ? placeOf(texts, sought) : undefined
    const is = wanted.slice(otherFrom, otherTo)
    if (at === undefined || at + sought.length > end || is.some(line => wordsOf(line).some(isGone))) return undefined
    const found = there.slice(at, at + sought.length)
    const lines = replaced(own.slice(from, to), is, found, isAsDeep)
    let [above, below] = [0, sought.length]
    while (at > above && from > above && texts[at - above - 1] === ownTexts[from - above - 1]) above++
    while (texts[at + below] !== undefined && texts[at + below] === ownTexts[from + below]) below++
    if (lines === undefined || !isOnce(there.slice(at - above, at + below).join('\n'))) return undefined
    merged = merged.toSpliced(at, sought.length, ...lines)
    end = at
  }
  return merged.join('\n')
}

/** The only place where `lines` has these lines in a row. */
function placeOf(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = lines.flatMap((_, at) => (sought.every((line, i) => lines[at + i] === line) ? [at] : []))
  return places.length === 1 ? places[0] : undefined
}

/** What replaces the lines `found`, which are the lines `was`; undefined if its depth isn't known. */
function replaced(
  was: readonly string[],
  is: readonly string[],
  found: readonly string[],
  isAsDeep: boolean
): readonly string[] | undefined {
  if (isAsDeep && found.every((line, i) => line === was[i])) return is
  const isEach = is.length === was.length && is.every((line, i) => blanksOf(line).join() === blanksOf(was[i]!).join())
  return isEach ? is.map((line, i) => blanksOf(found[i]!).join(line.trim())) : undefined
}

/** The white space before and after the text of a line. */
function blanksOf(line: string): [before: string, after: string] {
  const text = line.trim()
  const at = line.indexOf(text)
  return [line.slice(0, at), line.slice(at + text.length)]
}

/** Whether lines that both have just once are indented alike. */
function areAsDeep(own: readonly string[], there: readonly string[]): boolean {
  const depths = depthsOf(there)
  return [...depthsOf(own)].every(([text, depth]) => depth === null || (depths.get(text) ?? depth) === depth)
}

/** The indentation of each line, without blank lines; null for lines that there are more than once. */
function depthsOf(lines: readonly string[]): Map<string, string | null> {
  const depths = new Map<string, string | null>()
  for (const line of lines) {
    const text = line.trim()
    if (text !== '') depths.set(text, depths.has(text) ? null : blanksOf(line)[0])
  }
  return depths
}
