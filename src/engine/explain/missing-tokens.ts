// Finds names of old_text that are nowhere in the file, the sign of text that was never there.
import type { Text } from '../text/text.ts'

const MOST = 10
const MOST_SOUGHT = 100
/** Most UTF-16 units of old_text to check, and most bytes of the file to search in all. */
const SOUGHT_LENGTH = 20_000
const SEARCHED = 32 << 20
/** Bytes from which on it pays to know which bytes of a text are rare, and how many bytes to sample for that. */
const LARGE = 1 << 16
const SAMPLED = 4096
/** Most places of a part of a name to check before searching for the whole name. */
const MOST_PLACES = 256
const NAME = /[\p{L}_$][\p{L}\p{M}\p{N}_$]{2,63}/gu

/**
 * The identifiers of `oldText` (3 to 64 characters) that don't occur in `text`, in order, at most ten. Leaves out
 * identifiers that would take too much work to search for.
 */
export function missingTokens(text: Text, oldText: string): string[] {
  const names = new Set(oldText.slice(0, SOUGHT_LENGTH).match(NAME))
  const missing: string[] = []
  let left = SEARCHED
  const counts = sampleOf(text)
  for (const name of [...names].slice(0, MOST_SOUGHT)) {
    if (left < text.length || missing.length === MOST) break
    const at = placeOf(text, Buffer.from(name), counts)
    left -= at === -1 ? text.length : at
    if (at !== -1) continue
    // A Latin-1 file has the name in other bytes.
    const latin1 = Buffer.from(name, 'latin1')
    const isOther = /[\x80-\xff]/.test(name) && latin1.toString('latin1') === name
    if (isOther) left -= text.length
    if (!isOther || placeOf(text, latin1, counts) === -1) missing.push(name)
  }
  return missing
}

/** How often each byte occurs in a sample of a large text; all 0 for a small one. */
function sampleOf(text: Text): Uint16Array {
  const counts = new Uint16Array(256)
  if (text.length < LARGE) return counts
  const step = Math.floor(text.length / SAMPLED)
  for (let i = 0; i < SAMPLED; i++) counts[text.byteAt(i * step)]!++
  return counts
}

/**
 * The first place of a name, or -1. The built-in search for short texts stops at each place of their first byte, so we
 * search for the part of the name that begins with its rarest byte.
 */
function placeOf(text: Text, name: Buffer, counts: Uint16Array): number {
  let rarest = 0
  for (let i = 1; i < name.length - 1; i++) {
    if (counts[name[i]!]! < counts[name[rarest]!]!) rarest = i
  }
  const part = name.subarray(rarest)
  let at = text.indexOf(part, rarest)
  for (let places = 0; at !== -1 && !text.holds(name, at - rarest); places++) {
    if (places === MOST_PLACES) return text.indexOf(name, at - rarest + 1)
    at = text.indexOf(part, at + 1)
  }
  return at === -1 ? -1 : at - rarest
}
