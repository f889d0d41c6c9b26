// Finds outline items with a name similar to a missing one: candidates, and the one that was almost certainly meant.
import { distance } from 'fastest-levenshtein'

/**
 * `nearest`: similar paths, most likely first. `meant`: the one that differs only by a typo, so that we may propose a
 * call for it.
 */
export interface LikeNames {
  nearest: string[]
  meant?: string
}

/** An item's own name, and its full path. */
interface Named {
  name: string
  path: string
}

/** How to read names: the separator of a path, and a function that strips marks that don't count. */
export interface Spelling {
  separator: string | RegExp
  plain: (name: string) => string
}

/** How many names are shown, the nearest first. */
const MOST_NEAREST = 3
/** UTF-16 units of a name up to which it is compared; a longer one matches only an equal name. */
const COMPARED_LENGTH = 100
/** Edit distance relative to the longer name up to which names are similar. */
const LIKE = 1 / 3
/** A name that contains the requested one is similar, if that has at least this many UTF-16 units. */
const HOLDS_LENGTH = 3
/**
 * Two words may differ by a typo if the longer one has at least this many UTF-16 units: in shorter words, one letter
 * makes another word.
 */
const TYPO_LENGTH = 5
/** From this length on, a word may have two typos, or a substituted letter: `clear` and `clean` are two words. */
const LONG_WORD = 8

/** `rank`: 0 for the same name, 1 for a misspelt one, 2 for one that is only similar, or has another parent. */
interface Nearness {
  rank: 0 | 1 | 2
  far: number
}

const byNearness = (a: Nearness, b: Nearness): number => a.rank - b.rank || a.far - b.far

/** The names of `items` that are similar to `sought`, a name or a path. Takes time for each item. */
export function likeNames(items: readonly Named[], sought: string, { separator, plain }: Spelling): LikeNames {
  const read = (path: string) => {
    const around = path.split(separator).map(plain)
    return { last: around.pop()!, around }
  }
  const wanted = { name: plain(sought), ...read(sought) }
  const candidates = items
    .flatMap(({ name, path }) => {
      const { last, around } = read(path)
      const near = [
        ...nearness(last, wanted.last, () => endsWith(around, wanted.around)),
        // A name may contain the separator of paths.
        ...nearness(plain(name), wanted.name, () => true)
      ]
      return near
        .sort(byNearness)
        .slice(0, 1)
        .map(nearest => ({ path, ...nearest }))
    })
    .sort(byNearness)
  const [first, second] = candidates
  // If several are equally near, the first is no likelier than the others.
  const isMeant = first !== undefined && first.rank < 2 && second?.rank !== first.rank
  return {
    nearest: [...new Set(candidates.map(({ path }) => path))].slice(0, MOST_NEAREST),
    ...(isMeant && { meant: first.path })
  }
}

/**
 * Empty if the name isn't near. `liesIn`: whether the item is where it was searched; elsewhere, only the same name is
 * near.
 */
function nearness(name: string, wanted: string, liesIn: () => boolean): Nearness[] {
  if (isSame(name, wanted)) return [{ rank: liesIn() ? 0 : 2, far: 0 }]
  if (name.length > COMPARED_LENGTH || wanted.length > COMPARED_LENGTH) return []
  const [a, b] = [name.toLowerCase(), wanted.toLowerCase()]
  const far = distance(a, b) / Math.max(a.length, b.length)
  const rank = isMisspelt(name, wanted) ? 1 : far <= LIKE || (b.length >= HOLDS_LENGTH && a.includes(b)) ? 2 : undefined
  return rank !== undefined && liesIn() ? [{ rank, far }] : []
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Whether a path ends with these names, apart from typos. */
const endsWith = (path: readonly string[], names: readonly string[]): boolean =>
  path.length >= names.length &&
  path.slice(path.length - names.length).every((name, i) => isSame(name, names[i]!) || isMisspelt(name, names[i]!))

/** Words, numbers and signs; separators between words are not included. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:(?!\p{Lu})[\p{L}\p{M}])+|\p{N}+|[^\p{L}\p{M}\p{N}_\s-]/gu
const partsOf = (name: string): string[] => (name.match(PART) ?? []).map(part => part.toLowerCase())

/**
 * Whether two names differ only in spelling: in the separators between their words, or by one typo. Words are compared
 * one by one, because `getSomething` and `setSomething` are no typos; nor is a different number or sign.
 */
function isMisspelt(a: string, b: string): boolean {
  if (a.length > COMPARED_LENGTH || b.length > COMPARED_LENGTH) return false
  const [parts, others] = [partsOf(a), partsOf(b)]
  if (parts.join('') === others.join('')) return parts.length > 0
  if (parts.length !== others.length) return false
  const [at, ...more] = [...parts.keys()].filter(i => parts[i] !== others[i])
  return more.length === 0 && isTypo(parts[at!]!, others[at!]!)
}

const WORD = /^[\p{L}\p{M}]+$/u

/** Typos rarely affect the first letter, while another first letter makes another word: `sync` and `async`. */
function isTypo(a: string, b: string): boolean {
  const longer = Math.max(a.length, b.length)
  if (longer < TYPO_LENGTH || a[0] !== b[0] || !WORD.test(a + b)) return false
  const steps = distance(a, b)
  return longer >= LONG_WORD ? steps <= 2 : steps === 1 ? a.length !== b.length : steps === 2 && isSwapped(a, b)
}

/** Whether the first two differing letters, which are adjacent, are swapped. */
function isSwapped(a: string, b: string): boolean {
  let at = 0
  while (a[at] === b[at]) at++
  return a.length === b.length && a[at] === b[at + 1] && a[at + 1] === b[at]
}
