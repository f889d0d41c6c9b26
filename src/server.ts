#!/usr/bin/env node
// The process: argv, environment, listening, signals. The only file that knows it.
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { buildApp } from './app.ts'
import { helpText, loadConfig, loadLocalConfig, VERSION, type Config } from './config/config.ts'
import { ensureDir } from './workspace/ensure-dir.ts'
import { speakMcp } from './stdio.ts'
import { Occupied } from './workspace/other-servers.ts'
import { openWorkspace } from './workspace/workspace.ts'

const FAULT = 2
/** Milliseconds that running requests have after a signal, before their connections are cut. */
const PATIENCE = 8_000
/**
 * Milliseconds after which the process ends whatever still runs; what it leaves behind is taken back at the next start.
 */
const END = 9_500

const complain = (sentences: readonly string[]) => {
  process.stderr.write(sentences.map(sentence => `editd: ${sentence}\n`).join(''))
}

/** Why the system refused, for a person. */
function reason(error: unknown, { host, port, root }: Config): string {
  if (error instanceof Occupied) return occupied(error)
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    EADDRINUSE: `port ${port} of ${host} is in use: choose another with --port, or 0 for a free one.`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose another with --host.`,
    ENOTFOUND: `${host} is no known host: choose another with --host.`
  }
  return known[code ?? ''] ?? `can't start on ${root}: ${message}.`
}

/**
 * Who is there already, and what can be done. What the other says of itself may be another user's: it must not steer a
 * terminal.
 */
function occupied({ root, where, pid, uid, told }: Occupied): string {
  const shown = (text: string) => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const foreign = uid !== process.geteuid?.()
  const other = `process ${pid}${told === null ? '' : ` on ${shown(told.hostname)}`}${foreign ? ` (user ${uid})` : ''}`
  const state = told === null ? "it is stopped or busy and didn't say which" : `--state-dir ${shown(told.stateDir)}`
  if (where === 'same') {
    const remedy = foreign
      ? 'run both as one user with one --state-dir'
      : `start this one with ${told === null ? 'the same --state-dir' : state}`
    return `${root} is already served by ${other} with another state folder (${state}), so they could overwrite each other's edits: ${remedy}, or stop the other.`
  }
  const place =
    where === 'above' ? `${root} lies in the root of another server` : `${root} contains the root of another server`
  return `${place}, ${other}${told === null ? '' : ` (root ${shown(told.root)}, ${state})`}, so they could overwrite each other's edits: use that server, choose a root that doesn't overlap, or stop the other.`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** What is printed when it listens; more than one line where a person may want to call it at once. */
function greeting(config: Config, root: string, { address, port, family }: AddressInfo): string {
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const line = `editd listening on ${url} root=${root}\n`
  if (!config.tokenGenerated && !process.stdout.isTTY) return line
  const local = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  // A token that was configured stays where it is.
  const token =
    config.token === null
      ? ''
      : ` -H ${config.tokenGenerated ? quoted(`Authorization: Bearer ${config.token}`) : '"Authorization: Bearer $EDITD_TOKEN"'}`
  return `${line}${config.tokenGenerated ? `token (for this run): ${config.token}\n` : ''}try: curl -sS${token} -H 'Content-Type: application/json' -d '{"path":"."}' ${quoted(`${local}/inspect`)}\n`
}

/** The log on stderr, and the workspace. */
async function prepare(config: Config) {
  const destination = pino.destination({ dest: 2, sync: false })
  const logger = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  ensureDir(config.root)
  const workspace = await openWorkspace({
    ...config,
    report: event => {
      logger.warn(event)
    }
  })
  return { destination, logger, workspace }
}

/**
 * `editd mcp`: the tools for the program at the other end of stdin and stdout, until it closes them or a signal comes.
 */
async function speak(config: Config): Promise<void> {
  const { destination, logger, workspace } = await prepare(config)
  const stop = () => {
    process.stdin.destroy()
    setTimeout(() => {
      process.exit(0)
    }, END).unref()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  logger.info({ event: 'speaking', protocol: 'mcp', root: workspace.root })
  await speakMcp({ config, workspace, logger, input: process.stdin, output: process.stdout })
  await workspace.close()
  logger.info({ event: 'stopped' })
  destination.flushSync()
  process.exit(0)
}

async function start(config: Config): Promise<void> {
  const { destination, logger, workspace } = await prepare(config)
  const { app, drain } = await buildApp({ config, workspace, logger })
  try {
    // `localhost` may be two addresses, which would be two servers.
    await app.listen({ host: config.host === 'localhost' ? '127.0.0.1' : config.host, port: config.port })
  } catch (error) {
    await workspace.close()
    throw error
  }

  const stop = async (signal: string) => {
    logger.info({ event: 'stopping', signal })
    setTimeout(() => {
      app.server.closeAllConnections()
    }, PATIENCE).unref()
    setTimeout(() => {
      process.exit(0)
    }, END).unref()
    await drain()
    await app.close()
    await workspace.close()
    logger.info({ event: 'stopped' })
    destination.flushSync()
    process.exit(0)
  }
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // npm hands Ctrl-C on a second time: it must not cut short what the first began.
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      stop(signal)
    })
  }
  process.stdout.write(greeting(config, workspace.root, app.server.address() as AddressInfo))
}

async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  // Whoever reads the first line may be gone.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  const told = argv.includes('--help') ? helpText() : argv.includes('--version') ? `${VERSION}\n` : null
  if (told !== null) {
    process.stdout.write(told)
    return
  }
  const speaks = argv[0] === 'mcp'
  const config = speaks ? loadLocalConfig(argv.slice(1), env) : loadConfig(argv, env)
  if (!config.ok) {
    complain(config.failure)
    process.exitCode = FAULT
    return
  }
  try {
    await (speaks ? speak : start)(config.value)
  } catch (error) {
    complain([reason(error, config.value)])
    process.exitCode = 1
  }
}

await main(process.argv.slice(2), process.env)
