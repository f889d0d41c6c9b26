// Files that aren't UTF-8: they are planned as UTF-8, and the result is written in their encoding. Does not know
// operations, or what a plan does.
import { isAscii } from 'node:buffer'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type Around, decodedChanges, decodedRecord, encodedPlan, KEPT_OF_DECODED } from '../engine/decoded.ts'
import type { RecordedSplice } from '../engine/undo/change.ts'
import { AROUND } from '../engine/undo/places.ts'
import type { ResultTooLarge, UnencodableText } from '../engine/failure.ts'
import type { Described, EncodingNote } from '../engine/task.ts'
import { codecNamed, type DecodedText } from '../engine/text/codec.ts'
import { binaryMark, eightBitEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord, FileWithPast, Planned, PlannedFile, Planner } from '../workspace/api.ts'
import { decodedOf, isPlain, loadTables } from '../workspace/decoded-text.ts'

/**
 * Makes a UTF-8 planner work for files in any encoding. If the encoding is known, or likely, the planner gets the text
 * and the fitting changes as UTF-8; the plan is returned in the file's bytes, and its result has at most
 * `max_file_size` bytes. Bytes outside its splices stay as they are. Fails if the result would begin with a UTF-16 mark
 * that the file doesn't have, unless the plan `restores` what the file held.
 */
export const decoding =
  <T extends Described, F>(
    planner: Planner<T, F>,
    { max_file_size, restores = false }: { max_file_size: number; restores?: boolean }
  ): Planner<T, F | UnencodableText | ResultTooLarge> =>
  async (original, file) => {
    if (isPlain(original)) return planner(original, file)
    const planned = await planDecoded(planner, original, file, max_file_size)
    if (!planned.ok || restores || binaryMark(original) !== null) return planned
    // Without a zero byte, the only mark it can begin with is one of UTF-16.
    const mark = binaryMark(beginningOf(planned.value.pieces))
    if (mark === null || mark === 'binary') return planned
    return fail({ code: 'UNENCODABLE_TEXT', encoding: planned.value.encodings?.before ?? 'unknown-8bit', mark })
  }

/** The first bytes of a text: at least the length of a byte order mark. */
function beginningOf(pieces: readonly Buffer[]): Buffer {
  const first: Buffer[] = []
  for (let i = 0, length = 0; i < pieces.length && length < 4; i++) {
    first.push(pieces[i]!.subarray(0, 4))
    length += pieces[i]!.length
  }
  return Buffer.concat(first)
}

async function planDecoded<T extends Described, F>(
  planner: Planner<T, F>,
  raw: Buffer,
  file: PlannedFile,
  limit: number
): Promise<Result<Planned<T>, F | UnencodableText | ResultTooLarge>> {
  const decoded = await decodedOf(raw)
  if (decoded === null) return missing(await planner(raw, file), 'unknown-8bit')
  const { codec, text } = decoded
  let isFitting = true
  const history = async () => {
    const past = await file.history()
    const changes = await decodedChanges(raw, past.changes, codec, yieldToOthers)
    isFitting = changes !== null
    return { ...past, changes: changes ?? past.changes }
  }
  const planned = await planner(text, { ...file, history, max_result_size: Infinity })
  // The file had another encoding earlier, so the recorded changes fit its bytes only.
  if (!isFitting) return planner(raw, file)
  if (!planned.ok) return missing(planned, codec.name)
  const { original = text, pieces, splices, splice_lines, description, ...others } = planned.value
  const { name } = codec
  // No splices: the history compares the texts itself.
  if (others.removes === true) return ok({ ...others, pieces, description, encodings: { before: name } })
  const plan = { pieces, splices, splice_lines }
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
    encodings: { before: name, after: name },
    description: note === undefined ? description : { ...description, encoded: note }
  })
}

/** A plan; if its text wasn't found, the failure says in which encoding it was looked for. */
function missing<T, F>(planned: Result<T, F>, read_as: string): Result<T, F> {
  if (planned.ok) return planned
  const { code } = planned.failure as { code?: unknown }
  return code === 'NO_MATCH' || code === 'EXPECTED_TEXT_MISMATCH' ? fail({ ...planned.failure, read_as }) : planned
}

/** Wraps a planner whose new content is UTF-8: the answer names the encoding that the file had before. */
export const replacingEncoding =
  <T extends Described, F>(planner: Planner<T, F>): Planner<T, F> =>
  async (original, file) => {
    const codec = isPlain(original) ? undefined : (await decodedOf(original))?.codec
    const oldEncoding = codec?.name ?? eightBitEncodingOf([original])
    const planned = await planner(original, file)
    if (!planned.ok || oldEncoding === null) return planned
    const { description } = planned.value
    return ok({
      ...(codec?.certain === true ? uncompared(planned.value) : planned.value),
      ...(codec !== undefined && { encodings: { before: codec.name } }),
      description: { ...description, encoded: { encoding: oldEncoding, replaced: true } }
    })
  }

/** Wraps the planner of an undo or redo, which may turn a UTF-8 or empty file into one in another encoding. */
export const namingEncoding =
  <T, F>(planner: Planner<T, F>): Planner<T, F> =>
  async (original, file) => {
    const planned = await planner(original, file)
    if (!planned.ok || planned.value.encodings !== undefined) return planned
    const decoded = await decodedOf(Buffer.concat(planned.value.pieces))
    if (decoded === null) return planned
    return ok({ ...uncompared(planned.value), encodings: { after: decoded.codec.name } })
  }

/** A plan without its splices, which may split characters; the history then compares the texts itself. */
function uncompared<T>({ splices: _, splice_lines: __, ...others }: Planned<T>): Planned<T> {
  return others
}

/**
 * The recorded splices of a change as text, and the text around them: at most `kept` bytes on each side. They stay
 * bytes if the record names no encoding, or they don't fit the one it names.
 */
export async function readableTexts({
  encodings = {},
  splices,
  places
}: {
  encodings: EditRecord['encodings'] | undefined
  splices: NonNullable<EditRecord['splices']>
  places: NonNullable<EditRecord['places']>
}): Promise<{ splices: readonly RecordedSplice[]; around: readonly Around[]; kept: number }> {
  const asItIs = { splices, around: places, kept: AROUND }
  const { before, after } = encodings
  if (before === undefined && after === undefined) return asItIs
  const tables = await loadTables()
  const codecs = { before: before && codecNamed(before, tables), after: after && codecNamed(after, tables) }
  const texts = await decodedRecord(splices, places, codecs, yieldToOthers)
  return texts === null ? asItIs : { ...texts, kept: KEPT_OF_DECODED }
}

type TextWithPast = Pick<FileWithPast, 'bytes' | 'changes' | 'records'>

/**
 * A file with its changes as UTF-8, or unchanged if they can't be decoded. For a file that is gone or ASCII by now, the
 * encoding recorded last is used.
 */
export async function decodedPast<T extends TextWithPast>(file: T): Promise<T> {
  const decoded = (await decodedOf(file.bytes)) ?? (await recordedText(file))
  if (decoded === null) return file
  const changes = await decodedChanges(file.bytes, file.changes, decoded.codec, yieldToOthers)
  return changes === null ? file : { ...file, changes, bytes: decoded.text }
}

async function recordedText({ bytes, records }: TextWithPast): Promise<DecodedText | null> {
  if (!isAscii(bytes)) return null
  const { before, after = before } = records.findLast(({ encodings }) => encodings !== undefined)?.encodings ?? {}
  if (after === undefined) return null
  const codec = codecNamed(after, await loadTables())
  // ASCII bytes can't be UTF-16.
  return codec.certain && bytes.length > 0 ? null : { codec, text: bytes }
}
