// What a change really replaced: its splices cut down to the lines, and in these to the bytes, that differ. Does not
// know who made it or how it is kept.
import { isUtf8 } from 'node:buffer'
import type { Splice } from '../edit/splice.ts'
import { isInsideCrlfIn } from '../text/lines.ts'
import type { RecordedSplice } from './change.ts'
import { commonLead, commonTrail } from './common.ts'
import { lineHunks } from './line-hunks.ts'

/**
 * The splices of a plan as they are recorded: applied to `original` they give the same text. Sorted and disjoint; each
 * replaces something by something else, and none shares a line with another unless the plan's did. The buffers are
 * copies. About linear in the bytes of the splices: where too many lines differ to be compared, only what they begin
 * and end with alike is left out.
 */
export function recordedSplices(original: Buffer, splices: readonly Splice[]): RecordedSplice[] {
  const recorded: RecordedSplice[] = []
  for (const { start, end, insert } of splices) addRefined(recorded, original.subarray(start, end), insert, start)
  return recorded
}

/** The same for a change of which only the texts before and after it are known. */
export function differing(before: Buffer, after: Buffer): RecordedSplice[] {
  const recorded: RecordedSplice[] = []
  addRefined(recorded, before, after, 0)
  return recorded
}

function addRefined(recorded: RecordedSplice[], old: Buffer, insert: Buffer, start: number): void {
  for (const hunk of lineHunks(old, insert)) {
    const before = old.subarray(hunk.from, hunk.to)
    const after = insert.subarray(hunk.otherFrom, hunk.otherTo)
    const { lead, trail } = alike(before, after)
    if (lead + trail === before.length && lead + trail === after.length) continue
    recorded.push({
      start: start + hunk.from + lead,
      old: Buffer.from(before.subarray(lead, before.length - trail)),
      insert: Buffer.from(after.subarray(lead, after.length - trail))
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
