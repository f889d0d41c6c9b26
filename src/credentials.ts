// Rereads, while a server runs, who may call it: the access file or the token file. Does not know how it is served.
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { loadAccess, type Access } from './config/access-file.ts'
import { readToken, type Config } from './config/config.ts'
import type { Credentials } from './spaces.ts'

/** In ms: how often the token file is checked, since replacing a mounted secret sends no signal. Chosen. */
const LOOK = 10_000

interface Started {
  logger: Logger
  /** Serves these from now on. If it can't, it returns sentences that say why, and serves what it had. */
  replace(credentials: Credentials): Promise<string[]>
}

/**
 * Rereads the file at each SIGHUP, and the token file also when it has changed; one reading after the other, once the
 * server has started. `declared`: what the access file said at the start. The log says what was read. If a file is at
 * fault, or can't be served, the log says why, and the server keeps what it had.
 */
export function followCredentials(config: Config, declared: Access | null, started: Promise<Started>): void {
  // `start` in server.ts reports a start that fails.
  const serving = started.catch(() => null)
  let last: Promise<unknown> = serving
  const inTurn = (work: (started: Started) => Promise<void>) => {
    last = last.then(() => serving).then(started => (started === null ? undefined : work(started)))
  }
  const readAccess = accessReader(config, declared)
  if (config.access !== null) process.on('SIGHUP', () => inTurn(readAccess))
  if (config.tokenFile === null) return
  const look = tokenReader(config.tokenFile, config.token)
  process.on('SIGHUP', () => inTurn(started => look(started, true)))
  setInterval(() => inTurn(started => look(started, false)), LOOK).unref()
}

/** Returns a function that reads the file once. An unchanged file replaces nothing, so no event stream ends. */
function accessReader(config: Config, declared: Access | null): (started: Started) => Promise<void> {
  let known = declared
  return async ({ logger, replace }) => {
    const read = await loadAccess(config)
    const isNew = read.ok && !isDeepStrictEqual(read.value, known)
    const faults = read.ok ? (isNew ? await replace(read.value) : []) : read.failure
    for (const fault of faults) logger.error({ event: 'access_unchanged' }, `${fault} What was in use stays.`)
    if (!read.ok || faults.length > 0) return
    known = read.value
    const { workspaces, tokens } = known
    logger.info({ event: 'access_read', workspaces: workspaces.length, tokens: tokens.length })
  }
}

/** Returns a function that checks the file once; unless it runs `byRequest`, it logs only what is new. */
function tokenReader(file: string, token: string | null): (started: Started, byRequest: boolean) => Promise<void> {
  let known = token
  let reported = ''
  return async ({ logger, replace }, byRequest) => {
    const read = readToken(file)
    const isNew = read.ok && read.value !== known
    const faults = read.ok ? (isNew ? await replace(read.value) : []) : [read.failure]
    for (const fault of faults) {
      if (byRequest || fault !== reported) {
        logger.error({ event: 'token_unchanged' }, `${fault} The token in use stays.`)
      }
    }
    reported = faults[0] ?? ''
    if (!read.ok || faults.length > 0) return
    known = read.value
    if (isNew || byRequest) logger.info({ event: 'token_read' })
  }
}
