// Checks a law against many random histories. Does not know any law.
import t from 'tap'
import { Random, SEED } from '../../random.ts'

/** `holds` returns null or what is wrong; each test file has its own `series` of histories. */
export function checkLaw(
  law: string,
  { count, series }: { count: number; series: number },
  holds: (random: Random) => string | null
): void {
  t.test(law, t => {
    for (let round = 0; round < count; round++) {
      const fault = holds(new Random(SEED * series + round))
      if (fault === null) continue
      t.fail(fault, { seed: SEED, round })
      break
    }
    t.pass(`${count} histories`)
    t.end()
  })
}
