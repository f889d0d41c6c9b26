// How many rounds a law is checked for: a few hundred, a few thousand in CI, or its share of `LONG_ROUNDS` (npm run
// test:engine -- --rounds 1000000). Does not know any law.
import type { Test } from 'tap'
import { often } from '../often.ts'
import { SEED } from '../random.ts'

/** Rounds in CI of all laws that the long mode checks. */
const ALL = 13_000
const PARTS = 20

/**
 * The numbers of the rounds, `usual` of them in CI. The long mode prints its progress and, at the end, the number of
 * rounds, which test/run.js adds up.
 */
export function* rounds(t: Test, usual: number): Generator<number> {
  const long = process.env.LONG_ROUNDS !== undefined
  const count = long ? Math.ceil((Number(process.env.LONG_ROUNDS) * usual) / ALL) : often(usual)
  const cpu = process.cpuUsage()
  const part = Math.ceil(count / PARTS)
  for (let round = 0; round < count; round++) {
    yield round
    // Written directly, since tap keeps a test's comments until the file ends.
    if (long && (round + 1) % part === 0) process.stderr.write(`${t.name}: ${round + 1} of ${count} rounds\n`)
  }
  const { user, system } = process.cpuUsage(cpu)
  if (long) process.stderr.write(`${t.name}: ${((user + system) / 1000 / count).toFixed(2)} ms of CPU a round\n`)
  t.comment(`held for ${count} cases of seed ${SEED}`)
}
