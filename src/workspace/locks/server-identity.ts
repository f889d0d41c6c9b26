// Who is behind a socket's name that says "a server works on this root": asks, and has the answer proved by what only
// the kernel can tell. Does not know what a name means, or which roots there are.
//
// Node can't ask a unix socket for the user at its other end. But /proc/<pid>/fd shows that a process has the socket
// (one of our own user, or any if we may look), and /proc/net/tcp tells everyone the user of each TCP socket. So who is
// asked also listens on a port of the loopback device for an instant, sends its number, and repeats the name there:
// whoever repeats the name there has that port's user.
import { readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** What a server says of itself. Any user of the host may ask. */
export interface ServerInfo {
  hostname: string
  root: string
  stateDir: string
}

/** Milliseconds for an answer, and as many for proving it. Chosen, not measured, as are the next two. */
const PATIENCE = 3000
/** Characters that an answer may have. */
const LIMIT = 16_384
/** How many others are answered at once. */
const ASKERS = 16

/** Listens by `name` and answers who asks until it is closed; keeps no process alive. Throws the system's error. */
export function answerBy(name: string, info: ServerInfo): Promise<{ close(): void }> {
  const proofs = new Set<() => void>()
  const answer = (socket: Socket): void => {
    socket.on('error', () => {})
    if (proofs.size >= ASKERS) {
      socket.destroy()
      return
    }
    const proof = createServer(asker => {
      asker.on('error', () => {}).end(`${name}\n`)
    }).unref()
    const over = (): void => {
      clearTimeout(timer)
      proofs.delete(over)
      proof.close()
      socket.destroy()
    }
    const timer = setTimeout(over, 4 * PATIENCE).unref()
    proofs.add(over)
    // Who has heard enough closes the connection, and with it the port.
    socket.resume().on('close', over)
    const say = (port: number | null): void => {
      socket.write(`${JSON.stringify({ ...info, port })}\n`)
    }
    proof.on('error', () => say(null))
    proof.listen({ host: '127.0.0.1', port: 0, exclusive: true }, () => say((proof.address() as AddressInfo).port))
  }
  return new Promise((resolve, reject) => {
    const server: Server = createServer(answer).unref()
    // Stays: an accept that fails later must not end the process.
    server.on('error', reject)
    const close = (): void => {
      server.close()
      for (const over of proofs) over()
    }
    server.listen({ path: `\0${name}`, exclusive: true }, () => resolve({ close }))
  })
}

export interface Holder {
  /** Null: nothing proves whose it is. */
  uid: number | null
  /** Null: no answer, or none that can be understood. As true as its user. */
  info: ServerInfo | null
}

/**
 * Whose the listening socket of this name is, and what it says. Takes at most six seconds: three for the answer, three
 * to prove it. `known`: its user, where that is proved already.
 */
export async function holderOf(name: string, known: number | null): Promise<Holder> {
  const answer = await lineFrom({ path: `\0${name}` })
  const said = parseInfo(answer.line)
  const uid = known ?? (said === null ? null : await provedBy(said.port, name))
  answer.close()
  return { uid, info: said === null ? null : said.info }
}

/** Sockets that a process has open, by inode, and its user; none where we may not look. */
export function socketsOf(pid: number): { uid: number; inodes: ReadonlySet<string> } | null {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map(fd => linkOf(`/proc/${pid}/fd/${fd}`))
    const uid = idsOf(pid)?.uid
    const inodes = links.flatMap(link => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
    return uid === undefined ? null : { uid, inodes: new Set(inodes) }
  } catch {
    return null
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The user of whoever says `name` on this port; null where somebody else listens there, or nobody. */
async function provedBy(port: unknown, name: string): Promise<number | null> {
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return null
  const before = listenerOn(port)
  const { line, close } = await lineFrom({ host: '127.0.0.1', port })
  close()
  const after = listenerOn(port)
  return line === name && before !== null && before.inode === after?.inode ? before.uid : null
}

function listenerOn(port: number): { uid: number; inode: string } | null {
  const loopback = endianness() === 'LE' ? '0100007F' : '7F000001'
  const local = `${loopback}:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    const [, address, , state, , , , uid, , inode = ''] = line.trim().split(/ +/)
    if (address === local && state === '0A') return { uid: Number(uid), inode }
  }
  return null
}

/** User and groups of a living process, as the kernel uses them for files; null where that can't be known. */
function idsOf(pid: number): { uid: number; groups: number[] } | null {
  let status
  try {
    status = readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return null
  }
  const numbers = (key: string): number[] =>
    new RegExp(`^${key}:(.*)$`, 'm').exec(status)?.[1]?.match(/\d+/g)?.map(Number) ?? []
  // Real, effective, saved, and that for files.
  const [, , , uid] = numbers('Uid')
  return uid === undefined ? null : { uid, groups: [...numbers('Gid').slice(3), ...numbers('Groups')] }
}

/**
 * Whether a user may make files in a folder; by its group only if `pid` is a process of that user and in that group.
 * What an access control list allows shows in the mode as what the group may.
 */
export function mayWriteIn(folder: Pick<Stats, 'uid' | 'gid' | 'mode'>, uid: number, pid: number): boolean {
  if (uid === 0 || uid === folder.uid || (folder.mode & 0o002) !== 0) return true
  if ((folder.mode & 0o020) === 0) return false
  const ids = idsOf(pid)
  return ids !== null && ids.uid === uid && ids.groups.includes(folder.gid)
}

/** The first line that comes; null where it is too long, takes too long or can't be had. To be closed. */
function lineFrom(from: NetConnectOpts): Promise<{ line: string | null; close(): void }> {
  return new Promise(resolve => {
    let text = ''
    const socket = connect(from)
    const timer = setTimeout(() => end(null), PATIENCE)
    const end = (line: string | null): void => {
      clearTimeout(timer)
      resolve({
        line,
        close: () => {
          socket.destroy()
        }
      })
    }
    socket.setEncoding('utf8').on('data', chunk => {
      text += chunk
      const length = text.indexOf('\n')
      if (length >= 0 || text.length > LIMIT) end(text.length > LIMIT ? null : text.slice(0, length))
    })
    socket.on('error', () => end(null))
    socket.on('end', () => end(null))
  })
}

function parseInfo(text: string | null): { info: ServerInfo; port: unknown } | null {
  try {
    const { hostname, root, stateDir, port } = JSON.parse(text ?? '')
    const whole = [hostname, root, stateDir].every(value => typeof value === 'string')
    return whole ? { info: { hostname, root, stateDir }, port } : null
  } catch {
    return null
  }
}
