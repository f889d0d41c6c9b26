// Temp files that a process has made or is about to make, recorded before they exist so that a later start can remove
// them. Does not know what is in them.
import {
  closeSync,
  constants,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, quietly } from '../errno.ts'
import { HEARTBEAT, lifeOf, parseOwner, type Observer, type Owner } from '../locks/owner.ts'
import { split } from '../root/path.ts'
import type { Root } from '../root/pin.ts'
import { TEMP_NAME } from '../root/policy.ts'

/**
 * Slot 0 holds the owner, every other one the path of a temp file below the root: 4 bytes of length, little-endian, and
 * the bytes.
 */
const SLOT = 5120
const LENGTH = 4

/** One process's file. Its slots are used again, so it doesn't grow with the number of edits. To be closed. */
export class Intents {
  readonly #path: string
  readonly #fd: number
  readonly #timer: NodeJS.Timeout
  readonly #free: number[] = []
  #slots = 1
  #kept = false

  /** `beat`: ms between two touches of the file, by which those who can't see the process know that it lives. */
  constructor(folder: string, me: Owner, beat = HEARTBEAT) {
    this.#path = fileOf(folder, me.nonce)
    this.#fd = openSync(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    this.#write(0, Buffer.from(JSON.stringify(me)))
    this.#timer = setInterval(() => this.#beat(), beat).unref()
  }

  /**
   * Before the temp file is made. `relative` is its path below the root, at most 4,352 bytes. Returns the slot for
   * `done`.
   */
  begin(relative: Buffer): number {
    const slot = this.#free.pop() ?? this.#slots++
    try {
      this.#write(slot, relative)
    } catch (error) {
      this.#free.push(slot)
      throw error
    }
    return slot
  }

  /** After it is gone, or renamed. Doesn't throw: what stays written is looked for in vain. */
  done(slot: number): void {
    quietly(() => this.#write(slot, Buffer.alloc(0)))
    this.#free.push(slot)
  }

  /**
   * Instead of `done`, where the temp file could not be removed: what is written stays, for those who sweep when this
   * process has ended.
   */
  leave(): void {
    this.#kept = true
  }

  #write(slot: number, bytes: Buffer): void {
    const whole = Buffer.alloc(LENGTH + bytes.length)
    whole.writeUInt32LE(bytes.length)
    bytes.copy(whole, LENGTH)
    if (writeSync(this.#fd, whole, 0, whole.length, slot * SLOT) !== whole.length) {
      throw Object.assign(new Error('could not record the temp file'), { code: 'ENOSPC' })
    }
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

const ENDING = '.intents'
const fileOf = (folder: string, nonce: string): string => join(folder, nonce + ENDING)

/**
 * For how long, in ms, the owner with this nonce has been silent; Infinity if it has gone and nothing of it is left.
 */
export function silenceOf(folder: string, nonce: string): number {
  const stat = statSync(fileOf(folder, nonce), { throwIfNoEntry: false })
  return stat === undefined ? Infinity : Date.now() - stat.mtimeMs
}

/**
 * Removes the temp files of owners who are dead or silent, and then what they wrote down. Only what is named like a
 * temp file, is a regular file and lies inside the root. Who was only suspended finds its temp file gone, and writes
 * nothing.
 */
export async function sweepIntents(
  folder: string,
  observer: Observer,
  root: Root,
  report: (event: { event: string; [key: string]: unknown }) => void
): Promise<void> {
  const { me } = observer
  for (const name of readdirSync(folder)) {
    const nonce = name.slice(0, -ENDING.length)
    if (!name.endsWith(ENDING) || nonce === me.nonce) continue
    let bytes
    try {
      bytes = readFileSync(join(folder, name))
    } catch (error) {
      // Another process sweeps too, and was faster.
      if (codeOf(error) === 'ENOENT') continue
      throw error
    }
    const owner = parseOwner(slot(bytes, 0).toString())
    const age = silenceOf(folder, nonce)
    // Without an owner: its process was killed while it made the file.
    if ((await lifeOf(owner ?? { ...me, boot_id: '', hostname: '' }, age, observer)) === 'alive') continue
    let all = true
    for (let i = 1; i * SLOT < bytes.length; i++) {
      const path = slot(bytes, i)
      if (path.length > 0) all = removeTemp(root, path, report) && all
    }
    if (all) quietly(() => unlinkSync(join(folder, name)))
  }
}

function slot(bytes: Buffer, index: number): Buffer {
  const start = index * SLOT
  const length = bytes.length >= start + LENGTH ? bytes.readUInt32LE(start) : 0
  return bytes.subarray(start + LENGTH, start + LENGTH + Math.min(length, SLOT - LENGTH))
}

/** False: it is there and could not be removed. */
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
