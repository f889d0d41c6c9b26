// How many edits 1, 2 and 3 servers of one bucket make in different files. The store is a Ceph with two gateways on
// the same machine.
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { makeBucket, NO_CEPH, type Bucket } from '../test/ceph.ts'
import { KB, makeCase } from './corpora.ts'
import { requestOf } from './load/http-client.ts'
import { Load } from './load/load.ts'
import { holdTo } from './cpu-share.ts'
import { cpuOf } from './machine.ts'
import { shuffled, type Random } from './random.ts'
import { short, time, type Row } from './row.ts'
import { Server, TOKEN } from './server.ts'
import { SERVER } from '../test/running.ts'
import { median } from './statistics.ts'

const SMALL = makeCase('ASCII', 10 * KB, 1)
const SERVERS = 3
/** The clients of all servers together; each server gets an equal part. */
const CLIENTS = 12

interface Used {
  server: Server
  group: number
}

/** The share of one processor for each server: so small that the store has enough left with three of them. */
const SHARE = 0.15

/** The servers' flags, and the share of a processor that each may use; null: no limit. */
const KINDS: readonly { name: string; flags: readonly string[]; share: number | null }[] = [null, SHARE].flatMap(
  share => {
    const held = share === null ? '' : `, each held to ${share} of a core`
    return [
      { name: `with a history${held}`, flags: [], share },
      { name: `--history off${held}`, flags: ['--history', 'off'], share }
    ]
  }
)

/** One sample. CPU in ms per edit; `cores`: how many of all cores were busy. */
interface Sample {
  rate: number
  p50: number
  servers: number
  gateways: number
  behind: number
  load: number
  cores: number
}

/** Without Ceph there is nothing to measure. */
export async function bucketThroughput(
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  if (NO_CEPH !== false) {
    progress(`bucket: left out (${NO_CEPH})`)
    return []
  }
  const rows: Row[] = []
  for (const kind of KINDS) rows.push(...(await measured(kind)))
  return rows

  async function measured({ name, flags, share }: (typeof KINDS)[number]): Promise<Row[]> {
    const endings: (() => unknown)[] = []
    const load = new Load()
    try {
      const bucket = await makeBucket({ teardown: work => endings.push(work) })
      const all: Used[] = []
      for (let i = 0; i < SERVERS; i++) {
        progress(`bucket, ${name}: server ${i + 1} starts`)
        const used = await startOne({ bucket, load, flags }, i)
        endings.push(() => used.server.stop())
        all.push(used)
        const warm = { each: quick ? 15 : 50, ms: 60_000 }
        await load.ask('drive', { group: used.group, first: 0, clients: CLIENTS, ...warm })
      }
      for (const { server } of share === null ? [] : all) {
        const held = holdTo(server.pid, share!)
        if (held === null) {
          progress(`bucket, ${name}: left out (needs root, and control groups of the processor)`)
          return []
        }
        endings.push(() => held.end())
      }
      const [rounds, ms] = quick ? [5, 3000] : [11, 5000]
      const samples = new Map<number, Sample[]>([1, 2, 3].map(count => [count, []]))
      for (let round = 0; round < rounds; round++) {
        progress(`bucket, ${name}: round ${round + 1} of ${rounds}`)
        for (const count of shuffled([...samples.keys()], random)) {
          samples.get(count)!.push(await sampleOf(all.slice(0, count), { bucket, load, ms }))
        }
      }
      return [...samples].map(([count, of]) => rowOf(`${count} server${count === 1 ? '' : 's'}, ${name}`, of))
    } finally {
      await load.stop()
      for (const end of endings.reverse()) await end()
    }
  }
}

/** Starts a server over files that no other server edits. */
async function startOne(
  { bucket, load, flags: more }: { bucket: Bucket; load: Load; flags: readonly string[] },
  number: number
): Promise<Used> {
  const names = Array.from({ length: CLIENTS }, (_, i) => `${number}-${i}.ts`)
  for (const name of names) {
    const object = { Bucket: bucket.name, Key: `bench/${name}`, Body: SMALL.bytes }
    await bucket.client().send(new PutObjectCommand(object))
  }
  const endpoint = bucket.endpoints[number % 2]!
  const flags = ['--port', '0', '--s3-endpoint', endpoint, ...more]
  const server = await Server.start([SERVER, `s3://${bucket.name}/bench`, ...flags], bucket.environment)
  const requests = names.map(path => ({
    there: requestOf({ path, ...SMALL.there[0] }, TOKEN),
    back: requestOf({ path, ...SMALL.back[0] }, TOKEN)
  }))
  const { group } = await load.ask('openHttp', { port: server.port, requests })
  return { server, group }
}

interface How {
  bucket: Bucket
  load: Load
  ms: number
}

async function sampleOf(used: readonly Used[], { bucket, load, ms }: How): Promise<Sample> {
  const { gateways, behind } = bucket.processes
  const sum = (pids: readonly number[]): number => pids.reduce((total, pid) => total + cpuOf(pid), 0)
  const cpu = () => ({
    servers: sum(used.map(({ server }) => server.pid)),
    gateways: sum(gateways),
    behind: sum(behind),
    load: load.cpu()
  })
  const before = cpu()
  const start = performance.now()
  const clients = CLIENTS / used.length
  const limits = { first: 0, clients, each: Infinity, ms }
  const driven = await Promise.all(used.map(({ group }) => load.ask('drive', { group, ...limits })))
  const took = performance.now() - start
  const after = cpu()
  const edits = driven.reduce((total, { edits }) => total + edits, 0)
  const spent = (of: keyof typeof after): number => after[of] - before[of]
  const all = spent('servers') + spent('gateways') + spent('behind') + spent('load')
  return {
    rate: (edits / took) * 1000,
    p50: median(driven.map(({ p50 }) => p50)),
    servers: spent('servers') / edits,
    gateways: spent('gateways') / edits,
    behind: spent('behind') / edits,
    load: spent('load') / edits,
    cores: all / took
  }
}

function rowOf(variant: string, samples: readonly Sample[]): Row {
  const of = (figure: keyof Sample): number => median(samples.map(sample => sample[figure]))
  const parts = (['servers', 'gateways', 'behind', 'load'] as const).map(part => `${part} ${time(of(part))}`)
  const cpu = `CPU of one: ${parts.join(', ')}; ${short(of('cores'))} cores busy`
  return {
    what: `bucket, 10 KB, ${CLIENTS} clients`,
    edits: 1,
    variant,
    figure: `${short(of('rate'))} edits a second, p50 ${time(of('p50'))}; ${cpu}`,
    value: of('rate'),
    pairs: samples.length
  }
}
