// The files that a change is about: which places are names of one file, what each held, and what the steps so far have
// made of it. Does not know plans, or where files are.
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

/** A name of a file: a place, with all steps that lead to it. */
export interface FileName<P extends FilePlace> {
  place: P
  /** Null: no history is kept, or nothing has been read. */
  recorder: FileRecorder | null
}

/** A file with all its names in this change, and what the steps so far have made of it. */
export interface FileText<P extends FilePlace, S extends FileSnapshot> {
  names: FileName<P>[]
  /** An earlier text that is the same file by another name, and is planned apart from it. */
  twin: FileText<P, S> | null
  /** No other name of the same file may join it. */
  apart: boolean
  /** Null: there is no file. */
  snapshot: S | null
  /** Why it can't be changed, whatever is asked for; null: it can. */
  refused: FailedFile<FileFailure> | null
  /** Before the change. */
  file_hash: string | undefined
  /** Null: it isn't there yet. */
  content: Content | null
  /** It is removed, with those of its `made_folders` that are empty then; `content` has no bytes. */
  removes: boolean
  made_folders: readonly Buffer[]
  /** Of a new one. */
  attributes: FileAttributes | undefined
  /** Where it is half of a move: the path of the other one. */
  moved: Buffer | undefined
  /** Where one step alone has changed it: what that step's plan says of what was read. */
  alone: Pick<Planned<unknown>, 'splices' | 'splice_lines' | 'places' | 'toggles'>
  /** Before the first step that changed it, and after the last. */
  encodings: Encodings
  /** How many steps changed it. */
  changes: number
  /** It is written though no byte changes, to name the record of what it toggles. */
  isNote: boolean
  /** SHA-256 of what it will hold, 64 hex digits; of a changed one, once `digest` has resolved. */
  new_hash: string
  digest: Promise<string> | undefined
}

/** A name that is changed, and its file. */
export interface NamedText<P extends FilePlace, S extends FileSnapshot> {
  text: FileText<P, S>
  name: FileName<P>
}

export interface FileTexts<P extends FilePlace, S extends FileSnapshot> {
  all: readonly FileText<P, S>[]
  /** Of a step, by its index. */
  of(step: number): NamedText<P, S>
  /** The first step that names one of the file's names. */
  firstStepOf(text: FileText<P, S>): number
}

/** Which places are one file. `apart`: whether a step is planned apart from other names. */
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
 * Reads each file once. `taken` gets what gives its memory back. One that can't be changed is `refused`. A failure names
 * the first step of the file that it is of.
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

/** Puts what was found in the place of a text into it. */
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
      text.refused = { ...fail({ code: 'BINARY_FILE', encoding, file_size: bytes.length }), file_hash: digest }
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

/** What the file held before the change; no bytes where there is none. */
export const bytesOf = ({ snapshot }: { snapshot: FileSnapshot | null }): Buffer => snapshot?.bytes ?? NOTHING

/** Whether the file will hold something else than before, or is to be written all the same. */
export const isChanged = ({ changes, removes, snapshot, content }: FileText<FilePlace, FileSnapshot>): boolean =>
  changes === 1 ||
  (changes > 1 && (removes || snapshot === null || !areSame(content!.pieces, content!.size, snapshot.bytes)))

/** Begins to hash what a changed file will hold. A failure has somebody who hears of it only where `digest` is awaited. */
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
  file_hash: undefined,
  content: null,
  removes: false,
  made_folders: [],
  attributes: undefined,
  moved: undefined,
  alone: {},
  encodings: {},
  changes: 0,
  isNote: false,
  new_hash: NO_BYTES,
  digest: undefined
})
