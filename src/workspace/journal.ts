// The old bytes of files that are being written in place, kept in the state folder until that is done. Knows nothing of how they are written.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsync, openSync, readdirSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { quietly } from './errno.ts'
import { silenceOf } from './intents.ts'
import { isDead, isOwner, SILENCE, type Owner } from './owner.ts'
import type { Pin } from './pin.ts'
import type { State } from './state.ts'
import { writeAll, type Snapshot } from './text-file.ts'

/** What a dead owner left. */
export interface JournalRecord {
  /** Path below the root, in bytes. */
  relative: Buffer
  dev: bigint
  ino: bigint
  /** Tells it from a later file with the same inode; 0: the file system doesn't know. */
  born: bigint
  /** SHA-256 (64 hex digits) of the bytes before and after. */
  old: string
  new: string
  /** Null: the copy is gone. */
  bytes (): Buffer | null
  drop (): void
}

const fsyncLater = promisify(fsync)

export class Journal {
  readonly #state: State
  readonly #me: Owner
  readonly #durable: boolean
  constructor (state: State, me: Owner, durability: 'full' | 'fast') {
    this.#state = state
    this.#me = me
    this.#durable = durability === 'full'
  }

  /** Saves what the file holds before it is written to. The record counts once its second file is whole, and that one is written last. */
  async save (pin: Pin, snapshot: Snapshot, digest: string): Promise<{ drop (): void }> {
    const base = join(this.#state.journal, randomBytes(12).toString('hex'))
    const record = {
      path: pin.relative.toString('base64'),
      dev: String(pin.stat.dev),
      ino: String(pin.stat.ino),
      // Where it isn't kept, the time of the last change stands in for it.
      born: String(pin.stat.birthtimeNs === pin.stat.ctimeNs ? 0n : pin.stat.birthtimeNs),
      old: snapshot.digest,
      new: digest,
      owner: this.#me
    }
    try {
      await this.#write(base + '.old', snapshot.bytes)
      await this.#write(base + '.json', Buffer.from(JSON.stringify(record)))
      if (this.#durable) await this.#syncFolder()
    } catch (error) {
      drop(base)
      throw error
    }
    return { drop: () => drop(base) }
  }

  async #write (path: string, bytes: Buffer): Promise<void> {
    const fd = openSync(path, 'wx', 0o600)
    try {
      await writeAll(fd, [bytes], bytes.length)
      if (this.#durable) await fsyncLater(fd)
    } finally { closeSync(fd) }
  }

  async #syncFolder (): Promise<void> {
    const fd = openSync(this.#state.journal, 'r')
    try { await fsyncLater(fd) } finally { closeSync(fd) }
  }

  /** The records of dead owners. Copies whose record was never written are removed. */
  ofTheDead (): JournalRecord[] {
    const found = []
    for (const name of readdirSync(this.#state.journal)) {
      if (!name.endsWith('.json')) {
        this.#removeOrphan(join(this.#state.journal, name))
        continue
      }
      const record = this.#read(join(this.#state.journal, name.slice(0, -'.json'.length)))
      if (record !== null) found.push(record)
    }
    return found
  }

  #removeOrphan (path: string): void {
    quietly(() => {
      if (!existsSync(path.replace(/\.old$/, '.json')) && Date.now() - statSync(path).mtimeMs > SILENCE) unlinkSync(path)
    })
  }

  #read (base: string): JournalRecord | null {
    try {
      const value: unknown = JSON.parse(readFileSync(base + '.json', 'utf8'))
      if (!isRecord(value) || !isDead(value.owner, silenceOf(this.#state.intents, value.owner.nonce), this.#me)) return null
      return {
        relative: Buffer.from(value.path, 'base64'),
        dev: BigInt(value.dev),
        ino: BigInt(value.ino),
        born: BigInt(value.born),
        old: value.old,
        new: value.new,
        bytes: () => existsSync(base + '.old') ? readFileSync(base + '.old') : null,
        drop: () => drop(base)
      }
    } catch { return null }
  }
}

interface StoredRecord { path: string, dev: string, ino: string, born: string, old: string, new: string, owner: Owner }

function isRecord (value: unknown): value is StoredRecord {
  return typeof value === 'object' && value !== null && 'owner' in value && isOwner(value.owner) &&
    ['path', 'dev', 'ino', 'born', 'old', 'new'].every(key => typeof Object.entries(value).find(([name]) => name === key)?.[1] === 'string')
}

/** The record first: without it the copy means nothing. */
function drop (base: string): void {
  quietly(() => unlinkSync(base + '.json'))
  quietly(() => unlinkSync(base + '.old'))
}
