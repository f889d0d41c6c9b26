// A line of a segment: a CRC-32 and JSON. Does not know what the JSON says.
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'

/** What each line ends with. */
export const LINE_FEED = 0x0a
const CRC = 8
/** In ms: a line that another server is just overwriting (`forget`) is read once more after this. */
const AGAIN = 20

/** The eight hexadecimal digits of a number, as characters. */
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

/** Puts the CRC of what follows it at the start of a line. */
function putCrc(line: Buffer): void {
  let crc = crc32(line.subarray(CRC + 1, -1))
  for (let at = CRC - 1; at >= 0; at--) {
    line[at] = DIGITS[crc & 15]!
    crc >>>= 4
  }
}

/** Whether the line begins with the CRC of what follows it. */
function hasCrc(line: Buffer): boolean {
  let crc = crc32(line.subarray(CRC + 1, -1))
  for (let at = CRC - 1; at >= 0; at--) {
    if (line[at] !== DIGITS[crc & 15]) return false
    crc >>>= 4
  }
  return true
}

/** `json` must hold no line break. */
export function encodeLine(json: string): Buffer {
  const length = Buffer.byteLength(json)
  const line = Buffer.allocUnsafe(CRC + 1 + length + 1)
  line[CRC] = 0x20
  line.write(json, CRC + 1)
  line[CRC + 1 + length] = LINE_FEED
  putCrc(line)
  return line
}

/** The JSON of a line with its line break; null: it isn't what was written. */
export function jsonOf(line: Buffer): Buffer | null {
  if (line.length < CRC + 2 || line[CRC] !== 0x20 || line[line.length - 1] !== LINE_FEED) return null
  return hasCrc(line) ? line.subarray(CRC + 1, -1) : null
}

/** The lines of `bytes`, each with its line break, and where each begins. What follows the last break is left out. */
export function* linesOf(bytes: Buffer): Generator<{ offset: number; line: Buffer }> {
  for (let offset = 0; ;) {
    const end = bytes.indexOf(LINE_FEED, offset)
    if (end < 0) return
    yield { offset, line: bytes.subarray(offset, end + 1) }
    offset = end + 1
  }
}

/** The JSON of a line, for which it is read `again` if need be; null: it isn't a line of editd, or can't be read. */
export async function jsonIn(line: Buffer, again: () => Promise<Buffer | null>): Promise<Buffer | null> {
  const json = jsonOf(line)
  if (json !== null) return json
  await sleep(AGAIN)
  const read = await again()
  return read && jsonOf(read)
}
