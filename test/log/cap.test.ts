// Many small records under a small cap: no more than the cap and one segment of each server is ever there.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { History } from '../../src/log/api.ts'
import { often, ONLY_CI } from '../often.ts'
import { FAST, hashOf, makePlace, recordOf } from './support/history.ts'

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)

t.test('holds, with several servers', { skip: ONLY_CI }, async t => {
  const count = Number(process.env.LONG_RECORDS ?? often(100_000, 10_000))
  const place = makePlace(t)
  const segment = Math.max(20_000, count)
  const cap = 10 * segment
  let most = 0
  const sweep = async () => {
    await one.sweep({ days: 30, bytes: cap })
  }
  let sweeping = Promise.resolve()
  const grown = () => {
    sweeping = sweeping.then(sweep)
  }
  const servers = await Promise.all([1, 2].map(() => place.open({ grown, limits: { segment } })))
  const one = servers[0]!
  for (let done = 0; done < count;) {
    const group = Math.min(count / 50, count - done)
    for (let i = 0; i < group; i += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, k) => {
          const server = servers[k % 2]!
          const record = recordOf(server, `${(done + i + k) % 1000}.txt`)
          const written = server.append(record, FAST)
          server.settle(record.edit_id, 'done')
          return written
        })
      )
    }
    done += group
    await sweeping
    most = Math.max(most, sizeOf(place.folder))
  }
  t.ok(most <= cap + servers.length * 2 * segment, `${most} bytes`)
  const { records, next_before } = await one.list({}, 200)
  t.equal(records.length, 200)
  t.ok(next_before)
  t.ok((await one.lastOf(Buffer.from('997.txt'))) !== null)
  t.strictSame(place.events, [])
  t.comment(`held for ${count} records, ${most} bytes at most under a cap of ${cap}`)
})

t.test('holds where it is small: segments are an eighth of it then', async t => {
  for (const size of [600_000, 2_000_000]) {
    const place = makePlace(t)
    let sweeping = Promise.resolve()
    let swept = 0
    const grown = () => {
      sweeping = sweeping.then(async () => {
        swept += (await one.sweep({ days: 30, bytes: size })).removed
      })
    }
    const one: History = await place.open({ size, grown })
    let most = 0
    for (let done = 0; done < 60; done++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, k) => {
          const record = recordOf(one, `${k}.txt`)
          const written = one.append(record, FAST)
          one.settle(record.edit_id, 'done')
          return written
        })
      )
      // What a sweep is about to remove is still there.
      most = Math.max(most, sizeOf(place.folder))
      await sweeping
    }
    t.ok(most <= size, `${most} of ${size} bytes`)
    t.ok(most > 0.7 * size && swept > 0, `${swept} removed`)
    t.strictSame(place.events, [])
  }
})

t.test('holds where texts are long: what is written beside the segments counts', async t => {
  const size = 2_000_000
  const place = makePlace(t)
  let sweeping = Promise.resolve()
  let count = 0
  const grown = () => {
    count++
    sweeping = sweeping.then(async () => {
      await one.sweep({ days: 30, bytes: size })
    })
  }
  const one: History = await place.open({ size, grown })
  let most = 0
  for (let done = 0; done < 100; done++) {
    const text = `${done}`.padEnd(100_000, '.')
    const record = recordOf(one, `${done}.txt`, text)
    await one.append(record, FAST)
    one.settle(record.edit_id, 'done')
    one.keepCopy(record.path, { edit_id: record.edit_id, pieces: [Buffer.from(text)], hash: hashOf(text) })
    await one.flush()
    most = Math.max(most, sizeOf(place.folder))
    await sweeping
  }
  t.ok(most <= size, `${most} of ${size} bytes`)
  t.ok(most > 0.7 * size)
  // Texts and copies of 20 MB, an eighth of the size at a time.
  t.ok(count >= 60 && count <= 80, `${count} times`)
  t.strictSame(place.events, [])
})
