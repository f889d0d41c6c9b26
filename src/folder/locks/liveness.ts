// Whether another server still runs, by a socket in the state folder: the kernel closes it with its process, and every
// container that shares the folder and the kernel can see that. By it servers also tell each other that one came or
// went. Does not know what the answers are used for.
import { closeSync, constants, openSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { quietly } from '../../workspace/errno.ts'

/** In bytes: what a socket's address can hold on every system (104 on macOS, 108 on Linux, with the NUL). */
const ADDRESS_LIMIT = 103
/**
 * A socket has this name until somebody listens on it: in between it looks like that of a process that has ended, and
 * another server's sweep would remove it.
 */
const UNFINISHED = '.new'
/** In ms: a socket that still has such a name after so long was left by a process that was killed. Chosen. */
const ABANDONED = 60_000
/** In ms: for so long a connection stays open at most. Chosen. */
const PATIENCE = 1_000

/** The sockets of all servers that share a state folder. To be closed. */
export class LivenessSockets {
  readonly #folder: string
  #fd: number | null = null
  #server: Server | null = null
  #announced: string | null = null
  /** Called when another server has come or gone, as it says. */
  onChange: () => void = () => {}
  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Opens the socket by which others see that this server runs; it stays open until `close`.
   * False: this file system or this system has no sockets of that kind, so that only silence can tell.
   */
  announce(nonce: string): Promise<boolean> {
    return new Promise(resolve => {
      const server = createServer(socket => {
        socket.on('error', () => {})
        // Who only asks whether we run sends nothing.
        socket.on('data', () => {
          socket.destroy()
          this.onChange()
        })
        socket.setTimeout(PATIENCE, () => socket.destroy())
      })
      server.on('error', () => resolve(false))
      // exclusive: a cluster's primary must not share the handle between its workers.
      server.listen({ path: this.#address(nonce + UNFINISHED), exclusive: true }, () => {
        this.#server = server
        try {
          renameSync(join(this.#folder, nonce + UNFINISHED), join(this.#folder, nonce))
          this.#announced = nonce
        } catch {}
        resolve(this.#announced !== null)
      })
      server.unref()
    })
  }

  /**
   * Whether the process that announced itself with this nonce has ended. True and false are certain, and true only
   * where that process runs, or ran, on this kernel: elsewhere nobody listens for it either. Null: unknown.
   */
  hasEnded(nonce: string): Promise<boolean | null> {
    return new Promise(resolve => {
      const socket = connect({ path: this.#address(nonce) })
      const end = (ended: boolean | null): void => {
        socket.destroy()
        resolve(ended)
      }
      socket.on('connect', () => end(false))
      socket.on('error', (error: NodeJS.ErrnoException) => end(ANSWERS.get(error.code) ?? null))
    })
  }

  /** Tells the server of this nonce that another has come or gone. Whether it heard that isn't known. */
  tell(nonce: string): Promise<void> {
    return new Promise(resolve => {
      const socket = connect({ path: this.#address(nonce) })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
      socket.setTimeout(PATIENCE, () => socket.destroy())
      socket.end('.')
    })
  }

  /**
   * Removes the names of sockets whose processes have ended, unless `mayForget` says that they are still to be asked
   * about.
   */
  async sweep(mayForget: () => boolean): Promise<void> {
    for (const nonce of readdirSync(this.#folder)) {
      if (nonce === this.#announced || (nonce.endsWith(UNFINISHED) && !this.#isAbandoned(nonce))) continue
      // What a process that has ended left is there by now, so nothing of it can come after this question.
      if ((await this.hasEnded(nonce)) === true && mayForget()) quietly(() => unlinkSync(join(this.#folder, nonce)))
    }
  }

  #isAbandoned(name: string): boolean {
    const stat = statSync(join(this.#folder, name), { throwIfNoEntry: false })
    return stat !== undefined && Date.now() - stat.mtimeMs > ABANDONED
  }

  close(): void {
    const name = this.#announced
    if (name !== null) quietly(() => unlinkSync(join(this.#folder, name)))
    this.#server?.close()
    const fd = this.#fd
    if (fd !== null) quietly(() => closeSync(fd))
  }

  /** A long path would not fit, so there the folder is named by a descriptor (Linux). */
  #address(nonce: string): string {
    const path = join(this.#folder, nonce)
    if (Buffer.byteLength(path) <= ADDRESS_LIMIT || process.platform !== 'linux') return path
    this.#fd ??= openSync(this.#folder, constants.O_RDONLY | constants.O_DIRECTORY)
    return `/proc/self/fd/${this.#fd}/${nonce}`
  }
}

/** EAGAIN: somebody listens but has long not answered, as a process that is suspended does. */
const ANSWERS = new Map<string | undefined, boolean>([
  ['ECONNREFUSED', true],
  ['EAGAIN', false]
])
