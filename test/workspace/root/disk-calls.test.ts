// The calls on a file system that other threads make: row 56 of docs/threats.md, without a file system.
import t from 'tap'
import { DiskCalls } from '../../../src/workspace/root/disk-calls.ts'

t.test('makes as many calls at once as it may, the others in their order, whatever becomes of them', async t => {
  const disk = new DiskCalls(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const calls = [0, 1, 2, 3].map(i =>
    disk.call(async () => {
      begun.push(i)
      await new Promise<void>(resolve => ends.push(resolve))
      if (i === 1) throw new Error('no')
      return i
    })
  )
  const settled = Promise.allSettled(calls)
  const turn = () => new Promise(resolve => setImmediate(resolve))
  t.strictSame(begun, [0, 1])
  ends[1]!()
  await turn()
  t.strictSame(begun, [0, 1, 2])
  ends[0]!()
  await turn()
  t.strictSame(begun, [0, 1, 2, 3])
  for (const end of ends) end()
  t.strictSame(
    (await settled).map(call => (call.status === 'fulfilled' ? call.value : 'rejected')),
    [0, 'rejected', 2, 3]
  )
  t.equal(disk.hangs, false)
})

t.test('hangs while a call waits for more than 2 s, however many are answered meanwhile', async t => {
  const { now } = performance
  let at = 0
  performance.now = () => at
  t.teardown(() => {
    performance.now = now
  })
  const disk = new DiskCalls()
  let end = (): void => {}
  const first = disk.call(() => new Promise<void>(resolve => (end = resolve)))
  at = 2000
  await disk.call(async () => {})
  t.equal(disk.hangs, false)
  at = 2001
  await disk.call(async () => {})
  t.equal(disk.hangs, true)
  end()
  await first
  t.equal(disk.hangs, false)
})
