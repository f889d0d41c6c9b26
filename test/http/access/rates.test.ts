// How requests are counted, and for whom; laws on random times against a count of what was let through.
import t from 'tap'
import type { Rate } from '../../../src/config/value-kinds.ts'
import { addressKey, RateLimiter } from '../../../src/http/access/rates.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const MS = { s: 1_000, min: 60_000, h: 3_600_000 }

t.test('lets as many through at once as the rate says, and one more each time one comes free', async t => {
  let now = 5
  const limiter = new RateLimiter(() => now)
  const rate: Rate = { requests: 60, per: 'min' }
  for (let i = 0; i < 60; i++) t.equal(limiter.take('a', rate), 0)
  t.equal(limiter.take('a', rate), 1_000)
  t.equal(limiter.take('b', rate), 0, 'others are counted for themselves')
  now += 999
  t.equal(limiter.take('a', rate), 1)
  now += 1
  t.equal(limiter.take('a', rate), 0)
  t.equal(limiter.take('a', rate), 1_000, 'what is refused does not count')
})

t.test(
  'law: no more than the rate and its share of the time, and whoever waits as long as it says gets through',
  async t => {
    const random = new Random(SEED)
    for (let round = 0; round < often(400); round++) {
      let now = random.int(1e9) / 7
      const rate: Rate = { requests: 1 + random.int(50), per: random.pick(['s', 'min', 'h']) }
      const each = MS[rate.per] / rate.requests
      const limiter = new RateLimiter(() => now)
      const passed: number[] = []
      for (let i = 0; i < 200; i++) {
        if (random.chance(40)) now += (random.int(1000) / 300) * each
        const wait = limiter.take('a', rate)
        if (wait === 0) passed.push(now)
        else {
          if (wait > each * (1 + 1e-6)) t.fail(`waits ${wait} of ${each} (SEED=${SEED})`)
          if (!random.chance(50)) continue
          now += wait
          passed.push(now)
          if (limiter.take('a', rate) !== 0) t.fail(`refused after its wait (SEED=${SEED})`)
        }
        const from = passed[random.int(passed.length)]!
        const count = passed.filter(at => at >= from).length
        if (count > rate.requests + (now - from) / each + 1e-3) t.fail(`${count} since ${now - from} ms (SEED=${SEED})`)
      }
      t.ok(passed.length >= Math.min(200, rate.requests))
    }
  }
)

t.test('counts a bounded number of them: first it forgets who owes nothing, then who came first', async t => {
  let now = 0
  const limiter = new RateLimiter(() => now, 3)
  const rate: Rate = { requests: 2, per: 's' }
  for (const by of ['a', 'a', 'b', 'c', 'c']) t.equal(limiter.take(by, rate), 0)
  now = 600
  t.equal(limiter.take('d', rate), 0)
  t.equal(limiter.size, 3)
  t.equal(limiter.take('a', rate), 0, 'one has come free')
  t.ok(limiter.take('a', rate) > 0, 'who still owes is remembered')
  t.equal(limiter.take('e', rate), 0)
  t.equal(limiter.size, 3)
  for (let i = 0; i < 20_000; i++) limiter.take(`${i}`, rate)
  t.equal(limiter.size, 3)
})

t.test('knows which addresses are one', async t => {
  for (const [address, key] of [
    [undefined, 'unix'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1:2%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:192.0.2.33', '1:2:3:4::/64']
  ] as const) {
    t.equal(addressKey(address), key, `${address}`)
  }
})
