// Identifies the holder of something: host, boot, pid namespace, pid and start time; and tells whether that process
// still runs. Does not know locks, and has no files of its own.
import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from '../../workspace/errno.ts'

export interface Owner {
  hostname: string
  boot_id: string
  pid_namespace: string
  pid: number
  /** In clock ticks since boot; '' where there is no /proc. */
  start_time: string
  /** 24 hex digits, new for each workspace that is opened. */
  nonce: string
  /** It has a socket that shows whether it runs. */
  announced?: true
  /** It takes no lock files. */
  local?: true
}

/**
 * `dead`: the process is gone for good; this is certain.
 * `silent`: no sign of it for `SILENCE`, so it is dead, suspended or cut off; it may still come back.
 */
export type Life = 'alive' | 'silent' | 'dead'

/** The server that examines owners: itself, and what the sockets say (see LivenessSockets). */
export interface Observer {
  readonly me: Owner
  hasEnded(nonce: string): Promise<boolean | null>
}

/**
 * In ms: after this, an owner that can't be examined otherwise counts as silent. Owners touch their file every
 * `HEARTBEAT`, so six touches must be missed; chosen, not measured.
 */
export const SILENCE = 60_000
export const HEARTBEAT = 10_000

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return ''
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    /* c8 ignore next 2 -- only where there is no /proc */
    return ''
  }
}

/** Field 22 of /proc/<pid>/stat; '' if there is no such process, only its remains, or no /proc. */
function startTime(pid: number): string {
  const stat = read(`/proc/${pid}/stat`)
  // The second field is the program's name in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '')
}

/** A record of this process. */
export function thisOwner(): Owner {
  return {
    hostname: hostname(),
    boot_id: read('/proc/sys/kernel/random/boot_id'),
    pid_namespace: pidNamespace(),
    pid: process.pid,
    start_time: startTime(process.pid),
    nonce: randomBytes(12).toString('hex')
  }
}

/**
 * Whether the process behind `owner` still runs; `heartbeatAge` in ms. Certain for a process of this host and pid
 * namespace, for an earlier boot of this host (hosts that share a state folder need names of their own), and on this
 * kernel for a server that announced itself; otherwise only silence tells.
 */
export async function lifeOf(owner: Owner, heartbeatAge: number, { me, hasEnded }: Observer): Promise<Life> {
  const sameBoot = owner.boot_id === me.boot_id && (owner.boot_id !== '' || owner.hostname === me.hostname)
  const bySilence = heartbeatAge > SILENCE ? 'silent' : 'alive'
  if (sameBoot && owner.pid_namespace === me.pid_namespace) {
    const started = startTime(owner.pid)
    if (started !== '' && owner.start_time !== '') return started === owner.start_time ? 'alive' : 'dead'
    // A process of another user may be hidden from /proc, but not from kill. Without a start time, the pid may have
    // been reused.
    return exists(owner.pid) ? bySilence : 'dead'
  }
  // Another boot of this host, unless it is another host with the same name, which would not be silent.
  if (!sameBoot) return owner.hostname === me.hostname && bySilence === 'silent' ? 'dead' : bySilence
  const ended = owner.announced === true && owner.boot_id !== '' ? await hasEnded(owner.nonce) : null
  return ended === null ? bySilence : ended ? 'dead' : 'alive'
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** An owner from its JSON, or null if that isn't one (a write that a crash cut short). */
export function parseOwner(text: string): Owner | null {
  try {
    const value: unknown = JSON.parse(text)
    return isOwner(value) ? value : null
  } catch {
    return null
  }
}

/** Whether a value read from the state folder is an owner. */
export function isOwner(value: unknown): value is Owner {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    ['hostname', 'boot_id', 'pid_namespace', 'start_time', 'nonce'].every(
      key => typeof Object.entries(value).find(([name]) => name === key)?.[1] === 'string'
    )
  )
}
