// Identifies the server behind a socket's name: asks it, and proves the answer by facts that only the kernel sets. Does
// not know what a name means, or which roots there are.
//
// Node can't ask a unix socket for the user at its other end. But /proc/<pid>/fd shows that a process has the socket
// (one of our own user, or any if we may look), and /proc/net/udp shows everyone the user of each UDP socket. So a
// server also has a UDP port on the loopback device, which its names carry, and answers there when asked about one of
// its names: that port's user has the name. With a connection or a queue, anybody could keep others from asking.
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { endianness } from 'node:os'

/** What a server says of itself. Any user of the host may ask. */
export interface ServerInfo {
  hostname: string
  root: string
  stateDir: string
}

/** Milliseconds for an answer, and after which it is asked again: what is sent may be lost. Chosen, not measured. */
const PATIENCE = 3000
const AGAIN = 50
const LOOPBACK = '127.0.0.1'

/** Answers those who ask about its names, until it is closed; keeps no process alive. */
interface Answers {
  /** To be put in the names; 0: nobody can ask. */
  readonly port: number
  /** Listens by this name. Throws the system's error. */
  listenBy(name: string): Promise<void>
  close(): void
}

export async function answerWith(info: ServerInfo): Promise<Answers> {
  const names = new Set<string>()
  const servers: Server[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const question = message.toString('latin1')
    if (names.has(question.slice(NONCE + 1))) socket.send(answerTo(question, info), port, address, () => {})
  })
  const isBound = await isListening(socket)
  return {
    port: isBound ? socket.address().port : 0,
    listenBy: name =>
      new Promise((resolve, reject) => {
        // That it listens is all that it says.
        const server = createServer(socket => socket.on('error', () => {}).destroy()).unref()
        // Stays: an accept that fails later must not end the process.
        server.on('error', reject)
        server.listen({ path: `\0${name}`, exclusive: true }, () => {
          servers.push(server)
          names.add(name)
          resolve()
        })
      }),
    close() {
      socket.close()
      for (const server of servers) server.close()
    }
  }
}

/** False: there is no loopback device, as in a network namespace that nobody has set up. */
const isListening = (socket: Socket): Promise<boolean> =>
  new Promise(resolve => {
    socket.on('error', () => resolve(false))
    socket.bind({ address: LOOPBACK, port: 0, exclusive: true }, () => {
      socket.unref()
      resolve(true)
    })
  })

/** Characters of a nonce; in a question, a space and the name follow. */
const NONCE = 32
const answerTo = (question: string, info: ServerInfo): string => JSON.stringify({ ...info, question })

interface Holder {
  /** Null: nothing proves whose it is. */
  uid: number | null
  /** Null: no answer, or none that can be parsed. As trustworthy as its user. */
  info: ServerInfo | null
}

/**
 * The user who has the listening socket with this name, and what its server says at the port in the name. Takes at most
 * three seconds. `known`: its user, if proved already.
 */
export async function holderOf({ name, port }: { name: string; port: number }, known: number | null): Promise<Holder> {
  if (port === 0) return { uid: known, info: null }
  const before = boundTo(port)
  const info = await ask(port, name)
  const after = boundTo(port)
  const isSame = info !== null && before !== null && before.inode === after?.inode
  return { uid: known ?? (isSame ? before.uid : null), info }
}

/** What the server behind this port says, if it has this name. */
function ask(port: number, name: string): Promise<ServerInfo | null> {
  return new Promise(resolve => {
    const question = `${randomBytes(NONCE / 2).toString('hex')} ${name}`
    const socket = createSocket('udp4')
    const end = (info: ServerInfo | null): void => {
      clearTimeout(timer)
      clearInterval(again)
      socket.close()
      resolve(info)
    }
    const send = (): void => {
      socket.send(question, () => {})
    }
    const timer = setTimeout(() => end(null), PATIENCE)
    const again = setInterval(send, AGAIN)
    // Nobody is there.
    socket.on('error', () => end(null))
    socket.on('message', answer => {
      const info = parseInfo(answer.toString(), question)
      if (info !== null) end(info)
    })
    // From then on it receives only from this port.
    socket.connect(port, LOOPBACK, send)
  })
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

function boundTo(port: number): { uid: number; inode: string } | null {
  const loopback = endianness() === 'LE' ? '0100007F' : '7F000001'
  const local = `${loopback}:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/udp', 'latin1').split('\n')) {
    const [, address, , , , , , uid, , inode = ''] = line.trim().split(/ +/)
    if (address === local) return { uid: Number(uid), inode }
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

function parseInfo(text: string, sent: string): ServerInfo | null {
  try {
    const { hostname, root, stateDir, question } = JSON.parse(text)
    const whole = [hostname, root, stateDir].every(value => typeof value === 'string')
    return whole && question === sent ? { hostname, root, stateDir } : null
  } catch {
    return null
  }
}
