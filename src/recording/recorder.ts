// Records each change in the history: decides the order of record, rename and answer. Does not know how records are
// kept, or how files are written.
import type { LineCounts } from '../audit/audit.ts'
import { compared } from '../engine/decoded.ts'
import type { Encodings } from '../engine/text/codec.ts'
import { lineCountsOf, placesOf, type KnownLine, type SplicePlace } from '../engine/undo/places.ts'
import type { RecordedSplice, Selection } from '../engine/undo/change.ts'
import type { FileCopy, History, Latest } from '../log/api.ts'
import { copyAuthor, type Author, type EditRecord, type FileAttributes, type Settlement } from '../log/record.ts'
import type { FileHistory, Key, Origin, Planned } from '../workspace/api.ts'
import { codeOf, HistoryUnwritable, Overtaken, Raced } from '../workspace/errno.ts'
import type { Lock } from '../workspace/queue.ts'
import { isCopied, readChain } from './read-chain.ts'
import { type Chain, chainOf, counts, isNote, isTraceless, judge, landedOf, settlementOf } from './chain.ts'

interface RecorderOptions {
  /** Null: no history is kept. */
  history: History | null
  /** Refuse changes that can't be recorded. */
  required: boolean
  durable: boolean
  report: (event: { event: string; [key: string]: unknown }) => void
}

/** A file before a change. */
export interface FileBefore {
  /** Real path below the root. */
  path: Buffer
  /** SHA-256, 64 hex digits; null: there is no file. */
  digest: string | null
  /** Call it again after each wait: the bytes may have moved. */
  bytes(): Buffer
  /** Whether the file still is what was read; called only if it was read without a lock. */
  unchanged?(): boolean | Promise<boolean>
  /** Null: the file was read without a lock. */
  lock: Pick<Lock, 'alone_since'> | null
  /**
   * Only in a bucket, which has no locks: others may change the object at the same time, and the write happens only if
   * it is still this version. Ids of records that the object's metadata proves to have happened, newest first.
   */
  landed?: readonly string[]
  /** Only in a bucket: the id of the record whose write made the object what it is, if that is certain. */
  last?: string | undefined
}

/** A change that is about to be made. */
export interface ComingChange {
  origin: Origin
  planned: Pick<Planned<unknown>, 'pieces' | 'splices' | 'splice_lines' | 'places' | 'encodings' | 'toggles'>
  /** SHA-256 of the result, 64 hex digits; null: the file will be removed. */
  digest: string | null
  /** Size of the result in bytes. */
  size: number
  temp?: string | undefined
  made_folders?: readonly Buffer[] | undefined
  /** Attributes of the file, if it will be removed. */
  attributes?: FileAttributes | undefined
  /** For half of a move: the real path of the other half. */
  moved?: Buffer | undefined
  /** Makes what is kept of the answer to a keyed request. */
  outcome?: ((texts: boolean) => unknown) | undefined
}

/** Who made a change, with which operation. */
type Maker = Author & Pick<EditRecord, 'operation' | 'batch_id'>

interface ChangedText {
  /** The text whose parts the splices replace. */
  before: Buffer
  splices: readonly RecordedSplice[] | null
  /** Line numbers already known in it. */
  lines?: readonly KnownLine[]
  /** Places of the splices, if known. */
  places?: readonly SplicePlace[]
  encodings?: Encodings
}

const NOTHING = Buffer.alloc(0)
const OUTSIDE = { operation: 'outside' } as const

export class Recorder {
  readonly #options: RecorderOptions
  #degraded = false
  readonly #onWritten = (failed: boolean): void => {
    this.#degraded = failed
  }

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Whether the last change could not be recorded. */
  get degraded(): boolean {
    return this.#degraded
  }

  /**
   * The content of the file at this real path after the last change, if it is still in memory; valid for this tick
   * only.
   */
  lastContent(path: Buffer): FileCopy | null {
    return this.#options.history?.waitingCopy(path) ?? null
  }

  /**
   * Starts recording one change of a file; null if no history is kept. Call all its members but `past` under the file's
   * lock.
   */
  begin(file: FileBefore): FileRecorder | null {
    const { history } = this.#options
    if (history === null) return null
    return new FileRecorder(history, file, this.#options, this.#onWritten)
  }
}

/** Records one change of one file: first any change by others before it, then the change, then its outcome. */
export class FileRecorder {
  readonly #history: History
  readonly #file: FileBefore
  readonly #options: RecorderOptions
  readonly #onWritten: (failed: boolean) => void
  #looked: Promise<void> | undefined
  #outside: Promise<EditRecord | null> | undefined
  #id: string | undefined
  #recorded: string | undefined
  #lineCounts: LineCounts | undefined
  #failed = false

  constructor(history: History, file: FileBefore, options: RecorderOptions, onWritten: (failed: boolean) => void) {
    this.#history = history
    this.#file = file
    this.#options = options
    this.#onWritten = onWritten
  }

  /** The id of the change's record, if it could be written. */
  get edit_id(): string | undefined {
    return this.#recorded
  }

  /** The id that the change's record will have, once `prepare` or `record` has chosen it. */
  get coming_id(): string | undefined {
    return this.#id
  }

  /** Line counts of the change, once its record is made. */
  get lineCounts(): LineCounts | undefined {
    return this.#lineCounts
  }

  /** Whether the history keeps texts of this file. */
  get keepsTexts(): boolean {
    return this.#history.keepsTexts(this.#file.path)
  }

  /** Whether the change is made without a record. */
  get unrecorded(): boolean {
    return this.#failed
  }

  /**
   * The file's changes so far, including an unrecorded one by another program. Throws Overtaken if the file was changed
   * since it was read without a lock.
   */
  async past(): Promise<FileHistory> {
    const { path, digest, lock, landed } = this.#file
    await this.#look()
    if (lock === null && landed === undefined) return this.#pastWithoutLock()
    // This settles records that are read next, and finds the change by others that `record` will write.
    const outside = await this.#outsideChange()
    const { records } = await this.#history.ofPath(path)
    const stored = landed === undefined ? records : landedOf(records, landed)
    return historyOf(chainOf([...stored, ...takenPlace(outside)], digest), outside)
  }

  /** Returns the id for the record of the change, undo or redo: later than those of all changes before it. */
  async prepare(): Promise<string> {
    await this.#outsideChange()
    return this.#nextId()
  }

  /**
   * Writes the record; await it before the file gets its content. Throws if the record fails and is needed: the change
   * has a key, is in a batch, a history is required, or the record is the only effect. Throws Overtaken as `past` does.
   */
  async record(change: ComingChange): Promise<void> {
    if (this.#recorded !== undefined || this.#failed) return
    const outside = await this.#outsideChange()
    const record = this.#recordOf(change)
    try {
      const kept = outside === null ? null : this.#keepOutside(outside)
      const appended = this.#history.append(record, { durable: this.#options.durable })
      await (kept === null ? appended : Promise.all([kept, appended]))
      this.#recorded = record.edit_id
      this.#onWritten(false)
    } catch (error) {
      this.#history.settle(record.edit_id, 'void')
      this.#failed = true
      this.#onWritten(true)
      this.#options.report({ event: 'unrecorded', path: this.#file.path.toString(), reason: codeOf(error) })
      const isNeeded = this.#options.required || record.key !== undefined || record.batch_id !== undefined
      if (isNeeded || isTraceless(record)) {
        throw new HistoryUnwritable(error)
      }
    }
  }

  /** Call it after `#outsideChange`. Separate from `record`, as an async function keeps every variable on the heap. */
  #recordOf({
    origin,
    planned,
    digest,
    size,
    temp,
    made_folders,
    attributes,
    moved,
    outcome
  }: ComingChange): EditRecord {
    const edit_id = this.#nextId()
    const before = this.#file.bytes()
    const change = changeOf(before, planned)
    const { key } = origin
    throwIfLost(key)
    const record = this.#make(edit_id, origin, { before, lines: linesOf(planned), ...change }, digest, size)
    if (temp !== undefined) record.temp = temp
    if (planned.toggles !== undefined) record.toggles = planned.toggles
    if (made_folders !== undefined && made_folders.length > 0) record.made_folders = made_folders
    if (attributes !== undefined) record.attributes = attributes
    if (moved !== undefined) record.moved = moved
    this.#lineCounts = { lines_added: record.lines_added, lines_removed: record.lines_removed }
    if (key !== undefined) record.key = { ...named(key), outcome: outcome?.(this.keepsTexts) ?? null }
    return record
  }

  /**
   * Records what another program saved after the change was decided, just before this change replaced it. It is settled
   * as uncertain, as no later change began with it. A failed write is reported.
   */
  async keepSave(bytes: Buffer, digest: string): Promise<void> {
    const before = this.#file.bytes()
    const text = { before, ...compared(before, bytes) }
    const record = this.#make(this.#history.nextId(), OUTSIDE, text, digest, bytes.length)
    try {
      await this.#history.append(record, { durable: this.#options.durable })
      this.#history.settle(record.edit_id, 'uncertain')
    } catch (error) {
      this.#options.report({ event: 'unrecorded', path: this.#file.path.toString(), reason: codeOf(error) })
    }
  }

  /**
   * Records a request that changes no byte: its answer, if it has a key, and what an undo or redo `toggles`. Throws if
   * the record can't be written.
   */
  async note(
    origin: Origin,
    outcome: (texts: boolean, edit_id?: string) => unknown,
    toggles?: readonly Selection[]
  ): Promise<void> {
    const { key } = origin
    if (key === undefined && toggles === undefined) return
    await this.#look()
    const outside = toggles === undefined ? null : await this.#outsideChange()
    const edit_id = toggles === undefined ? this.#history.nextId() : this.#nextId()
    this.#id = undefined
    throwIfLost(key)
    const before = this.#file.digest === null ? NOTHING : this.#file.bytes()
    const record = this.#make(edit_id, origin, { before, splices: [] }, this.#file.digest, before.length)
    if (toggles !== undefined) record.toggles = toggles
    const named_id = toggles === undefined ? undefined : edit_id
    if (key !== undefined) record.key = { ...named(key), outcome: outcome(this.keepsTexts, named_id) }
    try {
      if (outside !== null) await this.#keepOutside(outside)
      await this.#history.append(record, { durable: this.#options.durable })
      this.#history.settle(edit_id, 'done')
      this.#recorded = named_id
    } catch (error) {
      this.#failed = true
      throw new HistoryUnwritable(error)
    }
  }

  /** Call it after the file got its content. `pieces`: that content; null: the file is removed. */
  done(pieces: readonly Buffer[] | null, digest: string | null): void {
    if (this.#recorded === undefined) return
    const isCopied = pieces !== null && digest !== null && this.#keepCopy(this.#recorded, pieces, digest)
    // The copy proves to other servers that the change happened, whatever another program does to the file meanwhile.
    this.#history.settle(this.#recorded, 'done', !isCopied)
  }

  /** Call it if the file did not get its content. */
  notDone(): void {
    if (this.#recorded !== undefined) this.#history.settle(this.#recorded, 'void')
    this.#recorded = undefined
  }

  /** The id of the change. Call it after `#outsideChange`, as the record of that comes first. */
  #nextId(): string {
    this.#id ??= this.#history.nextId()
    return this.#id
  }

  /** Reads what earlier holders of the lock wrote: new ids must be later than theirs. */
  #look(): Promise<void> {
    this.#looked ??= this.#history.refresh(this.#file.lock?.alone_since)
    return this.#looked
  }

  /** The change that another program made since the last recorded one; null: none. */
  #outsideChange(): Promise<EditRecord | null> {
    this.#outside ??= this.#findOutsideChange()
    return this.#outside
  }

  async #findOutsideChange(): Promise<EditRecord | null> {
    const { path, digest, landed, last: made } = this.#file
    if (made !== undefined && this.#looked === undefined) {
      this.#history.landed(made)
      return null
    }
    await this.#look()
    if (landed !== undefined) return this.#findAmongOthers(landed)
    for (;;) {
      const found = this.#history.lastOf(path)
      const last = found instanceof Promise ? await found : found
      if (last === null || last.hash_after === digest) {
        if (last?.settled === null) this.#history.settle(last.edit_id, 'done')
        return null
      }
      // Otherwise that record doesn't count, and the loop looks at the one before it.
      if (last.settled !== null || counts(last, await this.#settleLast(last))) return this.#recordOfOthers(last)
    }
  }

  /**
   * Finds the change by others in a bucket. Open records may be of changes under way: only those that the object's
   * metadata names count.
   */
  async #findAmongOthers(landed: readonly string[]): Promise<EditRecord | null> {
    const { path, digest } = this.#file
    const latest = await this.#history.lastOf(path)
    if (latest === null || (latest.settled !== null && latest.hash_after === digest)) return null
    for await (const { facts, settled } of this.#history.newestOf(path)) {
      const known = settled ?? (landed.includes(facts.edit_id) || isNote(facts) ? 'done' : null)
      if (settled === null && known !== null) this.#history.settle(facts.edit_id, known)
      if (known === null || !counts(facts, known)) continue
      if (facts.hash_after === digest) return null
      // Usually this record's change happened after the object was read.
      await this.#throwIfChanged()
      return this.#recordOfOthers(facts)
    }
    return null
  }

  async #throwIfChanged(): Promise<void> {
    if ((await this.#file.unchanged?.()) === false) throw new Overtaken('it was changed since it was read')
  }

  /**
   * Records the change by others; it counts as done whatever happens to our change. Keeps a copy, as the next change is
   * compared with it.
   */
  async #keepOutside(outside: EditRecord): Promise<void> {
    await this.#history.append(outside, { durable: this.#options.durable })
    this.#history.settle(outside.edit_id, 'done')
    const { hash_after } = outside
    if (hash_after !== null) this.#keepCopy(outside.edit_id, [this.#file.bytes()], hash_after)
  }

  /** False: the copy isn't kept. */
  #keepCopy(edit_id: string, pieces: readonly Buffer[], hash: string): boolean {
    const { path, lock } = this.#file
    return this.#history.keepCopy(path, { edit_id, pieces, hash }, lock !== null && lock.alone_since !== null)
  }

  async #settleLast({ edit_id }: Latest): Promise<Settlement> {
    const { path, digest } = this.#file
    const { records } = await this.#history.ofPath(path)
    const known = records.find(({ record }) => record.edit_id === edit_id)
    const isDone = await isCopied(this.#history, { edit_id, path })
    const settlement = isDone ? 'done' : known === undefined ? 'uncertain' : settlementOf(known.record, digest)
    this.#history.settle(edit_id, settlement)
    return settlement
  }

  /** Without a lock, an open record may be of a change under way, so nothing is settled or recorded. */
  async #pastWithoutLock(): Promise<FileHistory> {
    const { path, digest } = this.#file
    const { stored } = await readChain(this.#history, path, digest)
    const judged = judge(stored, digest)
    const last = judged.findLast(({ record, settled }) => counts(record, settled))?.record
    const isEnd = last === undefined || last.hash_after === digest
    // If the last record is of a change made after we read, what we read isn't another program's change.
    if (!isEnd) await this.#throwIfChanged()
    const outside = isEnd ? null : await this.#recordOfOthers(last)
    return historyOf(chainOf([...judged, ...takenPlace(outside)], digest), outside)
  }

  async #recordOfOthers(last: Pick<Latest, 'hash_after' | 'size_after'>): Promise<EditRecord> {
    const { digest, bytes } = this.#file
    const before = last.hash_after === null ? NOTHING : await this.#copyWith(last.hash_after)
    const after = digest === null ? NOTHING : bytes()
    const text = { before: before ?? NOTHING, ...(before === null ? { splices: null } : compared(before, after)) }
    const record = this.#make(this.#history.nextId(), OUTSIDE, text, digest, after.length)
    record.hash_before = last.hash_after
    record.size_before = before?.length ?? last.size_after
    return record
  }

  /**
   * Makes a record of a change of this file as it is, with the present time and no key. It runs for each edit, and
   * assigning members one by one takes a tenth of the time of spreading.
   */
  #make(
    edit_id: string,
    maker: Maker,
    { before, splices, lines = [], places: known, encodings }: ChangedText,
    hash_after: string | null,
    size_after: number
  ): EditRecord {
    const { path, digest } = this.#file
    const { places, lines_added, lines_removed } = textsOf(before, splices, lines, known)
    const record: EditRecord = {
      edit_id,
      operation: maker.operation,
      at: Date.now(),
      path,
      hash_before: digest,
      hash_after,
      size_before: before.length,
      size_after,
      lines_added,
      lines_removed,
      splices,
      places
    }
    if (encodings !== undefined) record.encodings = encodings
    copyAuthor(maker, record)
    if (maker.batch_id !== undefined) record.batch_id = maker.batch_id
    return record
  }

  async #copyWith(hash: string): Promise<Buffer | null> {
    const copy = await this.#history.copyOf(this.#file.path)
    return copy !== null && copy.hash === hash ? copy.bytes : null
  }
}

/**
 * A server that stalled for so long that another took the key over must not carry out the request again. If the key is
 * lost after this check, its next holder finds the record, and takes over the file's lock to settle it.
 */
function throwIfLost(key: Key | undefined): void {
  if (key?.held() === false) throw new Raced("the idempotency key is another request's by now")
}

/** `outside`: a change that isn't recorded yet. */
const historyOf = ({ records, changes }: Chain, outside: EditRecord | null): FileHistory => ({
  records,
  changes:
    outside === null
      ? changes
      : changes.map(change => (change.edit_id === outside.edit_id ? { ...change, unrecorded: true as const } : change))
})

const takenPlace = (record: EditRecord | null): { record: EditRecord; settled: 'done' }[] =>
  record === null ? [] : [{ record, settled: 'done' }]

const linesOf = ({ splices = [], splice_lines = [] }: ComingChange['planned']): KnownLine[] =>
  splice_lines.map((line, i) => ({ offset: splices[i]!.start, line }))

const named = ({ digest, fingerprint }: Key) => ({ digest, fingerprint })

/** Converts a plan for its record. It runs for each edit, so it assigns members one by one. */
function changeOf(
  before: Buffer,
  { splices, places, encodings, pieces }: ComingChange['planned']
): Pick<ChangedText, 'places' | 'encodings'> & { splices: readonly RecordedSplice[] } {
  const change: ReturnType<typeof changeOf> =
    splices === undefined ? compared(before, Buffer.concat(pieces)) : { splices }
  if (splices !== undefined && places !== undefined) change.places = places
  if (encodings !== undefined) change.encodings = encodings
  return change
}

/** Line counts of a planned change of this text that has no record. */
export function lineCounts(before: Buffer, planned: ComingChange['planned']): LineCounts {
  const { splices, places } = changeOf(before, planned)
  const { lines_added, lines_removed } = textsOf(before, splices, linesOf(planned), places)
  return { lines_added, lines_removed }
}

function textsOf(
  before: Buffer,
  splices: readonly RecordedSplice[] | null,
  lines: readonly KnownLine[],
  known: readonly SplicePlace[] | undefined
): Pick<EditRecord, 'splices' | 'places'> & LineCounts {
  const places = splices === null ? null : (known ?? placesOf(before, splices, lines))
  return { splices, places, ...lineCountsOf(places ?? []) }
}
