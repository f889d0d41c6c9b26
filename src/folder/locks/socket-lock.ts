// The lock between processes of one host: an abstract unix socket, which the kernel frees with its holder. Linux only.
// Any user of the host can take such a name, so a waiter makes the holder prove that it knows the servers' secret. Does
// not know files, or what happens if it doesn't.
import { randomBytes } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../workspace/errno.ts'

export interface HeldSocket {
  /** Whether another process waits for it. */
  isWanted(): boolean
  /** Frees the name at once. */
  release(): void
}

/** A socket to acquire. */
export interface WantedSocket {
  name: string
  /** The answer to this nonce that only a server with our secret can give. */
  proofOf(nonce: string): string
  /** Whether to go on waiting, although the holder has proved nothing for a while. */
  waitOn(): boolean
}

/**
 * How long, in ms, a waiter relies on being notified. A holder that is suspended notifies nobody. Chosen, not measured.
 */
const LOOK_AGAIN = 500

/** In ms: how long a holder has to prove that it is a server. Chosen, not measured. */
const PATIENCE = 200
/** Bytes of a nonce, and characters of a proof that are read: more than it has. */
const NONCE = 32
const PROOF = 128

/**
 * Waits for the name, at most until `deadline` (of performance.now()); then null. `unproven`: its holder didn't prove
 * that it is a server, and `waitOn` was false. Throws the system's error if sockets don't work.
 */
export async function holdSocket(wanted: WantedSocket, deadline: number): Promise<HeldSocket | null | 'unproven'> {
  const path = `\0${wanted.name}`
  let since = performance.now()
  const patience = Math.min(PATIENCE, (deadline - since) / 2)
  for (let misses = 0; ;) {
    const held = await listen(path, wanted)
    if (held !== null) return held
    const left = deadline - performance.now()
    if (left <= 0) return null
    const ended = await untilFreed(path, wanted, { ms: Math.min(left, LOOK_AGAIN), patience })
    if (ended === 'proved') {
      since = performance.now()
      misses = 0
      continue
    }
    if (performance.now() - since >= patience) {
      if (!wanted.waitOn()) return 'unproven'
      since = performance.now()
    }
    // Bound but not listening yet, its backlog is full, or it hangs up again and again: don't spin.
    if (ended === 'failed' || misses++ > 0) await sleep(2)
  }
}

function listen(path: string, { proofOf }: WantedSocket): Promise<HeldSocket | null> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>()
    const server: Server = createServer(socket => {
      waiting.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => waiting.delete(socket))
      socket.once('data', nonce => {
        if (nonce.length === NONCE) socket.write(proofOf(nonce.toString('latin1')))
      })
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
        release() {
          server.close()
          for (const socket of waiting) socket.destroy()
        }
      })
    )
  })
}

/**
 * Waits until the holder lets go, `ms` have passed, or `patience` has passed without a proof. `failed`: it can't be
 * asked.
 */
function untilFreed(
  path: string,
  { proofOf }: WantedSocket,
  { ms, patience }: { ms: number; patience: number }
): Promise<'proved' | 'unproved' | 'failed'> {
  return new Promise(resolve => {
    const nonce = randomBytes(NONCE / 2).toString('hex')
    const proof = proofOf(nonce)
    const socket = connect({ path })
    let received = ''
    let outcome: 'proved' | 'unproved' | 'failed' = 'unproved'
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(outcome)
    }
    let timer = setTimeout(end, Math.min(ms, patience))
    socket.setEncoding('latin1').on('data', text => {
      if (received.length < PROOF) received += text
      if (received !== proof) return
      outcome = 'proved'
      clearTimeout(timer)
      timer = setTimeout(end, ms)
    })
    socket.on('error', () => {
      if (outcome === 'unproved') outcome = 'failed'
    })
    socket.on('close', end)
    socket.write(nonce)
  })
}
