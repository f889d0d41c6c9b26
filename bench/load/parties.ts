// The servers under load: how each is started, the requests it gets, and the floor it is compared with. Does not know
// what is measured.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FILESYSTEM, peersInstalled, type Peer } from '../against-peers.ts'
import type { Case } from '../corpora.ts'
import { FAST_PRODUCT } from '../in-process.ts'
import { cpuOf } from '../machine.ts'
import { naiveReplace } from '../naive.ts'
import { Server, TOKEN } from '../server.ts'
import type { Turn } from './client.ts'
import type { Drive, Driven, Opened } from './clients.ts'
import { requestOf } from './http-client.ts'
import type { Load } from './load.ts'

/** `args`: runs a Node script over the root and, if it has one, a state folder. */
export interface Party {
  name: string
  floor: string
  runs: { http: (root: string, state: string) => string[] } | { mcp: Peer }
}

export const FLOOR = 'HTTP floor'
export const SYNCED_FLOOR = 'HTTP floor, synced'
export const SHIPPED = 'product, as shipped'
export const MCP_FILESYSTEM = 'MCP filesystem'

const script = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
export const floor =
  (durability: 'full' | 'fast') =>
  (root: string): string[] => [script('./floor-server.js'), root, durability]
export const product =
  (...flags: string[]) =>
  (root: string, state: string): string[] => [
    script('../../src/server.js'),
    root,
    '--port',
    '0',
    '--state-dir',
    state,
    ...flags
  ]

const PARTIES: readonly Party[] = [
  { name: FLOOR, floor: FLOOR, runs: { http: floor('fast') } },
  { name: FAST_PRODUCT, floor: FLOOR, runs: { http: product('--durability', 'fast', '--lock', 'local') } },
  { name: MCP_FILESYSTEM, floor: FLOOR, runs: { mcp: FILESYSTEM } },
  { name: SYNCED_FLOOR, floor: SYNCED_FLOOR, runs: { http: floor('full') } },
  { name: SHIPPED, floor: SYNCED_FLOOR, runs: { http: product() } }
]

/** The parties that are installed. */
export const parties = (): Party[] => PARTIES.filter(({ runs }) => 'http' in runs || peersInstalled())

/** One file for each client. */
export interface Files {
  it: Case
  count: number
}

/** A running server with its own files, and a client for each file. */
export class Running {
  readonly party: Party
  readonly #load: Load
  readonly #files: readonly Files[]
  readonly #root: string
  readonly #pid: number
  readonly #server: Server | null
  readonly #group: number

  private constructor(
    party: Party,
    load: Load,
    files: readonly Files[],
    root: string,
    opened: Opened,
    own: Server | null
  ) {
    this.party = party
    this.#load = load
    this.#files = files
    this.#root = root
    this.#pid = opened.pid ?? own!.pid
    this.#server = own
    this.#group = opened.group
  }

  /** Starts it in a new folder `place`. Checks that each client's edit gives the naive variant's bytes, and back. */
  static async start(party: Party, place: string, files: readonly Files[], load: Load): Promise<Running> {
    const root = join(place, 'root')
    mkdirSync(root, { recursive: true })
    for (const { it, count } of files) {
      for (let i = 0; i < count; i++) writeFileSync(join(root, nameOf(it, i)), it.bytes)
    }
    const { runs } = party
    const requests = <T>(make: (name: string, edits: Case['there']) => T): Record<Turn, T>[] =>
      files.flatMap(({ it, count }) =>
        Array.from({ length: count }, (_, i) => ({
          there: make(nameOf(it, i), it.there),
          back: make(nameOf(it, i), it.back)
        }))
      )
    if ('mcp' in runs) {
      const calls = requests((name, edits) => JSON.stringify(runs.mcp.calls(join(root, name), edits)[0]))
      const opened = await load.ask('openMcp', { args: runs.mcp.args(root, place), env: { HOME: place }, calls })
      return await new Running(party, load, files, root, opened, null).#checked()
    }
    const server = await Server.start(runs.http(root, join(place, 'state')))
    const bodies = requests((path, edits) =>
      requestOf(edits.length === 1 ? { path, ...edits[0] } : { path, edits }, TOKEN)
    )
    const opened = await load.ask('openHttp', { port: server.port, requests: bodies }).catch(async (error: unknown) => {
      await server.stop()
      throw error
    })
    return await new Running(party, load, files, root, opened, server).#checked()
  }

  /** Drives this many clients on files of this case, until the time is over or each has sent `each` edits. */
  drive(it: Case, clients: number, limits: Partial<Pick<Drive, 'each' | 'ms'>>): Promise<Driven> {
    const at = this.#files.findIndex(files => files.it === it)
    const first = this.#files.slice(0, at).reduce((sum, { count }) => sum + count, 0)
    return this.#load.ask('drive', { group: this.#group, first, clients, each: Infinity, ms: Infinity, ...limits })
  }

  get pid(): number {
    return this.#pid
  }

  /** CPU time in ms that all threads of the server have used; NaN if the system doesn't say. */
  cpu(): number {
    return cpuOf(this.#pid)
  }

  async stop(): Promise<void> {
    try {
      await this.#load.ask('close', { group: this.#group })
    } finally {
      await this.#server?.stop()
    }
  }

  async #checked(): Promise<this> {
    try {
      for (const { it, count } of this.#files) {
        for (const expected of [Buffer.from(naiveReplace(it.bytes.toString(), it.there)), it.bytes]) {
          await this.drive(it, count, { each: 1 })
          const isRight = (_: unknown, i: number): boolean =>
            readFileSync(join(this.#root, nameOf(it, i))).equals(expected)
          if (!Array.from({ length: count }, isRight).every(Boolean)) {
            throw new Error(`${this.party.name} makes other bytes of ${it.name} than the naive variant`)
          }
        }
      }
      return this
    } catch (error) {
      await this.stop()
      throw error
    }
  }
}

const nameOf = (it: Case, number: number): string => `${it.size}-${it.there.length}-${number}.ts`
