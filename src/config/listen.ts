// What has to be true of where the server listens, as far as settings can tell. Does not know how to listen, or what is
// on the disk.
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Given } from './sources.ts'
import type { ListenOn } from './value-kinds.ts'

/** Where it listens: on `listen`, or where that is null, at the host. Texts of `from` are flags or variables. */
export interface ListenSettings {
  listen: ListenOn | null
  host: string
  from(name: 'listen' | 'host'): string | undefined
}

/** The process, as far as it decides about where to listen. */
export interface ListenProcess {
  platform: NodeJS.Platform
  pid: number
  env: NodeJS.ProcessEnv
}

/** The first socket that systemd hands over. */
const FIRST_FD = 3
/** The most bytes of a socket's path: what `sun_path` takes, less the zero at its end. */
const MAX_PATH: Partial<Record<NodeJS.Platform, number>> = { linux: 107 }
const MAX_PATH_ELSEWHERE = 103

/** Whether a server that listens on this host can be reached from this machine only. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/**
 * Of `listen`, and `host` and `port`, only one can hold. As a flag wins over a variable, given in the same way they are
 * a fault, and otherwise the variable is taken out of what is given: images set EDITD_HOST.
 */
export function chooseListen(given: Given, faults: string[]): void {
  const isFlag = (from: string) => from.startsWith('--')
  for (const name of ['host', 'port']) {
    const [listen, other] = [given.get('listen'), given.get(name)]
    if (listen === undefined || other === undefined) continue
    if (isFlag(listen.from) === isFlag(other.from)) {
      faults.push(`${listen.from} and ${other.from} are both given: give only one.`)
    } else given.delete(isFlag(listen.from) ? name : 'listen')
  }
}

/** What `listen` becomes, with an absolute path, and why it can't be used. */
export function checkListen(
  { listen, from }: ListenSettings,
  { platform, pid, env }: ListenProcess,
  faults: string[]
): ListenOn | null {
  if (listen === null) return null
  if ('path' in listen) {
    const path = resolve(listen.path)
    const [bytes, most] = [Buffer.byteLength(path), MAX_PATH[platform] ?? MAX_PATH_ELSEWHERE]
    if (bytes > most) {
      faults.push(
        `${from('listen')} "unix:${path}" is too long: the path of a unix socket has at most ${most} bytes, ` +
          `and this one has ${bytes}.`
      )
    }
    return { path }
  }
  const count = env.LISTEN_PID === String(pid) ? Number(env.LISTEN_FDS) : 0
  if (!(listen.fd >= FIRST_FD && listen.fd < FIRST_FD + count)) {
    const shown = (name: string) => (env[name] === undefined ? `${name} is not set` : `${name} is "${env[name]}"`)
    faults.push(
      `${from('listen')} "fd:${listen.fd}" is no socket that was handed to this process: ${shown('LISTEN_FDS')}, ` +
        `${shown('LISTEN_PID')}, and this is process ${pid}. ` +
        `Let a systemd socket unit start node itself, and count its sockets from fd:${FIRST_FD}.`
    )
  }
  return listen
}

/** Why the server can't be without a token there, or without one that somebody configured. */
export function tokenFaults(
  { listen, host, from }: ListenSettings,
  token: { isGiven: boolean; noAuth: string | null }
): string[] {
  if (listen === null) {
    if (isLoopback(host)) return []
  } else if ('path' in listen) return []
  // What a socket is bound to that was handed over isn't known here.
  const [name, shown, reached] =
    listen === null ? [from('host'), host, 'can be reached'] : [from('listen'), `fd:${listen.fd}`, 'may be reached']
  const remedy = 'with --token or --token-file, or listen on 127.0.0.1.'
  if (token.noAuth !== null) {
    return [
      `${token.noAuth} works on a loopback host or a unix socket only, but ${name} is "${shown}": set a token ${remedy}`
    ]
  }
  return token.isGiven
    ? []
    : [`${name} "${shown}" ${reached} from other machines, so it needs a token: set one ${remedy}`]
}
