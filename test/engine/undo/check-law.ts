// Asks of many random histories whether a law holds. Does not know any law.
import t from 'tap'
import { Random, SEED } from '../../random.ts'

/** `holds`: null, or what is wrong; `series` keeps the histories of one file apart from those of others. */
export function checkLaw(
  law: string,
  { count, series }: { count: number; series: number },
  holds: (random: Random) => string | null
): void {
  t.test(law, t => {
    for (let round = 0; round < count; round++) {
      const said = holds(new Random(SEED * series + round))
      if (said === null) continue
      t.fail(said, { seed: SEED, round })
      break
    }
    t.pass(`${count} histories`)
    t.end()
  })
}
