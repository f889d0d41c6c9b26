// A line of a segment: a CRC-32 and JSON. Does not know what the JSON says.
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'

/** The end of each line. */
export const LINE_FEED = 0x0a
const CRC = 8
/** In ms: a line that another server is just overwriting (`forget`) is read again after this. */
const AGAIN = 20

/** The eight hexadecimal digits of a number, as characters. */
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

/** Writes the CRC of the rest of a line to its start. */
function putCrc(line: Buffer): void {
  let crc = crc32(line.subarray(CRC + 1, -1))
  for (let at = CRC - 1; at >= 0; at--) {
    line[at] = DIGITS[crc & 15]!
    crc >>>= 4
  }
}

/** Whether the line begins with the CRC of its rest. */
function hasCrc(line: Buffer): boolean {
  let crc = crc32(line.subarray(CRC + 1, -1))
  for (let at = CRC - 1; at >= 0; at--) {
    if (line[at] !== DIGITS[crc & 15]) return false
    crc >>>= 4
  }
  return true
}

/** `json` must not contain a line break. */
export function encodeLine(json: string): Buffer {
  const length = Buffer.byteLength(json)
  const line = Buffer.allocUnsafe(CRC + 1 + length + 1)
  line[CRC] = 0x20
  line.write(json, CRC + 1)
  line[CRC + 1 + length] = LINE_FEED
  putCrc(line)
  return line
}

/** The JSON of a line, given with its line break; null: it was damaged. */
export function jsonOf(line: Buffer): Buffer | null {
  if (line.length < CRC + 2 || line[CRC] !== 0x20 || line[line.length - 1] !== LINE_FEED) return null
  return hasCrc(line) ? line.subarray(CRC + 1, -1) : null
}

/** Yields the lines of `bytes`, each with its line break and offset. Skips what follows the last line break. */
export function* linesOf(bytes: Buffer): Generator<{ offset: number; line: Buffer }> {
  for (let offset = 0; ;) {
    const end = bytes.indexOf(LINE_FEED, offset)
    if (end < 0) return
    yield { offset, line: bytes.subarray(offset, end + 1) }
    offset = end + 1
  }
}

/** The JSON of a line, which is read `again` if damaged; null: it isn't a line of editd, or can't be read. */
export async function jsonIn(line: Buffer, again: () => Promise<Buffer | null>): Promise<Buffer | null> {
  const json = jsonOf(line)
  if (json !== null) return json
  await sleep(AGAIN)
  const read = await again()
  return read && jsonOf(read)
}
