// Decodes a text in another encoding to UTF-8, in which all planning is done, and turns the plan back into splices of
// the original bytes.
import { isUtf8 } from 'node:buffer'
import { fail, ok, type Result } from '../result.ts'
import { Splices } from './edit/splice.ts'
import type { UnencodableText } from './failure.ts'
import { type RecordedChange, type RecordedSplice, spliceOf } from './undo/change.ts'
import { AROUND, type KnownLine, placesOf, type SplicePlace } from './undo/places.ts'
import { differing, textBefore } from './undo/refine.ts'
import {
  type Codec,
  type DecodedText,
  decodedWith,
  encodedLength,
  type Encodings,
  unencodable,
  utf16Of
} from './text/codec.ts'

/** A plan of the decoded text, in the file's own bytes. */
interface Encoded {
  splices: RecordedSplice[]
  pieces: Buffer[]
  /** The places of the given splices, with the surrounding text in the file's encoding. */
  places?: SplicePlace[]
  /** The first inserted character that isn't ASCII. */
  character?: string
}

/** Yields to the event loop; called from time to time where a text may be long. */
type Rest = () => Promise<unknown>

/**
 * Turns a plan of the decoded `text` into splices of `raw`; all other bytes of `raw` stay as they are. `pieces`: the
 * resulting text; `splices`: the same change in whole characters, if known; `splice_lines`: the lines that the splices
 * begin on. Fails if the encoding can't represent the inserted text.
 */
export async function encodedPlan(
  { raw, text: view, codec }: DecodedText & { raw: Buffer },
  {
    pieces,
    splices: known,
    splice_lines = []
  }: { pieces: readonly Buffer[]; splices?: readonly RecordedSplice[]; splice_lines?: readonly number[] },
  rest: Rest
): Promise<Result<Encoded, UnencodableText>> {
  const splices = known ?? differing(view, Buffer.concat(pieces))
  const made: RecordedSplice[] = []
  let character: string | undefined
  /** How far we have walked in the decoded text and in `raw`. */
  let [at, rawAt] = [0, 0]
  for (const { start, old, insert } of splices) {
    const text = insert.toString()
    const bad = unencodable(codec, text)
    if (bad !== undefined) return fail({ code: 'UNENCODABLE_TEXT', encoding: codec.name, character: bad })
    character ??= /[^\0-\x7f]/u.exec(text)?.[0]
    rawAt += await encodedLength(codec, view.subarray(at, start), rest)
    const length = await encodedLength(codec, old, rest)
    made.push({ start: rawAt, old: Buffer.from(raw.subarray(rawAt, rawAt + length)), insert: codec.encode(text) })
    rawAt += length
    at = start + old.length
  }
  const result = new Splices(made.map(spliceOf), raw.length).apply(raw)
  if (codec.certain && result.length > 0 && !hasMark(codec, result)) {
    return fail({ code: 'UNENCODABLE_TEXT', encoding: codec.name, character: '\ufeff' })
  }
  const lines = splice_lines.map((line, i): KnownLine => ({ offset: splices[i]!.start, line }))
  return ok({
    splices: made,
    pieces: result,
    places: known && encodedPlaces(placesOf(view, splices, lines), codec),
    character
  })
}

/** A change as it is recorded. */
interface Compared {
  splices: RecordedSplice[]
  places?: SplicePlace[]
  encodings?: Encodings
}

/**
 * The splices that turn `before` into `after`, for the history: in bytes, or in whole characters if either text has a
 * UTF-16 mark.
 */
export function compared(before: Buffer, after: Buffer): Compared {
  const [was, is] = [utf16Of(before), utf16Of(after)]
  if (was === null && is === null) return { splices: differing(before, after) }
  const [old, now] = [textOf(was, before), textOf(is, after)]
  // Two different encodings share no bytes.
  const splices = was === is ? differing(old, now) : [{ start: 0, old, insert: now }]
  const made: RecordedSplice[] = []
  let [at, rawAt] = [0, 0]
  for (const { start, old: gone, insert } of splices) {
    rawAt += bytesOf(was, old.subarray(at, start)).length
    made.push({ start: rawAt, old: bytesOf(was, gone), insert: bytesOf(is, insert) })
    rawAt += made.at(-1)!.old.length
    at = start + gone.length
  }
  const encodings = { ...(was !== null && { before: was.name }), ...(is !== null && { after: is.name }) }
  return { splices: made, places: encodedPlaces(placesOf(old, splices), was), encodings }
}

const textOf = (codec: Codec | null, bytes: Buffer): Buffer =>
  codec === null ? bytes : Buffer.from(codec.decode(bytes))
const bytesOf = (codec: Codec | null, text: Buffer): Buffer =>
  codec === null ? Buffer.from(text) : codec.encode(text.toString())

const encodedPlaces = (places: readonly SplicePlace[], codec: Codec | null): SplicePlace[] =>
  places.map(place => ({
    ...place,
    before: bytesOf(codec, wholeCharacters(place.before)),
    after: bytesOf(codec, wholeCharacters(place.after))
  }))

/** Drops partial UTF-8 characters at the start and the end. */
function wholeCharacters(text: Buffer): Buffer {
  let start = 0
  while (start < text.length && (text[start]! & 0xc0) === 0x80) start++
  let end = text.length
  while (!isUtf8(text.subarray(start, end))) end--
  return text.subarray(start, end)
}

/** If the text kept on each side of a splice is cut, `wholeCharacters` leaves at least this many bytes of it. */
export const KEPT_OF_DECODED = AROUND - 3

/** The text on both sides of a splice. */
export type Around = Pick<SplicePlace, 'start_line' | 'before' | 'after'>

/**
 * A recorded change as UTF-8, for a diff: splices with the text around them. A codec is undefined where the text was
 * UTF-8 before or after the change. Null if the bytes aren't whole characters. `start` counts from the surrounding
 * texts, not from the file.
 */
export async function decodedRecord(
  splices: readonly RecordedSplice[],
  around: readonly Around[],
  codecs: { before: Codec | undefined; after: Codec | undefined },
  rest: Rest
): Promise<{ splices: RecordedSplice[]; around: Around[] } | null> {
  const textOf = async (codec: Codec | undefined, bytes: Buffer) =>
    codec === undefined ? bytes : decodedWith(codec, bytes, rest)
  const [made, texts]: [RecordedSplice[], Around[]] = [[], []]
  let longer = 0
  for (const [i, { start, old, insert }] of splices.entries()) {
    const { start_line, before, after } = around[i]!
    const [front, was, back] = [
      await textOf(codecs.before, before),
      await textOf(codecs.before, old),
      await textOf(codecs.before, after)
    ]
    const is = await textOf(codecs.after, insert)
    if (front === null || was === null || back === null || is === null) return null
    longer += front.length - before.length
    made.push({ start: start + longer, old: was, insert: is })
    texts.push({ start_line, before: front, after: back })
    longer += was.length - old.length + back.length - after.length
  }
  return { splices: made, around: texts }
}

/** Whether the text starts with the two-byte mark of this UTF-16 codec. */
const hasMark = (codec: Codec, text: readonly Buffer[]): boolean =>
  Buffer.concat(text.slice(0, 2)).subarray(0, 2).equals(codec.encode('\ufeff'))

/**
 * Converts changes that end in `raw`, oldest first, to changes that end in its decoded text. Null if one can't be
 * converted: the text had another encoding before it, or its splices aren't whole characters. Each change costs a pass
 * over the text.
 */
export async function decodedChanges(
  raw: Buffer,
  changes: readonly RecordedChange[],
  codec: Codec,
  rest: Rest
): Promise<RecordedChange[] | null> {
  const made: RecordedChange[] = []
  let after: Buffer | null = raw
  for (const change of changes.toReversed()) {
    const before: Buffer | null = after && change.splices && textBefore(after, change.splices)
    if (before === null) {
      // Older changes can't be placed at all, not even in bytes.
      made.push({ ...change, splices: null, ...(change.splices && { change_count: change.splices.length }) })
      after = null
      continue
    }
    // The text had another encoding at that time.
    const isOther = codec.certain && before.length > 0 && !hasMark(codec, [before])
    const splices = isOther ? null : await decodedSplices(before, change.splices!, codec, rest)
    if (splices === null) return null
    made.push({ ...change, splices })
    after = before
    await rest()
  }
  return made.reverse()
}

async function decodedSplices(
  before: Buffer,
  splices: readonly RecordedSplice[],
  codec: Codec,
  rest: Rest
): Promise<RecordedSplice[] | null> {
  const made: RecordedSplice[] = []
  let [at, rawAt] = [0, 0]
  for (const { start, old, insert } of splices) {
    const between = await decodedWith(codec, before.subarray(rawAt, start), rest)
    const [was, is] = [await decodedWith(codec, old, rest), await decodedWith(codec, insert, rest)]
    if (between === null || was === null || is === null) return null
    at += between.length
    made.push({ start: at, old: was, insert: is })
    at += was.length
    rawAt = start + old.length
  }
  return made
}
