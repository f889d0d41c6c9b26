// Paired measuring: in each round every way runs once, in random order; what counts is the ratio of two ways in the
// same round.
import { shuffled, type Random } from './random.ts'
import { median, quartiles, type Quartiles } from './statistics.ts'

/**
 * `run` does the work once and answers how many operations it was, and their CPU time in ms where that isn't this
 * process's.
 */
export interface Way {
  name: string
  against: string
  run: () => Promise<{ operations: number; cpu?: number }>
}

/** Times in ms of one operation; ratios to the way it is held against. */
export interface Measured {
  name: string
  against: string
  wall: number
  cpu: number
  wallRatio: Quartiles
  cpuRatio: Quartiles
  pairs: number
}

export interface RoundOptions {
  rounds: number
  /**
   * ms that one way may take in all: slow ways take part in fewer rounds, but in `fewest` at least, the slowest in half
   * of that.
   */
  budget: number
  fewest: number
  /** ms that each way runs at least before it counts, unless one run takes longer than its budget. */
  warm: number
  random: Random
}

interface Sample {
  wall: number
  cpu: number
}

export async function measure(ways: readonly Way[], options: RoundOptions): Promise<Measured[]> {
  const { rounds, budget, fewest, random } = options
  const turns = new Map<string, number>()
  for (const way of ways) {
    const warm = performance.now() + options.warm
    let { total } = await sample(way)
    // What takes long was compiled on the way.
    while (total < budget && performance.now() < warm) total = (await sample(way)).total
    turns.set(
      way.name,
      Math.max(total > 2 * budget ? Math.ceil(fewest / 2) : fewest, Math.min(rounds, Math.floor(budget / total)))
    )
  }
  const samples: Map<string, Sample>[] = []
  for (let round = 0; round < rounds; round++) {
    const now = new Map<string, Sample>()
    for (const way of shuffled(ways, random)) {
      const most = turns.get(way.name)!
      if (Math.floor(((round + 1) * most) / rounds) > Math.floor((round * most) / rounds)) {
        now.set(way.name, await sample(way))
      }
    }
    samples.push(now)
  }
  return ways.map(({ name, against }) => {
    const own = samples.flatMap(round => round.get(name) ?? [])
    const pairs = samples.flatMap(round => {
      const [one, other] = [round.get(name), round.get(against)]
      return one === undefined || other === undefined ? [] : [{ wall: one.wall / other.wall, cpu: one.cpu / other.cpu }]
    })
    return {
      name,
      against,
      wall: median(own.map(({ wall }) => wall)),
      cpu: median(own.map(({ cpu }) => cpu)),
      wallRatio: quartiles(pairs.map(({ wall }) => wall)),
      cpuRatio: quartiles(pairs.map(({ cpu }) => cpu)),
      pairs: pairs.length
    }
  })
}

async function sample({ run }: Way): Promise<Sample & { total: number }> {
  // The last way's rubbish and callbacks are not this one's.
  await new Promise(resolve => setImmediate(resolve))
  const cpu = process.cpuUsage()
  const start = performance.now()
  const done = await run()
  const total = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { total, wall: total / done.operations, cpu: (done.cpu ?? (user + system) / 1000) / done.operations }
}
