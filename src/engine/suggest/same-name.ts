// Where a text defines what old_text defines, though what is most like old_text defines something else, or nothing is like
// it: one of them was renamed, or changed. Does not know how regions were found.
import { lineStartBefore, lineStartIn } from '../text/lines.ts'
import { findAnchor } from './anchors.ts'
import {
  areSame,
  type Defined,
  definedBy,
  definedFirst,
  type Definition,
  definitionsOf
} from './boundaries/definition.ts'
import type { Budget } from './budget.ts'
import type { Haystack } from './haystack.ts'
import { oldTextOf, readings } from './readings.ts'
import { type Region, regionAt } from './regions.ts'

// Thresholds. Chosen, not measured.

/** UTF-16 units of the longest old_text that is looked at. */
const LONGEST = 20_000
/** Bytes of the longest first line. */
const LONGEST_LINE = 300
/** UTF-16 units of the shortest text below that line: of less, there is the same in many places. */
const LEAST_BODY = 10

const ATTRIBUTE = /^(?:@[\p{L}_]|#?\[).*$/u

/** `name`: what one of the first regions defines, another of which is like old_text and defines something else. */
export interface ByName {
  regions: Region[]
  name?: string
}

/**
 * The regions, best first, for an old_text that defines something. Where the text defines the same, though the best
 * region defines something else, that comes first, and what differs from old_text in nothing but the name comes before a
 * best region that differs otherwise: with one rank, as which of them was meant can't be told. Of what is left out in the
 * middle of old_text nothing is known. A pass over the text at the worst.
 */
export function rankedByName(haystack: Haystack, regions: readonly Region[], budget: Budget): ByName {
  const [best] = regions
  const asTheyAre = { regions: [...regions] }
  if (best === undefined || best.elided === true || best.old.source.length > LONGEST) return asTheyAre
  const wanted = definedFirst(best.old.source)
  if (wanted === undefined) return asTheyAre
  const other = definedFirst(haystack.text(best.start, best.end))
  const isSame = other !== undefined && areSame(wanted, other)
  const same = isSame || other === undefined ? [] : definitionsOf(haystack, wanted, budget)
  const asRegion = ({ start, end }: Definition): Region => regionAt(haystack, best.old, start, end, budget)
  const renamed = renamedIn(haystack, best.old.source, wanted, budget).filter(({ start }) => start !== best.start)
  const first = [
    ...same
      .map(asRegion)
      .sort((a, b) => b.rank - a.rank)
      .map((one): Region => ({ ...one, isBlock: true, isShown: true })),
    ...renamed.map(asRegion)
  ].map(one => ({ ...one, rank: best.rank }))
  const isApart = ({ start, end }: Region): boolean => !first.some(one => start < one.end && end > one.start)
  const isByName = same.length > 0 || (isSame && first.length > 0)
  return { regions: [...first, ...regions.filter(isApart)], ...(isByName && { name: wanted.name }) }
}

/**
 * Where nothing is like `sought`, which defines something: where the text defines the same, as the caller means that,
 * however much of it was rewritten. A block to be replaced whole if it is the only one. A pass over the text at the worst.
 */
export function definedAlike(haystack: Haystack, sought: string, budget: Budget): Region[] {
  if (sought.length > LONGEST) return []
  for (const { source, reading, read } of readings(sought)) {
    const wanted = definedFirst(source)
    if (wanted === undefined) continue
    const old = oldTextOf(source, reading, read)
    const same = definitionsOf(haystack, wanted, budget)
    return same.map(({ start, end }) => ({
      ...regionAt(haystack, old, withAttributes(haystack, start), end, budget),
      rank: 0,
      isShown: true as const,
      ...(same.length === 1 && { isBlock: true as const })
    }))
  }
  return []
}

/** Where the attributes begin, such as `@cached` or `#[inline]`, that stand on lines of their own above a definition. */
function withAttributes(haystack: Haystack, start: number): number {
  for (let at = start; at > 0;) {
    const line = lineStartBefore(haystack.bytes, at, LONGEST_LINE)
    if (!ATTRIBUTE.test(haystack.text(line, at).trim())) return at
    at = line
  }
  return 0
}

/** Where the text has `source` word for word but for the name that its first line defines. */
function renamedIn(haystack: Haystack, source: string, wanted: Defined, budget: Budget): Definition[] {
  const [head = '', ...others] = source.split('\n')
  const body = others.join('\n')
  if (definedBy(head.trim())?.name !== wanted.name || body.trim().length < LEAST_BODY) return []
  const { bytes, encoding } = haystack
  const sought = Buffer.from(`\n${body}`, encoding)
  return findAnchor(haystack, sought, budget).flatMap(found => {
    const start = lineStartIn(bytes, found, LONGEST_LINE)
    const line = haystack.text(start, found).trim()
    const name = definedBy(line)?.name
    const isRenamed =
      name !== undefined && name !== wanted.name && line.replace(name, () => wanted.name) === head.trim()
    return isRenamed ? [{ start, end: found + sought.length }] : []
  })
}
