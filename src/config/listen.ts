// Checks where the server is to listen, as far as settings can tell. Does not know how to listen, or what is on the
// disk.
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Given } from './sources.ts'
import type { ListenOn } from './value-kinds.ts'

/** Where it listens: on `listen` or, if that is null, at the host. Texts in `from` are flags or variables. */
interface ListenSettings {
  listen: ListenOn | null
  host: string
  from(name: 'listen' | 'host'): string | undefined
}

/** The properties of the process that decide where it can listen. */
interface ListenProcess {
  platform: NodeJS.Platform
  pid: number
  env: NodeJS.ProcessEnv
}

/** The first socket that systemd passes. */
const FIRST_FD = 3
/** The maximum length of a socket's path in bytes: the size of `sun_path`, less the zero at its end. */
const MAX_PATH: Partial<Record<NodeJS.Platform, number>> = { linux: 107 }
const MAX_PATH_ELSEWHERE = 103

/** Whether a server that listens on this host can be reached only from this machine. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/**
 * Only one of `listen`, and `host` and `port`, can apply. A flag wins over a variable: the variable is removed from
 * what is given, since images set EDITD_HOST. Both as flags, or both as variables, are a fault.
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

/** The `listen` setting, with an absolute path; adds a fault if it can't be used. */
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

/** Why the server can't listen there without a token, or with a token that nobody configured. */
export function tokenFaults(
  { listen, host, from }: ListenSettings,
  token: { isGiven: boolean; noAuth: string | null }
): string[] {
  if (listen === null) {
    if (isLoopback(host)) return []
  } else if ('path' in listen) return []
  // The address of a passed socket isn't known here.
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
