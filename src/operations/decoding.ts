// Files that aren't UTF-8: they are planned as UTF-8, and what comes of it is written in their encoding. Does not know
// operations, or what a plan does.
import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { decodedChanges, encodedPlan } from '../engine/decoded.ts'
import type { ResultTooLarge, UnencodableText } from '../engine/failure.ts'
import type { Described, EncodingNote } from '../engine/task.ts'
import { type DecodedText, decodedText } from '../engine/text/codec.ts'
import { binaryMark, eightBitEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileWithPast, Planned, PlannedFile, Planner } from '../workspace/api.ts'

/**
 * Bytes that aren't UTF-8 as text, with their encoding; null where they are, or it can't be told. The tables of encodings
 * are loaded only then.
 */
export async function decodedOf(bytes: Buffer): Promise<DecodedText | null> {
  if (isPlain(bytes)) return null
  const { default: tables } = await import('iconv-lite')
  return decodedText(bytes, tables, yieldToOthers)
}

const isPlain = (bytes: Buffer): boolean => isUtf8(bytes) && binaryMark(bytes) === null

/**
 * The planner of UTF-8 for files in any encoding. Where the encoding is known, or likely, it is given the text as UTF-8,
 * and changes that fit it; its plan is returned as one of the file's bytes, and the result has at most
 * `max_file_size` of them. Bytes outside of its splices stay as they are.
 */
export const decoding =
  <T extends Described, F>(
    planner: Planner<T, F>,
    { max_file_size }: { max_file_size: number }
  ): Planner<T, F | UnencodableText | ResultTooLarge> =>
  (original, file) =>
    isPlain(original) ? planner(original, file) : planDecoded(planner, original, file, max_file_size)

async function planDecoded<T extends Described, F>(
  planner: Planner<T, F>,
  raw: Buffer,
  file: PlannedFile,
  limit: number
): Promise<Result<Planned<T>, F | UnencodableText | ResultTooLarge>> {
  const decoded = await decodedOf(raw)
  if (decoded === null) return planner(raw, file)
  const { codec, text } = decoded
  let isFitting = true
  const history = async () => {
    const past = await file.history()
    const changes = await decodedChanges(raw, past.changes, codec, yieldToOthers)
    isFitting = changes !== null
    return { ...past, changes: changes ?? past.changes }
  }
  const planned = await planner(text, { ...file, history, max_result_size: Infinity })
  // Earlier, the file was in another encoding: its changes are those of bytes.
  if (!isFitting) return planner(raw, file)
  if (!planned.ok) return planned
  const { original = text, pieces, splices, splice_lines, description, ...others } = planned.value
  // The history compares the texts.
  if (others.removes === true) return ok({ ...others, pieces, description })
  const plan = { pieces, ...(splices !== undefined && { splices }) }
  const encoded = await encodedPlan({ raw, text: original, codec }, plan, yieldToOthers)
  if (!encoded.ok) return encoded
  const { character, ...bytes } = encoded.value
  const actual = bytes.pieces.reduce((sum, { length }) => sum + length, 0)
  if (actual > limit) {
    return fail({ code: 'RESULT_TOO_LARGE', what: 'bytes', limit, actual, edit_index: 0, total_edits: 1 })
  }
  const note: EncodingNote | undefined =
    character === undefined || codec.certain ? undefined : { encoding: codec.name, written: character }
  return ok({
    ...others,
    ...bytes,
    ...(splice_lines !== undefined && { splice_lines }),
    description: note === undefined ? description : { ...description, encoded: note }
  })
}

/** The planner of a new content, which is UTF-8, with a word about the encoding that the file had until then. */
export const replacingEncoding =
  <T extends Described, F>(planner: Planner<T, F>): Planner<T, F> =>
  async (original, file) => {
    const had = isPlain(original) ? null : ((await decodedOf(original))?.codec.name ?? eightBitEncodingOf([original]))
    const planned = await planner(original, file)
    if (!planned.ok || had === null) return planned
    const { description } = planned.value
    return ok({ ...planned.value, description: { ...description, encoded: { encoding: had, replaced: true } } })
  }

/** A file with its changes as UTF-8; as it is where they can't be given so. */
export async function decodedPast(file: FileWithPast): Promise<FileWithPast> {
  const decoded = await decodedOf(file.bytes)
  if (decoded === null) return file
  const changes = await decodedChanges(file.bytes, file.changes, decoded.codec, yieldToOthers)
  return changes === null ? file : { ...file, changes, bytes: decoded.text }
}
