// What a second process brings (`--processes 2`): the same edits by one process and by two, under the load of a process of
// its own.
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KB, makeCase } from './corpora.ts'
import { compareServers } from './compare-servers.ts'
import { product, type Party } from './load/parties.ts'
import { whatOf } from './load/under-load.ts'
import type { Random } from './random.ts'
import { ratio, type Row } from './row.ts'
import { NO_QUARTILES, type Quartiles } from './statistics.ts'
import { verdict, type Verdict } from './verdict.ts'

const CLIENTS = 16
/** Each process compiles for itself. */
const WARM = { clients: CLIENTS, each: 2500, ms: 60_000 }
const SMALL = makeCase('ASCII', 10 * KB, 1)
const FLAGS = { 'fast/local': ['--durability', 'fast', '--lock', 'local'], 'as shipped': [] }

const oneOf = (kind: string): string => `${kind}, one process`
const twoOf = (kind: string): string => `${kind}, --processes 2`

export async function severalProcesses(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const folder = join(base, 'processes')
  mkdirSync(folder, { recursive: true })
  try {
    const rows: Row[] = []
    for (const [kind, flags] of Object.entries(FLAGS)) {
      progress(`processes, ${kind}`)
      const parties: Party[] = [
        { name: oneOf(kind), floor: oneOf(kind), runs: { http: product(...flags) } },
        { name: twoOf(kind), floor: oneOf(kind), runs: { http: product(...flags, '--processes', '2') } }
      ]
      const how = { it: SMALL, clients: [CLIENTS], sample: 700, rounds: quick ? 9 : 21, warm: WARM, random }
      rows.push(...(await compareServers(join(folder, kind.replace(/\W/g, '-')), parties, how)))
    }
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the design asks for. */
export function processesVerdicts(rows: readonly Row[]): Verdict[] {
  const [fast, shipped] = Object.keys(FLAGS).map(kind => {
    const row = rows.find(({ what, variant }) => what === whatOf(SMALL, CLIENTS) && variant === twoOf(kind))
    return row?.loaded?.over[oneOf(kind)]?.rate ?? NO_QUARTILES
  }) as [Quartiles, Quartiles]
  const found = `as shipped ${ratio(shipped)}, fast/local ${ratio(fast)}`
  const isMet = fast.median >= 1.4 && shipped.median >= 1.4
  const goal = '16 clients, 10 KB: `--processes 2` ≥ 1.4 × one process, on two cores'
  return [verdict('L5', goal, [fast.median, shipped.median], found, isMet)]
}
