// /edit over HTTP against a floor route: warm processes, driven in turn.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { KB, makeCase, MB, type Case } from './corpora.ts'
import { fileSystemOf } from './machine.ts'
import { FAST, FULL } from './product.ts'
import { measure, type RoundOptions } from './rounds.ts'
import { rowsOf, time, type Row } from './row.ts'
import { Server, type Served } from './server.ts'
import { quantile } from './statistics.ts'

const CONNECTIONS = 8
const MEMORY = '/dev/shm'

interface Party {
  name: string
  against: string
  served: Served
}

const FLOOR: Party = { name: 'floor route', against: 'floor route', served: { floor: 'fast' } }
const PLAIN: Party[] = [FLOOR, { name: 'product, fast/local', against: FLOOR.name, served: { product: FAST } }]
const SYNCED: Party[] = [
  { name: 'floor route, synced', against: 'floor route, synced', served: { floor: 'full' } },
  { name: 'product, full/local', against: 'floor route, synced', served: { product: { ...FULL, lock: 'local' } } },
  { name: 'product, full/shared', against: 'floor route, synced', served: { product: FULL } }
]

export async function overHttp(
  base: string,
  quick: boolean,
  options: RoundOptions,
  progress: (line: string) => void
): Promise<Row[]> {
  const small = makeCase('ASCII', 10 * KB, 1)
  const system = fileSystemOf(base)
  const rows: Row[] = []
  progress('HTTP')
  rows.push(...(await driven(base, small, `${small.name}, HTTP, ${system}`, PLAIN, quick ? 160 : 400, quick, options)))
  progress('HTTP, synced')
  rows.push(...(await driven(base, small, `${small.name}, HTTP, ${system}`, SYNCED, quick ? 40 : 100, quick, options)))
  if (system !== 'tmpfs' && fileSystemOf(MEMORY) === 'tmpfs') {
    progress('HTTP, tmpfs')
    const inMemory = mkdtempSync(join(MEMORY, 'editd-bench-'))
    try {
      rows.push(
        ...(await driven(inMemory, small, `${small.name}, HTTP, tmpfs`, PLAIN, quick ? 160 : 400, quick, options))
      )
    } finally {
      rmSync(inMemory, { recursive: true })
    }
  }
  progress('HTTP, one at a time')
  for (const it of [small, makeCase('ASCII', MB, 10)]) rows.push(await alone(base, it, quick ? 120 : 360))
  if (quick) return rows
  progress('HTTP, while a large file is edited')
  rows.push(await alone(base, small, 360, makeCase('ASCII', 90 * MB, 1)))
  return rows
}

async function driven(
  base: string,
  it: Case,
  what: string,
  parties: readonly Party[],
  requests: number,
  quick: boolean,
  options: RoundOptions
): Promise<Row[]> {
  const folder = mkdtempSync(join(base, 'http-'))
  const servers: Server[] = []
  try {
    const variants = []
    for (const [index, { name, against, served }] of parties.entries()) {
      const server = await Server.start(join(folder, String(index)), served, it, CONNECTIONS)
      servers.push(server)
      // Until the compiler has seen enough: after that many requests nothing gets faster any more.
      await server.drive(quick ? 2000 : 6000)
      variants.push({
        name,
        against,
        async run() {
          const before = server.cpu()
          await server.drive(requests)
          return { operations: requests, cpu: server.cpu() - before }
        }
      })
    }
    return rowsOf(what, it.there.length, await measure(variants, options))
  } finally {
    await Promise.all(servers.map(server => server.stop()))
    rmSync(folder, { recursive: true })
  }
}

/**
 * As an agent would see it: the default settings, one request after the other; `large` is edited over and over
 * meanwhile.
 */
async function alone(base: string, it: Case, requests: number, large?: Case): Promise<Row> {
  const folder = mkdtempSync(join(base, 'http-'))
  const server = await Server.start(join(folder, 'root'), { product: FULL }, it, 1)
  try {
    await server.drive(requests)
    const driven = server.drive(requests)
    const often =
      large === undefined ? '' : `, in which the other is edited ${await server.during(driven, large)} times`
    const took = await driven
    const figure = `p50 ${time(quantile(took, 0.5))}, p99 ${time(quantile(took, 0.99))}, longest ${time(Math.max(...took))}${often}`
    return {
      what: `${it.name}, HTTP, ${large === undefined ? 'one at a time' : `while ${large.name} is edited`}`,
      edits: it.there.length,
      variant: 'product, full/shared',
      figure,
      value: quantile(took, 0.5),
      longest: Math.max(...took),
      pairs: requests
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}
