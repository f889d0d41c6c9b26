// Sockets of files that a process of a group keeps for a while after it has edited them, until another process wants one:
// whoever edits a file again and again need not take it again each time. Does not know root locks, lock files or edits.
import { holdSocket, type HeldSocket, type WantedSocket } from './socket-lock.ts'

/** In ms: how long one is kept that nobody wants. Chosen, not measured: a suspended process keeps others out with it. */
const KEPT = 50
/** So many are kept: a bound on descriptors. Chosen, not measured. */
const MOST = 64

/** A socket that is in use. */
export interface TakenSocket {
  /** Names the time for which this process has the socket without a break. */
  readonly since: string
  readonly socket: HeldSocket
}

interface Kept extends TakenSocket {
  timer: NodeJS.Timeout
}

export class KeptSockets {
  readonly #ending: (realPath: Buffer) => Promise<void>
  /** By real path: those that nobody uses. */
  readonly #kept = new Map<string, Kept>()
  /** Those that are used. */
  readonly #used = new Map<string, TakenSocket>()
  #count = 0
  #isClosed = false

  /** `ending`: to be done before another process can have the file. Must not reject. */
  constructor(ending: (realPath: Buffer) => Promise<void>) {
    this.#ending = ending
  }

  /** Since when this process has the file without a break; null: it hasn't. */
  since(realPath: Buffer): string | null {
    const path = realPath.toString('latin1')
    return (this.#kept.get(path) ?? this.#used.get(path))?.since ?? null
  }

  /**
   * For the caller that has this file's turn in this process. `wanted` is asked where the socket isn't kept. Null: not until
   * `deadline` (of performance.now()). `unproven`: as `holdSocket`. Throws the system's error.
   */
  async take(realPath: Buffer, wanted: () => WantedSocket, deadline: number): Promise<TakenSocket | null | 'unproven'> {
    const path = realPath.toString('latin1')
    const kept = this.#kept.get(path)
    if (kept !== undefined) {
      clearTimeout(kept.timer)
      kept.socket.whenWanted(null)
      this.#kept.delete(path)
    }
    const socket = kept?.socket ?? (await holdSocket(wanted(), deadline))
    if (socket === null || socket === 'unproven') return socket
    const taken = { socket, since: kept?.since ?? String(this.#count++) }
    this.#used.set(path, taken)
    return taken
  }

  /** After use; it `mayBeKept` unless another process waits for the file, which true says. */
  async giveBack(realPath: Buffer, taken: TakenSocket, mayBeKept: boolean): Promise<boolean> {
    const path = realPath.toString('latin1')
    this.#used.delete(path)
    if (!mayBeKept || taken.socket.isWanted() || this.#isClosed || this.#kept.size >= MOST) {
      await this.#ending(realPath)
      const isWanted = taken.socket.isWanted()
      taken.socket.release()
      return isWanted
    }
    const end = (): void => {
      this.#end(realPath)
    }
    const kept = { ...taken, timer: setTimeout(end, KEPT) }
    kept.socket.whenWanted(end)
    this.#kept.set(path, kept)
    return false
  }

  /** Ends those that are kept; the others end with their use. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#kept.keys()].map(path => this.#end(Buffer.from(path, 'latin1'))))
  }

  async #end(realPath: Buffer): Promise<void> {
    const path = realPath.toString('latin1')
    const kept = this.#kept.get(path)
    if (kept === undefined) return
    // From now on whoever takes it here waits for the socket, as other processes do.
    this.#kept.delete(path)
    clearTimeout(kept.timer)
    await this.#ending(realPath)
    kept.socket.release()
  }
}
