// Paired measuring: in each round every variant runs once, in random order; the result is the ratio of two variants
// within a round.
import { shuffled, type Random } from './random.ts'
import { median, quartiles, type Quartiles } from './statistics.ts'

/**
 * `run` does the work once. It returns how many operations that was and, if another process did it, their CPU time in
 * ms.
 */
export interface Variant {
  name: string
  against: string
  run: () => Promise<{ operations: number; cpu?: number }>
}

/** Times in ms of one operation; ratios to the variant that it is compared with. */
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
   * Total ms for one variant: slow variants take part in fewer rounds, but at least in `fewest`, and the slowest in
   * half as many.
   */
  budget: number
  fewest: number
  /** ms that each variant runs at least before measuring, unless one run takes longer than its budget. */
  warm: number
  random: Random
}

interface Sample {
  wall: number
  cpu: number
}

export async function measure(variants: readonly Variant[], options: RoundOptions): Promise<Measured[]> {
  const { rounds, budget, fewest, random } = options
  const turns = new Map<string, number>()
  for (const variant of variants) {
    const warm = performance.now() + options.warm
    let { total } = await sample(variant)
    // A long run is compiled by the end of it.
    while (total < budget && performance.now() < warm) total = (await sample(variant)).total
    turns.set(
      variant.name,
      Math.max(total > 2 * budget ? Math.ceil(fewest / 2) : fewest, Math.min(rounds, Math.floor(budget / total)))
    )
  }
  const samples: Map<string, Sample>[] = []
  for (let round = 0; round < rounds; round++) {
    const now = new Map<string, Sample>()
    for (const variant of shuffled(variants, random)) {
      const most = turns.get(variant.name)!
      if (Math.floor(((round + 1) * most) / rounds) > Math.floor((round * most) / rounds)) {
        now.set(variant.name, await sample(variant))
      }
    }
    samples.push(now)
  }
  return variants.map(({ name, against }) => {
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

async function sample({ run }: Variant): Promise<Sample & { total: number }> {
  // So that the last variant's garbage and callbacks don't count for this one.
  await new Promise(resolve => setImmediate(resolve))
  const cpu = process.cpuUsage()
  const start = performance.now()
  const done = await run()
  const total = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { total, wall: total / done.operations, cpu: (done.cpu ?? (user + system) / 1000) / done.operations }
}
