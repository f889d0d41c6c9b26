// One editor per file: in this process, between processes, between hosts; and what happens when the holder dies. Rows
// 24-27, 39 and 40 of docs/threats.md.
import { spawn, spawnSync } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { LockFiles } from '../../../src/folder/locks/lock-file.ts'
import type { Lock } from '../../../src/workspace/queue.ts'
import { Locks } from '../../../src/folder/locks/lock.ts'
import type { Peers } from '../../../src/folder/locks/peers.ts'
import { lifeOf, parseOwner, SILENCE, thisOwner, type Life, type Owner } from '../../../src/folder/locks/owner.ts'
import { holdSocket, type WantedSocket } from '../../../src/folder/locks/socket-lock.ts'
import {
  append,
  become,
  descriptors,
  makeFolders,
  observer,
  onLinux,
  open,
  REAL,
  removeFolders,
  type Folders
} from '../support/open.ts'
import { startWorker } from '../support/process.ts'

const FILE = Buffer.from('a.txt')
/** Edits of each of two processes. */
const EDITS = often(50, 50, 12)
const linuxOnly = { skip: onLinux ? false : 'needs abstract sockets (Linux)' }

function freshFiles(t: Tap): { folders: Folders; files: (me?: Owner) => LockFiles; events: string[] } {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const name of ['locks', 'unreleased']) mkdirSync(join(folders.base, name))
  const events: string[] = []
  return { folders, events, files: (me = thisOwner()) => lockFiles(folders, me, ({ event }) => events.push(event)) }
}
const lockFiles = ({ base }: Folders, me: Owner, report: ConstructorParameters<typeof LockFiles>[2]): LockFiles =>
  new LockFiles({ locks: join(base, 'locks'), unreleased: join(base, 'unreleased') }, observer(me), report)
type Tap = { teardown(work: () => unknown): void }

const locks = (options: Partial<ConstructorParameters<typeof Locks>[0]> = {}): Locks =>
  new Locks({
    root: null,
    secret: Buffer.from('secret' + Math.random()),
    timeout: 2000,
    socket: onLinux,
    files: null,
    fence() {},
    ...options
  })

/** A socket of servers whose secret is `secret`. */
const wanted = (name: string, waitOn = true, secret = 'ours'): WantedSocket => ({
  name,
  proofOf: nonce => createHash('sha256').update(`${secret} ${nonce}`).digest('hex'),
  waitOn: () => waitOn
})

async function taken(from: Locks, file = FILE): Promise<Lock> {
  const lock = await from.acquire(file)
  if (!lock.ok) throw new Error(lock.failure.code)
  return lock.value
}

/** A record of a process that has just ended. */
function deadOwner(): Owner {
  const { pid } = spawnSync(process.execPath, ['-e', '0'])
  return { ...thisOwner(), pid, start_time: '1' }
}

t.test('tells dead from living processes', async t => {
  const me = thisOwner()
  const other = spawn('sleep', ['60'])
  t.teardown(() => other.kill())
  const check = async (
    name: string,
    owner: Partial<Owner>,
    silence: number,
    expected: Life,
    by: Partial<Owner> = {},
    ended: boolean | null = null
  ): Promise<void> => {
    t.equal(
      await lifeOf({ ...me, ...by, ...owner }, silence, { me: { ...me, ...by }, hasEnded: async () => ended }),
      expected,
      name
    )
  }
  await check('this process', {}, Infinity, 'alive')
  await check('a process that has ended', deadOwner(), 0, 'dead')
  await check('another boot of a host of this name, heard of lately', { boot_id: 'x' }, 0, 'alive')
  await check('another boot of this host', { boot_id: 'x' }, SILENCE + 1, 'dead')
  await check('another host, heard of lately', { hostname: 'x', boot_id: 'x' }, SILENCE - 1000, 'alive')
  await check('another host, silent', { hostname: 'x', boot_id: 'x' }, SILENCE + 1000, 'silent')
  await check('another container, heard of lately', { pid_namespace: 'x' }, 0, 'alive')
  await check('another container, silent', { pid_namespace: 'x' }, SILENCE + 1, 'silent')
  if (onLinux) {
    const apart = { pid_namespace: 'x', announced: true } as const
    await check('a pid that has been used again', { start_time: '1' }, 0, 'dead')
    await check('another container whose socket is closed', apart, 0, 'dead', {}, true)
    await check('another container whose socket answers', apart, Infinity, 'alive', {}, false)
    await check('another container of whose socket nothing is known', apart, SILENCE + 1, 'silent', {}, null)
    await check('another container that has no socket', { pid_namespace: 'x' }, 0, 'alive', {}, true)
    await check(
      'another kernel, where a closed socket says nothing',
      { ...apart, hostname: 'x', boot_id: 'x' },
      0,
      'alive',
      {},
      true
    )
  }
  // As it is without /proc.
  const bare = { boot_id: '', pid_namespace: '', start_time: '' }
  await check('a living process without /proc', { pid: other.pid ?? 0 }, SILENCE, 'alive', bare)
  await check('a pid that may have been used again without /proc', { pid: other.pid ?? 0 }, SILENCE + 1, 'silent', bare)
  await check('an ended process without /proc', { pid: deadOwner().pid }, 0, 'dead', bare)
  t.strictSame(parseOwner(JSON.stringify(me)), me)
  for (const text of ['', '{', 'null', '{"pid":1}', '[]']) t.equal(parseOwner(text), null)
})

t.test('gives the lock to waiting requests in order', async t => {
  const all = locks()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const lock = await taken(all)
      t.ok(lock.held())
      order.push(i)
      if (i % 10 === 0) await sleep(1)
      await lock.release()
    })
  )
  t.strictSame(
    order,
    order.slice().sort((a, b) => a - b)
  )
})

t.test('lets other files be edited meanwhile', async t => {
  const all = locks()
  const one = await taken(all)
  const other = await taken(all, Buffer.from('b.txt'))
  await one.release()
  await other.release()
})

t.test('gives up in time, and forgets requests that gave up', async t => {
  const all = locks({ timeout: 100 })
  const lock = await taken(all)
  const late = await Promise.all([all.acquire(FILE), all.acquire(FILE)])
  for (const answer of late) {
    t.match(answer, { ok: false, failure: { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 } })
  }
  await lock.release()
  const next = await taken(all)
  await next.release()
})

t.test('passes over a client that has gone when it is its turn', async t => {
  const all = locks({ timeout: 60_000 })
  const first = await taken(all)
  let isGone = false
  const client = { isGone: () => isGone, onGone() {} }
  const [left, stayed] = [all.acquire(FILE, { client }), taken(all)]
  isGone = true
  await first.release()
  t.match(await left, { ok: false, failure: { code: 'FILE_LOCKED', reason: 'client_gone' } })
  await (await stayed).release()
  await (await taken(all)).release()
})

t.test('bounds the queue', async t => {
  const all = locks({ timeout: 60_000 })
  const first = await taken(all)
  const waiting = Array.from({ length: 1000 }, () => taken(all))
  t.match(await all.acquire(FILE), { ok: false, failure: { code: 'FILE_LOCKED', reason: 'queue_full' } })
  await first.release()
  for (const next of waiting) await (await next).release()
})

t.test('excludes other processes by a socket', linuxOnly, async t => {
  const secret = Buffer.from('shared' + Math.random())
  const [a, b] = [locks({ secret, timeout: 300 }), locks({ secret, timeout: 300 })]
  const lock = await taken(a)
  const began = performance.now()
  t.match(await b.acquire(FILE), { failure: { reason: 'timeout' } })
  t.ok(performance.now() - began > 290, 'waits as long as it may')
  const waiting = taken(b)
  const behind = taken(a)
  await sleep(30)
  const freed = performance.now()
  await lock.release()
  await (await waiting).release()
  t.ok(performance.now() - freed < 300, 'goes on at once')
  await (await behind).release()
})

t.test('waits for a socket that nobody answers', linuxOnly, async t => {
  const name = 'editd-test-' + Math.random()
  const server = createServer().listen({ path: '\0' + name, backlog: 1 })
  await sleep(20)
  // Fills the backlog of a listener that is closed before it accepts: further connections are refused or hang.
  const clients = Array.from({ length: 3 }, () => connect({ path: '\0' + name }).on('error', () => {}))
  t.equal(await holdSocket(wanted(name), performance.now() + 700), null)
  server.close()
  for (const client of clients) client.destroy()
})

t.test('waits for a holder who proves that it is a server, and for no other', linuxOnly, async t => {
  const fill = 'x'.repeat(1000)
  const impostors: [name: string, answer: (socket: Socket) => unknown][] = [
    ['says nothing', socket => socket.resume()],
    ['hangs up', socket => socket.destroy()],
    ['repeats what it is asked', socket => socket.pipe(socket)],
    ['says much', socket => socket.resume().write(fill)]
  ]
  // All at once, as each of them is waited for.
  await Promise.all(
    impostors.map(async ([what, answer]) => {
      const name = 'editd-test-' + Math.random()
      const sockets = new Set<Socket>()
      const server = createServer(socket => {
        sockets.add(socket.on('error', () => {}))
        answer(socket)
      }).listen({ path: '\0' + name })
      t.teardown(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
      t.equal(await holdSocket(wanted(name, false), performance.now() + 60_000), 'unproven', what)
      t.equal(await holdSocket(wanted(name, true), performance.now() + 300), null, `${what}, and is waited for`)
    })
  )
  const name = 'editd-test-' + Math.random()
  const holder = await holdSocket(wanted(name), 0)
  t.equal(await holdSocket(wanted(name, false, 'another secret'), performance.now() + 60_000), 'unproven')
  t.equal(await holdSocket(wanted(name, false), performance.now() + 700), null, 'it has proved itself, and twice')
  // What isn't asked so is a bystander's.
  const bystander = connect({ path: '\0' + name }).on('error', () => {})
  let said = ''
  bystander.on('data', data => {
    said += String(data)
  })
  bystander.write('short')
  const waiting = holdSocket(wanted(name, false), performance.now() + 60_000)
  await sleep(30)
  if (holder === null || holder === 'unproven') throw new Error('not held')
  holder.release()
  const next = await waiting
  if (next === null || next === 'unproven') throw new Error(String(next))
  next.release()
  bystander.destroy()
  t.equal(said, '')
})

t.test('does without a socket that somebody else has, where lock files keep others out', linuxOnly, async t => {
  const { files } = freshFiles(t)
  const secret = Buffer.from('shared' + Math.random())
  const name = `editd-${createHmac('sha256', secret).update(FILE).digest('hex')}`
  const squatter = createServer(socket => socket.on('error', () => {})).listen({ path: '\0' + name })
  t.teardown(() => squatter.close())
  const unproven: string[] = []
  let isAnyLocal = false
  let isServers = true
  const peers: Peers = {
    serversHave: () => isServers,
    isAnyLocal: () => isAnyLocal
  }
  const told = { secret, peers, unproven: (name: string) => unproven.push(name) }
  const [a, b] = [locks({ ...told, files: files() }), locks({ ...told, files: files(), timeout: 600 })]
  t.match(await b.acquire(FILE), { failure: { reason: 'timeout' } }, 'a server that is suspended is waited for')
  t.strictSame(unproven, [])
  isServers = false
  const lock = await taken(a)
  t.ok(lock.held())
  t.match(await b.acquire(FILE), { failure: { reason: 'timeout' } }, 'the lock file excludes')
  t.strictSame(unproven, [name, name])
  isAnyLocal = true
  t.notOk(lock.held(), 'not any longer where a server takes no lock files')
  await lock.release()
  t.match(await b.acquire(FILE), { failure: { reason: 'timeout' } }, 'nor is it taken there')
  isAnyLocal = false
  await (await taken(b)).release()
  const local = locks({ ...told, timeout: 600 })
  t.match(await local.acquire(FILE), { failure: { reason: 'timeout' } }, 'which has nothing else')
})

t.test('throws if it can’t make a socket', linuxOnly, async t => {
  const limit = (nofile: number): unknown =>
    spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${nofile}:1048576`])
  limit(descriptors() + 20)
  const open: number[] = []
  t.throws(
    () => {
      for (;;) open.push(openSync('/dev/null', 'r'))
    },
    { code: 'EMFILE' }
  )
  await t.rejects(holdSocket(wanted('editd-test-' + Math.random()), 0), { code: 'EMFILE' })
  for (const fd of open) closeSync(fd)
  limit(65536)
})

t.test('holds a lock file, and notices when it is taken away', async t => {
  const { folders, files, events } = freshFiles(t)
  const mine = files()
  const held = await mine.hold('key', performance.now() + 100)
  t.ok(held?.held())
  t.strictSame(held?.unreleased, [])
  t.equal(await files().hold('key', performance.now() + 30), null, 'another can’t have it')
  renameSync(join(folders.base, 'locks/key'), join(folders.base, 'locks/stolen'))
  t.equal(held?.held(), false)
  const other = await files().hold('key', performance.now() + 100)
  await held?.release()
  t.ok(other?.held(), 'releases nothing that isn’t its own')
  await other?.release()
  t.strictSame(readdirSync(join(folders.base, 'locks')), ['stolen'])
  t.strictSame(events, [])
})

t.test('takes over from dead holders at once, from silent ones in time, from living ones never', async t => {
  const { folders, files, events } = freshFiles(t)
  const folder = join(folders.base, 'locks')
  const holder = await files(deadOwner()).hold('dead', 0)
  if (holder === null) throw new Error('not held')
  const began = performance.now()
  const next = await files().hold('dead', began + 1000)
  t.strictSame(next?.unreleased, [holder.entry], 'knows whom')
  t.ok(performance.now() - began < 400, 'at once')
  t.notOk(holder.held(), 'the dead one would know')
  await next?.release()

  const stranger = await files({ ...thisOwner(), hostname: 'other', boot_id: 'other' }).hold('silent', 0)
  t.equal(await files().hold('silent', 0), null, 'not from a stranger who was heard of lately')
  utimesSync(join(folder, 'silent'), new Date(Date.now() - 20_000), new Date(Date.now() - 20_000))
  const late = await files().hold('silent', performance.now() + 1000)
  t.strictSame(late?.unreleased, [stranger?.entry], 'from a stranger who fell silent')
  t.notOk(stranger?.held())
  await late?.release()
  await stranger?.release()

  mkdirSync(join(folder, 'empty'))
  await (await files().hold('empty', performance.now() + 100))?.release()
  t.strictSame(events, ['lock_taken_over', 'lock_taken_over'])
  t.strictSame(readdirSync(folder), [])
})

t.test('releases the lock where it can’t see who never released it', async t => {
  const { folders, files } = freshFiles(t)
  writeFileSync(join(folders.base, 'unreleased/file'), '')
  await t.rejects(files().hold('file', performance.now() + 100), { code: 'ENOTDIR' })
  t.strictSame(readdirSync(join(folders.base, 'locks')), [])
  rmSync(join(folders.base, 'unreleased/file'))
  t.ok(await files().hold('file', performance.now() + 100))
})

t.test('leaves what a sweep finds gone, and says what it can’t read', async t => {
  const { folders, files } = freshFiles(t)
  const moved = join(folders.base, 'unreleased/file/moved')
  mkdirSync(moved, { recursive: true })
  symlinkSync('gone', join(moved, 'entry'))
  await files().sweep()
  t.ok(existsSync(moved), 'whoever holds the lock deals with it')
  rmSync(join(moved, 'entry'))
  mkdirSync(join(moved, 'entry'))
  await t.rejects(files().sweep(), { code: 'EISDIR' })
})

/** The lock of a living rival. */
function rivalLock(path: string): void {
  mkdirSync(path)
  writeFileSync(join(path, 'rival'), JSON.stringify({ ...thisOwner(), nonce: 'rival' }))
}

t.test('gives up its takeover if a rival takes over right after it', async t => {
  const { folders, files } = freshFiles(t)
  const folder = join(folders.base, 'locks')
  await files(deadOwner()).hold('file', 0)
  const late = lockFiles(folders, thisOwner(), ({ event }) => {
    if (event !== 'lock_taken_over') return
    renameSync(join(folder, 'file'), join(folder, 'file.gone'))
    rivalLock(join(folder, 'file'))
  })
  t.equal(await late.hold('file', performance.now() + 100), null)
  t.strictSame(readdirSync(join(folder, 'file')), ['rival'], 'the rival keeps it')
  t.strictSame(readdirSync(folder).sort(), ['file', 'file.gone'])
})

t.test('puts back the lock of a rival who takes over while it looks', linuxOnly, async t => {
  const { folders, files } = freshFiles(t)
  const folder = join(folders.base, 'locks')
  await files(deadOwner()).hold('file', 0)
  const [dead] = readdirSync(join(folder, 'file'))
  const owner = readFileSync(join(folder, 'file', dead!), 'utf8')
  // Who opens a FIFO to read waits for a writer: this process stands still in its look until the rival is done.
  rmSync(join(folder, 'file', dead!))
  spawnSync('mkfifo', [join(folder, 'file', dead!)])
  rivalLock(join(folder, 'file.rival'))
  const rival = spawn(
    'sh',
    ['-c', 'exec 3>"file/$1"; mv file file.gone; mv file.rival file; printf %s "$2" >&3', 'sh', dead!, owner],
    { cwd: folder, stdio: 'inherit' }
  )
  const ended = new Promise(resolve => rival.on('exit', resolve))
  t.equal(await files().hold('file', performance.now() + 100), null)
  t.equal(await ended, 0)
  t.strictSame(readdirSync(join(folder, 'file')), ['rival'], 'the rival keeps it')
  t.strictSame(readdirSync(folder).sort(), ['file', 'file.gone'])
})

t.test('takes no lock where something else stands in its place', async t => {
  const { folders, files } = freshFiles(t)
  writeFileSync(join(folders.base, 'locks', 'file'), '')
  await t.rejects(files().hold('file', 0), { code: 'ENOTDIR' })
})

t.test('sweeps the locks of dead processes', async t => {
  const { folders, files } = freshFiles(t)
  const folder = join(folders.base, 'locks')
  await files(deadOwner()).hold('dead', 0)
  const living = await files().hold('living', 0)
  for (const [name, age] of [
    ['old.dead.1', 20_000],
    ['new.dead.1', 0]
  ] as const) {
    mkdirSync(join(folder, name))
    utimesSync(join(folder, name), new Date(), new Date(Date.now() - age))
  }
  await files().sweep()
  t.strictSame(readdirSync(folder).sort(), ['living', 'new.dead.1'])
  await living?.release()
  writeFileSync(join(folder, 'file'), '')
  await t.rejects(files().sweep(), 'throws what it can’t make sense of')
})

t.test('reports a lock that was lost while it was held, and lets nothing be written under it', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a.txt'), 'a')
  const events: string[] = []
  const workspace = await open(folders, { report: ({ event }) => events.push(event) })
  t.teardown(() => workspace.close())
  const locksFolder = join(folders.state, 'locks')
  const answer = await workspace.edit({ path: 'a.txt' }, REAL, original => {
    for (const name of readdirSync(locksFolder)) rmSync(join(locksFolder, name), { recursive: true })
    return append('b')(original)
  })
  t.match(answer, { ok: false, failure: { code: 'FILE_LOCKED', reason: 'lost' }, file_hash: 'ca978112ca1bbdca' })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'a')
  t.strictSame(readdirSync(folders.root), ['a.txt'])
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('c')), { ok: true })
})

t.test('notices in the background that its lock file was taken', { skip: ONLY_CI }, async t => {
  const { folders, files, events } = freshFiles(t)
  const held = await files().hold('key', 0)
  rmSync(join(folders.base, 'locks/key'), { recursive: true })
  while (events.length === 0) await sleep(100)
  t.strictSame(events, ['lock_compromised'])
  t.equal(held?.held(), false)
  await held?.release()
})

for (const lock of ['shared', 'local'] as const) {
  t.test(`loses none of the edits of two processes at once (${lock})`, linuxOnly, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a.txt'), '')
    const workspace = await open(folders, { lockTimeout: 20_000, lock })
    t.teardown(() => workspace.close())
    const second = startWorker({ ...folders, file: 'a.txt', count: EDITS, name: 'second', lock })
    await second.printed('ready')
    const answers = await Promise.all(
      Array.from({ length: EDITS }, (_, i) => workspace.edit({ path: 'a.txt' }, REAL, append(`first${i}\n`)))
    )
    t.ok(answers.every(answer => answer.ok))
    await second.ended
    const lines = readFileSync(join(folders.root, 'a.txt'), 'utf8').trimEnd().split('\n')
    t.equal(new Set(lines).size, 2 * EDITS)
    t.equal(lines.length, 2 * EDITS)
    t.strictSame(
      lines.filter(line => line.startsWith('first')),
      Array.from({ length: EDITS }, (_, i) => `first${i}`),
      'in order'
    )
    t.strictSame(
      readdirSync(join(folders.state, 'locks')).filter(name => !name.startsWith('root-')),
      []
    )
  })
}

const canUnshare = onLinux && spawnSync('/usr/bin/unshare', ['-n', 'true']).status === 0

t.test(
  'loses no edit to a process that shares only the folders',
  { skip: canUnshare ? false : 'needs a network namespace' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a.txt'), '')
    const workspace = await open(folders, { lockTimeout: 20_000 })
    t.teardown(() => workspace.close())
    const second = startWorker({ ...folders, file: 'a.txt', count: EDITS, name: 'second' }, ['/usr/bin/unshare', '-n'])
    await second.printed('holding')
    const answers = await Promise.all(
      Array.from({ length: EDITS }, (_, i) => workspace.edit({ path: 'a.txt' }, REAL, append(`first${i}\n`)))
    )
    await second.ended
    for (const answer of answers) t.match(answer, { ok: true })
    t.strictSame(
      second.lines.filter(line => line.startsWith('failed')),
      []
    )
    t.equal(new Set(readFileSync(join(folders.root, 'a.txt'), 'utf8').trimEnd().split('\n')).size, 2 * EDITS)
  }
)

t.test(
  'loses no edit of three servers that want the same files, and records each, wherever one is killed',
  { skip: ONLY_CI },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const random = new Random(SEED)
    for (const name of ['f0', 'f1']) writeFileSync(join(folders.root, name), '')
    const acknowledged: string[] = []
    let serial = 0
    const run = async (): Promise<void> => {
      const file = `f${random.int(2)}`
      const worker = startWorker({ ...folders, file, count: 10_000, name: `${serial++}-` })
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

t.test('gets the lock at once when the holder is killed, and not while it is stopped', linuxOnly, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a.txt'), '')
  const events: string[] = []
  const workspace = await open(folders, { lockTimeout: 700, report: ({ event }) => events.push(event) })
  t.teardown(() => workspace.close())
  const second = startWorker({ ...folders, file: 'a.txt', count: 1000, name: 'second', hold: 60_000 })
  await second.printed('holding')
  second.child.kill('SIGSTOP')
  const answer = await workspace.edit({ path: 'a.txt' }, REAL, become('mine'))
  t.match(answer, {
    ok: false,
    failure: { code: 'FILE_LOCKED', reason: 'timeout' },
    path: 'a.txt',
    file_hash: 'e3b0c44298fc1c14'
  })
  const waiting = workspace.edit({ path: 'a.txt' }, REAL, become('mine'))
  await sleep(100)
  second.child.kill('SIGKILL')
  // Without a proof of its death it would be waited for.
  t.match(await waiting, { ok: true })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'mine')
  t.ok(events.includes('lock_taken_over'))
  await second.ended
})

t.test('answers 503 when there are no descriptors left, and recovers', linuxOnly, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (let i = 0; i < 60; i++) writeFileSync(join(folders.root, `f${i}`), 'x')
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  const limit = descriptors() + 40
  spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${limit}:1048576`])
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => workspace.edit({ path: `f${i}` }, REAL, append('y')))
  )
  spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=65536:1048576'])
  for (const answer of answers) {
    if (!answer.ok) t.match(answer.failure, { code: 'NOT_READY', reason: 'no_descriptors', retry_after: 1 })
  }
  for (let i = 0; i < 60; i++) t.match(await workspace.edit({ path: `f${i}` }, REAL, become('z')), { ok: true })
  t.equal(readdirSync(folders.root).length, 60, 'no temp file stays')
})

t.test('waits for running edits when it is closed', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a.txt'), '')
  const workspace = await open(folders)
  const edits = Array.from({ length: 20 }, (_, i) => workspace.edit({ path: 'a.txt' }, REAL, append(`${i}\n`)))
  await workspace.close()
  for (const edit of edits) t.match(await edit, { ok: true })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8').split('\n').length, 21)
  for (const part of ['locks', 'intents', 'journal']) t.strictSame(readdirSync(join(folders.state, part)), [], part)
})
