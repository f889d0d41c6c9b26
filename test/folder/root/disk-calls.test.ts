// The calls on a file system that other threads make: row 56 of docs/threats.md, without a file system.
import { stat } from 'node:fs/promises'
import t from 'tap'
import { DiskCalls } from '../../../src/folder/root/disk-calls.ts'

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

t.test('hangs while a call waits for more than 2 s, but not while this thread is busy', async t => {
  const disk = new DiskCalls(2)
  const turn = () => new Promise(resolve => setImmediate(resolve))
  let end = (): void => {}
  const answered = disk.call(() => stat('.'))
  const until = performance.now() + 2100
  while (performance.now() < until);
  await answered
  await turn()
  t.equal(disk.hangs, false)
  const first = disk.call(() => new Promise<void>(resolve => (end = resolve)))
  while (!disk.hangs) await new Promise(resolve => setTimeout(resolve, 50))
  await disk.call(async () => {})
  t.equal(disk.hangs, true)
  end()
  await first
  t.equal(disk.hangs, false)
})
