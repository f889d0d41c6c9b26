// Looks at files in the order of their paths, each in its own folder. Does not know what they hold.
import { lstatSync, type BigIntStats } from 'node:fs'
import { failureOf } from '../../workspace/errno.ts'
import { split } from '../../workspace/path.ts'
import type { Folder, Root } from '../root/pin.ts'

/** How many folders stay open. A bound on descriptors; chosen, not measured. */
const OPEN = 16

/** What a look finds: `nothing` where no file is, or is any longer. */
export type LookedAt = BigIntStats | 'nothing' | 'unreadable'

/** Why a file can't be read, from the error thrown; throws it again if that is no reason to leave the file out. */
export function whyUnread(error: unknown): 'nothing' | 'unreadable' {
  const failure = failureOf(error)
  if (failure === null || failure.code === 'NOT_READY') throw error
  return failure.code === 'PERMISSION_DENIED' ? 'unreadable' : 'nothing'
}

/** Each look stays inside the root and follows no links, whatever other programs swap. To be closed. */
export class Looker {
  readonly #root: Root
  /** The folders open now, each in the one before it. */
  #open: { path: string; folder: Folder }[] = []

  constructor(root: Root) {
    this.#root = root
  }

  /** Throws errors of the system that no request caused, and those for a lack of descriptors. */
  look(path: Buffer): LookedAt {
    const { folder, leaf } = split(path)
    try {
      const stat = lstatSync(this.#folder(folder).at(leaf), { bigint: true })
      return stat.isFile() ? stat : 'nothing'
    } catch (error) {
      return whyUnread(error)
    }
  }

  #folder(path: Buffer): Folder {
    const text = path.toString('latin1')
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (last.path === text) return last.folder
      if (last.path === '' || text.startsWith(`${last.path}/`)) break
      this.#open.pop()!.folder.close()
    }
    if (this.#open.length === OPEN) this.#open.shift()!.folder.close()
    const folder = this.#root.openFolder(path)
    this.#open.push({ path: text, folder })
    return folder
  }

  close(): void {
    for (const { folder } of this.#open) folder.close()
    this.#open = []
  }
}
