// The files that a batch is about: which paths lead to one file, and what each holds, read once. Does not know plans.
import type { Encodings } from '../engine/text/codec.ts'
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok } from '../result.ts'
import type { FileAttributes } from '../log/record.ts'
import type { Planned } from '../workspace/api.ts'
import { refusalToWrite, type WriteContext } from './edit.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FailedFile, ManyResult } from '../workspace/results.ts'
import { failedBy, realPathOf, type FoundPath } from './file-access.ts'
import type { FileRecorder } from '../recording/recorder.ts'
import type { Lock } from '../workspace/queue.ts'
import { same as isSame, type Missing, type Pin } from './root/pin.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'
import { readWhole, type Snapshot } from './text-file.ts'

/** A name of a file, where links have led to: what the steps that name it have in common. */
export interface FileName {
  path: Buffer
  absent: Missing | null
  pin: Pin | null
  lock: Lock | null
  recorder: FileRecorder | null
}

/** A file with all its names in this batch, and what the steps so far have made of it. */
export interface BatchText {
  names: FileName[]
  /** An earlier text that is the same file by another name, and is planned apart from it. */
  twin: BatchText | null
  snapshot: Snapshot | null
  /** Why it can't be changed, whatever is asked for; null: it can. */
  refused: FailedFile<FileFailure> | null
  /** Before the batch. */
  file_hash: string | undefined
  /** Null: it isn't there yet. */
  content: { pieces: readonly Buffer[]; size: number } | null
  /** It is removed, with those of its `made_folders` that are empty then; `content` has no bytes. */
  removes: boolean
  made_folders: readonly Buffer[]
  /** Of a new one. */
  attributes: FileAttributes | undefined
  /** Where it is half of a move: the path of the other one. */
  moved: Buffer | undefined
  /** Where one step alone has changed it: what that step's plan says of what was read. */
  alone: Pick<Planned<unknown>, 'splices' | 'places' | 'toggles'>
  /** Before the first step that changed it, and after the last. */
  encodings: Encodings
  changes: number
  digest: string
  /** No other name of the same file may join it. */
  apart: boolean
}

/** `found`: what is at the path of each step; `apart`: whether that step is planned apart from other names. */
interface BatchPaths {
  found: readonly FoundPath[]
  apart: readonly boolean[]
  locks: readonly Lock[] | null
}

export interface BatchTexts {
  all: readonly BatchText[]
  /** Of a step, by its index. */
  of(step: number): { name: FileName; text: BatchText }
  /** The first step that names one of the file's names. */
  firstStepOf(text: BatchText): number
}

/** Which paths are one file. */
export function groupTexts({ found, apart, locks }: BatchPaths): BatchTexts {
  const all: BatchText[] = []
  const byPath = new Map<string, { name: FileName; text: BatchText }>()
  const keyAt = (step: number): string => realPathOf(found[step]!).toString('latin1')
  for (const [step, one] of found.entries()) {
    const key = keyAt(step)
    if (byPath.has(key)) continue
    const { pin, absent } = one
    const name: FileName = { path: realPathOf(one), absent, pin, lock: locks?.[step] ?? null, recorder: null }
    const same = all.filter(({ names: [first] }) => pin !== null && first?.pin && isSame(first.pin.stat, pin.stat))
    const isApart = apart.some((is, i) => is && keyAt(i) === key)
    const joined = isApart ? undefined : same.find(text => !text.apart)
    const text = joined ?? textOf(name, same[0], isApart)
    if (joined === undefined) all.push(text)
    else joined.names.push(name)
    byPath.set(key, { name, text })
  }
  return {
    all,
    of: step => byPath.get(keyAt(step))!,
    firstStepOf: text => found.findIndex(one => text.names.some(({ path }) => path.equals(realPathOf(one))))
  }
}

/**
 * Takes the memory for all files, and reads each once; `taken` gets what gives these back. One that can't be changed is
 * `refused`. Failures, of all or by an error, name the first step of the file that they are of.
 */
export async function readTexts(
  context: WriteContext,
  texts: BatchTexts,
  taken: (() => void)[]
): Promise<ManyResult<null, FileFailure>> {
  const refused = await takeMemory(context, texts, taken)
  if (refused !== null) return refused
  for (const text of texts.all) {
    try {
      text.refused = await readText(context, text, taken)
    } catch (error) {
      return { ...failedBy(error, {}), at: texts.firstStepOf(text) }
    }
  }
  return ok(null)
}

async function takeMemory(
  { buffers, options }: WriteContext,
  { all, firstStepOf }: BatchTexts,
  taken: (() => void)[]
): Promise<(FailedFile<FileFailure> & { at: number }) | null> {
  const sizeOf = ({ names: [first] }: BatchText): number => Number(first?.pin?.stat.size ?? 0)
  const large = all.filter(text => text.twin === null && isLarge(sizeOf(text), options.maxFileSize))
  const [first] = large
  if (first === undefined) return null
  const at = firstStepOf(first)
  const actual = large.reduce((sum, text) => sum + sizeOf(text), 0)
  if (actual > buffers.size) {
    return { ...fail({ code: 'FILE_TOO_LARGE', limit: buffers.size, actual, together: true }), at }
  }
  const release = await buffers.take(actual, options.lockTimeout)
  if (release === null) return { ...fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 }), at }
  taken.push(release)
  return null
}

/** One that is larger than files may be isn't read at all. */
const isLarge = (size: number, limit: number): boolean => size > SYNC_IO_BYTES && size <= limit

async function readText(
  context: WriteContext,
  text: BatchText,
  taken: (() => void)[]
): Promise<FailedFile<FileFailure> | null> {
  const { files, buffers, options, recorder } = context
  const [{ pin }] = text.names as [FileName]
  if (pin !== null) {
    const unwritable = refusalToWrite(pin)
    if (unwritable !== null) return { ...fail(unwritable), ...(await files.hash(pin)) }
    let snapshot = text.twin?.snapshot ?? null
    if (snapshot === null) {
      const known = recorder.lastContent(pin.relative)
      const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size), known)
      if (!read.ok) return read
      const own = (snapshot = read.value)
      options.meter?.read(own.bytes.length)
      taken.push(() => {
        own.close()
        buffers.reuse(own.bytes)
      })
    }
    const { bytes, digest: file_hash, hasNul } = snapshot
    text.snapshot = snapshot
    text.digest = file_hash
    text.file_hash = file_hash
    text.content = { pieces: [bytes], size: bytes.length }
    const encoding = binaryEncodingOf(bytes, hasNul)
    if (encoding !== null) return { ...fail({ code: 'BINARY_FILE', encoding, file_size: bytes.length }), file_hash }
  }
  for (const name of text.names) {
    name.recorder = recorder.begin({
      path: name.path,
      digest: text.snapshot?.digest ?? null,
      bytes: () => text.snapshot?.bytes ?? Buffer.alloc(0),
      lock: name.lock
    })
  }
  return null
}

const textOf = (name: FileName, twin: BatchText | undefined, apart: boolean): BatchText => ({
  names: [name],
  apart,
  twin: twin ?? null,
  snapshot: null,
  refused: null,
  file_hash: undefined,
  content: null,
  removes: false,
  made_folders: [],
  attributes: undefined,
  moved: undefined,
  alone: {},
  encodings: {},
  changes: 0,
  digest: ''
})
