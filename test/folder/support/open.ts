// What the workspace's tests share: folders, an open workspace, plans, locks, a count of descriptors.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '../../../src/result.ts'
import type { FileFailure, StaleFile } from '../../../src/workspace/failure.ts'
import type { Lock } from '../../../src/workspace/queue.ts'
import { thisOwner, type Observer } from '../../../src/folder/locks/owner.ts'
import { DEFAULT_PROTECTED } from '../../../src/workspace/policy.ts'
import type {
  Consumer,
  FailedAccess,
  FileTarget,
  Looked,
  PageRequest,
  Planned,
  Planner,
  Workspace,
  WorkspaceOptions
} from '../../../src/workspace/api.ts'
import { openWorkspace } from '../../../src/folder/open.ts'
import type { Pin, Root } from '../../../src/folder/root/pin.ts'
import { readWhole, type Snapshot } from '../../../src/folder/snapshot.ts'
import { gate } from '../../gate.ts'

/** Paths; `root` and `state` lie in `base`. The workspace makes `state`. */
export interface Folders {
  base: string
  root: string
  state: string
}

/** Makes a temporary folder with a root in it, with a short path, which some tests need. */
export function makeFolders(): Folders {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-')))
  mkdirSync(join(base, 'root'))
  return { base, root: join(base, 'root'), state: join(base, 'state') }
}

export const removeFolders = (folders: Folders): void => rmSync(folders.base, { recursive: true, force: true })

export const OPTIONS: Omit<WorkspaceOptions, 'root' | 'stateDir'> = {
  durability: 'fast',
  lock: 'shared',
  lockTimeout: 5000,
  maxFileSize: 1e8,
  readOnly: false,
  requireHash: false,
  allowDelete: false,
  protect: DEFAULT_PROTECTED,
  readProtect: ['.git'],
  allowExtensions: null,
  history: 'off',
  historyDays: 30,
  historySize: 1e9,
  historyPrivate: []
}

export const open = (folders: Folders, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
  openWorkspace({ ...OPTIONS, root: folders.root, stateDir: folders.state, ...options })

/** A plan that appends `text`. */
export const append =
  (text: string) =>
  (original: Buffer): Result<Planned<string>, never> =>
    ok({ pieces: [original, Buffer.from(text)], description: text })

/** Starts an edit of a file, and resolves when its planner waits for `goOn`. `done`: its outcome. */
export async function heldEdit<T>(
  workspace: Workspace,
  path: string,
  options: Parameters<Workspace['edit']>[1],
  plan: (original: Buffer) => Result<Planned<T>, never>
): Promise<{ goOn(): void; done: ReturnType<Workspace['edit']> }> {
  const [planned, held] = [gate(), gate()]
  const done = workspace.edit({ path }, options, async original => {
    planned.open()
    await held.opened
    return plan(original)
  })
  await planned.opened
  return { goOn: held.open, done }
}

/** Pins and reads a file below the root. Throws on failure. */
export async function readPinned(root: Root, name: string): Promise<{ pin: Pin; snapshot: Snapshot; close(): void }> {
  const pinned = root.pin(Buffer.from(name))
  if (!pinned.ok) throw new Error('not pinned')
  const read = await readWhole(pinned.value, 1e6)
  if (!read.ok) throw new Error('not read')
  const close = (): void => {
    read.value.close()
    pinned.value.close()
  }
  return { pin: pinned.value, snapshot: read.value, close }
}

/** A plan that replaces everything with `text`. */
export const become =
  (text: string | Buffer): Planner<null, never> =>
  () =>
    ok({ pieces: [Buffer.from(text)], description: null })

/** A plan that removes the file, and then these folders if they are empty. */
export const remove =
  (...made_folders: string[]): Planner<null, never> =>
  () =>
    ok({ pieces: [], removes: true, made_folders: made_folders.map(folder => Buffer.from(folder)), description: null })

/** A planner that may only be called for the facts about a stale hash. */
export const UNPLANNED: Planner<never, StaleFile> = (_original, { stale }) => {
  if (stale === undefined) throw new Error('planned')
  return fail(stale)
}

/** A consumer that copies all bytes and notes the lengths of the chunks. */
export function collect(): Consumer<{ bytes: Buffer; chunks: number[] }> {
  const parts: Buffer[] = []
  return {
    push: chunk => {
      parts.push(Buffer.from(chunk))
    },
    finish: () => ({ bytes: Buffer.concat(parts), chunks: parts.map(part => part.length) })
  }
}

type Copied = Looked<{ bytes: Buffer; chunks: number[] }>

/** Reads a whole file, or lists a page of a folder. */
export const look = (
  workspace: Workspace,
  target: FileTarget,
  directory: PageRequest = { limit: 100 }
): Promise<{ ok: true; value: Copied } | FailedAccess<FileFailure>> =>
  workspace.look(target, { file: collect, directory })

/** An observer that judges other owners only by the process table and by how long they were silent. */
export const observer = (me = thisOwner()): Observer => ({ me, hasEnded: async () => null })

/** A lock that is always held. */
export const ownLock = (): Lock => ({
  temp: `.${randomBytes(12).toString('hex')}.tmp`,
  alone_since: 'now',
  held: () => true,
  release: async () => {}
})

/** Locks without competitors. */
export const ownLocks = { acquire: async () => ok(ownLock()) }

/** Records nothing. */
export const unrecorded = async (): Promise<void> => {}

export const REAL = { dry_run: false }
export const DRY = { dry_run: true }

export { isRoot, onLinux } from './machine.ts'

/** How many descriptors this process has open. */
export const descriptors = (): number => readdirSync('/proc/self/fd').length
