// Names of old_text that are nowhere in the file: the sign of text that was never there. Does not know answers.
import type { Text } from '../text/text.ts'

const MOST = 10
const MOST_SOUGHT = 100
/** UTF-16 units of old_text that are looked at, and bytes of the file that are searched in all. */
const SOUGHT_LENGTH = 20_000
const SEARCHED = 32 << 20
const NAME = /[\p{L}_$][\p{L}\p{M}\p{N}_$]{2,63}/gu

/**
 * The identifiers of `oldText` (3 to 64 characters) that don't occur in `text`, whatever their case, in order, at most
 * ten. Those that weren't looked for, because that would be too much work, aren't named.
 */
export function missingTokens(text: Text, oldText: string): string[] {
  const names = new Set(oldText.slice(0, SOUGHT_LENGTH).match(NAME))
  const missing: string[] = []
  let left = SEARCHED
  for (const name of [...names].slice(0, MOST_SOUGHT)) {
    if (left < text.length || missing.length === MOST) break
    const at = text.indexOf(Buffer.from(name), 0)
    left -= at === -1 ? text.length : at
    if (at !== -1) continue
    // A file in Latin-1 has it in other bytes.
    const latin1 = Buffer.from(name, 'latin1')
    const isOther = /[\x80-\xff]/.test(name) && latin1.toString('latin1') === name
    if (isOther) left -= text.length
    if (!isOther || text.indexOf(latin1, 0) === -1) missing.push(name)
  }
  return missing
}
