// Tracks whether new requests are accepted, how many are running, and when all clients have left. Does not know what
// they ask for.
import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Milliseconds between checks of the number of open connections. */
const LOOK = 10

export interface Drain {
  readonly closed: boolean
  /** Counts a request as running; call the returned function when it is done. */
  enter(): () => void
  /** Stops accepting requests; resolves when none is running. */
  close(): Promise<void>
}

export function makeDrain(): Drain {
  let running = 0
  let closed = false
  let empty: () => void = () => {}
  const emptied = new Promise<void>(resolve => {
    empty = resolve
  })
  const settle = () => {
    if (closed && running === 0) empty()
  }
  const leave = () => {
    running--
    settle()
  }
  return {
    get closed() {
      return closed
    },
    enter() {
      running++
      return leave
    },
    close() {
      closed = true
      settle()
      return emptied
    }
  }
}

/** Resolves when no client has a connection open, or after `ms` milliseconds. */
export async function untilLeft(server: Server, ms: number): Promise<void> {
  const connections = promisify(server.getConnections.bind(server))
  const end = performance.now() + ms
  while ((await connections()) > 0 && performance.now() < end) await sleep(LOOK)
}
