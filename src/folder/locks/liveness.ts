// Detects whether another server still runs, by a socket in the state folder: the kernel closes it with its process,
// and every container that shares the folder and the kernel can see that. Servers also use it to tell each other that
// one came or went. Does not know what the answers are used for.
import { closeSync, constants, openSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { quietly } from '../../workspace/errno.ts'

/** In bytes: the socket address length that every system allows (104 on macOS, 108 on Linux, with the NUL). */
const ADDRESS_LIMIT = 103
/**
 * Ending of a socket's name until its server listens: before, it looks like that of a process that has ended, and
 * another server's sweep would remove it.
 */
const UNFINISHED = '.new'
/** In ms: a socket that has such a name for this long was left by a process that was killed. Chosen. */
const ABANDONED = 60_000
/** In ms: how long a connection stays open at most. Chosen. */
const PATIENCE = 1_000

/** The sockets of all servers that share a state folder. Must be closed. */
export class LivenessSockets {
  readonly #folder: string
  #fd: number | null = null
  #server: Server | null = null
  #announced: string | null = null
  /** Called when another server reports that it came or went. */
  onChange: () => void = () => {}
  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Opens the socket by which others see that this server runs; it stays open until `close`.
   * False: this file system or system has no such sockets, so only silence can tell.
   */
  announce(nonce: string): Promise<boolean> {
    return new Promise(resolve => {
      const server = createServer(socket => {
        socket.on('error', () => {})
        // A server that only asks whether we run sends nothing.
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

  /** Tells the server with this nonce that another has come or gone. Whether it received that is unknown. */
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
   * Removes the names of sockets whose processes have ended, unless `mayForget` returns false because they must still
   * be asked about.
   */
  async sweep(mayForget: () => boolean): Promise<void> {
    for (const nonce of readdirSync(this.#folder)) {
      if (nonce === this.#announced || (nonce.endsWith(UNFINISHED) && !this.#isAbandoned(nonce))) continue
      // Everything that an ended process left exists by now, so nothing of it can come after this question.
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

  /** A long path would not fit, so on Linux the folder is then named by a descriptor. */
  #address(nonce: string): string {
    const path = join(this.#folder, nonce)
    if (Buffer.byteLength(path) <= ADDRESS_LIMIT || process.platform !== 'linux') return path
    this.#fd ??= openSync(this.#folder, constants.O_RDONLY | constants.O_DIRECTORY)
    return `/proc/self/fd/${this.#fd}/${nonce}`
  }
}

/** EAGAIN: somebody listens but hasn't answered for long, like a suspended process. */
const ANSWERS = new Map<string | undefined, boolean>([
  ['ECONNREFUSED', true],
  ['EAGAIN', false]
])
