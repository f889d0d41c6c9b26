#!/usr/bin/env node
// The process: argv, environment, listening, signals. The only file that knows argv, the environment and when to stop;
// does not know any route.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import { environmentWarnings, helpText, loadConfig, loadLocalConfig, VERSION, type Config } from './config/config.ts'
import { CantListen, clearSocketPath, listen, type ListenPlace } from './listen.ts'
import { openLog, printable } from './log.ts'
import { ProcessFailed, Processes, serveForPrimary, type GroupConfig, type Listening } from './processes.ts'
import { ensureDir } from './workspace/commit/ensure-dir.ts'
import { Occupied } from './workspace/locks/other-servers.ts'
import { StateUnusable } from './workspace/state.ts'
import { openWorkspace, type Workspace } from './workspace/workspace.ts'

/** The exit status where settings are at fault. */
const EXIT_FAULT = 2
/** Milliseconds after a signal until the connections of requests that still run are closed. */
const DRAIN_MS = 8_000
/** Milliseconds after a signal until the process ends, whatever still runs; the next start cleans up after it. */
const EXIT_MS = 9_500

const printErrors = (sentences: readonly string[]) => {
  process.stderr.write(sentences.map(sentence => `editd: ${sentence}\n`).join(''))
}

/** Why the server can't start, in one sentence for a person. */
function startFailure(error: unknown, { host, port, root }: Config): string {
  if (error instanceof ProcessFailed || error instanceof CantListen) return error.message
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

/**
 * What is printed once the server listens: one line, and for a person also the token, the page to try it and a first
 * call.
 */
function greeting(config: Config, { root, address }: Listening): string {
  const url = urlOf(address)
  const line = `editd listening on ${url ?? String(address)} root=${root}\n`
  const socket = config.listen !== null && 'path' in config.listen ? config.listen.path : null
  // What was handed over may be a socket of any path.
  if ((!config.tokenGenerated && !process.stdout.isTTY) || (url === null && socket === null)) return line
  const local = url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') ?? null
  // A configured token isn't printed.
  const bearer = config.tokenGenerated
    ? quoted(`Authorization: Bearer ${config.token}`)
    : '"Authorization: Bearer $EDITD_TOKEN"'
  const token = config.token === null ? '' : ` -H ${bearer}`
  const generated = config.tokenGenerated ? `token (for this run): ${config.token}\n` : ''
  const headers = `${token} -H 'Content-Type: application/json'`
  const docs = config.docs && local !== null ? `docs: ${local}/docs\n` : ''
  const through = socket === null ? '' : ` --unix-socket ${quoted(socket)}`
  const call = `curl -sS${through}${headers} -d '{"path":"."}' ${quoted(`${local ?? 'http://localhost'}/inspect`)}`
  return `${line}${generated}${reviewLine(config, local)}${docs}try: ${call}\n`
}

/** null: a browser has no address for a socket. */
function urlOf(address: ListenPlace): string | null {
  if (typeof address === 'string') return null
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

/**
 * Where a person sees what was changed. The token is in the fragment, which a browser doesn't send, and only on a
 * terminal: what is printed elsewhere is often kept.
 */
function reviewLine({ docs, history, token, tokenGenerated }: Config, local: string | null): string {
  if (local === null || !docs || history === 'off') return ''
  const fragment = tokenGenerated && process.stdout.isTTY ? `#token=${token}` : ''
  return `review: ${local}/${fragment}\n`
}

/** Opens the log on stderr. Of several processes each line says whose it is. */
function startLog(config: Config, warnings: readonly string[]) {
  const { logger, close } = openLog(config.logLevel, config.processes > 1 ? process.pid : null)
  for (const warning of warnings) logger.warn({ event: 'unknown_variable' }, warning)
  return { logger, closeLog: close }
}

/** Opens the log and the workspace. */
async function prepare(config: Config | GroupConfig, warnings: readonly string[]) {
  const { logger, closeLog } = startLog(config, warnings)
  ensureDir(config.root)
  const workspace = await openWorkspace({
    ...config,
    report: event => {
      logger.warn(event)
    }
  })
  return { logger, closeLog, workspace }
}

/**
 * `editd mcp`: serves the tools to the program at the other end of stdin and stdout, until it closes them or a signal
 * comes.
 */
async function serveMcp(config: Config, warnings: readonly string[]): Promise<void> {
  const { logger, closeLog, workspace } = await prepare(config, warnings)
  const stop = () => {
    process.stdin.destroy()
    setTimeout(() => process.exit(0), EXIT_MS).unref()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  logger.info({ event: 'started', protocol: 'mcp', root: workspace.root })
  try {
    const { speakMcp } = await import('./stdio.ts')
    // A signal may have come meanwhile.
    if (!process.stdin.destroyed) {
      await speakMcp({ config, workspace, logger, input: process.stdin, output: process.stdout })
    }
  } finally {
    await workspace.close()
  }
  logger.info({ event: 'stopped' })
  await closeLog()
  process.exit(0)
}

/** The app, when it listens, and where. */
async function listening(config: Config, workspace: Workspace, logger: Logger) {
  const { buildApp } = await import('./app.ts')
  const built = await buildApp({ config, workspace, logger })
  return { ...built, address: await listen(built.app, config) }
}

/** Calls `stop` at each signal to stop: npm passes Ctrl-C on a second time. */
function onSignal(stop: (why: { signal: string }) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop({ signal }))
}

/** Serves until a signal comes or `stop` is called. Resolves when it listens. */
async function serve(config: Config | GroupConfig, warnings: readonly string[]) {
  const { logger, closeLog, workspace } = await prepare(config, warnings)
  const { app, drain, address } = await listening(config, workspace, logger).catch(async error => {
    await workspace.close()
    throw error
  })

  let stopping = false
  const stop = async (why: { signal: string } | { reason: string }) => {
    // A second signal must not cut short what the first one started.
    if (stopping) return
    stopping = true
    logger.info({ event: 'stopping', ...why })
    setTimeout(() => {
      app.server.closeAllConnections()
    }, DRAIN_MS).unref()
    setTimeout(() => process.exit(0), EXIT_MS).unref()
    await drain()
    await app.close()
    await workspace.close()
    logger.info({ event: 'stopped' })
    await closeLog()
    process.exit(0)
  }
  onSignal(stop)
  return { root: workspace.root, address, stop }
}

async function start(config: Config, warnings: readonly string[]): Promise<void> {
  const greet = (listening: Listening) => {
    process.stdout.write(greeting(config, listening))
  }
  if (config.listen !== null && 'path' in config.listen) await clearSocketPath(config.listen.path)
  if (config.processes === 1) {
    greet(await serve(config, warnings))
    return
  }
  const { logger, closeLog } = startLog(config, warnings)
  const processes = new Processes(config, logger, EXIT_MS)
  onSignal(why => {
    if (processes.stop()) logger.info({ event: 'stopping', ...why })
  })
  await processes.run(greet)
  logger.info({ event: 'stopped' })
  await closeLog()
  process.exit(0)
}

/** `editd forget PATH [root] [flags]`: prints how many changes lost their texts. */
async function forget([path, ...argv]: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const config = loadLocalConfig(argv, env, undefined, 'forget')
  if (path === undefined || path.startsWith('-') || !config.ok) {
    printErrors(config.ok ? ['name a file: editd forget PATH [root] [flags].'] : config.failure)
    process.exitCode = EXIT_FAULT
    return
  }
  const { forgetTexts } = await import('./workspace/forget.ts')
  const forgotten = await forgetTexts(config.value, path).catch((error: unknown) => {
    printErrors([startFailure(error, config.value)])
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
  // Whoever reads stdout or stderr may have gone away.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  if (cluster.worker !== undefined) {
    await serveForPrimary(cluster.worker, config => serve(config, []), startFailure)
    return
  }
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
    printErrors([startFailure(error, config.value)])
    process.exitCode = 1
  }
}

await main(process.argv.slice(2), process.env)
