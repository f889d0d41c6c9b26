// Sockets of files that processes of a group keep between edits: who has one, when another gets it, and what holds for
// edits by way of them. `KeptSockets` of one process are to each other as those of several.
// runs in .ci/run
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { KeptSockets, type TakenSocket } from '../../../src/workspace/locks/kept-sockets.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { makeFolders, onLinux, open, removeFolders } from '../support/open.ts'
import { startWorker } from '../support/process.ts'

const linuxOnly = { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') }
const FILE = Buffer.from('a.txt')
const prefix = `editd-test-sockets-${process.pid}`

/** Two processes, as far as sockets tell. `ended`: the paths of which each has let go, in order. */
function two(t: Test) {
  const name = `${prefix}-${Math.random()}`
  const make = () => {
    const ended: string[] = []
    const sockets = new KeptSockets(async path => {
      ended.push(path.toString())
    })
    t.teardown(() => sockets.close())
    const take = async (path = FILE, wait = 2000): Promise<TakenSocket | null> => {
      const wanted = () => ({
        name: `${name}-${path.toString()}`,
        proofOf: (nonce: string) => nonce,
        waitOn: () => true
      })
      const taken = await sockets.take(path, wanted, performance.now() + wait)
      if (taken === 'unproven') throw new Error(taken)
      return taken
    }
    const giveBack = (taken: TakenSocket | null, mayBeKept = true, path = FILE): Promise<boolean> =>
      sockets.giveBack(path, taken!, mayBeKept)
    return { sockets, ended, take, giveBack }
  }
  return { one: make(), other: make() }
}

t.test('keeps a file’s socket for the next edit', linuxOnly, async t => {
  const { one, other } = two(t)
  const first = await one.take()
  t.equal(one.sockets.since(FILE), first!.since)
  t.equal(await one.giveBack(first), false)
  t.equal(one.sockets.since(FILE), first!.since)
  t.strictSame(one.ended, [])
  const next = await one.take()
  t.equal(next!.since, first!.since, 'without a break')
  t.equal(await other.take(FILE, 20), null, 'nobody else has it meanwhile')
  await one.giveBack(next)
})

t.test('lets go of it as soon as another process wants it', linuxOnly, async t => {
  const { one, other } = two(t)
  const first = await one.take()
  await one.giveBack(first)
  const others = await other.take()
  t.strictSame(one.ended, ['a.txt'], 'after what is to be done before')
  t.equal(one.sockets.since(FILE), null)
  const wanting = one.take()
  while (!others!.socket.isWanted()) await sleep(1)
  t.equal(await other.giveBack(others), true, 'at the end of an edit, where one waits already')
  t.strictSame(other.ended, ['a.txt'])
  const again = await wanting
  t.not(again!.since, first!.since)
  await one.giveBack(again)
})

t.test('lets go of it', linuxOnly, async t => {
  const check = async (what: string, work: (one: ReturnType<typeof two>['one']) => Promise<unknown>) => {
    const { one, other } = two(t)
    await work(one)
    t.strictSame(one.ended, ['a.txt'], what)
    const others = await other.take(FILE, 0)
    t.ok(others, `${what}: it is free`)
    await other.giveBack(others)
  }
  await check('where it may not be kept', async one => one.giveBack(await one.take(), false))
  await check('when it was not used for a while', async one => {
    await one.giveBack(await one.take())
    await sleep(100)
  })
  await check('when its process closes', async one => {
    await one.giveBack(await one.take())
    await one.sockets.close()
  })
  await check('at the end of an edit during which its process closes', async one => {
    const taken = await one.take()
    await one.sockets.close()
    await one.giveBack(taken)
  })
})

t.test('keeps no more than 64', linuxOnly, async t => {
  const { one } = two(t)
  const paths = Array.from({ length: 65 }, (_, i) => Buffer.from(`f${i}`))
  const sockets = await Promise.all(paths.map(path => one.take(path)))
  await Promise.all(paths.map((path, i) => one.giveBack(sockets[i]!, true, path)))
  t.strictSame(one.ended, ['f64'])
})

t.test(
  'loses no edit of three processes that want the same files, and records each, wherever one is killed',
  linuxOnly,
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const random = new Random(SEED)
    for (const name of ['f0', 'f1']) writeFileSync(join(folders.root, name), '')
    const acknowledged: string[] = []
    let serial = 0
    const run = async (): Promise<void> => {
      const file = `f${random.int(2)}`
      const worker = startWorker({ ...folders, file, count: 10_000, name: `${serial++}-`, group: 'a group' })
      worker.child.stdout!.on('data', (data: Buffer) => {
        for (const [, line] of data.toString().matchAll(/^done (.*)$/gm)) acknowledged.push(`${file} ${line}`)
      })
      await worker.printed('done')
      await sleep(random.int(300))
      worker.child.kill('SIGKILL')
      await worker.ended
    }
    const lane = async (runs: number): Promise<void> => {
      for (let i = 0; i < runs; i++) await run()
    }
    await Promise.all([0, 1, 2].map(() => lane(often(12, 2))))
    const workspace = await open(folders, { history: 'full' })
    t.teardown(() => workspace.close())
    for (const name of ['f0', 'f1']) {
      const lines = readFileSync(join(folders.root, name), 'utf8').split('\n').slice(0, -1)
      t.equal(new Set(lines).size, lines.length, 'none twice')
      const lost = acknowledged.filter(line => line.startsWith(name) && !lines.includes(line.slice(name.length + 1)))
      t.strictSame(lost, [])
      let records = 0
      for (let before: string | undefined; ;) {
        const page = await workspace.history({ path: name, limit: 200, ...(before !== undefined && { before }) })
        if (!page.ok) throw new Error(page.failure.code)
        const { edits, next_before } = page.value
        t.strictSame(
          edits.filter(({ record }) => record.operation === 'outside'),
          [],
          'nothing that looks like another program'
        )
        records += edits.length
        if (next_before === undefined) break
        before = next_before
      }
      t.equal(records, lines.length)
    }
  }
)
