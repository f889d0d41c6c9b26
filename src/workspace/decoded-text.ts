// Text in any encoding as UTF-8; the tables of encodings are loaded only when needed. Does not know files.
import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type DecodedText, decodedText } from '../engine/text/codec.ts'
import { binaryEncodingOf, binaryMark } from '../engine/text/encoding.ts'

export const loadTables = async () => (await import('iconv-lite')).default

/** Whether bytes are UTF-8, and not marked as something else. */
export const isPlain = (bytes: Buffer): boolean => isUtf8(bytes) && binaryMark(bytes) === null

/** Decodes bytes that aren't UTF-8, and names their encoding; null if they are UTF-8, or the encoding can't be told. */
export async function decodedOf(bytes: Buffer): Promise<DecodedText | null> {
  if (isPlain(bytes)) return null
  return decodedText(bytes, await loadTables(), yieldToOthers)
}

/**
 * The text of a file as UTF-8, with the mark at its start; the bytes themselves if their encoding can't be told. Null:
 * it is binary.
 */
export async function readableText(bytes: Buffer): Promise<Buffer | null> {
  if (binaryEncodingOf(bytes) !== null) return null
  return (await decodedOf(bytes))?.text ?? bytes
}
