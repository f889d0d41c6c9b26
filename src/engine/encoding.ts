// What bytes are: text or binary, which encoding; and text of bytes for an answer. Knows no lines and no files.
import { isAscii, isUtf8 } from 'node:buffer'

export type Encoding = 'ascii' | 'utf-8' | 'unknown-8bit' | 'utf-16le' | 'utf-16be' | 'binary'

/** The encoding of a file's raw bytes. `binary`, `utf-16le` and `utf-16be` can't be edited: a NUL byte anywhere, or a UTF-16 or UTF-32 mark. */
export function encodingOf (bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'binary' : 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes.includes(0)) return 'binary'
  if (isAscii(bytes)) return 'ascii'
  return isUtf8(bytes) ? 'utf-8' : 'unknown-8bit'
}

/** The encodings that no edit may touch. */
export type BinaryEncoding = 'binary' | 'utf-16le' | 'utf-16be'

/** Whether a file of this encoding can't be edited. */
export const isBinary = (encoding: Encoding): encoding is BinaryEncoding =>
  encoding === 'binary' || encoding === 'utf-16le' || encoding === 'utf-16be'

/** Length of the UTF-8 byte-order mark at the start: 3 or 0 bytes. */
export const bomLength = (bytes: Buffer): 0 | 3 =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
