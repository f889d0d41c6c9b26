// Which other servers work on a root, so that two that can't see each other's locks never work there at once. Does not
// know locks, the files of the root, or sentences.
//
// As long as it lives, a server listens on abstract unix sockets whose names carry the data: a digest of its state's
// secret, its pid, a port where it can be asked, and digests of device and inode of its root and of each folder above.
// No two names are alike, so servers with one state folder coexist and none depends on another; the kernel removes a
// name with its process, and lists them all in /proc/net/unix. Nothing is written anywhere. A starting server looks,
// announces itself, and looks again: if two start at once, at least one sees the other. One root must have one state,
// identified by its secret and not by its path. A root inside another one is refused whatever the state: locks go by
// the path below the root.
//
// Anyone on the host can listen on such a name. So it counts only if the kernel proves that it belongs to a user who
// may write in the root, and so could do the harm without any server (server-identity.ts). Others are only logged.
//
// Not seen: servers on other hosts or in other network namespaces (most containers), and outside Linux none at all; a
// server of another user while it is suspended or too busy to answer; a root that is reached by a mount of a part of
// another, or that has another device number there; roots that are moved later on.
import { createHmac, randomBytes } from 'node:crypto'
import { realpathSync, statSync, type Stats } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { folderIds, listClaims, namesOf, type Claim } from './server-names.ts'
import { answerWith, holderOf, mayWriteIn, socketsOf, type ServerInfo } from './server-identity.ts'

export interface Presence {
  /** From now on others may start. */
  withdraw(): void
}

interface PresenceOptions {
  /** Real path. */
  root: Buffer
  state: { path: Buffer; secret: Buffer }
  hostname: string
  report: (event: { event: string; [key: string]: unknown }) => void
}

/** Where the other server's root is, relative to ours. */
type Where = 'same' | 'above' | 'below'

/** Thrown if another server works on the root, or on a part of it. */
export class Occupied extends Error {
  readonly code = 'OCCUPIED'
  readonly root: string
  readonly where: Where
  /** In the pid namespace of the other. */
  readonly pid: number
  readonly uid: number
  /** What it reports about itself; null if it doesn't answer, for example while suspended. */
  readonly info: ServerInfo | null
  constructor(root: string, { where, pid, uid, info }: Rival) {
    super('another server works on this root')
    this.root = root
    this.where = where
    this.pid = pid
    this.uid = uid
    this.info = info
  }
}

interface Here {
  stat: Stats
  folders: [string, ...string[]]
  state: string
}
/** `uid`: its holder's user, if that is proved. */
interface Claimed extends Claim {
  where: Where
  uid: number | null
}
interface Unproven {
  event: string
  [key: string]: unknown
}
interface RivalFound {
  rival: Rival
}
/** `unproven`: the report on names that prove nothing. */
type Seen = RivalFound | { rival: null; unproven: Unproven | null }
interface Rival {
  where: Where
  pid: number
  uid: number
  info: ServerInfo | null
}

/**
 * How often a server that meets another one looks: both may have just started. Chosen, not measured, as is the next.
 */
const ATTEMPTS = 3
/** How many names are examined; only an attacker makes more. */
const NAMES = 32

/**
 * Throws Occupied, and the system's error if no socket can be made. Takes some milliseconds, and up to some seconds if
 * another server may be there.
 */
export async function announcePresence(options: PresenceOptions): Promise<Presence> {
  if (process.platform !== 'linux') return { withdraw() {} }
  const { root, state, hostname, report } = options
  const digest = createHmac('sha256', state.secret).update('presence').digest('hex').slice(0, 16)
  const here: Here = { stat: statSync(root), folders: folderIds(root), state: digest }
  const info: ServerInfo = { hostname, root: String(root), stateDir: String(state.path) }
  const entered = await tryToEnter(here, info, ATTEMPTS)
  if (entered.rival !== null) throw new Occupied(String(root), entered.rival)
  if (entered.unproven !== null) report(entered.unproven)
  return entered
}

async function tryToEnter(here: Here, info: ServerInfo, attempts: number): Promise<RivalFound | (Seen & Presence)> {
  const before = await look(here, [])
  const entered = before.rival === null ? await enter(here, info) : before
  if (entered.rival === null || attempts === 1) return entered
  await sleep(20 + 100 * Math.random())
  return tryToEnter(here, info, attempts - 1)
}

/** Announces this server; no longer if there is a rival. */
async function enter(here: Here, info: ServerInfo): Promise<Seen & Presence> {
  const answers = await answerWith(info)
  const { port } = answers
  const names = namesOf({ ...here, port, pid: process.pid, serial: randomBytes(2).toString('hex') })
  const withdraw = (): void => answers.close()
  let alone = false
  try {
    for (const name of names) await answers.listenBy(name)
    const seen = await look(here, names)
    alone = seen.rival === null
    return { ...seen, withdraw }
  } finally {
    if (!alone) withdraw()
  }
}

/** Looks for other servers; `names`: this server's own. */
async function look(here: Here, names: readonly string[]): Promise<Seen> {
  let claims: Claim[]
  try {
    claims = listClaims()
  } catch (error) {
    /* c8 ignore next 2 -- only where /proc isn't mounted */
    return { rival: null, unproven: { event: 'other_servers_unseen', reason: String(error) } }
  }
  const rivals = claims.flatMap((claim): Claimed[] => {
    const where = names.includes(claim.name) ? null : whereIs(claim, here)
    return where === null ? [] : [{ ...claim, where, uid: null }]
  })
  const processes = new Map(rivals.map(({ pid }) => [pid, socketsOf(pid)]))
  for (const rival of rivals) {
    const process = processes.get(rival.pid)
    if (process?.inodes.has(rival.inode) === true) rival.uid = process.uid
  }
  // Nobody can hide a server among names of his own.
  const sure = rivals.find(rival => counts(here, rival, null))
  const candidates = sure === undefined ? rivals.filter(({ uid, where }) => uid === null || where === 'below') : [sure]
  const found = await Promise.all(
    candidates.slice(0, NAMES).map(async (claim): Promise<Rival | null> => {
      const { where, pid } = claim
      const { uid, info } = await holderOf(claim, claim.uid)
      return uid !== null && counts(here, { ...claim, uid }, info) ? { where, pid, uid, info } : null
    })
  )
  const rival = found.find(one => one !== null) ?? null
  return rival === null ? { rival, unproven: unprovenIn(rivals) } : { rival }
}

/** The report on unproven names that still exist. */
function unprovenIn(rivals: readonly Claimed[]): Unproven | null {
  const names = new Set(rivals.length === 0 ? [] : listClaims().map(({ name }) => name))
  const left = rivals.filter(({ name }) => names.has(name))
  if (left[0] === undefined) return null
  const { pid, name } = left[0]
  return { event: 'other_server_unproven', names: left.length, pid, socket: `@${name}` }
}

/** Null: it is not a rival. */
function whereIs({ folders, state }: Claim, here: Here): Where | null {
  const [root] = here.folders
  if (folders[0] === root) return state === here.state ? null : 'same'
  return here.folders.includes(folders[0]) ? 'above' : folders.includes(root) ? 'below' : null
}

/** Whether its holder, if proved, may write where this server may. */
function counts(here: Here, { where, pid, uid, folders: [root] }: Claimed, info: ServerInfo | null): boolean {
  if (uid === null || uid === process.geteuid?.()) return uid !== null
  if (where !== 'below') return mayWriteIn(here.stat, uid, pid)
  if (info === null) return false
  // It only claims that its root lies in ours.
  try {
    const real = realpathSync.native(info.root, 'buffer')
    const [id, ...above] = folderIds(real)
    return id === root && above.includes(here.folders[0]) && mayWriteIn(statSync(real), uid, pid)
  } catch {
    return false
  }
}
