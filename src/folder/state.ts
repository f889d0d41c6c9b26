// The state folder of one root: its secret, and folders for locks, intents, journal and sockets. Does not know what is
// in those.
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, failureOf, quietly } from '../workspace/errno.ts'
import { ensureDir } from './commit/ensure-dir.ts'
import type { NotReady } from '../workspace/failure.ts'

export interface State {
  /** Real path of the folder. */
  readonly path: Buffer
  /** Device and inode of the folder. */
  readonly id: string
  /** 32 bytes that all servers on this root share and nobody else knows. */
  readonly secret: Buffer
  readonly locks: string
  /** Locks that were taken over from holders who never released them. */
  readonly unreleased: string
  readonly intents: string
  readonly journal: string
  /** What was changed (src/log); made when it is needed. */
  readonly history: string
  /** A socket for each server that runs. */
  readonly live: string
  /** Whether every process sees at once what another changes in the folder. */
  readonly isLocal: boolean
}

const SECRET = 'secret'
const SECRET_LENGTH = 32
/** This file is written and removed to see whether there is space. In bytes: as much as the record of one temp file. */
const PROBE = 'probe'
const PROBE_SIZE = 5120
/**
 * Types of file systems (linux/magic.h) that keep their whole state in one kernel's memory: ext, XFS, Btrfs, tmpfs,
 * overlayfs, F2FS, ZFS. Others may show other machines' changes late.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1])

/** Why the state folder can't be used; `message` is the reason alone. */
export class StateUnusable extends Error {
  readonly folder: string

  constructor(folder: string, reason: unknown) {
    super(reason instanceof Error ? reason.message : String(reason))
    this.folder = folder
  }
}

/**
 * Opens the folder, made with mode 0700 if it is missing, parents too. Throws StateUnusable if that fails or it can't
 * be written to.
 */
export function openState(folder: string): State {
  try {
    return openFolders(folder)
  } catch (error) {
    throw new StateUnusable(folder, error)
  }
}

/** Opens the state folder if a server has used it; any other one holds nothing to look for. */
export function openUsedState(folder: string): State {
  if (!existsSync(join(folder, SECRET))) throw new StateUnusable(folder, 'no server has used it')
  return openState(folder)
}

function openFolders(folder: string): State {
  ensureDir(folder, 0o700)
  const real = realpathSync.native(folder)
  accessSync(real, constants.W_OK | constants.X_OK)
  const part = (name: string): string => {
    ensureDir(join(real, name), 0o700)
    return join(real, name)
  }
  return {
    path: Buffer.from(real),
    id: idOf(real),
    secret: secretIn(real, randomBytes(SECRET_LENGTH)),
    locks: part('locks'),
    unreleased: part('unreleased'),
    intents: part('intents'),
    journal: part('journal'),
    history: join(real, 'history'),
    live: part('live'),
    isLocal: process.platform === 'linux' && LOCAL.has(statfsSync(real).type)
  }
}

function idOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true })
  return `${dev}:${ino}`
}

/**
 * Whether the folder can be used as when it was opened; restores what was removed from it, including the secret, and
 * then calls `restored`. A different folder in its place, or a different secret, belongs to other servers: nothing is
 * made in it, as servers that still use the first one would not see these locks. Synchronous.
 */
export function checkState(state: State, restored: () => void): NotReady | null {
  const folder = state.path.toString()
  const parts = [state.locks, state.unreleased, state.intents, state.journal, state.live]
  try {
    if (idOf(folder) !== state.id) return notReady('state_replaced')
    const isWhole = [...parts, join(folder, SECRET)].every(path => existsSync(path))
    if (!secretIn(folder, state.secret).equals(state.secret)) return notReady('state_replaced')
    for (const part of parts) ensureDir(part, 0o700)
    if (!isWhole) restored()
    accessSync(folder, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const failure = failureOf(error)
    return failure?.code === 'NOT_READY' ? failure : notReady('state_unwritable')
  }
}

const notReady = (reason: NotReady['reason']): NotReady => ({ code: 'NOT_READY', reason, retry_after: 5 })

/** Whether anything more can be written into the folder. Synchronous. */
export function hasRoom({ path }: State): boolean {
  const probe = join(path.toString(), PROBE)
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_SIZE), { mode: 0o600 })
    return true
  } catch {
    return false
  } finally {
    quietly(() => unlinkSync(probe))
  }
}

/**
 * Reads the secret, or makes it first. Servers that start at once agree: it appears whole, and only one can make it.
 */
function secretIn(folder: string, made: Buffer): Buffer {
  const path = join(folder, SECRET)
  try {
    return readSecret(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const temp = `${path}.${randomBytes(8).toString('hex')}`
  // Flushed before it has its name: a power failure could leave an empty file, and then no server would start again.
  writeFileSync(temp, made, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(temp, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    quietly(() => unlinkSync(temp))
  }
  return readSecret(path)
}

function readSecret(path: string): Buffer {
  const secret = readFileSync(path)
  if (secret.length !== SECRET_LENGTH) throw new Error(`${path} must be ${SECRET_LENGTH} bytes long`)
  return secret
}
