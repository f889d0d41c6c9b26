// When a server is alone on its root, and how it stops being so: docs/decisions/alone.md, step by step, and at random
// with real processes that start, end, are suspended and are killed.
// runs in .ci/run
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Intents } from '../../../src/folder/commit/intents.ts'
import { LockFiles } from '../../../src/folder/locks/lock-file.ts'
import { thisOwner, type Owner } from '../../../src/folder/locks/owner.ts'
import { RootLock, type Servers } from '../../../src/folder/locks/root-lock.ts'
import { openState } from '../../../src/folder/state.ts'
import type { Planner, Workspace, WorkspaceOptions } from '../../../src/workspace/api.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { append, heldEdit, makeFolders, observer, open, REAL, removeFolders, type Folders } from '../support/open.ts'
import { startWorker, type Second } from '../support/process.ts'

const SLOW = 20_000
/** The sockets by which servers tell each other, and the file systems where one may be alone, are Linux's. */
const skip = ONLY_CI || (process.platform === 'linux' ? false : 'needs Linux')

interface Fresh extends Folders {
  opened: (options?: Partial<WorkspaceOptions>) => Promise<Workspace>
  /** The locks there are: `root`, and digests of the paths of files as `file`. */
  locks: () => string[]
  events: string[]
  deadOwner: Owner
}

function fresh(t: Test): Fresh {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const name of ['a', 'b', 'f0', 'f1']) writeFileSync(join(folders.root, name), '')
  const events: string[] = []
  return {
    ...folders,
    events,
    deadOwner: { ...thisOwner(), pid: 2 ** 22 + 1, start_time: '1' },
    async opened(options = {}) {
      const workspace = await open(folders, {
        lockTimeout: SLOW,
        report: ({ event }) => events.push(event),
        ...options
      })
      t.teardown(() => workspace.close())
      return workspace
    },
    locks: () => readdirSync(join(folders.state, 'locks')).map(name => (name.startsWith('root-') ? 'root' : 'file'))
  }
}

/** A server whose record exists; `others` as in Servers. */
const serversWith = (others: Servers['others']): Servers => ({
  exists: () => true,
  renew() {},
  checkState() {},
  generation: () => 0,
  others,
  tell: async () => {}
})

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !holds(); i++) await sleep(25)
}

/** Appends `text`, and notes the locks there are meanwhile. */
const noting =
  (text: string, locks: () => string[], seen: string[]): Planner<string, never> =>
  original => {
    seen.push(...locks())
    return append(text)(original)
  }

for (const lock of ['shared', 'local'] as const) {
  t.test(`takes no lock of a file while it is alone, and does when it isn’t (${lock})`, { skip }, async t => {
    const { opened, locks, root } = fresh(t)
    const first = await opened({ lock })
    const seen: string[] = []
    t.match(await first.edit({ path: 'a' }, REAL, noting('1', locks, seen)), { ok: true })
    t.match(await first.edit({ path: 'a' }, REAL, noting('2', locks, seen)), { ok: true })
    t.strictSame(seen, ['root', 'root'])
    t.strictSame(locks(), ['root'], 'kept between two edits')

    const second = await opened({ lock })
    const ofTwo: string[] = []
    t.match(await second.edit({ path: 'a' }, REAL, noting('3', locks, ofTwo)), { ok: true })
    t.match(await first.edit({ path: 'a' }, REAL, noting('4', locks, ofTwo)), { ok: true })
    t.strictSame(ofTwo, lock === 'shared' ? ['file', 'file'] : [])
    t.equal(readFileSync(join(root, 'a'), 'utf8'), '1234')

    await second.close()
    await until(() => locks().includes('root'))
    t.strictSame(locks(), ['root'], 'alone again')
    const again: string[] = []
    t.match(await first.edit({ path: 'a' }, REAL, noting('5', locks, again)), { ok: true })
    t.strictSame(again, ['root'])
    await first.close()
    t.strictSame(locks(), [])
  })
}

// A process that has nothing of ours but the name of a socket, which it takes. It ends with its stdin.
const SQUAT = `
process.stdin.resume().on('end', () => process.exit())
require('node:net').createServer(socket => socket.on('error', () => {})).listen('\\0' + process.argv[1], () => console.log('had'))
`

/** Somebody else takes the socket of this file; resolves when it is had. */
async function squat(t: Test, state: string, file: string): Promise<ChildProcess> {
  const name = `editd-${createHmac('sha256', readFileSync(join(state, 'secret')))
    .update(file)
    .digest('hex')}`
  const child = spawn(process.execPath, ['-e', SQUAT, name], { env: {}, stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

t.test('goes on by lock files where a stranger has the socket of a file, and loses no edit', { skip }, async t => {
  const { opened, locks, root, state, events } = fresh(t)
  const mine = await opened()
  const squatters = [await squat(t, state, 'a'), await squat(t, state, 'f1')]
  const second = startWorker({ root, state, file: 'f0', count: 40, name: 'second', pause: 20 })
  await second.printed('done second0')
  const slow = await heldEdit(mine, 'b', REAL, append('slow'))
  const seen: string[] = []
  const edits = (path: string) => [1, 2].map(() => mine.edit({ path }, REAL, noting('1', locks, seen)))
  t.match(await Promise.all([...edits('a'), ...edits('f1')]), Array(4).fill({ ok: true }))
  t.ok(seen.includes('file'), 'by lock files')
  t.strictSame([...new Set(events)], ['lock_socket_unproven'])
  slow.goOn()
  t.match(await slow.done, { ok: true })
  const beside = await Promise.all(
    Array.from({ length: 40 }, (_, i) => mine.edit({ path: 'f0' }, REAL, append(`${i}\n`)))
  )
  t.match(beside, Array(40).fill({ ok: true }))
  for (const squatter of squatters) squatter.kill('SIGKILL')
  await second.ended
  t.equal(new Set(readFileSync(join(root, 'f0'), 'utf8').split('\n')).size, 40 + 40 + 1)
  t.strictSame(
    ['a', 'f1', 'b'].map(name => readFileSync(join(root, name), 'utf8')),
    ['11', '11', 'slow']
  )
  await until(() => locks().includes('root'))
  seen.length = 0
  t.match(await mine.edit({ path: 'a' }, REAL, noting('2', locks, seen)), { ok: true })
  t.strictSame(seen, ['root'])
})

t.test('waits for a suspended server that has the socket of a file', { skip }, async t => {
  const { opened, root, state, events } = fresh(t)
  const mine = await opened({ lockTimeout: 700 })
  const second = startWorker({ root, state, file: 'a', count: 2, name: 'second', hold: 60_000 })
  await second.printed('holding')
  second.child.kill('SIGSTOP')
  t.match(await mine.edit({ path: 'a' }, REAL, append('1')), { failure: { code: 'FILE_LOCKED', reason: 'timeout' } })
  second.child.kill('SIGKILL')
  await second.ended
  t.match(await mine.edit({ path: 'a' }, REAL, append('1')), { ok: true })
  t.notOk(events.includes('lock_socket_unproven'))
})

t.test('waits for a stranger’s socket where another server takes no lock files', { skip }, async t => {
  const { opened, state, events } = fresh(t)
  const shared = [await opened({ lockTimeout: 700 }), await opened({ lockTimeout: 700 })]
  const local = await opened({ lock: 'local', lockTimeout: 700 })
  const squatter = await squat(t, state, 'a')
  for (const each of [...shared, local]) {
    t.match(await each.edit({ path: 'a' }, REAL, append('1')), { failure: { code: 'FILE_LOCKED', reason: 'timeout' } })
  }
  t.strictSame(events, Array(3).fill('lock_socket_unproven'))
  squatter.kill('SIGKILL')
  await once(squatter, 'close')
  for (const each of [...shared, local]) t.match(await each.edit({ path: 'a' }, REAL, append('1')), { ok: true })
})

t.test('lets the edits that began alone end before another server edits', { skip }, async t => {
  const { opened, root } = fresh(t)
  const first = await opened()
  const second = await opened()
  // Both were open: the second has to leave for the first to be alone.
  await second.close()
  t.match(await first.edit({ path: 'b' }, REAL, append('0')), { ok: true })
  const order: string[] = []
  const slow = await heldEdit(first, 'a', REAL, original => {
    order.push('first')
    return append('1')(original)
  })
  const third = await opened()
  const other = third.edit({ path: 'b' }, REAL, original => {
    order.push('third')
    return append('3')(original)
  })
  // The first has seen the third, and edits meanwhile as one of two.
  await sleep(300)
  t.match(await first.edit({ path: 'f0' }, REAL, append('x')), { ok: true })
  t.strictSame(order, [])
  slow.goOn()
  t.match(await Promise.all([slow.done, other]), [{ ok: true }, { ok: true }])
  t.strictSame(order, ['first', 'third'])
  t.equal(readFileSync(join(root, 'a'), 'utf8') + readFileSync(join(root, 'b'), 'utf8'), '103')
})

t.test('waits for one that is alone no longer than the lock’s timeout', { skip }, async t => {
  const { opened } = fresh(t)
  const first = await opened()
  t.match(await first.edit({ path: 'a' }, REAL, append('0')), { ok: true })
  const slow = await heldEdit(first, 'a', REAL, append('1'))
  const second = await opened({ lockTimeout: 200 })
  t.match(await second.edit({ path: 'b' }, REAL, append('2')), {
    ok: false,
    failure: { code: 'FILE_LOCKED', reason: 'timeout' }
  })
  slow.goOn()
  t.match(await slow.done, { ok: true })
  t.match(await second.edit({ path: 'b' }, REAL, append('2')), { ok: true })
})

t.test('waits until its own deadline, whoever began to wait before it', { skip: ONLY_CI }, async t => {
  const folders = openState(fresh(t).state)
  const made = (others: boolean): RootLock => {
    const me = thisOwner()
    const servers = serversWith(async () => others)
    const files = new LockFiles(folders, observer(me), () => {})
    return new RootLock({ nonce: me.nonce, files, servers, mayBeAlone: true, fence() {}, report() {} })
  }
  const alone = made(false)
  const pass = await alone.enter(performance.now() + 1000)
  t.type(pass?.alone_since, 'string')
  const other = made(true)
  const start = performance.now()
  const [soon, later] = [other.enter(start + 200), other.enter(start + SLOW)]
  t.equal(await soon, null)
  pass?.leave()
  await alone.close()
  t.match(await later, { alone_since: null })
  await other.close()
})

t.test('takes over from one that was killed while it was alone, at once', { skip }, async t => {
  const { opened, root, state, locks } = fresh(t)
  const killed = startWorker({ root, state, file: 'a', count: 1, name: 'killed', hold: 60_000 })
  await killed.printed('holding')
  t.strictSame(locks(), ['root'])
  const workspace = await opened()
  killed.child.kill('SIGKILL')
  await killed.ended
  t.match(await workspace.edit({ path: 'a' }, REAL, append('2')), { ok: true })
  t.equal(readFileSync(join(root, 'a'), 'utf8'), '2')
  t.strictSame(locks(), ['root'], 'and is alone')
})

t.test('refuses the late edit of one that was suspended while it was alone', { skip }, async t => {
  const { opened, root, state } = fresh(t)
  const paused = startWorker({ root, state, file: 'a', count: 2, name: 'paused', hold: 1_500 })
  await paused.printed('holding')
  paused.child.kill('SIGSTOP')
  const workspace = await opened({ lockTimeout: 20_000 })
  t.match(await workspace.edit({ path: 'a' }, REAL, append('2\n')), { ok: true })
  paused.child.kill('SIGCONT')
  await paused.ended
  t.equal(readFileSync(join(root, 'a'), 'utf8'), '2\npaused1\n')
  t.match(
    paused.lines.find(line => line.startsWith('failed')),
    /STALE_FILE|FILE_LOCKED/
  )
  t.strictSame(
    readdirSync(root).filter(name => name.endsWith('.tmp')),
    []
  )
})

t.test('refuses the edit of one whose record was removed meanwhile, and has it join again', { skip }, async t => {
  const { opened, state, root, locks } = fresh(t)
  const workspace = await opened()
  const intents = join(state, 'intents')
  const expel: Planner<string, never> = original => {
    for (const name of readdirSync(intents)) rmSync(join(intents, name))
    return append('late')(original)
  }
  for (const also of [null, await opened()]) {
    t.match(await workspace.edit({ path: 'a' }, REAL, expel), {
      ok: false,
      failure: { code: 'FILE_LOCKED', reason: 'lost' }
    })
    t.equal(readFileSync(join(root, 'a'), 'utf8'), '')
    t.match(await workspace.edit({ path: 'b' }, REAL, append('1')), { ok: true })
    t.equal(readdirSync(intents).length, 1)
    await also?.close()
  }
  t.strictSame(locks(), ['root'])
})

t.test('makes way for another though its record was removed', { skip }, async t => {
  const { opened, state } = fresh(t)
  const idle = await opened()
  t.match(await idle.edit({ path: 'a' }, REAL, append('1')), { ok: true })
  for (const name of readdirSync(join(state, 'intents'))) rmSync(join(state, 'intents', name))
  // So long after its last look, it looks again before its next edit.
  await sleep(120)
  const other = await opened()
  t.match(await other.edit({ path: 'a' }, REAL, append('2')), { ok: true })
  t.match(await idle.edit({ path: 'a' }, REAL, append('3')), { ok: true })
})

t.test('goes on when its root lock was taken over meanwhile', { skip }, async t => {
  const { opened, root, state, locks } = fresh(t)
  const workspace = await opened()
  const one = () => workspace.edit({ path: 'a' }, REAL, append('1'))
  t.match(await one(), { ok: true })
  const takeOver = () => {
    const [name = ''] = readdirSync(join(state, 'locks'))
    mkdirSync(join(state, 'unreleased', name))
    renameSync(join(state, 'locks', name), join(state, 'unreleased', name, 'x'))
  }
  takeOver()
  t.match(await one(), { failure: { code: 'FILE_LOCKED', reason: 'lost' } }, 'begun without a look, so soon after one')
  t.equal(readFileSync(join(root, 'a'), 'utf8'), '1')
  t.match(await one(), { ok: true }, 'the next one looks')
  takeOver()
  await sleep(120)
  t.match(await one(), { ok: true })
  t.strictSame(readdirSync(join(state, 'unreleased')), [], 'and nothing of the earlier hold is left')
  t.strictSame(locks(), ['root'])
})

t.test('is never alone beside a record that others may still rely on', { skip }, async t => {
  const { opened, state, locks, root, deadOwner } = fresh(t)
  const { intents } = openState(state)
  const check = async (name: string, content: string | Buffer, alone: boolean): Promise<void> => {
    writeFileSync(join(intents, name), content)
    const workspace = await opened()
    t.match(await workspace.edit({ path: 'a' }, REAL, append('1')), { ok: true })
    t.strictSame(locks(), alone ? ['root'] : [], name)
    await workspace.close()
    rmSync(join(intents, name), { force: true })
  }
  await check('half.intents', '', false)
  await check('other.txt', '', true)
  const living = new Intents(intents, thisOwner())
  await check('none.txt', '', false)
  living.close()
  // A folder where the temp file should be can't be removed.
  const left = new Intents(intents, deadOwner)
  const name = `.${'0'.repeat(24)}.tmp`
  left.begin(Buffer.from(`no/${name}`))
  left.leave()
  left.close()
  renameSync(join(intents, `${deadOwner.nonce}.intents`), join(intents, 'x.left'))
  const workspace = await opened()
  t.notOk(existsSync(join(intents, 'x.left')), 'a sweep goes on with what another began')
  t.match(await workspace.edit({ path: 'a' }, REAL, append('1')), { ok: true })
  t.ok(existsSync(join(root, 'a')))
})

t.test('removes what earlier holders recorded before anybody edits', { skip }, async t => {
  const { opened, state, root, deadOwner, locks } = fresh(t)
  const folders = openState(state)
  const workspace = await opened()
  const temp = `.${'1'.repeat(24)}.tmp`
  const key = `root-${'c'.repeat(24)}`
  const paused = new Intents(folders.intents, { ...deadOwner, nonce: 'c'.repeat(24) })
  paused.begin(Buffer.from(temp))
  paused.begin(Buffer.from('a'))
  writeFileSync(join(root, temp), 'late')
  const held = await new LockFiles(folders, observer({ ...deadOwner, nonce: 'c'.repeat(24) }), () => {}).hold(
    key,
    performance.now() + 1000
  )
  mkdirSync(join(folders.unreleased, key))
  renameSync(join(folders.locks, key), join(folders.unreleased, key, 'x'))
  t.match(await workspace.edit({ path: 'a' }, REAL, append('1')), { ok: true })
  t.notOk(existsSync(join(root, temp)))
  t.equal(readFileSync(join(root, 'a'), 'utf8'), '1', 'only what is named like a temp file')
  t.strictSame(locks(), ['root'])
  await held?.release()
  paused.close()
})

t.test('reports what keeps it from looking, and goes on', { skip: ONLY_CI }, async t => {
  const { state } = fresh(t)
  const folders = openState(state)
  const events: string[] = []
  const report = ({ event }: { event: string }): void => {
    events.push(event)
  }
  let others: () => Promise<boolean> = async () => false
  const servers = serversWith(() => others())
  const lock = new RootLock({
    nonce: 'n',
    files: new LockFiles(folders, observer(), report),
    servers,
    mayBeAlone: true,
    fence() {},
    report
  })
  lock.look()
  const pass = await lock.enter(performance.now() + 1000)
  t.type(pass?.alone_since, 'string')
  others = () => Promise.reject(new Error('no folder'))
  lock.look()
  await sleep(20)
  t.strictSame(events, ['look_failed'])
  others = async () => true
  lock.look()
  lock.look()
  await sleep(20)
  t.ok(pass?.held())
  t.equal((await lock.enter(performance.now() + 1000))?.alone_since, null)
  // What can't be released is no reason to fail an edit that is done.
  rmSync(folders.locks, { recursive: true })
  writeFileSync(folders.locks, '')
  pass?.leave()
  await lock.close()
  t.strictSame(events, ['look_failed'])
})

t.test('lets nobody edit while what an earlier holder recorded can’t be removed', { skip: ONLY_CI }, async t => {
  const { state, locks, deadOwner } = fresh(t)
  const folders = openState(state)
  const servers = serversWith(async () => false)
  const left = `root-${deadOwner.nonce}`
  await new LockFiles(folders, observer(deadOwner), () => {}).hold(left, performance.now() + 1000)
  mkdirSync(join(folders.unreleased, left))
  renameSync(join(folders.locks, left), join(folders.unreleased, left, 'x'))
  const fenced: (readonly string[])[] = []
  let removable = false
  const lock = new RootLock({
    nonce: 'n',
    files: new LockFiles(folders, observer(), () => {}),
    servers,
    mayBeAlone: false,
    fence(nonces) {
      fenced.push(nonces)
      if (!removable) throw Object.assign(new Error('no'), { code: 'EACCES' })
    },
    report() {}
  })
  t.teardown(() => lock.close())
  await t.rejects(lock.enter(performance.now() + 1000), { code: 'EACCES' })
  t.strictSame(locks(), [])
  removable = true
  t.match(await lock.enter(performance.now() + 1000), { alone_since: null })
  t.strictSame(fenced, [[deadOwner.nonce], [deadOwner.nonce]])
  t.strictSame(readdirSync(folders.unreleased), [])
  t.strictSame(locks(), [], 'one that others can’t tell keeps none')
})

t.test(
  'loses no acknowledged edit of servers that start, end, pause and are killed, with clocks of their own',
  { skip, timeout: 0 },
  async t => {
    const { root, state } = fresh(t)
    const random = new Random(SEED)
    const cycles = Number(process.env.LONG_STARTS ?? often(1_000, 60))
    const acknowledged: string[][] = [[], []]
    let [starts, kills, pauses, refused, serial] = [0, 0, 0, 0, 0]
    const AHEAD = [0, 300_000, -300_000]
    const run = async (index: number): Promise<void> => {
      while (starts < cycles) {
        const worker: Second = startWorker({
          ...{ root, state, file: 'f', count: 3, pause: 30, name: `s${serial++}`, starts: 1e6 },
          ahead: AHEAD[index]!
        })
        const gone = worker.ended.then(() => true)
        await worker.printed('ready')
        let counted = 0
        for (let i = 0; i < 10 && starts < cycles; i++) {
          await sleep(random.int(200))
          worker.child.kill('SIGSTOP')
          pauses++
          await sleep(random.int(3) === 0 ? random.int(400) : random.int(20))
          worker.child.kill('SIGCONT')
          const closed = worker.lines.filter(line => line.startsWith('closed')).length
          starts += closed - counted
          counted = closed
        }
        worker.child.kill('SIGKILL')
        kills++
        await gone
        for (const line of worker.lines) {
          const [, file, text] = /^done ([01]) (.*)$/.exec(line) ?? []
          if (text !== undefined) acknowledged[Number(file)]!.push(text)
          if (line.startsWith('refused')) refused++
        }
      }
    }
    await Promise.all(AHEAD.map((_, index) => run(index)))
    for (const [file, lines] of acknowledged.entries()) {
      const there = readFileSync(join(root, `f${file}`), 'utf8').split('\n')
      const set = new Set(there)
      t.strictSame(
        lines.filter(line => !set.has(line)),
        [],
        `f${file}: all of ${lines.length}`
      )
      t.equal(set.size, there.length, 'none twice')
    }
    t.comment(`${starts} starts, ${kills} kills, ${pauses} pauses, ${refused} refused, seed ${SEED}`)
    t.ok(acknowledged.flat().length > cycles / 2)
  }
)

t.test('knows on which file systems a server may be alone', { skip }, t => {
  const { state } = fresh(t)
  const LOCAL = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]
  t.equal(openState(state).isLocal, LOCAL.includes(statfsSync(state).type))
  if (existsSync('/proc/version')) t.notOk(LOCAL.includes(statfsSync('/proc').type))
  t.end()
})
