// Records in the journal what a batch is about to do, from before its first rename until it is finished. Does not know
// how a batch is carried out or recovered; docs/decisions/batch.md has the order.
import { randomBytes } from 'node:crypto'
import { readdirSync, renameSync, unlinkSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { codeOf, quietly } from '../../workspace/errno.ts'
import { isOwner, lifeOf, type Observer, type Owner } from '../locks/owner.ts'
import { join as joinPath, split } from '../../workspace/path.ts'
import type { State } from '../state.ts'
import { readText } from '../snapshot.ts'
import { silenceOf } from './intents.ts'
import { replaceStateFile, syncStateFolder } from './state-file.ts'

/** Identifies a file, even against a later one with the same inode. */
interface FileIdentity {
  dev: bigint
  ino: bigint
  /** Birth time in ns; 0: the file system doesn't know. */
  born: bigint
}

/** A name that gets new content, or is removed. */
export interface BatchMember {
  /** Real path below the root. */
  path: Buffer
  /** The old file, with its SHA-256 (64 hex digits); null: there was none. */
  old: (FileIdentity & { digest: string }) | null
  /** Digest of the new content; null: the file is removed. */
  digest: string | null
  /** The temp file; its name is beside the file. Null: the file is written in place, or removed. */
  temp: (FileIdentity & { name: string }) | null
  /** The name of the old link, also beside the file; null: a new file, or one written in place, has none. */
  link: string | null
}

/** What the recovery does with the batch, once that is decided. */
export type BatchDecision = 'void' | 'forward' | 'back'

/** Folders are below the root, each before those inside it. */
interface BatchContent {
  members: readonly BatchMember[]
  /** Folders that were made for the members. */
  folders: readonly Buffer[]
  /** Folders that are removed after it if they are empty. */
  emptied: readonly Buffer[]
}

/** The record of a batch that this process carries out. */
export interface RunningBatch {
  readonly id: string
  /** Drops the record: the batch is finished, or nothing of it is left. */
  drop(): void
  /**
   * Leaves the batch, which could not be taken back, to the recovery: the record now counts as one of a dead owner.
   * True: it says that the batch must be taken back; otherwise the state of the files decides.
   */
  leave(): boolean
}

/** A batch whose owner is gone, or could not finish it. */
export interface LeftBatch extends BatchContent {
  readonly id: string
  readonly decision: BatchDecision | null
  /** The batch as it is now; null: another server has dealt with it meanwhile. Call it under the batch's lock. */
  now(): LeftBatch | null
  /** Records the decision, synced if the records are. */
  decide(decision: BatchDecision): Promise<LeftBatch>
  drop(): void
}

/** Ending of a batch record's name. */
export const BATCH = '.batch'

export class BatchRecords {
  readonly #folder: string
  readonly #intents: string
  readonly #observer: Observer
  readonly #durable: boolean
  /** Ids of the batches that this process carries out now. */
  readonly #running = new Set<string>()
  readonly #ended: () => void

  /** `ended`: called when a batch of this process is dropped, or left. */
  constructor(
    { journal, intents }: State,
    observer: Observer,
    durability: 'full' | 'fast',
    ended: () => void = () => {}
  ) {
    this.#ended = ended
    this.#folder = journal
    this.#intents = intents
    this.#observer = observer
    this.#durable = durability === 'full'
  }

  /** A new batch's id: 24 hex digits. */
  newId(): string {
    return randomBytes(12).toString('hex')
  }

  /** Throws the system's error; then there is no record. */
  async save(id: string, content: BatchContent): Promise<RunningBatch> {
    const path = join(this.#folder, id + BATCH)
    this.#running.add(id)
    const drop = (): void => {
      quietly(() => unlinkSync(path))
      this.#running.delete(id)
      this.#ended()
    }
    try {
      const json = JSON.stringify({ owner: this.#observer.me, ...toJson(content) })
      await replaceStateFile(path, path + '.old', Buffer.from(json), this.#durable)
    } catch (error) {
      quietly(() => unlinkSync(path + '.old'))
      drop()
      throw error
    }
    const leave = (): boolean => {
      let isDecided = false
      quietly(() => {
        renameSync(path, this.#pathOf(id, 'back'))
        isDecided = true
      })
      this.#running.delete(id)
      this.#ended()
      return isDecided
    }
    return { id, drop, leave }
  }

  /** Resolves when no power failure can bring back a record that was dropped. */
  async sync(): Promise<void> {
    if (this.#durable) await syncStateFolder(this.#folder)
  }

  /**
   * The batches that name the file at this real path below the root, or all batches: `left` may be recovered; `others`
   * says whether there are some that their owners may still carry out. A record that can't be read is reported, and
   * blocks nobody.
   */
  async left(
    report: (event: { event: string; [key: string]: unknown }) => void,
    only?: Buffer
  ): Promise<{ left: LeftBatch[]; others: boolean }> {
    const left: LeftBatch[] = []
    let others = false
    for (const name of this.#names()) {
      const read = this.#read(name)
      if (read === null) continue
      if (!('batch' in read)) {
        this.#putAside(read.damaged, report)
        continue
      }
      const { batch, owner } = read
      if (only !== undefined && batch.members.every(({ path }) => !path.equals(only))) continue
      if (await this.#mayRun(batch.id, owner)) others = true
      else left.push(batch)
    }
    return { left, others }
  }

  /** Whether a batch record names the temp file, or old link, at this path below the root. */
  names(path: Buffer): boolean {
    return this.#names().some(name => {
      const read = this.#read(name)
      const members = read !== null && 'batch' in read ? read.batch.members : []
      return members.some(({ path: file, temp, link }) =>
        [temp?.name, link].some(leaf => typeof leaf === 'string' && beside(file, leaf).equals(path))
      )
    })
  }

  /** Whether there is a record of the batch with this id. */
  has(id: string): boolean {
    return this.#names().some(name => idOf(name) === id)
  }

  #names(): string[] {
    return readdirSync(this.#folder).filter(name => name.endsWith(BATCH))
  }

  async #mayRun(id: string, owner: Owner): Promise<boolean> {
    if (owner.nonce === this.#observer.me.nonce) return this.#running.has(id)
    return (await lifeOf(owner, silenceOf(this.#intents, owner.nonce), this.#observer)) !== 'dead'
  }

  /** Null: it is gone. `damaged`: the name of a file that isn't a record. Throws the system's error. */
  #read(name: string): { batch: LeftBatch; owner: Owner } | { damaged: string } | null {
    const id = idOf(name)
    let text
    try {
      text = readText(join(this.#folder, name))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      // A recovery renames it, once, when it decides.
      const renamed = this.#names().find(other => other !== name && idOf(other) === id)
      return renamed === undefined ? null : this.#read(renamed)
    }
    const decision = name.slice(id.length + 1, -BATCH.length)
    const parsed = parse(text)
    if (parsed === null) return { damaged: name }
    return { batch: this.#batch(id, isDecision(decision) ? decision : null, parsed.content), owner: parsed.owner }
  }

  #pathOf(id: string, decision: BatchDecision | null): string {
    return join(this.#folder, decision === null ? id + BATCH : `${id}.${decision}${BATCH}`)
  }

  #batch(id: string, decision: BatchDecision | null, content: BatchContent): LeftBatch {
    return {
      ...content,
      id,
      decision,
      now: () => {
        const name = this.#names().find(other => idOf(other) === id)
        const read = name === undefined ? null : this.#read(name)
        return read !== null && 'batch' in read ? read.batch : null
      },
      decide: async made => {
        renameSync(this.#pathOf(id, decision), this.#pathOf(id, made))
        if (this.#durable) await syncStateFolder(this.#folder)
        return this.#batch(id, made, content)
      },
      drop: () => quietly(() => unlinkSync(this.#pathOf(id, decision)))
    }
  }

  #putAside(name: string, report: (event: { event: string; [key: string]: unknown }) => void): void {
    quietly(() => renameSync(join(this.#folder, name), join(this.#folder, `${name}.aside`)))
    report({ event: 'batch_unrecovered', outcome: 'record_damaged', kept: `${name}.aside` })
  }
}

/** The id of the batch whose record has this name. */
const idOf = (name: string): string => name.slice(0, name.indexOf('.'))

/** The path of an entry in the same folder as the file at `path`. */
export const beside = (path: Buffer, leaf: string): Buffer => joinPath(split(path).folder, leaf)

/** Identity of the file with these stats. If its birth time is the change time, the file system doesn't keep one. */
export const identityOf = ({ dev, ino, birthtimeNs, ctimeNs }: BigIntStats): FileIdentity => ({
  dev,
  ino,
  born: birthtimeNs === ctimeNs ? 0n : birthtimeNs
})

/** Whether the file with these stats has the identity. */
export const isFile = (stats: BigIntStats | undefined, { dev, ino, born }: FileIdentity): boolean =>
  stats !== undefined && stats.dev === dev && stats.ino === ino && (born === 0n || stats.birthtimeNs === born)

const DECISIONS: readonly unknown[] = ['void', 'forward', 'back'] satisfies BatchDecision[]
const isDecision = (text: unknown): text is BatchDecision => DECISIONS.includes(text)

const toJson = ({ members, folders, emptied }: BatchContent): object => ({
  members: members.map(({ path, old, digest, temp, link }) => ({
    path: path.toString('base64'),
    old: old && { ...identityJson(old), digest: old.digest },
    digest,
    temp: temp && { ...identityJson(temp), name: temp.name },
    link
  })),
  folders: folders.map(folder => folder.toString('base64')),
  emptied: emptied.map(folder => folder.toString('base64'))
})

const identityJson = ({ dev, ino, born }: FileIdentity) => ({ dev: String(dev), ino: String(ino), born: String(born) })

/** Null: it isn't a record. */
function parse(text: string): { owner: Owner; content: BatchContent } | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(value) || !isOwner(value.owner) || !Array.isArray(value.members)) return null
  const members = value.members.map(memberOf)
  const folders = foldersOf(value.folders)
  const emptied = foldersOf(value.emptied)
  if (!members.every(member => member !== null) || folders === null || emptied === null) return null
  return { owner: value.owner, content: { members, folders, emptied } }
}

const foldersOf = (value: unknown): Buffer[] | null =>
  Array.isArray(value) && value.every(isText) ? value.map(folder => Buffer.from(folder, 'base64')) : null

function memberOf(value: unknown): BatchMember | null {
  if (!isObject(value) || !isText(value.path)) return null
  const { digest, link } = value
  if (!isTextOrNull(digest) || !isTextOrNull(link)) return null
  const old = value.old === null ? null : withIdentity(value.old, ({ digest }) => (isText(digest) ? { digest } : null))
  const temp = value.temp === null ? null : withIdentity(value.temp, ({ name }) => (isText(name) ? { name } : null))
  if (old === undefined || temp === undefined) return null
  // A removed file existed, and the old link keeps it.
  if (digest === null && (old === null || link === null || temp !== null)) return null
  return { path: Buffer.from(value.path, 'base64'), old, digest, temp, link }
}

/** Undefined: something is missing. */
function withIdentity<T>(
  value: unknown,
  own: (value: Record<string, unknown>) => T | null
): (FileIdentity & T) | undefined {
  if (!isObject(value)) return undefined
  const numbers = [value.dev, value.ino, value.born].map(number =>
    isText(number) && /^-?\d+$/.test(number) ? BigInt(number) : null
  )
  const [dev = null, ino = null, born = null] = numbers
  const others = own(value)
  return dev === null || ino === null || born === null || others === null ? undefined : { dev, ino, born, ...others }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value)
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
