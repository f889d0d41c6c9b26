// Work in the background: one run at a time, and once more where somebody asked meanwhile.
import t from 'tap'
import { setImmediate as tick } from 'node:timers/promises'
import { BackgroundWork } from '../../src/workspace/background.ts'

/** Work whose runs end on command; `runs`: how many have started. */
function slowWork() {
  const ends: ((error?: Error) => void)[] = []
  const failures: unknown[] = []
  const work = new BackgroundWork(
    () => new Promise((resolve, reject) => ends.push(error => (error === undefined ? resolve() : reject(error)))),
    error => failures.push(error)
  )
  const end = async (error?: Error): Promise<void> => {
    ends.at(-1)!(error)
    await tick()
  }
  return { work, ends, failures, end }
}

t.test('begins no second run beside the first', async t => {
  const { work, ends, end } = slowWork()
  for (let i = 0; i < 3; i++) work.begin()
  t.equal(ends.length, 1)
  await end()
  t.equal(ends.length, 1)
  work.begin()
  t.equal(ends.length, 2)
})

t.test('runs once more where that was asked for meanwhile, however often', async t => {
  const { work, ends, end } = slowWork()
  for (let i = 0; i < 3; i++) work.again()
  await end()
  t.equal(ends.length, 2)
  await end()
  t.equal(ends.length, 2)
  await work.ended()
})

t.test('goes on after a run that failed, and says why it did', async t => {
  const { work, ends, failures, end } = slowWork()
  work.begin()
  work.again()
  const error = new Error('no')
  await end(error)
  t.equal(ends.length, 2)
  t.strictSame(failures, [error])
})

t.test('begins nothing once it is stopped', async t => {
  const { work, ends, end } = slowWork()
  work.begin()
  work.again()
  work.stop()
  await end()
  work.begin()
  work.again()
  t.equal(ends.length, 1)
  await work.ended()
})
