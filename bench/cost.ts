// What it costs to have a server: time until it is ready, resident memory, bytes installed; compared with the HTTP
// floor, which is what Node alone costs.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { KB, makeCase } from './corpora.ts'
import { Load } from './load/load.ts'
import { FLOOR, parties, Running, SHIPPED, type Party } from './load/parties.ts'
import { residentOf } from './machine.ts'
import { shuffled, type Random } from './random.ts'
import { short, time, type Row } from './row.ts'
import { Server } from './server.ts'
import { median, quartiles } from './statistics.ts'

export const READY = 'from start to ready'
const STARTED = 'resident 2 s after it is ready'
export const RESIDENT = 'resident at rest, 40 s after it is ready'
const EDITED = 'resident after 1,000 edits of 10 KB'
const LOADED = 2000
/**
 * In ms after it is ready: V8 collects the garbage of loading once it has been idle for a while, here after 24 to 30 s
 * (measured with Node 20).
 */
const REST = 40_000
/** ms between two checks whether it is ready. */
const POLL = 2
/** This file runs from dist/bench. */
const HOME = fileURLToPath(new URL('../..', import.meta.url))

const run = promisify(execFile)

interface Start {
  ms: number
  /** CPU time in ms until it is ready. */
  cpu: number
  resident: number
}

export async function cost(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const servers = parties().filter(({ name }) => name === FLOOR || name === SHIPPED)
  const starts = new Map<string, Start[]>(servers.map(({ name }) => [name, []]))
  const folder = join(base, 'cost')
  try {
    for (let i = 0; i < (quick ? 3 : 9); i++) {
      progress(`cost, start ${i + 1}`)
      for (const party of shuffled(servers, random)) {
        starts.get(party.name)!.push(await start(party, join(folder, `${party.name}-${i}`)))
      }
    }
    progress('cost, 1,000 edits')
    const rows: Row[] = []
    for (const { name } of servers) {
      const own = starts.get(name)!
      const { low, median: middle, high } = quartiles(own.map(({ ms }) => ms))
      const cpu = time(median(own.map(it => it.cpu)))
      const figure = `${time(middle)} (${time(low)}–${time(high)}), CPU ${cpu}`
      rows.push({ what: READY, edits: 0, variant: name, figure, value: middle, pairs: own.length })
      const resident = own.map(({ resident }) => resident)
      rows.push(megabytes(STARTED, 0, name, resident))
    }
    progress('cost, at rest')
    for (const party of servers) {
      const resident = await Promise.all(
        Array.from(
          { length: 3 },
          async (_, i) => (await start(party, join(folder, `${party.name}-rest-${i}`), REST)).resident
        )
      )
      rows.push(megabytes(RESIDENT, 0, party.name, resident))
    }
    for (const party of servers) {
      const resident = await edited(party, join(folder, `${party.name}-edited`))
      rows.push(megabytes(EDITED, 1000, party.name, [resident]))
    }
    progress('cost, bytes installed')
    const [own, dependencies] = [await packed(), await dependenciesOf()]
    const figure = `${short((own + dependencies) / 1e6)} MB, of which ${short(dependencies / 1e6)} MB dependencies`
    rows.push({ what: 'installed', edits: 0, variant: SHIPPED, figure, value: (own + dependencies) / 1e6, pairs: 1 })
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const megabytes = (what: string, edits: number, variant: string, bytes: readonly number[]): Row => ({
  what,
  edits,
  variant,
  figure: `${short(median(bytes) / 1e6)} MB`,
  value: median(bytes) / 1e6,
  pairs: bytes.length
})

/** Starts it over an empty root, and reads its memory `wait` ms after it is ready. */
async function start({ runs }: Party, place: string, wait = LOADED): Promise<Start> {
  if (!('http' in runs)) throw new Error('only what answers over HTTP says when it is ready')
  const root = join(place, 'root')
  mkdirSync(root, { recursive: true })
  const { server, ms } = await timeToReady(runs.http(root, join(place, 'state')))
  try {
    const cpu = server.cpu()
    await sleep(wait)
    return { ms, cpu, resident: residentOf(server.pid) }
  } finally {
    await server.stop()
  }
}

/** From `spawn` to the first 200 of `/readyz`. */
export async function timeToReady(args: string[]): Promise<{ server: Server; ms: number }> {
  const before = performance.now()
  const server = await Server.start(args)
  try {
    while (!(await isReady(server.port))) await sleep(POLL)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { server, ms: performance.now() - before }
}

async function isReady(port: number): Promise<boolean> {
  const [response] = (await once(get({ port, path: '/readyz', agent: false }), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode === 200
}

/** Eight clients with one file each, which is edited two more times when it is checked. */
async function edited(party: Party, place: string): Promise<number> {
  const it = makeCase('ASCII', 10 * KB, 1)
  const load = new Load()
  try {
    const server = await Running.start(party, place, [{ it, count: 8 }], load)
    try {
      await server.drive(it, 8, { each: 123 })
      return residentOf(server.pid)
    } finally {
      await server.stop()
    }
  } finally {
    await load.stop()
  }
}

/** Bytes of the unpacked package. */
async function packed(): Promise<number> {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: HOME })
  const [it] = JSON.parse(stdout) as { unpackedSize: number }[]
  return it!.unpackedSize
}

/** Bytes of all files of its runtime dependencies. */
async function dependenciesOf(): Promise<number> {
  const { stdout } = await run('npm', ['ls', '--omit=dev', '--parseable', '--all'], { cwd: HOME })
  const [, ...folders] = stdout.trim().split('\n')
  return [...new Set(folders)].reduce((sum, folder) => sum + sizeOf(folder), 0)
}

/** Without nested packages, which are counted by themselves. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + sizeOf(path)
    return entry.isFile() ? sum + statSync(path).size : sum
  }, 0)
}
