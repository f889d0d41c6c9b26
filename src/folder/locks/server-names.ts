// The socket names by which servers announce on which root they work: makes and reads them. Does not open sockets, or
// know whether a name is true.
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { quietly } from '../../workspace/errno.ts'
import { split } from '../../workspace/path.ts'

/** What one name says. Anyone on this host can make one that says anything. */
export interface Claim {
  name: string
  /** 16 hex digits that servers with one state folder have in common. */
  state: string
  /** In the pid namespace of the process that made the name. */
  pid: number
  /** UDP port on the loopback device, where the holder of the name answers. 0: nobody does. */
  port: number
  /** The id of the root, then those of some of the folders above it; a server's names together have all. */
  folders: [string, ...string[]]
  /** Inode of the socket with this name. */
  inode: string
}

/** Bytes of the longest name; Node 20 pads shorter ones, and later versions would not find them. */
const LENGTH = 107
/** How many ids fit behind the rest. */
const IDS = 5
const NAME = /@(editd\.([0-9a-f]{16})\.([0-9]{1,7})\.([0-9a-f]{4})[0-9a-f]{4}\.((?:[0-9a-f]{12}){1,5})\.+)$/
/** __SO_ACCEPTCON: it listens. Accepted connections have its name too. */
const LISTENS = 0x10000
/** SS_UNCONNECTED: it listens, or has only got its name. */
const UNCONNECTED = '01'

/**
 * Ids of the folder at this real path and of each above it, upwards: digests of device and inode. One above it that
 * can't be looked at is left out. Throws the system's error where the folder itself can't.
 */
export function folderIds(real: Buffer): [string, ...string[]] {
  const ids: [string, ...string[]] = [idOf(real)]
  for (let path = real; path.length > 1;) {
    path = split(path).folder
    const above = path
    quietly(() => {
      ids.push(idOf(above.length === 0 ? '/' : above))
    })
  }
  return ids
}

function idOf(folder: Buffer | string): string {
  const { dev, ino } = statSync(folder, { bigint: true })
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 12)
}

/** All names of a server; `serial` is 4 hex digits that no other of this process with this port has. */
export function namesOf(server: Omit<Claim, 'name' | 'inode'> & { serial: string }): string[] {
  const {
    state,
    pid,
    port,
    serial,
    folders: [root, ...above]
  } = server
  const digits = port.toString(16).padStart(4, '0') + serial
  const names: string[] = []
  do names.push(`editd.${state}.${pid}.${digits}.${root}${above.splice(0, IDS - 1).join('')}.`.padEnd(LENGTH, '.'))
  while (above.length > 0)
  return names
}

/** Every unix socket of this network namespace. Throws if the system doesn't tell. */
const listSockets = (): { flags: number; state: string; inode: string; name: string }[] =>
  readFileSync('/proc/net/unix', 'latin1')
    .split('\n')
    .map(line => {
      const [, , , flags = '', , state = '', inode = '', ...name] = line.split(/ +/)
      return { flags: parseInt(flags, 16), state, inode, name: name.join(' ') }
    })

/** Those that have this name of a lock's socket and aren't connections. Throws where the system doesn't tell. */
export const inodesOf = (lock: string): string[] =>
  listSockets()
    // Node 20 pads names.
    .filter(({ state, name }) => state === UNCONNECTED && name.replace(/@+$/, '') === `@${lock}`)
    .map(({ inode }) => inode)

/** Every name that a process of this network namespace listens on. Throws if the system doesn't tell. */
export const listClaims = (): Claim[] =>
  listSockets().flatMap(({ flags, inode, name: whole }) => {
    const [, name = '', state = '', pid, port = '', ids = ''] = NAME.exec(whole) ?? []
    const [root, ...above] = ids.match(/.{12}/g) ?? []
    if (root === undefined || (flags & LISTENS) === 0) return []
    return [{ name, state, pid: Number(pid), port: parseInt(port, 16), folders: [root, ...above], inode }]
  })
