// What a change really replaced: its splices cut down to the lines, and in these to the bytes, that differ. Does not
// know who made it or how it is kept.
import { isUtf8 } from 'node:buffer'
import { fewSplices } from '../edit/few-splices.ts'
import type { Splice } from '../edit/splice.ts'
import { isInsideCrlfIn } from '../text/lines.ts'
import type { RecordedSplice } from './change.ts'
import { commonLead, commonTrail } from './common.ts'
import { lineHunks, type Steps, stepsOfComparison } from './line-hunks.ts'

/**
 * The splices of a plan as they are recorded: applied to `original` they give the same text. Sorted and disjoint; each
 * replaces something by something else, and none shares a line with another unless the plan's did. No more than
 * `MOST_SPLICES`: beyond that, near ones are one. The buffers are copies. About linear in the bytes of the splices:
 * where too many lines differ to be compared, only what they begin and end with alike is left out.
 */
export function recordedSplices(original: Buffer, splices: readonly Splice[]): RecordedSplice[] {
  const refined: Splice[] = []
  const left = stepsOfComparison()
  for (const { start, end, insert } of splices) addRefined(refined, original.subarray(start, end), insert, start, left)
  return fewSplices(refined, original).map(({ start, end, insert }) => ({
    start,
    old: Buffer.from(original.subarray(start, end)),
    insert: Buffer.from(insert)
  }))
}

/** The same for a change of which only the texts before and after it are known. */
export const differing = (before: Buffer, after: Buffer): RecordedSplice[] =>
  recordedSplices(before, [{ start: 0, end: before.length, insert: after }])

function addRefined(refined: Splice[], old: Buffer, insert: Buffer, start: number, left: Steps): void {
  for (const hunk of lineHunks(old, insert, left)) {
    const before = old.subarray(hunk.from, hunk.to)
    const after = insert.subarray(hunk.otherFrom, hunk.otherTo)
    const { lead, trail } = alike(before, after)
    if (lead + trail === before.length && lead + trail === after.length) continue
    refined.push({
      start: start + hunk.from + lead,
      end: start + hunk.to - trail,
      insert: after.subarray(lead, after.length - trail)
    })
  }
}

/**
 * How many bytes two texts begin with alike, and how many of the rest they end with alike: no `\r\n` and, where both
 * are UTF-8, no character is parted.
 */
function alike(old: Buffer, now: Buffer): { lead: number; trail: number } {
  let whole: boolean | undefined
  const isParted = (bytes: Buffer, at: number): boolean =>
    isInsideCrlfIn(bytes, at) || ((bytes[at]! & 0xc0) === 0x80 && (whole ??= isUtf8(old) && isUtf8(now)))
  let lead = commonLead(old, now)
  while (lead > 0 && (isParted(old, lead) || isParted(now, lead))) lead--
  let trail = commonTrail(old, now, Math.min(old.length, now.length) - lead)
  while (trail > 0 && (isParted(old, old.length - trail) || isParted(now, now.length - trail))) trail--
  return { lead, trail }
}
