// Ranks regions that have every word and sign of old_text higher: a number or a name that differs in one character is
// another one.
import { TOKEN_BUT_BACKSLASH } from '../text/words.ts'
import type { Ranked } from './boundaries/boundaries.ts'
import type { Haystack } from './haystack.ts'
import { folded } from './merge.ts'

/** How much rank such a region gains, and the longest old_text to check, in UTF-16 units. */
const SAME_WORDS = 0.04
const MOST_UNITS = 20_000

/** Gives more rank to regions that differ from old_text only in white space, case, accents or quotes. */
export function rankedByWords<R extends Ranked>(haystack: Haystack, regions: readonly R[]): R[] {
  if (regions.length < 2) return [...regions]
  const wanted = new Map<Ranked['old'], string>()
  return regions.map(region => {
    const { start, end, old } = region
    if (old.source.length > MOST_UNITS) return region
    const words = wanted.get(old) ?? wordsOf(old.source)
    wanted.set(old, words)
    return wordsOf(haystack.text(start, end)) === words ? { ...region, rank: region.rank + SAME_WORDS } : region
  })
}

const wordsOf = (text: string): string => folded(text).toLowerCase().match(TOKEN_BUT_BACKSLASH)?.join('\n') ?? ''
