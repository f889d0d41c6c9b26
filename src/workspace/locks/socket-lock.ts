// The lock between processes of one host: an abstract unix socket, which the kernel frees with its holder. Linux only.
// Does not know files.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../errno.ts'

export interface HeldSocket {
  /** Whether another process waits for it. */
  isWanted(): boolean
  /** From now on called when one begins to; null: nobody is. */
  whenWanted(tell: (() => void) | null): void
  /** Frees the name at once. */
  release(): void
}

/**
 * How long, in ms, a waiter relies on being notified. A holder that is suspended notifies nobody. Chosen, not measured.
 */
const LOOK_AGAIN = 500

/**
 * Waits for the name, at most until `deadline` (of performance.now()); then null. Throws the system's error if sockets
 * can't be had.
 */
export async function holdSocket(name: string, deadline: number): Promise<HeldSocket | null> {
  const path = `\0${name}`
  for (;;) {
    const held = await listen(path)
    if (held !== null) return held
    const left = deadline - performance.now()
    if (left <= 0) return null
    await untilFreed(path, Math.min(left, LOOK_AGAIN))
  }
}

function listen(path: string): Promise<HeldSocket | null> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>()
    let tell: (() => void) | null = null
    const server: Server = createServer(socket => {
      waiting.add(socket)
      tell?.()
      socket.on('error', () => {})
      socket.on('close', () => waiting.delete(socket))
    })
    // Stays: an accept that fails later must not end the process.
    server.on('error', error => {
      if (codeOf(error) === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    // exclusive: a cluster's primary must not share the handle between its workers.
    server.listen({ path, exclusive: true }, () =>
      resolve({
        isWanted: () => waiting.size > 0,
        whenWanted(now) {
          tell = now
        },
        release() {
          server.close()
          for (const socket of waiting) socket.destroy()
        }
      })
    )
  })
}

/** Until the holder lets go, or `ms` have passed. */
async function untilFreed(path: string, ms: number): Promise<void> {
  const failed = await new Promise<boolean>(resolve => {
    const socket = connect({ path })
    const timer = setTimeout(() => end(false), ms)
    const end = (failed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(failed)
    }
    socket.on('error', () => end(true))
    socket.on('close', () => end(false))
    socket.resume()
  })
  // Bound but not listening yet, or its backlog is full: don't spin.
  if (failed) await sleep(2)
}
