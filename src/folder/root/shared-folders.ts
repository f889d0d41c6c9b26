// Shares open folders between concurrent users: one descriptor for all, closed with the last user. Does not know how a
// folder is opened, or found to be in its place.
import type { Folder } from './pin.ts'

/**
 * In ms: how long a folder is handed out after it was opened. Users see its owner, its group and what is mounted on it
 * as they were then. Chosen, not measured.
 */
const SHARED = 100

interface Shared {
  folder: Folder
  /** On the clock of performance.now(). */
  until: number
  users: number
}

export class SharedFolders {
  /** By their real paths below the root. */
  readonly #used = new Map<string, Shared>()

  /**
   * The folder that others have open at this path, if it is still there; else what `open` returns. Throws what `open`
   * throws.
   */
  use(relative: Buffer, open: () => Folder): Folder {
    const key = relative.toString('latin1')
    const now = performance.now()
    const known = this.#used.get(key)
    if (known !== undefined && now < known.until && known.folder.inPlace()) return this.#handOut(key, known)
    const shared = { folder: open(), until: now + SHARED, users: 0 }
    this.#used.set(key, shared)
    return this.#handOut(key, shared)
  }

  /** Each result must be closed once. */
  #handOut(key: string, shared: Shared): Folder {
    const { stat, disk, at, inPlace, sync, close } = shared.folder
    shared.users++
    return {
      stat,
      disk,
      at,
      inPlace,
      sync,
      close: () => {
        if (--shared.users > 0) return
        if (this.#used.get(key) === shared) this.#used.delete(key)
        close()
      }
    }
  }
}
