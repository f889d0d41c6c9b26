#!/usr/bin/env node
// The process: argv, environment, listening, signals. The only file that knows argv, the environment and when to stop;
// does not know any route.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AuditFile } from './audit/audit-file.ts'
import { auditFaults } from './audit/place.ts'
import { loadAccess, type Access } from './config/access-file.ts'
import { environmentWarnings, helpText, loadConfig, loadLocalConfig, VERSION, type Config } from './config/config.ts'
import { followCredentials } from './credentials.ts'
import { codeOf } from './error-code.ts'
import { CantListen, clearSocketPath, listen, type ListenPlace } from './listen.ts'
import { openLog, printable } from './logger.ts'
import type { MetricsListener } from './metrics/listener.ts'
import type { Metrics } from './metrics/metrics.ts'
import { openSpaces } from './open-spaces.ts'
import { CantOpen, type Credentials, type Spaces } from './spaces.ts'
import { Occupied } from './folder/locks/other-servers.ts'
import { StateUnusable } from './folder/state.ts'

/** The exit status for faulty settings. */
const EXIT_FAULT = 2
/** In ms after a signal and `stop-delay`: when connections of running requests are closed. */
const DRAIN_MS = 8_000
/** In ms: when the process ends even if something still runs; the next start cleans up after it. */
const EXIT_MS = 9_500

const printErrors = (sentences: readonly string[]) => {
  process.stderr.write(sentences.map(sentence => `editd: ${sentence}\n`).join(''))
}

/** Why the server can't start. `isFault`: the person who starts it has to change a setting. */
interface StartFailure {
  /** For a person. */
  sentence: string
  isFault: boolean
}

async function describe(error: unknown, config: Config): Promise<StartFailure> {
  if (error instanceof CantOpen) return describe(error.cause, error.config)
  const { storeFailure } = await import('./bucket/start-failure.ts')
  return storeFailure(error, config.root) ?? { sentence: ownFailure(error, config), isFault: false }
}

/** The sentence for a failure that isn't from an object store. */
function ownFailure(error: unknown, { host, port, root }: Config): string {
  if (error instanceof CantListen) return error.message
  if (error instanceof Occupied) return occupied(error)
  if (error instanceof StateUnusable) {
    return `the state folder ${error.folder} can't be used (${error.message}): name another with --state-dir.`
  }
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is already in use: choose another with --port, or 0 for any free port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with --host.`,
    ENOTFOUND: `unknown host ${host}: choose another with --host.`
  }
  return known[code ?? ''] ?? `can't start on ${root}: ${message}.`
}

/**
 * Which other server is in the way, and what can be done. What it reports about itself may come from another user, so
 * it must not control the terminal.
 */
function occupied({ root, where, pid, uid, info }: Occupied): string {
  const foreign = uid !== process.geteuid?.()
  const host = info === null ? '' : ` on ${printable(info.hostname)}`
  const other = `process ${pid}${host}${foreign ? ` (user ${uid})` : ''}`
  const state = info === null ? "it is stopped or busy and didn't say which" : `--state-dir ${printable(info.stateDir)}`
  if (where === 'same') {
    const remedy = foreign
      ? 'run both as the same user with the same --state-dir'
      : `start this one with ${info === null ? 'the same --state-dir' : state}`
    return (
      `${root} is already served by ${other} with another state folder (${state}), ` +
      `so they could overwrite each other's edits: ${remedy}, or stop the other.`
    )
  }
  const place =
    where === 'above' ? `${root} lies in the root of another server` : `${root} contains the root of another server`
  const reported = info === null ? '' : ` (root ${printable(info.root)}, ${state})`
  return (
    `${place}, ${other}${reported}, so they could overwrite each other's edits: ` +
    "use that server, choose a root that doesn't overlap, or stop the other."
  )
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Where a server listens, and what it serves (`Spaces.served`). */
interface Listening {
  served: string
  address: ListenPlace
}

/**
 * Printed once the server listens: one line, and for a person also the token, the page to try it and a first call.
 */
function greeting(config: Config, { served, address }: Listening): string {
  const url = urlOf(address)
  const line = `editd listening on ${url ?? String(address)} ${served}\n`
  const socket = config.listen !== null && 'path' in config.listen ? config.listen.path : null
  // A passed socket may have any path.
  if ((!config.tokenGenerated && !process.stdout.isTTY) || (url === null && socket === null)) return line
  const local = url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') ?? null
  // A configured token isn't printed.
  const from = config.tokenFile === null ? '$EDITD_TOKEN' : `$(cat ${quoted(config.tokenFile)})`
  const bearer = config.tokenGenerated
    ? quoted(`Authorization: Bearer ${config.token}`)
    : `"Authorization: Bearer ${from}"`
  const token = config.token === null && config.access === null ? '' : ` -H ${bearer}`
  const generated = config.tokenGenerated ? `token (for this run): ${config.token}\n` : ''
  const headers = `${token} -H 'Content-Type: application/json'`
  const docs = config.docs && local !== null ? `docs: ${local}/docs\n` : ''
  const through = socket === null ? '' : ` --unix-socket ${quoted(socket)}`
  const call = `curl -sS${through}${headers} -d '{"path":"."}' ${quoted(`${local ?? 'http://localhost'}/inspect`)}`
  return `${line}${generated}${reviewLine(config, local)}${docs}try: ${call}\n`
}

/** Null: a browser has no address for a socket. */
function urlOf(address: ListenPlace): string | null {
  if (typeof address === 'string') return null
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

/**
 * Where a person can review changes. A generated token, which the line above it has too, is in the fragment, which a
 * browser doesn't send.
 */
function reviewLine({ docs, history, token, tokenGenerated }: Config, local: string | null): string {
  if (local === null || !docs || history === 'off') return ''
  const fragment = tokenGenerated ? `#token=${token}` : ''
  return `review: ${local}/${fragment}\n`
}

/** Opens the log, the audit file and the workspaces; `access` as for `openSpaces`. */
async function prepare(config: Config, warnings: readonly string[], access: Access | null) {
  const { logger, close: closeLog } = openLog(config.logLevel)
  for (const warning of warnings) logger.warn({ event: 'unknown_variable' }, warning)
  const metrics = await metricsOf(config)
  const meter = metrics === null ? {} : { meter: metrics.meter }
  const report = (event: object) => logger.warn(event)
  const auditFile = openAudit(config, report)
  const spaces = await openSpaces({ config, report, auditFile, ...meter }, access)
  const close = async () => {
    await spaces.close()
    await auditFile?.close()
  }
  return { logger, closeLog, spaces, metrics, close }
}

/** Null: nothing is measured, since no listener is configured. */
async function metricsOf({ metricsListen }: Config): Promise<Metrics | null> {
  if (metricsListen === null) return null
  const { makeMetrics } = await import('./metrics/metrics.ts')
  return makeMetrics(VERSION)
}

/** The listener of the metrics, which is ready before anything is opened; null: there is none. */
async function openMetrics({ metricsListen }: Config): Promise<MetricsListener | null> {
  if (metricsListen === null) return null
  const { listenForMetrics } = await import('./metrics/listener.ts')
  return listenForMetrics(metricsListen).catch((error: unknown) => {
    const { host, port } = metricsListen
    throw new CantListen(`can't serve metrics on ${host}:${port} (${codeOf(error)}): choose another --metrics-listen.`)
  })
}

/** Null: there is none. It is reopened on SIGHUP. */
function openAudit({ auditFile: path }: Config, report: (event: object) => void): AuditFile | null {
  if (path === null) return null
  const file = new AuditFile(path, report)
  process.on('SIGHUP', () => file.reopen())
  return file
}

/** What is wrong with the place of the audit file. */
function auditFaultsOf(config: Config, access: Access | null): string[] {
  const served = access === null ? [config] : access.workspaces.map(({ settings }) => settings)
  const folders = served.filter(({ bucket }) => bucket === null).map(({ root }) => root)
  return config.auditFile === null ? [] : auditFaults(config.auditFile, folders)
}

/**
 * `editd mcp`: serves the tools to the program at the other end of stdin and stdout, until it closes them or a signal
 * arrives.
 */
async function serveMcp(config: Config, warnings: readonly string[]): Promise<void> {
  const faults = auditFaultsOf(config, null)
  if (faults.length > 0) {
    printErrors(faults)
    process.exitCode = EXIT_FAULT
    return
  }
  const { logger, closeLog, spaces, close } = await prepare(config, warnings, null)
  const { workspace } = spaces.any()
  const stop = () => {
    process.stdin.destroy()
    setTimeout(() => process.exit(0), EXIT_MS).unref()
  }
  onSignal(stop)
  logger.info({ event: 'started', protocol: 'mcp', root: workspace.root })
  try {
    const { speakMcp } = await import('./stdio.ts')
    // A signal may have arrived meanwhile.
    if (!process.stdin.destroyed) {
      await speakMcp({ config, workspace, logger, input: process.stdin, output: process.stdout })
    }
  } finally {
    await close()
  }
  logger.info({ event: 'stopped' })
  await closeLog()
  process.exit(0)
}

/** The app, when it listens, and its address. */
async function listening(config: Config, spaces: Spaces, logger: Logger, observer: Metrics | null) {
  const { buildApp } = await import('./app.ts')
  const built = await buildApp({ spaces, logger, ...(observer !== null && { observer }) })
  return { ...built, address: await listen(built.app, config) }
}

/**
 * Calls `stop` at each signal to stop, which may come twice, since npm passes Ctrl-C on. SIGHUP means stop only if the
 * terminal that started it is gone; otherwise it means rereading files. The end of npx counts as a signal to stop.
 */
function onSignal(stop: (why: { signal: string } | { reason: string }) => void): void {
  whenNpxEnds(stop)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop({ signal }))
  const hadTerminal = hasTerminal()
  process.on('SIGHUP', signal => {
    if (hadTerminal && !hasTerminal()) stop({ signal })
  })
}

/** In ms. Chosen, not measured. */
const LOOK_FOR_NPX = 1_000

/** Calls `stop` when the npx that started this has ended: npx passes signals only to the shell between them. */
function whenNpxEnds(stop: (why: { reason: string }) => void): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env
  if (event !== 'npx' || !/^\W*editd\b/.test(script)) return
  // On Linux also the parent of the shell.
  const parents = () => `${process.ppid} ${shellParent(process.ppid)}`
  const first = parents()
  setInterval(() => {
    if (parents() !== first) stop({ reason: 'npx has ended' })
  }, LOOK_FOR_NPX).unref()
}

/** The parent of the shell with this pid; '' if it isn't a shell, or that can't be found out. */
function shellParent(pid: number): string {
  try {
    return /^\d+ \(sh\) . (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? ''
  } catch {
    /* c8 ignore next 2 -- only where there is no /proc */
    return ''
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/** Serves until a signal arrives. Resolves when it listens. */
async function serve(config: Config, warnings: readonly string[], access: Access | null) {
  const { logger, closeLog, spaces, metrics, close } = await prepare(config, warnings, access)
  const { app, announceStop, drain, endStreams, address } = await listening(config, spaces, logger, metrics).catch(
    async error => {
      await close()
      throw error
    }
  )

  let stopping = false
  const stop = async (why: { signal: string } | { reason: string }) => {
    // A second signal must not interrupt what the first one started.
    if (stopping) return
    stopping = true
    logger.info({ event: 'stopping', ...why })
    if (config.stopDelay > 0) {
      announceStop()
      await sleep(config.stopDelay)
    }
    setTimeout(() => {
      app.server.closeAllConnections()
    }, DRAIN_MS).unref()
    setTimeout(() => process.exit(0), EXIT_MS).unref()
    await drain()
    await app.close()
    await close()
    logger.info({ event: 'stopped' })
    await closeLog()
    process.exit(0)
  }
  onSignal(stop)
  return {
    served: spaces.served,
    address,
    logger,
    collect: () => metrics?.snapshot() ?? [],
    /** Rejects, and keeps the present credentials, if it can't serve these. */
    async replace(credentials: Credentials) {
      await spaces.replace(credentials)
      endStreams()
    }
  }
}

/** Replaces the credentials; returns sentences that say why that isn't possible. */
async function faultsWith(
  config: Config,
  credentials: Credentials,
  replace: (credentials: Credentials) => Promise<void>
): Promise<string[]> {
  const faults = typeof credentials === 'string' ? [] : auditFaultsOf(config, credentials)
  if (faults.length > 0) return faults
  return replace(credentials).then(
    () => [],
    async (error: unknown) => [(await describe(error, config)).sentence]
  )
}

async function start(config: Config, warnings: readonly string[]): Promise<void> {
  const access = config.access === null ? null : await loadAccess(config)
  if (access?.ok === false) {
    printErrors(access.failure)
    process.exitCode = EXIT_FAULT
    return
  }
  const declared = access === null ? null : access.value
  const faults = auditFaultsOf(config, declared)
  if (faults.length > 0) {
    printErrors(faults)
    process.exitCode = EXIT_FAULT
    return
  }
  if (config.listen !== null && 'path' in config.listen) await clearSocketPath(config.listen.path)
  const listener = await openMetrics(config)
  const serving = serve(config, warnings, declared)
  const follower = serving.then(({ logger, replace }) => ({
    logger,
    replace: (credentials: Credentials) => faultsWith(config, credentials, replace)
  }))
  followCredentials(config, declared, follower)
  const served = await serving
  listener?.serve(served.collect)
  if (listener !== null) served.logger.info({ event: 'metrics_listening', ...listener.address })
  process.stdout.write(greeting(config, served))
}

/** Removes the texts of a path's changes; returns from how many. */
async function forgetIn(config: Config, path: string) {
  if (config.bucket === null) {
    const { forgetTexts } = await import('./folder/forget-files.ts')
    return forgetTexts(config, path)
  }
  const { forgetInBucket } = await import('./bucket/forget-objects.ts')
  return forgetInBucket({ ...config.bucket, endpoint: config.s3Endpoint, region: config.s3Region }, path)
}

/** `editd forget PATH [root] [flags]`: prints how many changes lost their texts. */
async function forget([path, ...argv]: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const config = loadLocalConfig(argv, env, undefined, 'forget')
  if (path === undefined || path.startsWith('-') || !config.ok) {
    printErrors(config.ok ? ['name a file: editd forget PATH [root] [flags].'] : config.failure)
    process.exitCode = EXIT_FAULT
    return
  }
  const forgotten = await forgetIn(config.value, path).catch(async (error: unknown) => {
    printErrors([(await describe(error, config.value)).sentence])
    process.exit(1)
  })
  if (forgotten.ok) {
    const count = forgotten.value === 1 ? '1 change' : `${forgotten.value} changes`
    process.stdout.write(`removed the texts of ${count} of ${printable(path)} from the history\n`)
    return
  }
  printErrors([`${printable(path)} is not a path in ${config.value.root}.`])
  process.exitCode = EXIT_FAULT
}

async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  // The reader of stdout or stderr may have gone away.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  // Else it would end the process before there is anything to reread.
  process.on('SIGHUP', () => {})
  const asks = (...flags: string[]) => flags.some(flag => argv.includes(flag))
  const output = asks('-h', '--help') ? helpText() : asks('-v', '--version') ? `${VERSION}\n` : null
  if (output !== null) {
    process.stdout.write(output)
    return
  }
  const isMcp = argv[0] === 'mcp'
  if (argv[0] === 'forget') {
    await forget(argv.slice(1), env)
    return
  }
  const config = isMcp ? loadLocalConfig(argv.slice(1), env) : loadConfig(argv, env)
  const warnings = environmentWarnings(env)
  if (!config.ok) {
    printErrors([...config.failure, ...warnings])
    process.exitCode = EXIT_FAULT
    return
  }
  try {
    await (isMcp ? serveMcp : start)(config.value, warnings)
  } catch (error) {
    const { sentence, isFault } = await describe(error, config.value)
    printErrors([sentence])
    process.exitCode = isFault ? EXIT_FAULT : 1
  }
}

await main(process.argv.slice(2), process.env)
