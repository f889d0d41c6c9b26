// The time by which ages are judged, where the clock of the machine jumps.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { AgeClock } from '../../src/log/files/age-clock.ts'
import { testFolder } from '../folder.ts'
import { makePlace, recordOf, write } from './support/history.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const real = Date.now

/** Until the end of the test, the clock is ahead by so many ms. */
function setAhead(t: Test, ms: number): void {
  t.teardown(() => {
    Date.now = real
  })
  Date.now = () => real() + ms
}

/** `ahead`: hours by which the clock is ahead, one after the other, and starts of the server; `said`: of the last time. */
const CASES: readonly { name: string; ahead: readonly (number | 'start')[]; said: number; reported: number }[] = [
  { name: 'follows a clock that is right', ahead: [0, 0], said: 0, reported: 0 },
  { name: 'follows a clock that is set back', ahead: [0, -24], said: -24, reported: 0 },
  { name: 'does not follow a jump while it runs', ahead: [0, 25, 25], said: 0, reported: 1 },
  { name: 'follows one at a start, for half a day', ahead: [0, 'start', 40 * 24], said: 12, reported: 1 },
  { name: 'follows a short rest', ahead: [0, 'start', 8], said: 8, reported: 0 },
  { name: 'knows nothing of before the first start', ahead: [40 * 24], said: 40 * 24, reported: 0 },
  { name: 'goes back with the clock that was wrong', ahead: [0, 'start', 40 * 24, 'start', 0], said: 0, reported: 1 }
]

for (const { name, ahead, said, reported } of CASES) {
  t.test(name, async t => {
    const path = join(testFolder(t), 'time')
    const events: { event: string }[] = []
    const start = () => new AgeClock(path, event => events.push(event))
    let clock = start()
    const begun = real()
    let now = 0
    for (const hours of ahead) {
      if (hours === 'start') {
        clock.keep()
        clock = start()
      } else {
        setAhead(t, hours * HOUR)
        now = clock.now()
      }
    }
    t.ok(Math.abs(now - begun - said * HOUR) < HOUR / 2, `${(now - begun) / HOUR} h`)
    t.strictSame(
      events.map(({ event }) => event),
      Array.from({ length: reported }, () => 'clock_ahead')
    )
  })
}

t.test('reports that the time can not be written down', async t => {
  const events: object[] = []
  const path = join(testFolder(t), 'time')
  mkdirSync(path)
  new AgeClock(path, event => events.push(event)).keep()
  t.strictSame(events, [{ event: 'history_sweep_failed', code: 'EISDIR' }])
})

t.test('keeps the history at a start with a clock that is 40 days ahead', async t => {
  const place = makePlace(t)
  const first = await place.open({ nonce: 'one', limits: { segment: 1500 } })
  for (let i = 0; i < 10; i++) await write(first, [recordOf(first, `${i}.txt`)])
  await first.sweep({ days: 30, bytes: 1e9 })
  await first.close()
  t.equal(statSync(`${place.folder}.time`).isFile(), true)
  const names = () => readdirSync(place.folder).sort()
  const before = names()
  setAhead(t, 40 * DAY)
  const next = await place.open({ nonce: 'two' })
  t.match(await next.sweep({ days: 30, bytes: 1e9 }), { removed: 0 })
  t.strictSame(
    names().filter(name => before.includes(name)),
    before
  )
  t.match(place.events, [{ event: 'clock_ahead' }])
})
