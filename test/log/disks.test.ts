// The root and the state folder on two file systems, and one of them full: on built servers.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { start, type Answer, type Running } from '../running.ts'
import { canMount } from '../folder/support/machine.ts'
import { makeFolders, removeFolders, type Folders } from '../folder/support/open.ts'

const SKIP = !canMount && 'needs root to mount a small file system'
const TEXT = 'one\ntwo\nthree\n'
const FULL = { status: 507, body: { code: 'NO_SPACE' } }

interface Place extends Folders {
  /** Starts a server; it is stopped when the test ends. */
  serve(...flags: string[]): Promise<Running>
  text(path: string): string
  /** Takes all the room on the small file system, until the returned function is called. */
  fill(): () => void
}

/** Folders, with `small` on a small file system of its own. The root has `a.txt` and `b.txt`. */
function makePlace(t: Test, small: 'root' | 'state'): Place {
  const folders = makeFolders()
  mkdirSync(folders.state)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'none', folders[small]])
  t.teardown(() => {
    spawnSync('umount', ['-l', folders[small]])
    removeFolders(folders)
  })
  t.not(statSync(folders.root).dev, statSync(folders.state).dev)
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folders.root, name), TEXT)
  return {
    ...folders,
    serve: async (...flags) => {
      const server = await start(folders.root, folders.state, '--durability', 'fast', ...flags)
      t.teardown(async () => {
        if (server.child.exitCode === null && server.child.signalCode === null) await server.stop()
      })
      return server
    },
    text: path => readFileSync(join(folders.root, path), 'utf8'),
    fill: () => {
      const filler = join(folders[small], '.filler')
      spawnSync('sh', ['-c', `cat /dev/zero > ${filler}`])
      return () => rmSync(filler)
    }
  }
}

const edit = (server: Running, path: string, old_text: string, new_text: string, more = {}): Promise<Answer> =>
  server.post('/edit', { path, old_text, new_text, ...more })

/** The states of the edits of a file, newest first. */
async function statesOf(server: Running, path: string): Promise<string[]> {
  const { body } = await server.post('/history', { path })
  return (body.edits as { operation: string; state: string }[]).map(({ operation, state }) => `${operation} ${state}`)
}

for (const small of ['root', 'state'] as const) {
  t.test(`keeps a history where the ${small} is on a file system of its own`, { skip: ONLY_CI || SKIP }, async t => {
    const { root, serve, text } = makePlace(t, small)
    const first = await serve()
    const ann = await edit(first, 'a.txt', 'two', 'TWO')
    t.match(ann, { status: 200, body: { edit_id: String } })
    writeFileSync(join(root, 'b.txt'), `${TEXT}by hand\n`)
    const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'three', new_text: '3' }))
    const batch = await first.post('/batch', {
      operations: [...operations, { operation: 'create', path: 'd/new.txt', content: 'new\n' }]
    })
    t.match(batch, { status: 200, body: { batch_id: String } })
    // Nobody may have said yet what became of these.
    first.child.kill('SIGKILL')
    const second = await serve()
    t.strictSame(await statesOf(second, 'a.txt'), ['batch applied', 'edit applied'])
    t.match(await second.post('/undo', { edit_id: ann.body.edit_id }), { status: 200 })
    t.equal(text('a.txt'), 'one\ntwo\n3\n')
    t.match(await second.post('/undo', { batch_id: batch.body.batch_id }), { status: 200 })
    t.strictSame([text('a.txt'), text('b.txt')], [TEXT, `${TEXT}by hand\n`])
    t.notOk(existsSync(join(root, 'd')))
    t.match(await second.post('/redo', { batch_id: batch.body.batch_id }), { status: 200 })
    t.strictSame([text('a.txt'), text('b.txt')], ['one\ntwo\n3\n', 'one\ntwo\n3\nby hand\n'])
    t.equal(text('d/new.txt'), 'new\n')
  })
}

t.test(
  'edits where only the state has no room, says that it is not recorded, and keeps no promise that needs it',
  {
    skip: SKIP
  },
  async t => {
    const { state, serve, text, fill } = makePlace(t, 'state')
    const server = await serve()
    const kept = await edit(server, 'a.txt', 'one', 'ONE')
    t.match(kept, { status: 200, body: { edit_id: String } })
    // By which the change that isn't recorded is known later.
    const copies = join(state, 'history', 'copies')
    while (!existsSync(copies) || readdirSync(copies).every(name => name.endsWith('.tmp'))) await sleep(10)
    const makeRoom = fill()
    const long = 'x'.repeat(10_000)
    const lost = await edit(server, 'a.txt', 'two', long)
    t.match(lost, { status: 200, body: { warnings: [/history could not be written/] } })
    t.notOk(lost.body.edit_id)
    t.equal(text('a.txt'), `ONE\n${long}\nthree\n`)
    t.match(await (await fetch(`${server.url}/readyz`)).json(), { history: 'degraded' })
    const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'three', new_text: long }))
    t.match(await edit(server, 'b.txt', 'two', long, { idempotency_key: 'k' }), FULL)
    t.match(await server.post('/batch', { operations }), FULL)
    // An undo of one file goes on as an edit does.
    const undone = await server.post('/undo', { edit_id: kept.body.edit_id })
    t.match(undone, { status: 200, body: { results: [{ warnings: [/history could not be written/] }] } })
    t.equal(text('a.txt'), `one\n${long}\nthree\n`)
    t.match(await edit(server, 'a.txt', 'one', 'ONE'), { status: 200 })
    t.strictSame([text('a.txt'), text('b.txt')], [`ONE\n${long}\nthree\n`, TEXT])
    makeRoom()
    t.match(await edit(server, 'b.txt', 'two', 'TWO', { idempotency_key: 'k' }), {
      status: 200,
      body: { edit_id: String }
    })
    t.match(await edit(server, 'a.txt', 'three', 'THREE'), { status: 200, body: { edit_id: String } })
    t.notMatch(await (await fetch(`${server.url}/readyz`)).json(), { history: String })
    t.strictSame(await statesOf(server, 'a.txt'), ['edit applied', 'outside applied', 'edit applied'])
    t.match(await server.post('/undo', { edit_id: kept.body.edit_id }), { status: 200 })
    t.equal(text('a.txt'), `one\n${long}\nTHREE\n`)
  }
)

t.test(
  'changes nothing where only the root has no room, and says in the history that it did not',
  {
    skip: SKIP
  },
  async t => {
    const { serve, text, fill } = makePlace(t, 'root')
    const server = await serve()
    const long = 'x'.repeat(10_000)
    const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'one', new_text: 'ONE' }))
    const batch = await server.post('/batch', { operations })
    t.equal(batch.status, 200)
    const done = text('a.txt')
    const makeRoom = fill()
    t.match(await edit(server, 'a.txt', 'two', long), FULL)
    t.match(await edit(server, 'a.txt', 'two', long, { idempotency_key: 'k' }), FULL)
    const longer = operations.map(one => ({ ...one, old_text: 'three', new_text: long }))
    t.match(await server.post('/batch', { operations: longer }), FULL)
    t.match(await server.post('/undo', { batch_id: batch.body.batch_id }), FULL)
    t.strictSame([text('a.txt'), text('b.txt')], [done, done])
    for (const path of ['a.txt', 'b.txt']) t.strictSame(await statesOf(server, path), ['batch applied'])
    makeRoom()
    t.match(await server.post('/undo', { batch_id: batch.body.batch_id }), { status: 200 })
    t.strictSame([text('a.txt'), text('b.txt')], [TEXT, TEXT])
    const once = await edit(server, 'a.txt', 'two', 'TWO', { idempotency_key: 'l' })
    t.equal(once.status, 200)
    t.equal((await edit(server, 'a.txt', 'two', 'TWO', { idempotency_key: 'l' })).body.edit_id, once.body.edit_id)
    t.equal(text('a.txt'), TEXT.replace('two', 'TWO'))
  }
)
