// A text in another encoding as UTF-8, in which all planning is done, and what was planned of it as splices of the bytes
// that are there. Does not know files, or how an encoding is recognized.
import { fail, ok, type Result } from '../result.ts'
import { Splices } from './edit/splice.ts'
import type { UnencodableText } from './failure.ts'
import { type RecordedChange, type RecordedSplice, spliceOf } from './history/change.ts'
import { differing, textBefore } from './history/refine.ts'
import { type Codec, type DecodedText, decodedWith, encodedLength, unencodable } from './text/codec.ts'

/** A plan of the decoded text, as one of the file's bytes. */
export interface Encoded {
  splices: RecordedSplice[]
  pieces: Buffer[]
  /** The first character put in that isn't ASCII. */
  character?: string
}

/** Lets others run: to be called now and then where a text may be long. */
type Rest = () => Promise<unknown>

/**
 * A plan of the decoded `text`, as splices of `raw`, whose other bytes stay as they are. `pieces`: what `text`
 * becomes; `splices`: the same, whole characters each, where it is known. Fails where the encoding can't hold what is put
 * in.
 */
export async function encodedPlan(
  { raw, text: view, codec }: DecodedText & { raw: Buffer },
  {
    pieces,
    splices = differing(view, Buffer.concat(pieces))
  }: { pieces: readonly Buffer[]; splices?: readonly RecordedSplice[] },
  rest: Rest
): Promise<Result<Encoded, UnencodableText>> {
  const made: RecordedSplice[] = []
  let character: string | undefined
  /** How far both were walked. */
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
  if (codec.certain && result.length > 0 && !startsAlike(raw, result)) {
    return fail({ code: 'UNENCODABLE_TEXT', encoding: codec.name, character: '\ufeff' })
  }
  return ok({ splices: made, pieces: result, ...(character !== undefined && { character }) })
}

/** Whether the mark, two bytes, is still at the start. */
const startsAlike = (raw: Buffer, result: readonly Buffer[]): boolean =>
  Buffer.concat(result.slice(0, 2)).subarray(0, 2).equals(raw.subarray(0, 2))

/**
 * Changes that end in `raw`, oldest first, as changes that end in its decoded text. Null where one of them can't be: the
 * text was in another encoding before it, or it isn't one of whole characters. Each costs a pass over the text.
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
      // Nothing older can be placed, in bytes neither.
      made.push({ ...change, splices: null, ...(change.splices && { change_count: change.splices.length }) })
      after = null
      continue
    }
    // Text that was in another encoding then.
    const isOther = codec.certain && before.length > 0 && !startsAlike(raw, [before])
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
