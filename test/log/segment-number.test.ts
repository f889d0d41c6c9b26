// Numbers of segments, where others take them at the same moment, or claimed them and were killed. Also the writer's part
// in it: it gives a segment up that didn't get the highest number.
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { ONLY_CI } from '../often.ts'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { settlementLine } from '../../src/log/record-json.ts'
import { claimNumber, unclaimNumber } from '../../src/log/files/segment-number.ts'
import { SegmentAppender } from '../../src/log/files/appender.ts'
import { Writer } from '../../src/log/writer.ts'
import { testFolder } from '../folder.ts'

const LINE = settlementLine('E'.repeat(26), 'done')

/** In ms: this thread does nothing else, and other threads carry out what it has asked for. */
const stand = (time: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time)

/** All servers live but those named here. */
const claimIn = (folder: string, mine = 0, gone: readonly string[] = []) =>
  claimNumber({ folder, nonce: 'mine', isAlive: async nonce => !gone.includes(nonce) }, mine)

t.test('takes a number that nobody has, and gives it back', async t => {
  const folder = testFolder(t, { 'other-3.ndjson': '', 'mine-7.ndjson': '' })
  t.equal(await claimIn(folder, 1), 4)
  t.equal(readFileSync(join(folder, '4.number.tmp'), 'utf8'), 'mine')
  await unclaimNumber(folder, 4)
  t.notOk(existsSync(join(folder, '4.number.tmp')))
})

t.test('takes the next number where another server has used one while it was looking', async t => {
  const folder = testFolder(t)
  const claiming = claimIn(folder)
  // The folder was listed in another thread, and this one hasn't seen the list yet.
  stand(200)
  writeFileSync(join(folder, 'other-1.ndjson'), '')
  t.equal(await claiming, 2)
})

t.test('leaves out a number whose claimant is gone, and no other', async t => {
  for (const claimant of ['gone', 'mine', '']) {
    const folder = testFolder(t, { '1.number.tmp': claimant, '2.number.tmp': 'gone' })
    t.equal(await claimIn(folder, 0, ['gone']), 3, claimant)
  }
})

t.test('waits for a server that has claimed a number, and takes it when it is given back', async t => {
  const folder = testFolder(t, { '1.number.tmp': 'other' })
  const claiming = claimIn(folder)
  // Longer than it takes until it is asked whether the other one lives.
  await sleep(1500)
  await unclaimNumber(folder, 1)
  t.equal(await claiming, 1)
})

t.test(
  'leaves out a number in the end that a server which lives claims and does not use',
  { skip: ONLY_CI },
  async t => {
    const folder = testFolder(t, { '1.number.tmp': 'stopped' })
    t.equal(await claimIn(folder), 2)
  }
)

t.test('waits for a server that has not written its name into its claim yet', async t => {
  const folder = testFolder(t, { '1.number.tmp': '' })
  const claiming = claimIn(folder)
  await sleep(800)
  writeFileSync(join(folder, '1.number.tmp'), 'other')
  await sleep(800)
  await unclaimNumber(folder, 1)
  t.equal(await claiming, 1)
})

t.test('waits where nobody can tell who has claimed a number', async t => {
  const folder = testFolder(t, { '1.number.tmp': {} })
  const claiming = claimIn(folder)
  await sleep(1500)
  rmdirSync(join(folder, '1.number.tmp'))
  t.equal(await claiming, 1)
})

t.test('claims nothing where nothing can be written', async t => {
  const folder = testFolder(t)
  await t.rejects(claimIn(join(folder, 'missing')), { code: 'ENOENT' })
})

/** Appends a line; `meet` is called for each segment of its own that is there and not looked at again yet. */
async function appendWhile(t: Test, folder: string, meet: (number: number) => void) {
  const closed: string[] = []
  const written: string[] = []
  const appender = new SegmentAppender({
    folder,
    nonce: 'mine',
    isAlive: async () => true,
    limit: 1e6,
    stayAlive: () => 0,
    report: () => {},
    written: segment => written.push(segment),
    closed: segment => closed.push(segment)
  })
  const writer = new Writer({ appender, report: () => {}, lost: () => {} })
  t.teardown(() => writer.close())
  let isOver = false
  let number = 1
  const watch = () => {
    if (isOver) return
    // The one thing that was asked for is done after this, and its result isn't known to the writer yet.
    stand(20)
    if (existsSync(join(folder, `mine-${number}.ndjson`))) meet(number++)
    setImmediate(watch)
  }
  setImmediate(watch)
  await writer.append(LINE, false).finally(() => {
    isOver = true
  })
  return { closed, written }
}

t.test('gives up a segment whose number another server has used meanwhile', async t => {
  const folder = testFolder(t)
  const { written, closed } = await appendWhile(t, folder, number => {
    if (number < 3) writeFileSync(join(folder, `other-${number}.ndjson`), '')
  })
  t.strictSame([written, closed], [['mine-3.ndjson'], []])
  for (const number of [1, 2]) t.notOk(existsSync(join(folder, `mine-${number}.ndjson`)), 'and leaves no empty one')
})

t.test('leaves what stands at the name of a segment that it gives up and cannot remove', async t => {
  const folder = testFolder(t)
  const { written, closed } = await appendWhile(t, folder, number => {
    if (number > 1) return
    rmSync(join(folder, 'mine-1.ndjson'))
    mkdirSync(join(folder, 'mine-1.ndjson'))
    writeFileSync(join(folder, 'other-1.ndjson'), '')
  })
  t.strictSame([written, closed], [['mine-2.ndjson'], ['mine-1.ndjson']])
})

t.test('never writes to a segment whose number it couldn’t look at again', async t => {
  const base = testFolder(t, { folder: {} })
  const [folder, aside] = [join(base, 'folder'), join(base, 'aside')]
  const { written, closed } = await appendWhile(t, folder, number => {
    if (number > 1) return
    renameSync(folder, aside)
    writeFileSync(folder, '')
    setImmediate(() => {
      // The folder was to be listed meanwhile, in another thread.
      stand(200)
      rmSync(folder)
      renameSync(aside, folder)
      writeFileSync(join(folder, 'other-1.ndjson'), '')
    })
  })
  t.strictSame([written, closed], [['mine-2.ndjson'], []])
})
