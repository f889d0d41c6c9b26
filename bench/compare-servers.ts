// Sends equal edits to several servers in turn, from a separate process. Does not know how the servers differ.
import { join } from 'node:path'
import type { Case } from './corpora.ts'
import { Load } from './load/load.ts'
import { Running, type Party } from './load/parties.ts'
import { compared } from './load/under-load.ts'
import type { Random } from './random.ts'
import type { Row } from './row.ts'

export interface Comparison {
  it: Case
  /** Numbers of clients; each has its own rows. */
  clients: readonly number[]
  /** The time in ms to sample one server. */
  sample: number
  rounds: number
  /** Edits by each client before the server is measured, and the most ms for that; `clients`: default 1. */
  warm: { each: number; ms: number; clients?: number }
  random: Random
}

export async function compareServers(
  folder: string,
  parties: readonly Party[],
  { it, clients, sample, rounds, warm: { clients: warming = 1, ...warm }, random }: Comparison
): Promise<Row[]> {
  const load = new Load()
  const running: Running[] = []
  try {
    for (const [i, party] of parties.entries()) {
      const server = await Running.start(party, join(folder, String(i)), [{ it, count: Math.max(...clients) }], load)
      running.push(server)
      await server.drive(it, warming, warm)
    }
    const rows: Row[] = []
    for (const count of clients) {
      rows.push(...(await compared(running, { it, clients: count, sample, rounds, random, load })))
    }
    return rows
  } finally {
    await Promise.all(running.map(server => server.stop())).finally(() => load.stop())
  }
}
