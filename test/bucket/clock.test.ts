// A clock that is off is reported when a server starts, and refused where it is hours off.
import t from 'tap'
import { ClockWrong, compareClocks } from '../../src/bucket/clock.ts'
import { storeFailure } from '../../src/bucket/start-failure.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

t.test('reports a clock that is more than a minute off, and refuses one that is more than an hour off', async t => {
  const NOW = Date.UTC(2026, 10, 29, 12)
  const at = (ms: number) => new Date(NOW + ms).toISOString()
  const now = t.capture(Date, 'now', () => NOW)
  for (const [off, outcome] of [
    [0, 'fine'],
    [59 * SECOND, 'fine'],
    [-59 * SECOND, 'fine'],
    [2 * MINUTE, 'reported'],
    [-59 * MINUTE, 'reported'],
    [61 * MINUTE, 'refused'],
    [-48 * HOUR, 'refused']
  ] as const) {
    const events: object[] = []
    const compare = () => compareClocks(NOW + off, event => events.push(event))
    if (outcome === 'refused') t.throws(compare, { message: /^the clock of this machine says/ }, String(off))
    else compare()
    t.strictSame(events, outcome === 'reported' ? [{ event: 'clock_off', now: at(0), store: at(off) }] : [])
  }
  now.restore()
  t.strictSame(storeFailure(new ClockWrong(NOW + 48 * HOUR, NOW), 's3://b'), {
    sentence:
      'the clock of this machine says 2026-12-01T12:00:00.000Z, that of the object store 2026-11-29T12:00:00.000Z ' +
      '(s3://b): set the clock, for instance by NTP.',
    isFault: true
  })
})
