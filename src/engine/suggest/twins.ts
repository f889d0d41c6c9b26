// Finds places with the same text as the best region: the search doesn't find all of them, and each is as likely.
import { isBreakByte } from '../text/lines.ts'
import { type Budget, BYTES_A_STEP } from './budget.ts'
import type { Haystack } from './haystack.ts'
import type { Region } from './regions.ts'

// Thresholds. Chosen, not measured.

/** Most twins to add: together with the best one, more than are shown. */
const MOST = 3
/** Bytes of the longest text to find twins of, and most places of it to check. */
const LONGEST = 2000
const MOST_PLACES = 10_000

/**
 * The regions, best first; after the first come its twins, if it is whole lines apart from white space around them.
 * Twins replace the regions that they overlap. At most one pass over the haystack.
 */
export function withTwins({ bytes }: Haystack, regions: readonly Region[], budget: Budget): Region[] {
  const [best, ...others] = regions
  const isSought = best !== undefined && best.end - best.start <= LONGEST && isLines(bytes, best.start, best.end)
  if (!isSought || !budget.spend(bytes.length / BYTES_A_STEP)) return [...regions]
  const text = bytes.subarray(best.start, best.end)
  const twins: Region[] = []
  for (let from = 0, places = 0; twins.length < MOST && places < MOST_PLACES; places++) {
    const start = bytes.indexOf(text, from)
    if (start === -1) break
    const end = start + text.length
    const isTwin = (start >= best.end || end <= best.start) && isLines(bytes, start, end)
    if (isTwin) twins.push({ ...best, start, end })
    from = isTwin ? end : start + 1
  }
  const apart = others.filter(region => !twins.some(({ start, end }) => region.start < end && region.end > start))
  return [best, ...twins, ...apart]
}

const isBlank = (byte: number): boolean => byte === 32 || byte === 9

/** Whether only white space lies between a range and the start of its first line, and the end of its last. */
function isLines(bytes: Buffer, start: number, end: number): boolean {
  let [before, after] = [start, end]
  while (before > 0 && isBlank(bytes[before - 1]!)) before--
  if (before > 0 && !isBreakByte(bytes[before - 1]!)) return false
  if (isBreakByte(bytes[end - 1]!)) return true
  while (after < bytes.length && isBlank(bytes[after]!)) after++
  return after === bytes.length || isBreakByte(bytes[after]!)
}
