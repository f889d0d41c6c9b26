// Turns of edits: so many at once, in order, and on with all where nothing ends.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Turns } from '../../src/folder/turns.ts'
import { append, makeFolders, open, REAL, removeFolders } from './support/open.ts'

/** Work that ends, or fails, on command. */
function makeWork(turns: Turns, count: number) {
  const begun: number[] = []
  const ends: ((problem?: Error) => void)[] = []
  const all = Array.from({ length: count }, (_, i) =>
    turns.take(
      () =>
        new Promise<number>((resolve, reject) => {
          begun.push(i)
          ends[i] = problem => (problem === undefined ? resolve(i) : reject(problem))
        })
    )
  )
  return { begun, ends, all }
}
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)
/** Until all that can go on has. */
const settle = () => new Promise(resolve => setImmediate(resolve))

t.test('begins eight at once, and one more in order for each that ends', async t => {
  const { begun, ends, all } = makeWork(new Turns(60_000), 11)
  t.strictSame(begun, upTo(8))
  ends[5]!()
  await settle()
  t.strictSame(begun, upTo(9))
  ends[0]!(new Error('failed'))
  await t.rejects(all[0]!, { message: 'failed' }, 'a failure is passed on')
  t.strictSame(begun, upTo(10), 'and is an end too')
  for (const i of [1, 2, 3, 4, 6, 7, 8, 9]) ends[i]!()
  await settle()
  ends[10]!()
  t.strictSame(await Promise.all(all.slice(1)), upTo(11).slice(1), 'each gets what it made')
})

t.test(
  'begins all that wait where none ends for some milliseconds, and then no more until these have ended',
  async t => {
    const turns = new Turns(500)
    const first = makeWork(turns, 10)
    t.equal(first.begun.length, 8)
    await sleep(600)
    t.strictSame(first.begun, upTo(10))
    const second = makeWork(turns, 1)
    first.ends[0]!()
    first.ends[1]!()
    await settle()
    t.strictSame(second.begun, [], 'eight of the others still run')
    first.ends[2]!()
    await settle()
    t.strictSame(second.begun, [0])
    for (const end of [...first.ends.slice(3), second.ends[0]!]) end()
    await Promise.all([...first.all, ...second.all])
    const again = makeWork(turns, 9)
    t.strictSame(again.begun, upTo(8), 'afterwards as many as ever')
    again.ends[0]!()
    await settle()
    for (const end of again.ends.slice(1)) end()
    await Promise.all(again.all)
  }
)

t.test('edits other files while eight edits wait for their planners', async t => {
  const folders = makeFolders()
  const workspace = await open(folders, {})
  const names = upTo(9).map(i => `${i}`)
  for (const name of names) writeFileSync(join(folders.root, name), name)
  let go = () => {}
  const planned = new Promise<void>(resolve => {
    go = resolve
  })
  const slow = names.slice(0, 8).map(path =>
    workspace.edit({ path }, REAL, async original => {
      await planned
      return append('x')(original)
    })
  )
  t.match(await workspace.edit({ path: '8' }, REAL, append('x')), { ok: true })
  go()
  for (const edited of await Promise.all(slow)) t.match(edited, { ok: true })
  await workspace.close()
  removeFolders(folders)
})
