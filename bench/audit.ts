// What the audit costs: the same edits by servers with and without one, loaded by a separate process.
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KB, makeCase } from './corpora.ts'
import { compareServers } from './compare-servers.ts'
import { product, type Party } from './load/parties.ts'
import { whatOf } from './load/under-load.ts'
import type { Random } from './random.ts'
import { short, type Row } from './row.ts'
import { verdict, type Verdict } from './verdict.ts'

const WARM = { each: 2000, ms: 20_000 }
const SMALL = makeCase('ASCII', 10 * KB, 1)
const WITHOUT = 'as shipped'
const WITH = '--audit'
const REQUIRED = '--audit-required'

/** `logs`: the folder of the audit files. */
const partiesOf = (logs: string): Party[] =>
  [
    { name: WITHOUT, flags: [] },
    { name: WITH, flags: ['--audit', join(logs, 'audit.jsonl')] },
    { name: REQUIRED, flags: ['--audit', join(logs, 'required.jsonl'), '--audit-required'] }
  ].map(({ name, flags }) => ({ name, floor: WITHOUT, runs: { http: product(...flags) } }))

export async function auditCost(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const folder = join(base, 'audit')
  mkdirSync(folder, { recursive: true })
  try {
    progress(`audit, ${SMALL.name}`)
    const how = { it: SMALL, clients: [1, 16], sample: 500, rounds: quick ? 15 : 31, warm: WARM, random }
    return await compareServers(folder, partiesOf(folder), how)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The goals of the design. */
export function auditVerdicts(rows: readonly Row[]): Verdict[] {
  const row = rows.find(({ what, variant }) => what === whatOf(SMALL, 1) && variant === WITH)
  const over = row?.loaded?.over[WITHOUT]
  const [p50, cpu] = [over?.p50.median ?? NaN, over?.cpu.median ?? NaN]
  const found = `p50 ${short(p50)}, CPU ${short(cpu)}`
  return [verdict('A1', '10 KB, one client: with an audit ≤ 1.03 × without', [p50, cpu], found, p50 <= 1.03)]
}
