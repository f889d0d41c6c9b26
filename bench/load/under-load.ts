// Small edits from many clients at once: each party in each round, in random order, loaded by a separate process.
import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { peersInstalled } from '../against-peers.ts'
import { KB, makeCase, MB, type Case } from '../corpora.ts'
import { shuffled, type Random } from '../random.ts'
import { time, type Row } from '../row.ts'
import { median, quartiles, type Quartiles } from '../statistics.ts'
import type { Driven } from './clients.ts'
import { Load } from './load.ts'
import { parties, Running, SHIPPED, type Files, type Party } from './parties.ts'

/**
 * Edits of each client before a server is measured, and the most ms for that, even in a quick run: the compiler is busy
 * for a server's first 4,000 edits, and does a little until some 30,000.
 */
const WARM = { each: 2000, ms: 60_000 }
const WARM_CLIENTS = 16
/**
 * When a server is first idle after a load, V8 returns memory, 8 to 20 s later, and drops most compiled code with it:
 * 161 functions at once (`--trace-deopt`), and an edit takes 1.7 times the CPU until they are compiled again. So all
 * servers are left idle for this long, in ms, and warmed up again.
 */
const IDLE = 25_000
const AGAIN = { each: 1000, ms: 60_000 }
/** Servers of each party, which take turns: compiling the same code gives results that vary by a tenth per process. */
const SERVERS = { full: 3, quick: 2 }
/** Rounds for each server of a party. */
const ROUNDS = { full: 9, quick: 6 }
/** Length of a sample in ms; three times as long at 1 MB, where 64 clients need seconds for a few edits each. */
const SAMPLE = { full: 700, quick: 400 }
const MOST = 64

/** One round: edits per second; ms of CPU per edit, of the server and of the load process; ms to an answer. */
interface Sample {
  rate: number
  cpu: number
  clients: number
  p50: number
  p99: number
  longest: number
}

/** Medians over the rounds; ratios to its floor in the same round, and to the other parties. */
export interface Loaded extends Sample {
  floor: string
  over: Record<string, Record<'rate' | 'cpu' | 'p50' | 'p99', Quartiles>>
}

export const whatOf = (it: { name: string }, clients: number): string =>
  `${it.name}, ${clients} ${clients === 1 ? 'client' : 'clients'}`

export async function underLoad(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const mode = quick ? 'quick' : 'full'
  const folder = join(base, 'load')
  const small = makeCase('ASCII', 10 * KB, 1)
  const sizes = quick ? [small] : [small, makeCase('ASCII', 100 * KB, 1), makeCase('ASCII', MB, 1)]
  const typical = makeCase('ASCII', MB, 10)
  const large = quick ? null : makeCase('ASCII', 90 * MB, 1)
  const load = new Load()
  const running: Running[] = []
  try {
    const files: Files[] = sizes.map(it => ({ it, count: MOST }))
    const own: Files[] = [typical, ...(large === null ? [] : [large])].map(it => ({ it, count: 1 }))
    for (const party of parties()) {
      progress(`load, ${party.name}: start and first edits of ${SERVERS[mode]} servers`)
      const all = party.name === SHIPPED ? [...files, ...own] : files
      for (let i = 0; i < SERVERS[mode]; i++) {
        const server = await Running.start(party, join(folder, String(running.length)), all, load)
        running.push(server)
        await server.drive(small, WARM_CLIENTS, WARM)
      }
    }
    if (!peersInstalled()) {
      progress('load: MCP filesystem left out, npm ci --ignore-scripts --prefix bench/peers installs it')
    }
    progress('load: idle, and warmed up again')
    await sleep(IDLE)
    for (const server of running) await server.drive(small, WARM_CLIENTS, AGAIN)
    const rows: Row[] = []
    for (const it of sizes) {
      for (const clients of quick ? [1, 16] : [1, 16, MOST]) {
        progress(`load, ${whatOf(it, clients)}`)
        const sample = it.size < MB ? SAMPLE[mode] : 3 * SAMPLE[mode]
        rows.push(...(await compared(running, { it, clients, sample, rounds: ROUNDS[mode], random, load })))
      }
    }
    const shipped = running.find(({ party }) => party.name === SHIPPED)!
    progress('load, one client, ten edits of 1 MB')
    rows.push(await alone(shipped, typical, quick ? 60 : 360))
    if (large !== null) {
      progress('load, one client, while a large file is edited')
      rows.push(await beside(shipped, small, large))
    }
    return rows
  } finally {
    await Promise.all(running.map(server => server.stop())).finally(() => load.stop())
    await rm(folder, { recursive: true, force: true })
  }
}

interface Comparison {
  it: Case
  clients: number
  /** Length of one sample in ms. */
  sample: number
  rounds: number
  random: Random
  load: Load
}

/** Each round uses one server of each party: its servers take turns. */
export async function compared(servers: readonly Running[], comparison: Comparison): Promise<Row[]> {
  const { it, clients, sample, rounds: count, random, load } = comparison
  for (const server of servers) await server.drive(it, clients, { ms: sample / 2 })
  const all = [...new Set(servers.map(({ party }) => party))]
  const rounds: Map<string, Sample>[] = []
  for (let i = 0; i < count; i++) {
    const round = new Map<string, Sample>()
    for (const party of shuffled(all, random)) {
      const own = servers.filter(server => server.party === party)
      const server = own[i % own.length]!
      settle()
      const [before, clientsBefore] = [server.cpu(), load.cpu()]
      const driven = await server.drive(it, clients, { ms: sample })
      round.set(server.party.name, sampleOf(driven, server.cpu() - before, load.cpu() - clientsBefore))
    }
    rounds.push(round)
  }
  return all.map(party => {
    const ratios = (other: string, figure: keyof Sample): Quartiles =>
      quartiles(rounds.map(round => round.get(party.name)![figure] / round.get(other)![figure]))
    const ratiosTo = ({ name }: Party) => [
      name,
      { rate: ratios(name, 'rate'), cpu: ratios(name, 'cpu'), p50: ratios(name, 'p50'), p99: ratios(name, 'p99') }
    ]
    const middle = (figure: keyof Sample): number => median(rounds.map(round => round.get(party.name)![figure]))
    const loaded: Loaded = {
      floor: party.floor,
      rate: middle('rate'),
      cpu: middle('cpu'),
      clients: middle('clients'),
      p50: middle('p50'),
      p99: middle('p99'),
      longest: Math.max(...rounds.map(round => round.get(party.name)!.longest)),
      over: Object.fromEntries(all.map(ratiosTo))
    }
    return { what: whatOf(it, clients), edits: it.there.length, variant: party.name, loaded, pairs: count }
  })
}

/** One client, like a single agent; every answer counts. */
async function alone(server: Running, it: Case, requests: number): Promise<Row> {
  await server.drive(it, 1, { each: requests })
  return inWords(whatOf(it, 1), it, await server.drive(it, 1, { each: requests }), '')
}

/** One client, while another client edits a large file over and over. */
async function beside(server: Running, it: Case, large: Case): Promise<Row> {
  const limits = { ms: 5000 }
  const [driven, other] = await Promise.all([server.drive(it, 1, limits), server.drive(large, 1, limits)])
  const often = `, in which the other is edited ${other.edits} times`
  return inWords(`${whatOf(it, 1)}, while ${large.name} is edited`, it, driven, often)
}

const inWords = (what: string, it: Case, { edits, p50, p99, longest }: Driven, more: string): Row => ({
  what,
  edits: it.there.length,
  variant: SHIPPED,
  figure: `p50 ${time(p50)}, p99 ${time(p99)}, longest ${time(longest)}${more}`,
  value: p50,
  longest,
  pairs: edits
})

const sampleOf = ({ edits, took, p50, p99, longest }: Driven, cpu: number, own: number): Sample => ({
  rate: (edits / took) * 1000,
  cpu: cpu / edits,
  clients: own / edits,
  p50,
  p99,
  longest
})

/**
 * Makes all file systems write what the last variant has left unwritten. Else the kernel may write it later, during
 * other samples: on ext4 without a journal, an fsync of one file doesn't write it.
 */
function settle(): void {
  execFileSync('sync')
}
