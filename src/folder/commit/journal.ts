// Keeps the old bytes of files that are being written in place, in the state folder, until that is done. Does not know
// how the files are written.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { codeOf, quietly } from '../../workspace/errno.ts'
import { BATCH } from './batch-record.ts'
import { silenceOf } from './intents.ts'
import { HEARTBEAT, isOwner, lifeOf, SILENCE, type Observer, type Owner } from '../locks/owner.ts'
import { same, type FileId, type Pin } from '../root/pin.ts'
import type { State } from '../state.ts'
import { readText, type Snapshot } from '../snapshot.ts'
import { replaceStateFile, writeStateFile } from './state-file.ts'

/** How many periods of being alone are remembered: a bound on memory. Chosen, not measured. */
const REMEMBERED = 1000

export type Report = (event: { event: string; [key: string]: unknown }) => void

/** A file by its path below the root, and its identity if it exists: the file written to may have other names. */
export interface JournalledFile {
  path: Buffer
  object: FileId | undefined
}

/** A file's old bytes while it is written. */
export interface Saved {
  drop(): void
  /** Leaves a half-written file to the recovery: the record now counts as one of a dead owner. */
  leave(): void
}

/** A record left by a dead owner, or by this process if it could not take back its write. */
export interface JournalRecord {
  /** Path below the root, in bytes. */
  relative: Buffer
  dev: bigint
  ino: bigint
  /** Birth time, to tell the file from a later one with the same inode; 0: the file system doesn't know. */
  born: bigint
  /** SHA-256 (64 hex digits) of the bytes before and after. */
  old: string
  new: string
  /** In ms since 1970: later writes to the file are not the owner's. */
  until: number
  /** Id of the batch that the write is part of. */
  batch?: string
  /** Whether nobody has dealt with it meanwhile. Call it under the file's lock. */
  exists(): boolean
  /** Null: the copy is gone. */
  bytes(): Buffer | null
  /**
   * Saves the file's present content, unless that was done before; returns its name in the journal. Only the operator
   * removes it, unless it is dropped.
   */
  keep(present: Buffer): Promise<{ name: string; drop(): void }>
  drop(): void
  /** Puts the record aside for the operator; returns its new name in the journal, where its bytes are too. */
  putAside(): string
}

export class Journal {
  readonly #state: State
  readonly #observer: Observer
  readonly #durable: boolean
  /** The writes of this process that are running. */
  readonly #running = new Set<string>()
  /** Values of `Lock.alone_since`: in these periods the journal was seen empty, and only this server adds to it. */
  readonly #emptySince = new Set<string>()
  constructor(state: State, observer: Observer, durability: 'full' | 'fast') {
    this.#state = state
    this.#observer = observer
    this.#durable = durability === 'full'
  }

  /**
   * Saves the file's content before it is written to, alone or as part of a batch. The record counts once its second
   * file is complete, and that one is written last.
   */
  async save(pin: Pin, snapshot: Snapshot, digest: string, batch?: string): Promise<Saved> {
    const base = join(this.#state.journal, randomBytes(12).toString('hex'))
    const record = {
      path: pin.relative.toString('base64'),
      dev: String(pin.stat.dev),
      ino: String(pin.stat.ino),
      // Equal to the change time if the file system keeps no birth time.
      born: String(pin.stat.birthtimeNs === pin.stat.ctimeNs ? 0n : pin.stat.birthtimeNs),
      old: snapshot.digest,
      new: digest,
      owner: this.#observer.me,
      ...(batch !== undefined && { batch })
    }
    this.#running.add(base)
    const done = (): void => {
      drop(base)
      this.#running.delete(base)
      this.lookAgain()
    }
    try {
      await writeStateFile(base + '.old', snapshot.bytes, this.#durable)
      await this.#replace(base + '.json', Buffer.from(JSON.stringify(record)))
    } catch (error) {
      quietly(() => unlinkSync(base + '.json.old'))
      done()
      throw error
    }
    const leave = (): void => {
      const now = new Date()
      quietly(() => utimesSync(base + '.json', now, now))
      this.#running.delete(base)
      this.lookAgain()
    }
    return { drop: done, leave }
  }

  /** Replaces a file in one rename; if that fails, an orphan is left. */
  #replace(path: string, bytes: Buffer): Promise<void> {
    return replaceStateFile(path, path + '.old', bytes, this.#durable)
  }

  /**
   * The records of dead owners, or of one file only, and whether there are records of others, who may be writing now or
   * later. Removes copies whose record was never written, and puts records aside that can't be read.
   */
  async records(report: Report, only?: JournalledFile): Promise<{ ofTheDead: JournalRecord[]; others: boolean }> {
    const ofTheDead = []
    let others = false
    for (const name of readdirSync(this.#state.journal)) {
      if (name.endsWith('.old')) this.#removeOrphan(join(this.#state.journal, name))
      if (!name.endsWith('.json')) continue
      const record = await this.#read(join(this.#state.journal, name.slice(0, -'.json'.length)), report, only)
      if (record === 'others') others = true
      else if (record !== null) ofTheDead.push(record)
    }
    return { ofTheDead, others }
  }

  /** Copies a file as `<id>.kept`, which only the operator removes; returns that name. */
  async keepCopy(path: Buffer, id: string): Promise<string> {
    const name = `${id}.kept`
    await this.#replace(join(this.#state.journal, name), readFileSync(path))
    return name
  }

  /**
   * Whether there may be a record of a file that is locked now. While nobody else edits it (`Lock.alone_since`) only
   * this server writes records of it, under its lock: a journal that was empty need not be listed again until one of
   * this server's records has ended.
   */
  mayHold(alone_since: string | null): boolean {
    if (alone_since !== null && this.#emptySince.has(alone_since)) return false
    const holds = readdirSync(this.#state.journal).length > 0
    if (this.#emptySince.size === REMEMBERED) this.#emptySince.clear()
    if (!holds && alone_since !== null) this.#emptySince.add(alone_since)
    return holds
  }

  /** Forgets what was seen: a record of this server was dropped, or left to the next holder of its file's lock. */
  lookAgain(): void {
    this.#emptySince.clear()
  }

  /** Whether all records are dealt with. */
  isEmpty(): boolean {
    return !readdirSync(this.#state.journal).some(name => name.endsWith('.json') || name.endsWith(BATCH))
  }

  #removeOrphan(path: string): void {
    // Its record is still to come, however long the disk takes.
    if (this.#running.has(path.replace(/(\.json)?\.old$/, ''))) return
    quietly(() => {
      if (!existsSync(path.replace(/\.old$/, '.json')) && Date.now() - statSync(path).mtimeMs > SILENCE) {
        unlinkSync(path)
      }
    })
  }

  async #read(base: string, report: Report, only?: JournalledFile): Promise<JournalRecord | 'others' | null> {
    let text, written
    try {
      text = readText(base + '.json')
      written = statSync(base + '.json').mtimeMs
    } catch (error) {
      // Its owner has finished.
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
    const value = parse(text)
    if (value === null) {
      report({ event: 'journal_unrecovered', outcome: 'record_damaged', kept: putAside(base) })
      return null
    }
    const relative = Buffer.from(value.path, 'base64')
    const [dev, ino] = [BigInt(value.dev), BigInt(value.ino)]
    const isOfObject = only?.object !== undefined && same(only.object, { dev, ino })
    if (only !== undefined && !relative.equals(only.path) && !isOfObject) return null
    const mine = value.owner.nonce === this.#observer.me.nonce
    const silence = silenceOf(this.#state.intents, value.owner.nonce)
    // Silence isn't enough: no fence stops a process that was only suspended from continuing to write.
    if (mine ? this.#running.has(base) : (await lifeOf(value.owner, silence, this.#observer)) !== 'dead') {
      return 'others'
    }
    return {
      relative,
      dev,
      ino,
      born: BigInt(value.born),
      old: value.old,
      new: value.new,
      until: Math.max(written, mine ? 0 : Date.now() - silence) + HEARTBEAT,
      ...(typeof value.batch === 'string' && { batch: value.batch }),
      exists: () => existsSync(base + '.json'),
      bytes: () => (existsSync(base + '.old') ? readFileSync(base + '.old') : null),
      keep: async present => {
        if (!existsSync(base + '.kept')) await this.#replace(base + '.kept', present)
        return { name: basename(base) + '.kept', drop: () => quietly(() => unlinkSync(base + '.kept')) }
      },
      drop: () => drop(base),
      putAside: () => putAside(base)
    }
  }
}

interface StoredRecord {
  path: string
  dev: string
  ino: string
  born: string
  old: string
  new: string
  owner: Owner
  batch?: unknown
}

function isRecord(value: unknown): value is StoredRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    'owner' in value &&
    isOwner(value.owner) &&
    ['path', 'dev', 'ino', 'born', 'old', 'new'].every(
      key => typeof Object.entries(value).find(([name]) => name === key)?.[1] === 'string'
    )
  )
}

/** Null: it isn't a record. */
function parse(text: string): StoredRecord | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && [value.dev, value.ino, value.born].every(number => /^-?\d+$/.test(number)) ? value : null
  } catch {
    return null
  }
}

function putAside(base: string): string {
  quietly(() => renameSync(base + '.old', base + '.aside.bytes'))
  quietly(() => renameSync(base + '.json', base + '.aside'))
  return basename(base) + '.aside'
}

/** Removes the record first: without it the copy is meaningless. */
function drop(base: string): void {
  quietly(() => unlinkSync(base + '.json'))
  quietly(() => unlinkSync(base + '.old'))
}
