// What the workspace's tests share: a fresh root and state, options, plans, descriptors counted.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '../../../src/result.ts'
import type { FileFailure, StaleFile } from '../../../src/workspace/failure.ts'
import type { Lock } from '../../../src/workspace/locks/lock.ts'
import { thisOwner, type Observer } from '../../../src/workspace/locks/owner.ts'
import { DEFAULT_PROTECTED } from '../../../src/workspace/root/policy.ts'
import {
  openWorkspace,
  type Consumer,
  type FailedAccess,
  type FileTarget,
  type Looked,
  type PageRequest,
  type Planned,
  type Planner,
  type Workspace,
  type WorkspaceOptions
} from '../../../src/workspace/workspace.ts'

export interface Place {
  base: string
  root: string
  state: string
}

/**
 * A folder of its own under the system's temp folder: `root` and, beside it, `state`. Short, so that paths stay short.
 */
export function freshPlace(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-')))
  mkdirSync(join(base, 'root'))
  return { base, root: join(base, 'root'), state: join(base, 'state') }
}

export const remove = (place: Place): void => rmSync(place.base, { recursive: true, force: true })

export const OPTIONS: Omit<WorkspaceOptions, 'root' | 'stateDir'> = {
  durability: 'fast',
  lock: 'shared',
  lockTimeout: 5000,
  maxFileSize: 1e8,
  readOnly: false,
  requireHash: false,
  protect: DEFAULT_PROTECTED,
  readProtect: ['.git'],
  allowExtensions: null
}

export const open = (place: Place, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
  openWorkspace({ ...OPTIONS, root: place.root, stateDir: place.state, ...options })

/** A plan that puts `text` after what is there. */
export const append =
  (text: string) =>
  (original: Buffer): Result<Planned<string>, never> =>
    ok({ pieces: [original, Buffer.from(text)], description: text })
/** A plan whose result is `text`, whatever is there. */
export const become =
  (text: string | Buffer): Planner<null, never> =>
  () =>
    ok({ pieces: [Buffer.from(text)], description: null })

/** A plan that must not be made: it is asked at most for what to add to the hash that is stale. */
export const UNPLANNED: Planner<never, StaleFile> = (_original, { stale }) => {
  if (stale === undefined) throw new Error('planned')
  return fail(stale)
}

/** Copies everything, and counts the chunks. */
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

/** Someone who knows of others what the process table and their silence tell. */
export const observer = (me = thisOwner()): Observer => ({ me, hasEnded: async () => null })

/** A lock that nobody else wants. */
export const ownLock = (): Lock => ({
  temp: `.${randomBytes(12).toString('hex')}.tmp`,
  held: () => true,
  release: async () => {}
})

export const REAL = { dry_run: false }
export const DRY = { dry_run: true }

export { isRoot, onLinux } from './machine.ts'

/** What descriptors are open, but for those that Node opens and closes by itself. */
export const descriptors = (): number => readdirSync('/proc/self/fd').length
