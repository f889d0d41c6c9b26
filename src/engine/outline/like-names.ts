// Which items of an outline have a name like one that isn't there: those that may have been meant, and the one that can
// hardly be mistaken. Does not know lines or edits.
import { distance } from 'fastest-levenshtein'

/**
 * `nearest`: paths that are like it, the likeliest first. `meant`: the one of them from which it differs only as a typo
 * does, so that a call for it may be proposed.
 */
export interface LikeNames {
  nearest: string[]
  meant?: string
}

/** An item's own name, and its path with it. */
interface Named {
  name: string
  path: string
}

/** How names are read: what stands between those of a path, and a name without the marks that don't count. */
export interface Spelling {
  separator: string | RegExp
  plain: (name: string) => string
}

/** Names that are shown, the nearest. */
const MOST_NEAREST = 3
/** UTF-16 units of a name that is compared: a longer one is like none but the same. */
const COMPARED_LENGTH = 100
/** Edit distance as a share of the longer name: what is farther isn't like it. */
const LIKE = 1 / 3
/** A name that holds the one asked for is like it, if that has so many UTF-16 units. */
const HOLDS_LENGTH = 3
/** UTF-16 units of the longer one of two words of which one may be a typo: in less, one letter makes another word. */
const TYPO_LENGTH = 5
/** From here on a word may have two, and a letter in place of another: `clear` and `clean` are two words. */
const LONG_WORD = 8

/** `rank`: 0 of the same name, 1 of one that is misspelt, 2 of one that is only like it, or has another parent. */
interface Nearness {
  rank: 0 | 1 | 2
  far: number
}

const byNearness = (a: Nearness, b: Nearness): number => a.rank - b.rank || a.far - b.far

/** The names of `items` that are like `asked`, a name or a path. Takes time for each item. */
export function likeNames(items: readonly Named[], asked: string, { separator, plain }: Spelling): LikeNames {
  const read = (path: string) => {
    const around = path.split(separator).map(plain)
    return { last: around.pop()!, around }
  }
  const wanted = { name: plain(asked), ...read(asked) }
  const candidates = items
    .flatMap(({ name, path }) => {
      const { last, around } = read(path)
      const near = [
        ...nearness(last, wanted.last, () => endsWith(around, wanted.around)),
        // A name may hold what stands between the names of a path.
        ...nearness(plain(name), wanted.name, () => true)
      ]
      return near
        .sort(byNearness)
        .slice(0, 1)
        .map(nearest => ({ path, ...nearest }))
    })
    .sort(byNearness)
  const [first, second] = candidates
  // Of several that are as near, the first is no likelier than the others.
  const isMeant = first !== undefined && first.rank < 2 && second?.rank !== first.rank
  return {
    nearest: [...new Set(candidates.map(({ path }) => path))].slice(0, MOST_NEAREST),
    ...(isMeant && { meant: first.path })
  }
}

/** None where it isn't near. `liesIn`: whether it is where it was looked for; elsewhere, only the same name is near. */
function nearness(name: string, wanted: string, liesIn: () => boolean): Nearness[] {
  if (isSame(name, wanted)) return [{ rank: liesIn() ? 0 : 2, far: 0 }]
  if (name.length > COMPARED_LENGTH || wanted.length > COMPARED_LENGTH) return []
  const [a, b] = [name.toLowerCase(), wanted.toLowerCase()]
  const far = distance(a, b) / Math.max(a.length, b.length)
  const rank = isMisspelt(name, wanted) ? 1 : far <= LIKE || (b.length >= HOLDS_LENGTH && a.includes(b)) ? 2 : undefined
  return rank !== undefined && liesIn() ? [{ rank, far }] : []
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Whether a path ends with these names, but for typos. */
const endsWith = (path: readonly string[], names: readonly string[]): boolean =>
  path.length >= names.length &&
  path.slice(path.length - names.length).every((name, i) => isSame(name, names[i]!) || isMisspelt(name, names[i]!))

/** Words, numbers and signs. What may stand between words is none of them. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:(?!\p{Lu})[\p{L}\p{M}])+|\p{N}+|[^\p{L}\p{M}\p{N}_\s-]/gu
const partsOf = (name: string): string[] => (name.match(PART) ?? []).map(part => part.toLowerCase())

/**
 * Whether two names differ only in how they are written: in what is between their words, or in a typo. Each word counts
 * by itself, as `getSomething` and `setSomething` are no typos; nor is another number or sign.
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

/** A typo hardly changes the first letter, but another one there makes another word: `sync` and `async`. */
function isTypo(a: string, b: string): boolean {
  const longer = Math.max(a.length, b.length)
  if (longer < TYPO_LENGTH || a[0] !== b[0] || !WORD.test(a + b)) return false
  const steps = distance(a, b)
  return longer >= LONG_WORD ? steps <= 2 : steps === 1 ? a.length !== b.length : steps === 2 && isSwapped(a, b)
}

/** Whether two letters beside each other, the first that differ, have changed places. */
function isSwapped(a: string, b: string): boolean {
  let at = 0
  while (a[at] === b[at]) at++
  return a.length === b.length && a[at] === b[at + 1] && a[at + 1] === b[at]
}
