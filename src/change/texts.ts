// The files of a change: which places are names of one file, what each held, and what the steps so far have made of it.
// Does not know plans, or where files are.
import { hash } from 'node:crypto'
import type { Encodings } from '../engine/text/codec.ts'
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import type { FileAttributes } from '../log/record.ts'
import { fail } from '../result.ts'
import type { FileRecorder } from '../recording/recorder.ts'
import type { Planned } from '../workspace/api.ts'
import { areSame, digestOf, type Content } from '../workspace/content.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FailedFile, ManyResult } from '../workspace/results.ts'
import type { FileStore, FoundContent, FilePlace, FileSnapshot } from './store.ts'

/** A name of a file: a place, shared by all steps that lead to it. */
export interface FileName<P extends FilePlace> {
  place: P
  /** Null: no history is kept, or nothing has been read yet. */
  recorder: FileRecorder | null
}

/** A file with all its names in this change, and the result of the steps so far. */
export interface FileText<P extends FilePlace, S extends FileSnapshot> {
  names: FileName<P>[]
  /** An earlier text that is the same file by another name, and is planned separately. */
  twin: FileText<P, S> | null
  /** No other name of the same file may join it. */
  apart: boolean
  /** Null: there is no file. */
  snapshot: S | null
  /** Why it can't be changed, whatever the request; null: it can. */
  refused: FailedFile<FileFailure> | null
  /** Why its text can't be edited; null: it can. It may be removed or moved. */
  binary: FailedFile<FileFailure> | null
  /** Hash before the change. */
  file_hash: string | undefined
  /** Hash before the change of the file that was moved here. */
  moved_hash: string | undefined
  /** Null: it doesn't exist yet. */
  content: Content | null
  /**
   * The file is removed, with those of its `made_folders` that are empty then; `content` has no bytes. Without a
   * `snapshot`: it was made by an earlier step, so nothing is left to do.
   */
  removes: boolean
  made_folders: readonly Buffer[]
  /** For a new file. */
  attributes: FileAttributes | undefined
  /** The path of the other half, if this is half of a move. */
  moved: Buffer | undefined
  /** What the plan says of the text it read, if only one step has changed the file. */
  alone: Pick<Planned<unknown>, 'splices' | 'splice_lines' | 'places' | 'toggles'>
  /** The encodings before the first step that changed it, and after the last. */
  encodings: Encodings
  /** `rebased` of the last step that changed it. */
  rebased: Buffer | undefined
  /** How many steps changed it. */
  changes: number
  /** It is written though no byte changes, so that it names the record of what it toggles. */
  isNote: boolean
  /** SHA-256 of its coming content, 64 hex digits; for a changed file, valid once `digest` has resolved. */
  new_hash: string
  digest: Promise<string> | undefined
}

/** A name of a changed file, and the file. */
export interface NamedText<P extends FilePlace, S extends FileSnapshot> {
  text: FileText<P, S>
  name: FileName<P>
}

export interface FileTexts<P extends FilePlace, S extends FileSnapshot> {
  all: readonly FileText<P, S>[]
  /** The text of a step, by its index. */
  of(step: number): NamedText<P, S>
  /** The first step that names one of the file's names. */
  firstStepOf(text: FileText<P, S>): number
}

/** Groups places that are one file. `apart`: whether a step is planned separately from other names. */
export function groupTexts<P extends FilePlace, S extends FileSnapshot>(
  places: readonly P[],
  apart: readonly boolean[],
  isSame: (a: P, b: P) => boolean
): FileTexts<P, S> {
  if (places.length === 1) {
    const name: FileName<P> = { place: places[0]!, recorder: null }
    const text = textOf<P, S>(name, undefined, apart[0]!)
    return { all: [text], of: () => ({ name, text }), firstStepOf: () => 0 }
  }
  const all: FileText<P, S>[] = []
  const byPath = new Map<string, NamedText<P, S>>()
  const keys = places.map(({ path }) => path.toString('latin1'))
  for (const [step, place] of places.entries()) {
    const key = keys[step]!
    if (byPath.has(key)) continue
    const name: FileName<P> = { place, recorder: null }
    const same = all.filter(({ names: [first] }) => isSame(first!.place, place))
    const isApart = apart.some((is, i) => is && keys[i] === key)
    const joined = isApart ? undefined : same.find(text => !text.apart)
    const text = joined ?? textOf<P, S>(name, same[0], isApart)
    if (joined === undefined) all.push(text)
    else joined.names.push(name)
    byPath.set(key, { name, text })
  }
  return {
    all,
    of: step => byPath.get(keys[step]!)!,
    firstStepOf: text => places.findIndex(place => text.names.some(name => name.place.path.equals(place.path)))
  }
}

/**
 * Reads each file once. Adds callbacks that release its memory to `taken`. A file that can't be changed is `refused`. A
 * failure names the first step of its file.
 */
export async function readTexts<P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  { all, firstStepOf }: FileTexts<P, S>,
  taken: (() => void)[],
  options: { isDry: boolean }
): Promise<ManyResult<null, FileFailure>> {
  const own = all.filter(({ twin }) => twin === null)
  const read = await store.read(
    own.map(({ names: [first] }) => first!.place),
    taken,
    options
  )
  if (!read.ok) return { ...read, at: firstStepOf(own[read.at]!) }
  for (const text of all) takeIn(store, text, read.value[own.indexOf(text.twin ?? text)]!)
  return { ok: true, value: null }
}

/** Fills a text with what was found in its place. */
function takeIn<P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  text: FileText<P, S>,
  { snapshot, refused }: FoundContent<S>
): void {
  text.refused = refused
  if (snapshot !== null) {
    const { bytes, digest, hasNul } = snapshot
    text.snapshot = snapshot
    text.file_hash = digest
    text.new_hash = digest
    text.content = { pieces: [bytes], size: bytes.length }
    const encoding = binaryEncodingOf(bytes, hasNul)
    if (encoding !== null) {
      text.binary = { ...fail({ code: 'BINARY_FILE', encoding, file_size: bytes.length }), file_hash: digest }
    }
  }
  if (text.refused !== null) return
  for (const name of text.names) {
    const { path } = name.place
    const digest = snapshot?.digest ?? null
    const { lock, unchanged, landed, last } = store.before(name.place, snapshot)
    const file = { path, digest, bytes: () => bytesOf(text), lock, unchanged, landed, last }
    name.recorder = store.recorder.begin(file)
  }
}

/** The file's content before the change; empty if there was no file. */
export const bytesOf = ({ snapshot }: { snapshot: FileSnapshot | null }): Buffer => snapshot?.bytes ?? NOTHING

/** Whether the file's content will differ, or is to be written anyway. */
export const isChanged = ({ changes, removes, snapshot, content }: FileText<FilePlace, FileSnapshot>): boolean =>
  changes === 1 ||
  (changes > 1 && (snapshot === null ? !removes : removes || !areSame(content!.pieces, content!.size, snapshot.bytes)))

/** Begins to hash a changed file's coming content. A failure is seen only where `digest` is awaited. */
export function beginDigest(text: FileText<FilePlace, FileSnapshot>): void {
  const { pieces, size } = text.content!
  const { bytes = undefined, marks = [] } = text.snapshot ?? {}
  text.digest ??= digestOf(pieces, size, bytes, marks).then(hash => (text.new_hash = hash))
  text.digest.catch(() => {})
}

const NOTHING = Buffer.alloc(0)
const NO_BYTES = hash('sha256', NOTHING, 'hex')

const textOf = <P extends FilePlace, S extends FileSnapshot>(
  name: FileName<P>,
  twin: FileText<P, S> | undefined,
  apart: boolean
): FileText<P, S> => ({
  names: [name],
  twin: twin ?? null,
  apart,
  snapshot: null,
  refused: null,
  binary: null,
  file_hash: undefined,
  moved_hash: undefined,
  content: null,
  removes: false,
  made_folders: [],
  attributes: undefined,
  moved: undefined,
  alone: {},
  encodings: {},
  rebased: undefined,
  changes: 0,
  isNote: false,
  new_hash: NO_BYTES,
  digest: undefined
})
