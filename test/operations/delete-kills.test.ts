// Servers that are killed while they delete a directory or move it: afterwards all of its files are there, or none, and
// what is gone comes back with an undo. Before an answer, a kill may leave empty directories.
// runs in .ci/run
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeFolders, removeFolders } from '../folder/support/open.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { start } from '../running.ts'
import { stateOf, type FolderState } from './support/folder-state.ts'

/** Without the folders, unless `all`. */
const kept = (state: FolderState, all: boolean): FolderState =>
  all ? state : Object.fromEntries(Object.entries(state).filter(([, is]) => is !== 'folder'))

const KILLS = often(200, 6)
const FILES = 60
t.setTimeout(0)

t.test('leaves all files of a directory or none, whenever the server is killed', { skip: ONLY_CI }, async t => {
  const random = new Random(SEED)
  const counts = { kept: 0, gone: 0 }
  /** In ms: how long one that isn't disturbed takes, as the first one shows. */
  let undisturbed = Infinity
  for (let kill = 0; kill < KILLS; kill++) {
    const { base, root, state } = makeFolders()
    const folder = join(root, 'd')
    for (let i = 0; i < FILES; i++) {
      mkdirSync(join(folder, `${i % 3}/in`), { recursive: true })
      writeFileSync(join(folder, `${i % 3}/in/${i}`), i % 2 === 0 ? Buffer.from([i, 0, 255]) : `${i}\n`, {
        mode: i % 4 === 0 ? 0o640 : 0o755
      })
    }
    const before = stateOf(root)
    const server = await start(root, state, '--allow-delete')
    const isMove = random.chance(50)
    const [route, body] = isMove ? ['/move', { path: 'd', to: 'x/y' }] : ['/delete', { path: 'd', recursive: true }]
    const done = server.post(route, body).catch(() => null)
    const begun = performance.now()
    if (undisturbed === Infinity) {
      await done
      undisturbed = performance.now() - begun
    } else await Promise.race([done, sleep(random.int(Math.ceil(1.2 * undisturbed)))])
    const ended = new Promise(resolve => server.child.once('exit', resolve))
    server.child.kill('SIGKILL')
    await ended
    const answer = await done
    // The next server takes back, or ends, what was left.
    const next = await start(root, state, '--allow-delete')
    await next.post('/create', { path: 'ready.txt', content: '' })
    const { 'ready.txt': _, ...after } = stateOf(root)
    const isDone = answer?.status === 200
    const isKept = JSON.stringify(kept(after, isDone)) === JSON.stringify(kept(before, isDone))
    if (!isKept) {
      const moved = Object.fromEntries(Object.entries(before).map(([path, file]) => [path.replace(/^d/, 'x/y'), file]))
      t.strictSame(kept(after, isDone), kept(isMove ? { x: 'folder', ...moved } : {}, isDone), `SEED=${SEED}`)
    }
    t.notOk(isKept && isDone, 'what was acknowledged stays')
    if (!isKept) {
      const { body: listed } = await next.post('/history', { path: isMove ? 'x/y/0/in/0' : 'd/0/in/0', limit: 1 })
      const [edit] = listed.edits as { batch_id: string; operation: string }[]
      t.equal(edit!.operation, isMove ? 'move' : 'delete')
      const undone = await next.post('/undo', { batch_id: edit!.batch_id })
      t.equal(undone.status, 200, undone.text)
      const { 'ready.txt': _, ...restored } = stateOf(root)
      t.strictSame(kept(restored, isDone), kept(before, isDone))
    }
    counts[isKept ? 'kept' : 'gone']++
    await next.stop()
    removeFolders({ base, root, state })
  }
  t.ok(counts.gone > 0, JSON.stringify(counts))
})

t.test('deletes with two servers on one root', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const { root, state } = folders
  mkdirSync(join(root, 'd/e'), { recursive: true })
  for (let i = 0; i < 30; i++) writeFileSync(join(root, `d/e/${i}`), `${i}\n`)
  const before = stateOf(root)
  const servers = [await start(root, state, '--allow-delete'), await start(root, state, '--allow-delete')] as const
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(servers.map(server => server.post('/delete', { path: 'd', recursive: true })))
    const done = answers.filter(({ status }) => status === 200)
    t.equal(done.length, 1, JSON.stringify(answers.map(({ body }) => body)))
    const refused = answers.find(({ status }) => status !== 200)!
    t.match(refused.body.code, /^(?:FILE_NOT_FOUND|STALE_FILE|FILE_LOCKED)$/)
    t.strictSame(stateOf(root), {})
    t.equal((await servers[round % 2]!.post('/undo', { batch_id: done[0]!.body.batch_id })).status, 200)
    t.strictSame(stateOf(root), before)
  }
  for (const server of servers) await server.stop()
})
