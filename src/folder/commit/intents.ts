// Records the temp files that a server has made or is about to make, before they exist, so that others can remove them.
// The record also tells others that the server exists. Does not know what is in the temp files.
import {
  closeSync,
  constants,
  existsSync,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, quietly } from '../../workspace/errno.ts'
import { HEARTBEAT, lifeOf, parseOwner, type Observer, type Owner } from '../locks/owner.ts'
import { split } from '../../workspace/path.ts'
import type { Root } from '../root/pin.ts'
import { TEMP_NAME } from '../../workspace/temp-name.ts'

/**
 * In bytes. Slot 0 holds the owner, each other slot the path of a temp file below the root: 4 bytes of length,
 * little-endian, and the bytes.
 */
const SLOT = 5120
const LENGTH = 4

/** One server's record. Slots are reused, so it doesn't grow with the number of edits. Must be closed. */
export class Intents {
  readonly #path: string
  readonly #me: Owner
  readonly #timer: NodeJS.Timeout
  readonly #free: number[] = []
  #fd: number
  #slots = 1
  #kept = false
  /** Incremented each time the record is made again. */
  generation = 0

  /** `beat`: ms between touches of the file; servers that can't see the process know by them that it lives. */
  constructor(folder: string, me: Owner, beat = HEARTBEAT) {
    this.#path = fileOf(folder, me.nonce)
    this.#me = me
    this.#fd = this.#make()
    this.#timer = setInterval(() => this.#beat(), beat).unref()
  }

  #make(): number {
    const fd = openSync(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      write(fd, 0, Buffer.from(JSON.stringify(this.#me)))
    } catch (error) {
      // Otherwise the record would exist, but later entries would not be in it.
      closeSync(fd)
      quietly(() => unlinkSync(this.#path))
      throw error
    }
    return fd
  }

  /** Whether the record exists: no server has taken this one for gone. Synchronous. */
  exists(): boolean {
    return existsSync(this.#path)
  }

  /** Makes the record again, after others have removed it. */
  renew(): void {
    const fd = this.#make()
    closeSync(this.#fd)
    this.#fd = fd
    this.generation++
  }

  /**
   * Call it before the temp file is made. `relative` is its path below the root, at most 4,352 bytes. Returns the slot
   * for `done`.
   */
  begin(relative: Buffer): number {
    const slot = this.#free.pop() ?? this.#slots++
    try {
      write(this.#fd, slot, relative)
    } catch (error) {
      this.#free.push(slot)
      throw error
    }
    return slot
  }

  /** How many temp files exist, or are about to. */
  get count(): number {
    return this.#slots - 1 - this.#free.length
  }

  /** Call it after the temp file is gone, or renamed. Its entry stays until the slot is reused, which is harmless. */
  done(slot: number): void {
    this.#free.push(slot)
  }

  /**
   * Call it instead of `done` if the temp file could not be removed: the entry stays for other servers' sweeps after
   * this process has ended.
   */
  leave(): void {
    this.#kept = true
  }

  #beat(): void {
    const now = new Date()
    quietly(() => futimesSync(this.#fd, now, now))
  }

  close(): void {
    clearInterval(this.#timer)
    closeSync(this.#fd)
    if (!this.#kept) quietly(() => unlinkSync(this.#path))
  }
}

function write(fd: number, slot: number, bytes: Buffer): void {
  const whole = Buffer.alloc(LENGTH + bytes.length)
  whole.writeUInt32LE(bytes.length)
  bytes.copy(whole, LENGTH)
  if (writeSync(fd, whole, 0, whole.length, slot * SLOT) !== whole.length) {
    throw Object.assign(new Error('could not record the temp file'), { code: 'ENOSPC' })
  }
}

const ENDING = '.intents'
/**
 * Ending of a record that was taken from its server, before its temp files are removed: it no longer counts as there.
 */
const LEFT = '.left'
const leftOf = (folder: string, nonce: string): string => join(folder, nonce + LEFT)
const fileOf = (folder: string, nonce: string): string => join(folder, nonce + ENDING)

/** How long the owner with this nonce has been silent, in ms; Infinity if it is gone and nothing of it is left. */
export function silenceOf(folder: string, nonce: string): number {
  const stat = statSync(fileOf(folder, nonce), { throwIfNoEntry: false })
  return stat === undefined ? Infinity : Date.now() - stat.mtimeMs
}

/**
 * The nonces of all other servers that may still change something: they have a record and aren't dead, or their temp
 * files are still to be removed.
 */
export async function livingIn(folder: string, observer: Observer): Promise<string[]> {
  const { me } = observer
  const living = namesIn(folder, LEFT)
  for (const { nonce, owner, silence } of othersIn(folder, me)) {
    // Without an owner, its server is just making it, or was killed while doing so: the sweep will find out.
    if (owner === null || (await lifeOf(owner, silence, observer)) !== 'dead') living.push(nonce)
  }
  return living
}

/** Whether the server with this nonce may still change something. */
export async function mayLive(folder: string, nonce: string, observer: Observer): Promise<boolean> {
  const owner = ownerIn(readIfThere(fileOf(folder, nonce)))
  return owner !== null && (await lifeOf(owner, silenceOf(folder, nonce), observer)) !== 'dead'
}

/** The names with this ending, without it. */
const namesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder).flatMap(name => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []))

/** The records of all other servers. `owner` is null if it can't be read; `silence` is what `silenceOf` returns. */
function* othersIn(folder: string, me: Owner): Generator<{ nonce: string; owner: Owner | null; silence: number }> {
  for (const nonce of namesIn(folder, ENDING)) {
    if (nonce === me.nonce) continue
    const owner = ownerIn(readIfThere(fileOf(folder, nonce)))
    yield { nonce, owner, silence: silenceOf(folder, nonce) }
  }
}

/** The process ids that all servers have recorded, including this one, each in its own pid namespace. */
export const processesIn = (folder: string, me: Owner): number[] => [
  me.pid,
  ...[...othersIn(folder, me)].flatMap(({ owner }) => (owner === null ? [] : [owner.pid]))
]

/** Whether another server, dead or not, has a record saying that it takes no lock files. */
export const isAnyLocalIn = (folder: string, me: Owner): boolean =>
  [...othersIn(folder, me)].some(({ owner }) => owner?.local === true)

/** The paths below the root of the temp files that a server has recorded. */
export function tempPathsOf(folder: string, nonce: string): Buffer[] {
  return [fileOf(folder, nonce), leftOf(folder, nonce)].flatMap(path => pathsIn(readIfThere(path)))
}

interface SweepOptions {
  /** Whether the temp file at this path below the root must stay. */
  isKept(path: Buffer): boolean
  report: (event: { event: string; [key: string]: unknown }) => void
}

/**
 * Removes the temp files of owners who are dead or silent, and then their records. Removes only regular files inside
 * the root with a temp file's name. A server that was only suspended finds its record gone (`exists`), and writes
 * nothing.
 */
export async function sweepIntents(
  folder: string,
  observer: Observer,
  root: Root,
  { report, isKept }: SweepOptions
): Promise<void> {
  const { me } = observer
  for (const { nonce, owner, silence } of othersIn(folder, me)) {
    // Without an owner, its process was killed while it made the file.
    if ((await lifeOf(owner ?? { ...me, boot_id: '', hostname: '' }, silence, observer)) === 'alive') continue
    // Rename first: an owner that is only suspended must not record another temp file unseen, and then still find its
    // record.
    const left = leftOf(folder, nonce)
    if (!existsSync(left)) quietly(() => renameSync(fileOf(folder, nonce), left))
  }
  for (const nonce of namesIn(folder, LEFT)) {
    const path = leftOf(folder, nonce)
    const all = pathsIn(readIfThere(path)).map(temp => !isKept(temp) && removeTemp(root, temp, report))
    if (all.every(Boolean)) quietly(() => unlinkSync(path))
  }
}

/** Empty if it is gone: another server's sweep was faster, or its own server has closed it. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

const ownerIn = (bytes: Buffer): Owner | null => parseOwner(slot(bytes, 0).toString())

function pathsIn(bytes: Buffer): Buffer[] {
  const paths: Buffer[] = []
  for (let i = 1; i * SLOT < bytes.length; i++) {
    const path = slot(bytes, i)
    if (path.length > 0) paths.push(path)
  }
  return paths
}

function slot(bytes: Buffer, index: number): Buffer {
  const start = index * SLOT
  const length = bytes.length >= start + LENGTH ? bytes.readUInt32LE(start) : 0
  return bytes.subarray(start + LENGTH, start + LENGTH + Math.min(length, SLOT - LENGTH))
}

/** False: it exists and could not be removed. */
function removeTemp(
  root: Root,
  path: Buffer,
  report: (event: { event: string; [key: string]: unknown }) => void
): boolean {
  const { folder, leaf } = split(path)
  if (!TEMP_NAME.test(leaf.toString('latin1'))) return true
  try {
    const parent = root.openFolder(folder)
    try {
      if (!lstatSync(parent.at(leaf)).isFile()) return true
      unlinkSync(parent.at(leaf))
      report({ event: 'temp_file_removed', path: path.toString() })
    } finally {
      parent.close()
    }
    return true
  } catch (error) {
    return ['ENOENT', 'ENOTDIR', 'ELOOP', 'RACED'].includes(codeOf(error))
  }
}
