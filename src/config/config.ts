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
  type Setting
} from './sources.ts'
import { fail, ok, type Result } from '../result.ts'
import {
  formatBucketAddress,
  isBucketAddress,
  parseBucketAddress,
  type BucketAddress
} from '../object-store/address.ts'
import { TOKEN, type HostAndPort, type ListenOn, type Rate } from './value-kinds.ts'
import type { ToolName } from '../../schemas/tools.ts'
import { DEFAULT_PRIVATE, DEFAULT_PROTECTED } from '../workspace/policy.ts'
import { SETTINGS, type LogLevel, type Name, type ValueOf } from './settings.ts'

export type { Rate } from './value-kinds.ts'

export const VERSION = '0.1.0'

export interface Config {
  /** Absolute; may not exist yet. A bucket: `s3://BUCKET/PREFIX`. */
  root: string
  /** Null: the root is a folder. */
  bucket: BucketAddress | null
  /** Only for buckets; null: Amazon's. */
  s3Endpoint: string | null
  /** Only for buckets; null: the region in the environment. */
  s3Region: string | null
  host: string
  port: number
  /** Null: at host and port. A path is absolute. */
  listen: ListenOn | null
  /** Null: no token is needed (--no-auth). */
  token: string | null
  tokenGenerated: boolean
  /** The file with the token, which is reread while the server runs; null: none. */
  tokenFile: string | null
  /** Null: the one token may do everything. */
  access: AccessSource | null
  /** In ms after a signal to stop. */
  stopDelay: number
  /** The most requests of a token or, without tokens, of an address; null: no limit. */
  rate: Rate | null
  /** '': a bucket has none. */
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
  /** Null: no metrics. */
  metricsListen: HostAndPort | null
  /** Absolute; null: there is no audit. */
  auditFile: string | null
  auditRequired: boolean
  logLevel: LogLevel
  /** Whether the log line of a request has the path of its file. */
  logPaths: boolean
}

/** Where the access file is, and the state folders of its workspaces. */
interface AccessSource {
  /** Absolute. */
  file: string
  /** The folder that contains them; null: they are in `home`, like the one of a root without an access file. */
  stateDir: string | null
  home: string
}

/** Protected paths that can't be read either. */
const READ_PROTECTED = ['.git']

/** What the settings need to know about the machine. */
export interface Disk {
  platform: NodeJS.Platform
  /** The id of this process. */
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

/** A setting's value, or its default. */
type ValueOfName = <N extends Name>(name: N) => ValueOf<N>

/** The flag or variable that gave a setting; undefined if none did. */
type Origin = (name: Name) => string | undefined

/** The token, from a flag, the environment or a file; undefined if none is given or the settings are at fault. */
function tokenOf(value: ValueOfName, from: Origin, disk: Disk, faults: string[]): string | undefined {
  const file = value('token-file')
  const given = from('token')
  if (given !== undefined && file !== undefined) {
    faults.push(`${given} and ${from('token-file')} are both given: give only one.`)
  }
  if (file === undefined) return value('token')
  const read = readToken(file, disk)
  if (read.ok) return read.value
  faults.push(`${from('token-file')} ${read.failure}`)
}

/** The token in a file. Fails with what is wrong with the file, whose name comes first. */
export function readToken(file: string, disk: Pick<Disk, 'readText'> = DISK): Result<string, string> {
  const read = disk.readText(file)
  if (!read.ok) return fail(`"${file}" can't be read: ${read.failure}.`)
  const text = read.value.trim()
  if (text === '') return fail(`"${file}" is empty: it must contain the token.`)
  const parsed = TOKEN.parse(text)
  return parsed.ok ? ok(parsed.value) : fail(`"${file}" does not contain a valid token: expected ${parsed.failure}.`)
}

/** The folder for the state of a user's programs; undefined if the user has none. */
const stateHome = (env: NodeJS.ProcessEnv): string | undefined =>
  env.XDG_STATE_HOME || (env.HOME && join(env.HOME, '.local', 'state')) || undefined

/** A folder for each root, named after it, in the user's state folder. */
export function stateFolderOf(root: string, home: string): string {
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 12)
  return resolve(home, 'editd', `${basename(root) || 'root'}-${digest}`)
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
  // An image sets a default root. With an access file, the roots are in that file.
  if (given.has('access') && given.get('root')?.from === environmentName('root')) given.delete('root')
  chooseListen(given, faults)
  const values = parseGiven(SETTINGS, given, faults)
  const defaults = parseGiven(SETTINGS, defaultsOf(SETTINGS), faults)
  const value = <N extends Name>(name: N) => (values.get(name) ?? defaults.get(name)) as ValueOf<N>
  const from = (name: Name) => given.get(name)?.from

  const { root, bucket } = readRoot(value('root'))
  faults.push(...rootFaults({ root, bucket }, from, disk))

  const host = value('host')
  const token = tokenOf(value, from, disk, faults)
  const tokenFile = value('token-file')
  const noAuth = value('no-auth')
  const tokenGiven = given.has('token') || given.has('token-file')
  if (noAuth && tokenGiven) {
    faults.push(`${from('no-auth')} and ${from('token') ?? from('token-file')} are both given: give only one.`)
  }
  const listenSettings = { listen: value('listen') ?? null, host, from }
  const listen = checkListen(listenSettings, { ...disk, env }, faults)
  faults.push(
    ...tokenFaults(listenSettings, {
      isGiven: tokenGiven || given.has('access'),
      noAuth: noAuth ? (from('no-auth') ?? null) : null
    })
  )

  const protectedNow = [...DEFAULT_PROTECTED, ...(value('protect') ?? [])]
  const unprotect = value('unprotect') ?? []
  for (const pattern of unprotect) {
    if (!protectedNow.includes(pattern)) {
      faults.push(`${from('unprotect')} "${pattern}" is not a protected path: expected ${protectedNow.join(', ')}.`)
    }
  }
  faults.push(...faultsBetween(value, from))
  const access = value('access')
  const audit = value('audit')

  const home = stateHome(env)
  const stateDir = bucket !== null ? '' : (value('state-dir') ?? (home && stateFolderOf(disk.realPath(root), home)))
  if (stateDir === undefined && !given.has('state-dir')) {
    faults.push('There is no state folder, since neither HOME nor XDG_STATE_HOME is set: name one with --state-dir.')
  }

  if (bucket === null && access === undefined) faults.push(...bucketOnlyFaults(root, from))

  if (faults.length > 0 || stateDir === undefined || bucket?.ok === false) return fail(faults)
  const kept = (patterns: readonly string[]) => patterns.filter(pattern => !unprotect.includes(pattern))
  return ok({
    root,
    bucket: bucket && bucket.value,
    s3Endpoint: value('s3-endpoint') ?? null,
    s3Region: value('s3-region') ?? null,
    host,
    port: value('port'),
    listen,
    token: noAuth || access !== undefined ? null : (token ?? randomBytes(32).toString('base64url')),
    tokenGenerated: !noAuth && access === undefined && token === undefined,
    tokenFile: tokenFile === undefined ? null : resolve(tokenFile),
    access:
      access === undefined
        ? null
        : { file: resolve(access), stateDir: value('state-dir') ?? null, home: home ?? dirname(resolve(stateDir)) },
    stopDelay: value('stop-delay') ?? 0,
    rate: value('rate') ?? null,
    stateDir: stateDir === '' ? '' : resolve(stateDir),
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
    tools: value('tools') ?? null,
    mcpOutputSchema: value('mcp-output-schema'),
    allowHosts: value('allow-host') ?? [],
    allowOrigins: value('allow-origin') ?? [],
    metricsListen: value('metrics-listen') ?? null,
    auditFile: audit === undefined ? null : resolve(audit),
    auditRequired: value('audit-required'),
    logLevel: value('log-level'),
    logPaths: value('log-paths') === 'on'
  })
}

/** What is wrong with the root, and which flags it can't have. */
function rootFaults({ root, bucket }: ReturnType<typeof readRoot>, from: Origin, disk: Disk): string[] {
  const named = `${from('root') ?? 'The root'} "${root}"`
  if (bucket !== null) {
    return [
      ...(bucket.ok ? [] : [`${named} ${bucket.failure}.`]),
      ...flagsAmong(NOT_IN_BUCKET, from).map(
        flag => `${flag} is only for a folder, and ${root} is a bucket: leave it out.`
      )
    ]
  }
  if (disk.kindOf(root) !== 'other') return []
  return [`${named} is not a usable folder: name a folder, or a path that does not exist yet.`]
}

/** The flags among these settings; a variable, as in an image, doesn't count. */
const flagsAmong = (names: readonly Name[], from: Origin): string[] =>
  names.flatMap(name => from(name) ?? []).filter(given => given.startsWith('--'))

/** Flags that are given for a folder and mean something in a bucket only. */
const bucketOnlyFaults = (root: string, from: Origin): string[] =>
  flagsAmong(ONLY_IN_BUCKET, from).map(
    flag => `${flag} is only for a bucket, and ${root} is a folder: leave it out, or name s3://BUCKET/PREFIX.`
  )

/** Settings that contradict or need each other. */
function faultsBetween(value: ValueOfName, from: Origin): string[] {
  const faults: string[] = []
  if (value('read-only') && value('tools')?.includes('inspect_file') === false) {
    faults.push(
      `${from('tools')} names no tool that a read-only server offers: ` +
        `add inspect_file, or leave ${from('read-only')} out.`
    )
  }
  if (value('access') !== undefined) {
    for (const other of NOT_WITH_ACCESS.filter(name => from(name) !== undefined)) {
      const named = other === 'root' ? 'a root' : from(other)
      faults.push(
        `${from('access')} and ${named} are both given: the access file says ${IN_ACCESS_FILE[other]}. Leave ${named} out.`
      )
    }
  }
  if (value('audit-required') && value('audit') === undefined) {
    faults.push(`${from('audit-required')} needs a file to write to: name one with --audit.`)
  }
  return faults
}

/** Tells a bucket, whose address may be at fault, from a folder. */
export function readRoot(text: string, folder = ''): { root: string; bucket: Result<BucketAddress, string> | null } {
  if (!isBucketAddress(text)) return { root: resolve(folder, text), bucket: null }
  const bucket = parseBucketAddress(text)
  return { root: bucket.ok ? formatBucketAddress(bucket.value) : text, bucket }
}

/** Faults for a bucket, as flags. In the environment, as in an image, they may be meant for other roots. */
const NOT_IN_BUCKET: readonly Name[] = ['state-dir', 'durability', 'lock', 'allow-delete']
/** Faults for a folder, as flags. */
const ONLY_IN_BUCKET: readonly Name[] = ['s3-endpoint', 's3-region']

/** Settings that the access file replaces, and what it says instead. */
const IN_ACCESS_FILE = {
  root: 'which folders are edited',
  token: 'who may call',
  'token-file': 'who may call',
  'no-auth': 'who may call',
  'allow-delete': 'who may delete files (scope: review)'
} satisfies Partial<Record<Name, string>>
const NOT_WITH_ACCESS = Object.keys(IN_ACCESS_FILE) as (keyof typeof IN_ACCESS_FILE)[]

/** Settings that only the HTTP server has. */
const HTTP_ONLY: readonly Name[] = [
  'access',
  'host',
  'port',
  'listen',
  'token',
  'token-file',
  'no-auth',
  'stop-delay',
  'rate',
  'metrics-listen',
  'no-docs',
  'allow-host',
  'allow-origin'
]

/**
 * The settings of `editd mcp` and `editd forget`, which don't listen: settings of the HTTP server are faults as flags,
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
 * A sentence for each environment variable that looks like a setting and isn't one. It is ignored, since other programs
 * may have variables whose names start the same way.
 */
export const environmentWarnings = (env: NodeJS.ProcessEnv): string[] => unknownVariables(SETTINGS, env)

interface SettingRow {
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
