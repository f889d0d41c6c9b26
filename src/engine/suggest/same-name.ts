// Finds where a text defines what old_text defines, though the best match for old_text defines something else, or there
// is no match: one of them was renamed, or changed.
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

/** UTF-16 units of the longest old_text to check. */
const LONGEST = 20_000
/** Bytes of the longest first line. */
const LONGEST_LINE = 300
/** Least UTF-16 units of text below that line: less text occurs in many places. */
const LEAST_BODY = 10

const ATTRIBUTE = /^(?:@[\p{L}_]|#?\[).*$/u

/** `name`: defined by one of the first regions, while another region resembles old_text but defines something else. */
interface ByName {
  regions: Region[]
  name?: string
}

/**
 * The regions, best first, for an old_text that defines something. If the best region defines something else, a place
 * that defines the same name comes first, and one that differs from old_text in nothing but the name comes before a
 * best region that differs otherwise. These get the same rank, because we can't tell which was meant. Doesn't apply to
 * old_text with its middle left out. At most one pass over the text.
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
 * When nothing resembles `sought`, which defines something: the places where the text defines the same name, because
 * the caller means that one, however much of it was rewritten. If there is only one, it is a block to replace whole. At
 * most one pass over the text.
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

/** The start of the attributes, such as `@cached` or `#[inline]`, on lines of their own above a definition. */
function withAttributes(haystack: Haystack, start: number): number {
  for (let at = start; at > 0;) {
    const line = lineStartBefore(haystack.bytes, at, LONGEST_LINE)
    if (!ATTRIBUTE.test(haystack.text(line, at).trim())) return at
    at = line
  }
  return 0
}

/** Where the text has `source` word for word except for the name that its first line defines. */
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
