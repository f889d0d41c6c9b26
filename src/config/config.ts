// Settings from flags and environment; every fault at once. Starts nothing, and reads the disk only through `Disk`.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { environmentName, parseGiven, readEnvironment, readFlags, type Setting, type Settings } from './sources.ts'
import { fail, ok, type Result } from '../result.ts'
import {
  BOOLEAN,
  duration,
  EXTENSION,
  HOST_NAME,
  integer,
  list,
  LOCK,
  oneOf,
  ORIGIN,
  PATTERN,
  size,
  TEXT,
  TOKEN,
  type Kind
} from './value-kinds.ts'
import { DEFAULT_PROTECTED } from '../workspace/policy.ts'

export const VERSION = '0.1.0'

export interface Config {
  /** Absolute; may not exist yet. */
  root: string
  host: string
  port: number
  /** null: no token is asked for (--no-auth). */
  token: string | null
  tokenGenerated: boolean
  stateDir: string
  durability: 'full' | 'fast'
  lock: 'shared' | 'local'
  /** Milliseconds. */
  lockTimeout: number
  /** Bytes. */
  maxFileSize: number
  maxEdits: number
  /** Bytes. */
  bodyLimit: number
  allowExtensions: string[] | null
  protect: string[]
  readProtect: string[]
  readOnly: boolean
  requireHash: boolean
  docs: boolean
  allowHosts: string[]
  allowOrigins: string[]
  logLevel: LogLevel
}

/** Of what is protected, what may not be read either. */
const READ_PROTECTED = ['.git']

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

const setting = <T>(kind: Kind<T>, shown: string, help: string): Setting<T> => ({ kind, shown, help })
const listSetting = <T>(element: Kind<T>, shown: string, help: string): Setting<T[]> => ({
  kind: list(element),
  shown,
  help,
  list: true
})
const flagSetting = (help: string): Setting<boolean> => ({ kind: BOOLEAN, shown: 'off', help, boolean: true })

/** Every setting: `--name`, and `EDITD_NAME` in the environment. `root` is the argument without a flag. */
const SETTINGS = {
  root: setting(TEXT, './workspace', 'the folder to work in, made if missing'),
  host: setting(HOST_NAME, '127.0.0.1', 'address to listen on'),
  port: setting(integer(0, 65535), '7333', 'port; 0 takes a free one'),
  token: { ...setting(TOKEN, 'made at start', 'the bearer token that clients send'), secret: true },
  'token-file': setting(TEXT, 'none', 'file that holds the token'),
  'no-auth': flagSetting('ask for no token; on a loopback host only'),
  'state-dir': setting(
    TEXT,
    'in $XDG_STATE_HOME or ~/.local/state',
    'folder for locks and journal; one for all servers on a root'
  ),
  durability: setting(oneOf('full', 'fast'), 'full', 'full: fsync of file and folder; fast: no fsync'),
  lock: setting(LOCK, 'shared', 'shared: with a lock file, for servers on other hosts; local: without'),
  'lock-timeout': setting(duration(3_600_000, '60m'), '10s', 'how long to wait for a file that others edit'),
  'max-file-size': setting(size(2 ** 31 - 1), '100MB', 'larger files are refused'),
  'max-edits': setting(integer(1, 100_000), '1000', 'edits in one request'),
  'body-limit': setting(size(2 ** 29 - 25), '32MB', 'size of a request'),
  'allow-extensions': listSetting(EXTENSION, 'all', 'the only extensions that may be used, such as .ts,.md'),
  protect: listSetting(PATTERN, 'none', 'more paths that may not be edited'),
  unprotect: listSetting(PATTERN, 'none', 'paths protected by default that may be edited after all'),
  'read-only': flagSetting('edit nothing'),
  'require-hash': flagSetting('every edit needs an expected_hash'),
  'no-docs': flagSetting('no /docs and no OpenAPI documents'),
  'allow-host': listSetting(HOST_NAME, 'none', 'names by which clients may call this server'),
  'allow-origin': listSetting(ORIGIN, 'none', 'origins of web pages that may call it'),
  'log-level': setting(oneOf(...LOG_LEVELS), 'info', LOG_LEVELS.join(', '))
} satisfies Settings

type Name = keyof typeof SETTINGS
type ValueOf<N extends Name> = (typeof SETTINGS)[N] extends Setting<infer T> ? T : never

/** What the settings need to know of the disk. */
export interface Disk {
  /** The content of a file, or why it can't be read. */
  readText(path: string): Result<string, string>
  kindOf(path: string): 'folder' | 'missing' | 'other'
  /** The real path; of what doesn't exist, under the real path of the nearest parent that does. */
  realPath(path: string): string
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown error')

export const DISK: Disk = {
  readText(path) {
    try {
      return ok(readFileSync(path, 'utf8'))
    } catch (error) {
      return fail(errorCode(error))
    }
  },
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? 'folder' : 'other'
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? 'missing' : 'other'
    }
  },
  realPath(path) {
    try {
      return realpathSync(path)
    } catch {
      return dirname(path) === path ? path : join(DISK.realPath(dirname(path)), basename(path))
    }
  }
}

/** Whether only this machine can reach a server that listens there. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** The token, from wherever it was given; none when the settings are at fault. */
function tokenOf(
  value: <N extends Name>(name: N) => ValueOf<N> | undefined,
  from: (name: Name) => string | undefined,
  disk: Disk,
  faults: string[]
): string | undefined {
  const file = value('token-file')
  const given = from('token')
  if (given !== undefined && file !== undefined) {
    faults.push(`${given} and ${from('token-file')} are both given: give one of them.`)
  }
  if (file === undefined) return value('token')
  const read = disk.readText(file)
  if (!read.ok) {
    faults.push(`${from('token-file')} "${file}" can't be read: ${read.failure}.`)
    return
  }
  const text = read.value.trim()
  if (text === '') {
    faults.push(`${from('token-file')} "${file}" is empty: it has to hold the token.`)
    return
  }
  const parsed = TOKEN.parse(text)
  if (parsed.ok) return parsed.value
  faults.push(`${from('token-file')} "${file}" holds no token that can be used: it accepts ${parsed.failure}.`)
}

/** One folder for each root, named after it, under the state folder of the user. */
function defaultStateDir(root: string, env: NodeJS.ProcessEnv): string | undefined {
  const home = env.XDG_STATE_HOME || (env.HOME && join(env.HOME, '.local', 'state'))
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 12)
  return home ? resolve(home, 'editd', `${basename(root) || 'root'}-${digest}`) : undefined
}

/**
 * The settings from flags and environment; a flag wins.
 * Fails with every fault at once, each a sentence that names the setting, its value and what is accepted.
 */
export function loadConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  disk: Disk = DISK
): Result<Config, string[]> {
  const faults: string[] = []
  const given = new Map([...readEnvironment(SETTINGS, env, faults), ...readFlags(SETTINGS, 'root', argv, faults)])
  const values = parseGiven(SETTINGS, given, faults)
  const value = <N extends Name>(name: N) => values.get(name) as ValueOf<N> | undefined
  const from = (name: Name) => given.get(name)?.from

  const root = resolve(value('root') ?? 'workspace')
  if (disk.kindOf(root) === 'other') {
    faults.push(
      `${from('root') ?? 'The root'} "${root}" is not a folder that can be used: name a folder, or a path that doesn't exist yet.`
    )
  }

  const host = value('host') ?? '127.0.0.1'
  const token = tokenOf(value, from, disk, faults)
  const noAuth = value('no-auth') ?? false
  const tokenGiven = given.has('token') || given.has('token-file')
  if (noAuth && tokenGiven) {
    faults.push(`${from('no-auth')} and ${from('token') ?? from('token-file')} are both given: give one of them.`)
  }
  if (noAuth && !isLoopback(host)) {
    faults.push(
      `${from('no-auth')} is accepted on a loopback host only, and ${from('host')} is "${host}": give a token with --token or --token-file, or listen on 127.0.0.1.`
    )
  } else if (!tokenGiven && !isLoopback(host)) {
    faults.push(
      `${from('host')} "${host}" can be reached from elsewhere, so it needs a token: give one with --token or --token-file, or listen on 127.0.0.1.`
    )
  }

  const protectedNow = [...DEFAULT_PROTECTED, ...(value('protect') ?? [])]
  const unprotect = value('unprotect') ?? []
  for (const pattern of unprotect) {
    if (!protectedNow.includes(pattern)) {
      faults.push(
        `${from('unprotect')} "${pattern}" names nothing that is protected: it accepts ${protectedNow.join(', ')}.`
      )
    }
  }

  const stateDir = value('state-dir') ?? defaultStateDir(disk.realPath(root), env)
  if (stateDir === undefined && !given.has('state-dir')) {
    faults.push(
      'There is no folder for the state, since neither HOME nor XDG_STATE_HOME is set: name one with --state-dir.'
    )
  }

  if (faults.length > 0 || stateDir === undefined) return fail(faults)
  const kept = (patterns: readonly string[]) => patterns.filter(pattern => !unprotect.includes(pattern))
  return ok({
    root,
    host,
    port: value('port') ?? 7333,
    token: noAuth ? null : (token ?? randomBytes(32).toString('base64url')),
    tokenGenerated: !noAuth && token === undefined,
    stateDir: resolve(stateDir),
    durability: value('durability') ?? 'full',
    lock: value('lock') ?? 'shared',
    lockTimeout: value('lock-timeout') ?? 10_000,
    maxFileSize: value('max-file-size') ?? 100e6,
    maxEdits: value('max-edits') ?? 1000,
    bodyLimit: value('body-limit') ?? 32e6,
    allowExtensions: value('allow-extensions') ?? null,
    protect: kept(protectedNow),
    readProtect: kept(READ_PROTECTED),
    readOnly: value('read-only') ?? false,
    requireHash: value('require-hash') ?? false,
    docs: !(value('no-docs') ?? false),
    allowHosts: value('allow-host') ?? [],
    allowOrigins: value('allow-origin') ?? [],
    logLevel: value('log-level') ?? 'info'
  })
}

/** Settings of who may call over HTTP, and where. */
const OF_HTTP: readonly Name[] = [
  'host',
  'port',
  'token',
  'token-file',
  'no-auth',
  'no-docs',
  'allow-host',
  'allow-origin'
]

/**
 * The settings of `editd mcp`, which listens nowhere: flags of HTTP are faults; in the environment, which is often
 * shared, they count for nothing.
 */
export function loadLocalConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  disk: Disk = DISK
): Result<Config, string[]> {
  const foreign = OF_HTTP.filter(name =>
    argv.some(argument => argument === `--${name}` || argument.startsWith(`--${name}=`))
  )
  if (foreign.length > 0) {
    return fail(
      foreign.map(name => `--${name} is a setting of the HTTP server, and editd mcp listens nowhere: leave it out.`)
    )
  }
  const names = OF_HTTP.map(environmentName)
  return loadConfig(argv, Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name))), disk)
}

/** What --help prints. */
export function helpText(): string {
  const lines = Object.entries<Setting>(SETTINGS).map(([name, { help, shown, boolean }]) => {
    const flag = name === 'root' ? '[root]' : `--${name}${boolean ? '' : ' …'}`
    return `  ${flag.padEnd(22)} ${environmentName(name).padEnd(24)} ${help} (${shown})`
  })
  return [
    'editd [root] [flags]: edits text files safely, over HTTP.',
    'editd mcp [root] [flags]: the same over MCP, on stdin and stdout; settings of HTTP have no meaning then.',
    '',
    'Flag, environment variable, meaning (default); a flag wins:',
    ...lines,
    '',
    'Lists are comma-separated or the flag repeated; sizes are bytes, 100MB or 64KiB; durations are 10s or 500ms.',
    ''
  ].join('\n')
}
