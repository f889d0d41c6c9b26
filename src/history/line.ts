// A line of a segment: a CRC-32 and JSON. Does not know what the JSON says.
import { crc32 } from 'node:zlib'

const LINE_FEED = 0x0a
const CRC = 8

const crcOf = (bytes: Uint8Array): Buffer => Buffer.from(crc32(bytes).toString(16).padStart(CRC, '0'), 'latin1')

/** `json` must hold no line break. */
export function encodeLine(json: string): Buffer {
  const length = Buffer.byteLength(json)
  const line = Buffer.allocUnsafe(CRC + 1 + length + 1)
  line[CRC] = 0x20
  line.write(json, CRC + 1)
  line[CRC + 1 + length] = LINE_FEED
  crcOf(line.subarray(CRC + 1, -1)).copy(line)
  return line
}

/** The JSON of a line with its line break; null: it isn't what was written. */
export function jsonOf(line: Buffer): Buffer | null {
  if (line.length < CRC + 2 || line[CRC] !== 0x20 || line[line.length - 1] !== LINE_FEED) return null
  const json = line.subarray(CRC + 1, -1)
  return crcOf(json).equals(line.subarray(0, CRC)) ? json : null
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
