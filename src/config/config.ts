// Settings from flags and the environment, with every fault reported at once. Does not know what a setting does; reads
// the disk only through `Disk`.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { checkListen, chooseListen, tokenFaults } from './listen.ts'
import {
  defaultsOf,
  environmentName,
  parseGiven,
  readEnvironment,
  readFlags,
  unknownVariables,
  type Setting,
  type Settings
} from './sources.ts'
import { fail, ok, type Result } from '../result.ts'
import {
  BOOLEAN,
  duration,
  EXTENSION,
  FOLDER,
  HOST_NAME,
  integer,
  list,
  LISTEN,
  LOCK,
  oneOf,
  ORIGIN,
  PATTERN,
  size,
  TEXT,
  TOKEN,
  TOOL,
  type Kind,
  type ListenOn
} from './value-kinds.ts'
import type { ToolName } from '../../schemas/tools.ts'
import { DEFAULT_PRIVATE, DEFAULT_PROTECTED } from '../workspace/root/policy.ts'

export const VERSION = '0.1.0'

export interface Config {
  /** Absolute; may not exist yet. */
  root: string
  host: string
  port: number
  /** null: at host and port. A path is absolute. */
  listen: ListenOn | null
  /** How many processes serve. */
  processes: number
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
  allowDelete: boolean
  history: 'full' | 'meta' | 'required' | 'off'
  historyDays: number
  /** Bytes. */
  historySize: number
  historyPrivate: string[]
  docs: boolean
  /** The folder of Anthropic's memory tool, below the root. */
  memoryRoot: string
  /** The tools to offer; null: the usual ones. */
  tools: ToolName[] | null
  mcpOutputSchema: boolean
  allowHosts: string[]
  allowOrigins: string[]
  logLevel: LogLevel
  /** Whether the line of a request has the path of its file. */
  logPaths: boolean
}

/** The protected paths that may not be read either. */
const READ_PROTECTED = ['.git']

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

/** A setting with a default, which is written as a user would write it and becomes a value in the same way. */
const setting = <T>(kind: Kind<T>, text: string, help: string): Setting<T> & { default: string } => ({
  kind,
  default: text,
  shown: text,
  help
})
const switchSetting = (help: string): Setting<boolean> & { default: string } => ({
  ...setting(BOOLEAN, 'false', help),
  shown: 'off',
  boolean: true
})
/** A setting without a default; `shown` says what holds where it isn't given. */
const optional = <T>(kind: Kind<T>, shown: string, help: string): Setting<T> => ({ kind, shown, help })
const listSetting = <T>(element: Kind<T>, shown: string, help: string): Setting<T[]> => ({
  ...optional(list(element), shown, help),
  list: true
})

/**
 * Every setting: `--name`, and `EDITD_NAME` in the environment; `root` is the argument without a flag. The only place
 * of their defaults: --help and docs/settings.md are made from it.
 */
const SETTINGS = {
  root: setting(TEXT, './workspace', 'the folder whose files are edited; created if missing'),
  host: setting(HOST_NAME, '127.0.0.1', 'the address to listen on'),
  port: setting(integer(0, 65535), '7333', 'the port to listen on; 0 picks a free one'),
  listen: optional(
    LISTEN,
    'on the host and port',
    'where to listen instead: unix:PATH, a unix socket to make; fd:3, the first socket that systemd hands over'
  ),
  processes: setting(integer(1, 64), '1', 'how many processes serve on that address'),
  token: { ...optional(TOKEN, 'generated at each start', 'the bearer token that clients send'), secret: true },
  'token-file': optional(TEXT, 'none', 'a file that contains the token'),
  'no-auth': switchSetting('require no token; on a loopback host or a unix socket only'),
  'state-dir': optional(
    TEXT,
    'in $XDG_STATE_HOME or ~/.local/state',
    'the folder for locks and the journal; all servers on a root must share it'
  ),
  durability: setting(oneOf('full', 'fast'), 'full', 'full: fsync the file and its folder; fast: no fsync'),
  lock: setting(
    LOCK,
    'shared',
    'shared: also take a lock file, for servers in other containers or on other hosts; local: no lock file'
  ),
  'lock-timeout': setting(
    duration(3_600_000, '60m'),
    '10s',
    'how long a request waits for a file that is being edited'
  ),
  'max-file-size': setting(size(2 ** 31 - 1), '100MB', 'the largest file that can be read or edited'),
  'max-edits': setting(integer(1, 100_000), '1000', 'the most edits in one request'),
  'body-limit': setting(size(2 ** 29 - 25), '32MB', 'the largest request body'),
  'allow-extensions': listSetting(EXTENSION, 'all', 'the only file extensions allowed, such as .ts,.md'),
  protect: listSetting(PATTERN, 'none', 'additional paths that may not be edited'),
  unprotect: listSetting(
    PATTERN,
    'none',
    `paths to edit although they are protected by default (${DEFAULT_PROTECTED.join(', ')})`
  ),
  'read-only': switchSetting('refuse every edit and preview'),
  'require-hash': switchSetting('refuse edits without an expected_hash'),
  'allow-delete': switchSetting('let patches delete and move files, of which the history keeps what they held'),
  history: setting(
    oneOf('full', 'meta', 'required', 'off'),
    'full',
    "full: every change is kept, to be taken back; required: and what can't be recorded isn't done; " +
      'meta: kept without texts; off: nothing is kept'
  ),
  'history-days': setting(integer(1, 36_500), '30', 'how many days a change is kept'),
  'history-size': setting(
    size(2 ** 50),
    '1GB',
    'how much the history may take; beyond it, the oldest changes go first'
  ),
  'history-private': listSetting(PATTERN, 'none', 'additional files whose texts the history does not keep'),
  'history-all-texts': switchSetting(
    `also keep the texts of files that often hold secrets (${DEFAULT_PRIVATE.join(', ')})`
  ),
  tools: listSetting(
    TOOL,
    'all but batch_edit, edit_history, preview_edit and redo_edit',
    'the only tools to offer to models, such as edit_file,inspect_file'
  ),
  'memory-root': setting(FOLDER, 'memories', "the folder of Anthropic's memory tool, below the root"),
  'mcp-output-schema': switchSetting(
    'tell MCP clients the schema of each answer, and send answers as structuredContent too'
  ),
  'no-docs': switchSetting('serve neither the review page nor /docs nor the OpenAPI documents'),
  'allow-host': listSetting(HOST_NAME, 'none', 'additional Host names to accept'),
  'allow-origin': listSetting(ORIGIN, 'none', 'origins of web pages that may call this server'),
  'log-level': setting(oneOf(...LOG_LEVELS), 'info', `what is logged: ${LOG_LEVELS.join(', ')}`),
  'log-paths': setting(oneOf('on', 'off'), 'on', 'whether the log line of a request has the path of its file: on, off')
} satisfies Settings

type Name = keyof typeof SETTINGS
type ValueOf<N extends Name> =
  (typeof SETTINGS)[N] extends Setting<infer T>
    ? (typeof SETTINGS)[N] extends { default: string }
      ? T
      : T | undefined
    : never

/** What the settings need to know about the machine. */
export interface Disk {
  platform: NodeJS.Platform
  /** Of this process. */
  pid: number
  /** The content of a file, or why it can't be read. */
  readText(path: string): Result<string, string>
  kindOf(path: string): 'folder' | 'missing' | 'other'
  /** The real path; where it doesn't exist, below the real path of its nearest existing parent. */
  realPath(path: string): string
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown error')

export const DISK: Disk = {
  platform: process.platform,
  pid: process.pid,
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

/** The token, from a flag, the environment or a file; undefined where none is given or the settings are at fault. */
function tokenOf(
  value: <N extends Name>(name: N) => ValueOf<N>,
  from: (name: Name) => string | undefined,
  disk: Disk,
  faults: string[]
): string | undefined {
  const file = value('token-file')
  const given = from('token')
  if (given !== undefined && file !== undefined) {
    faults.push(`${given} and ${from('token-file')} are both given: give only one.`)
  }
  if (file === undefined) return value('token')
  const read = disk.readText(file)
  if (!read.ok) {
    faults.push(`${from('token-file')} "${file}" can't be read: ${read.failure}.`)
    return
  }
  const text = read.value.trim()
  if (text === '') {
    faults.push(`${from('token-file')} "${file}" is empty: it must contain the token.`)
    return
  }
  const parsed = TOKEN.parse(text)
  if (parsed.ok) return parsed.value
  faults.push(`${from('token-file')} "${file}" does not contain a valid token: expected ${parsed.failure}.`)
}

/** A folder for each root, named after it, in the user's state folder; undefined where the user has none. */
function defaultStateDir(root: string, env: NodeJS.ProcessEnv): string | undefined {
  const home = env.XDG_STATE_HOME || (env.HOME && join(env.HOME, '.local', 'state'))
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 12)
  return home ? resolve(home, 'editd', `${basename(root) || 'root'}-${digest}`) : undefined
}

/**
 * The settings from flags and the environment; a flag wins. Fails with every fault at once, each a sentence that names
 * the setting, its value and what is expected.
 */
export function loadConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  disk: Disk = DISK
): Result<Config, string[]> {
  const faults: string[] = []
  const given = new Map([...readEnvironment(SETTINGS, env), ...readFlags(SETTINGS, 'root', argv, faults)])
  chooseListen(given, faults)
  const values = parseGiven(SETTINGS, given, faults)
  const defaults = parseGiven(SETTINGS, defaultsOf(SETTINGS), faults)
  const value = <N extends Name>(name: N) => (values.get(name) ?? defaults.get(name)) as ValueOf<N>
  const from = (name: Name) => given.get(name)?.from

  const root = resolve(value('root'))
  if (disk.kindOf(root) === 'other') {
    faults.push(
      `${from('root') ?? 'The root'} "${root}" is not a usable folder: ` +
        'name a folder, or a path that does not exist yet.'
    )
  }

  const host = value('host')
  const token = tokenOf(value, from, disk, faults)
  const noAuth = value('no-auth')
  const tokenGiven = given.has('token') || given.has('token-file')
  if (noAuth && tokenGiven) {
    faults.push(`${from('no-auth')} and ${from('token') ?? from('token-file')} are both given: give only one.`)
  }
  const listenSettings = { listen: value('listen') ?? null, host, from }
  const listen = checkListen(listenSettings, { ...disk, env }, faults)
  faults.push(
    ...tokenFaults(listenSettings, { isGiven: tokenGiven, noAuth: noAuth ? (from('no-auth') ?? null) : null })
  )

  const processes = value('processes')
  if (processes > 1 && value('lock') === 'local' && disk.platform !== 'linux') {
    faults.push(
      `${from('lock')} local works with one process only, except on Linux, but ${from('processes')} is ${processes}: ` +
        'leave one of them out.'
    )
  }

  const protectedNow = [...DEFAULT_PROTECTED, ...(value('protect') ?? [])]
  const unprotect = value('unprotect') ?? []
  for (const pattern of unprotect) {
    if (!protectedNow.includes(pattern)) {
      faults.push(`${from('unprotect')} "${pattern}" is not a protected path: expected ${protectedNow.join(', ')}.`)
    }
  }

  const tools = value('tools') ?? null
  if (value('read-only') && tools?.includes('inspect_file') === false) {
    faults.push(
      `${from('tools')} names no tool that a read-only server offers: ` +
        `add inspect_file, or leave ${from('read-only')} out.`
    )
  }

  const stateDir = value('state-dir') ?? defaultStateDir(disk.realPath(root), env)
  if (stateDir === undefined && !given.has('state-dir')) {
    faults.push('There is no state folder, since neither HOME nor XDG_STATE_HOME is set: name one with --state-dir.')
  }

  if (faults.length > 0 || stateDir === undefined) return fail(faults)
  const kept = (patterns: readonly string[]) => patterns.filter(pattern => !unprotect.includes(pattern))
  return ok({
    root,
    host,
    port: value('port'),
    listen,
    processes,
    token: noAuth ? null : (token ?? randomBytes(32).toString('base64url')),
    tokenGenerated: !noAuth && token === undefined,
    stateDir: resolve(stateDir),
    durability: value('durability'),
    lock: value('lock'),
    lockTimeout: value('lock-timeout'),
    maxFileSize: value('max-file-size'),
    maxEdits: value('max-edits'),
    bodyLimit: value('body-limit'),
    allowExtensions: value('allow-extensions') ?? null,
    protect: kept(protectedNow),
    readProtect: kept(READ_PROTECTED),
    readOnly: value('read-only'),
    requireHash: value('require-hash'),
    allowDelete: value('allow-delete'),
    history: value('history'),
    historyDays: value('history-days'),
    historySize: value('history-size'),
    historyPrivate: [...(value('history-all-texts') ? [] : DEFAULT_PRIVATE), ...(value('history-private') ?? [])],
    memoryRoot: value('memory-root'),
    docs: !value('no-docs'),
    tools,
    mcpOutputSchema: value('mcp-output-schema'),
    allowHosts: value('allow-host') ?? [],
    allowOrigins: value('allow-origin') ?? [],
    logLevel: value('log-level'),
    logPaths: value('log-paths') === 'on'
  })
}

/** Settings that only the HTTP server has. */
const HTTP_ONLY: readonly Name[] = [
  'host',
  'port',
  'listen',
  'processes',
  'token',
  'token-file',
  'no-auth',
  'no-docs',
  'allow-host',
  'allow-origin'
]

/**
 * The settings of `editd mcp` and `editd forget`, which do not listen: settings of the HTTP server are faults as flags,
 * and ignored in the environment, which is often shared.
 */
export function loadLocalConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  disk: Disk = DISK,
  command: 'mcp' | 'forget' = 'mcp'
): Result<Config, string[]> {
  const foreign = HTTP_ONLY.filter(name =>
    argv.some(argument => argument === `--${name}` || argument.startsWith(`--${name}=`))
  )
  if (foreign.length > 0) {
    return fail(
      foreign.map(name => `--${name} is only for the HTTP server, and editd ${command} does not listen: leave it out.`)
    )
  }
  const names = HTTP_ONLY.map(environmentName)
  return loadConfig(argv, Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name))), disk)
}

/**
 * A sentence for each variable in the environment that looks like a setting and isn't one. It is ignored: whoever runs
 * a server may have variables of other programs, whose names begin alike.
 */
export const environmentWarnings = (env: NodeJS.ProcessEnv): string[] => unknownVariables(SETTINGS, env)

export interface SettingRow {
  /** As it is written on a command line. */
  flag: string
  environment: string
  default: string
  meaning: string
}

/** The table of settings, for people. */
export const settingRows = (): SettingRow[] =>
  Object.entries<Setting>(SETTINGS).map(([name, { help, shown, boolean }]) => ({
    flag: name === 'root' ? '[root]' : `--${name}${boolean ? '' : ' …'}`,
    environment: environmentName(name),
    default: shown,
    meaning: help
  }))

/** The text of --help. */
export function helpText(): string {
  const lines = settingRows().map(
    row => `  ${row.flag.padEnd(22)} ${row.environment.padEnd(24)} ${row.meaning} (${row.default})`
  )
  return [
    'editd [root] [flags]      edits text files safely, over HTTP',
    'editd mcp [root] [flags]  the same over MCP, on stdin and stdout, without the settings of the HTTP server',
    'editd forget PATH [root] [flags]',
    '                          removes the texts of the history of one file',
    'editd -h, --help          prints this',
    'editd -v, --version       prints the version',
    '',
    'Flag, environment variable, meaning (default). A flag wins over its environment variable.',
    ...lines,
    '',
    'Lists are comma-separated, or the flag is repeated. Sizes are bytes, 100MB or 64KiB. Durations are 10s or 500ms.',
    ''
  ].join('\n')
}
