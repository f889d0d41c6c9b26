// The bytes of large files in work: waiting in turn, giving up in time, and what a request is answered then.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Memory } from '../../src/workspace/memory.ts'
import { append, freshPlace, open, REAL, remove } from './support/open.ts'

t.test('lets each take when there is enough for those before', async t => {
  const memory = new Memory(10)
  const order: string[] = []
  const first = await memory.take(8, 1000)
  const later = [memory.take(9, 10_000), memory.take(1, 10_000)].map(async (taken, i) => {
    const release = await taken
    order.push(`${i}`)
    release!()
  })
  order.push('released')
  first!()
  await Promise.all(later)
  t.strictSame(order, ['released', '0', '1'], 'the small one doesn’t overtake')
  const all = await memory.take(10, 1000)
  t.equal(await memory.take(1, 1), null)
  all!()
  t.ok(await memory.take(10, 1000), 'who gave up holds nothing')
})

t.test('answers NOT_READY where large files stay in work too long, and edits small ones meanwhile', async t => {
  const place = freshPlace()
  const workspace = await open(place, { maxFileSize: 200e6, lockTimeout: 300 })
  for (const name of ['a', 'b']) writeFileSync(join(place.root, name), Buffer.alloc(150e6, 'a'))
  writeFileSync(join(place.root, 'c'), 'c')
  let go = () => {}
  const planned = new Promise<void>(resolve => { go = resolve })
  let begun = () => {}
  const started = new Promise<void>(resolve => { begun = resolve })
  const slow = workspace.edit({ path: 'a' }, REAL, async original => {
    begun()
    await planned
    return append('x')(original)
  })
  await started
  t.match(await workspace.edit({ path: 'c' }, REAL, append('x')), { ok: true })
  t.match(await workspace.edit({ path: 'b' }, REAL, append('x')), { ok: false, failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 } })
  go()
  t.match(await slow, { ok: true })
  t.match(await workspace.edit({ path: 'b' }, REAL, append('x')), { ok: true })
  await workspace.close()
  remove(place)
})
