// Servers that meet on a root: who is refused and who isn't, and what other users' sockets can do. Does not know
// sentences.
// runs in .ci/run
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../../often.ts'
import { folderIds, listClaims, namesOf } from '../../../src/folder/locks/server-names.ts'
import { answerWith, holderOf, mayWriteIn, socketsOf } from '../../../src/folder/locks/server-identity.ts'
import { Occupied } from '../../../src/folder/locks/other-servers.ts'
import type { Workspace } from '../../../src/workspace/api.ts'
import { canMount } from '../support/machine.ts'
import { descriptors, makeFolders, isRoot, onLinux, open, removeFolders, type Folders } from '../support/open.ts'
import { startWorker } from '../support/process.ts'

if (!onLinux) t.bailout('needs Linux')

const FOREIGN = 12_345
const OTHER_STATE = '0123456789abcdef'
const serial = (i: number): string => i.toString(16).padStart(4, '0')

function fresh(t: Test): Folders & { other: string } {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  return { ...folders, other: join(folders.base, 'other') }
}

/** 'starts', and the workspace is closed again; or why the start was refused. */
const outcome = (started: Promise<Workspace>): Promise<unknown> =>
  started.then(
    async workspace => {
      await workspace.close()
      return 'starts'
    },
    error => (error instanceof Occupied ? error : Promise.reject(error))
  )

t.test(
  'refuses a root on which a server with another state folder works, and one that overlaps',
  { skip: ONLY_CI },
  async t => {
    const folders = fresh(t)
    const { base, root, state, other } = folders
    mkdirSync(join(root, 'a/b/c/d/e/f/g/h'), { recursive: true })
    mkdirSync(join(base, 'root-beside'))
    const first = await open(folders)
    t.teardown(() => first.close())
    symlinkSync(state, join(base, 'link'))
    symlinkSync(root, join(base, 'root-link'))
    const info = { root, stateDir: state }
    const uid = process.geteuid!()
    const before = readdirSync(base, { recursive: true })
    const check = async (options: Parameters<typeof open>[1], expected: unknown): Promise<void> => {
      t.match(await outcome(open(folders, options)), expected, JSON.stringify(options))
    }
    await check({ stateDir: other }, { where: 'same', pid: process.pid, uid, root, info })
    await check({ stateDir: other, lock: 'local' }, { where: 'same' })
    await check({ stateDir: other, confinement: 'portable' }, { where: 'same' })
    await check({ stateDir: other, root: join(base, 'root-link') }, { where: 'same', root })
    await check({ stateDir: other, root: join(root, 'a') }, { where: 'above', root: join(root, 'a'), info })
    await check({ stateDir: other, root: join(root, 'a/b/c/d/e/f/g/h') }, { where: 'above' })
    await check({ root: join(root, 'a') }, { where: 'above' })
    await check({}, 'starts')
    await check({ lock: 'local' }, 'starts')
    await check({ stateDir: join(base, 'link') }, 'starts')
    await check({ stateDir: other, readOnly: true }, 'starts')
    await check({ stateDir: other, root: join(base, 'root-beside') }, 'starts')
    const after = readdirSync(base, { recursive: true }).filter(name => !String(name).startsWith('other'))
    t.strictSame(after, before, 'nothing is written')
    await first.close()
    await check({ stateDir: other }, 'starts')

    const deep = await open({ ...folders, root: join(root, 'a/b/c/d/e/f/g/h') })
    t.teardown(() => deep.close())
    for (const above of ['', 'a', 'a/b/c/d/e', 'a/b/c/d/e/f/g']) {
      await check({ stateDir: other, root: join(root, above) }, { where: 'below', info: { root: deep.root } })
    }
  }
)

const needsMounts = { skip: ONLY_CI || (canMount ? false : 'needs mounts') }
t.test('recognises the same state folder wherever it is mounted', needsMounts, async t => {
  const folders = fresh(t)
  const first = await open(folders)
  t.teardown(() => first.close())
  const mounted = [folders.other, join(folders.base, 'root2')]
  for (const [i, path] of mounted.entries()) {
    mkdirSync(path)
    execFileSync('mount', ['--bind', i === 0 ? folders.state : folders.root, path])
    t.teardown(() => execFileSync('umount', [path]))
  }
  t.equal(await outcome(open(folders, { stateDir: mounted[0]! })), 'starts')
  t.equal(await outcome(open(folders, { stateDir: mounted[0]!, root: mounted[1]! })), 'starts')
  t.match(await outcome(open(folders, { stateDir: join(folders.base, 'third'), root: mounted[1]! })), { where: 'same' })
})

t.test('finds each of several servers, and none that has ended', { skip: ONLY_CI }, async t => {
  const folders = fresh(t)
  writeFileSync(join(folders.root, 'a'), '')
  const second = startWorker({ ...folders, file: 'a', count: 2, name: 'x', pause: 600_000 })
  const third = await open(folders)
  await second.printed('done')
  t.match(await outcome(open(folders, { stateDir: folders.other })), { where: 'same' })
  await third.close()
  t.match(await outcome(open(folders, { stateDir: folders.other })), { where: 'same', pid: second.child.pid })
  second.child.kill('SIGSTOP')
  const stopped = await outcome(open(folders, { stateDir: folders.other }))
  t.match(stopped, { pid: second.child.pid, info: null })
  second.child.kill('SIGKILL')
  await second.ended
  t.equal(await outcome(open(folders, { stateDir: folders.other })), 'starts')
})

t.test('lets at most one of several start at once, and one of them later', { skip: ONLY_CI }, async t => {
  const folders = fresh(t)
  for (let round = 0; round < 5; round++) {
    const four = [1, 2, 3, 4].map(i => open(folders, { stateDir: join(folders.base, `s${i}`) }))
    const started = await Promise.allSettled(four)
    const served = started.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    for (const one of started) if (one.status === 'rejected') t.type(one.reason, Occupied)
    t.ok(served.length <= 1, `${served.length} of 4`)
    for (const workspace of served) await workspace.close()
    t.equal(await outcome(open(folders, { stateDir: folders.other })), 'starts')
  }
})

t.test('keeps neither a name nor a descriptor of a server that didn’t start', { skip: ONLY_CI }, async t => {
  const folders = fresh(t)
  const first = await open(folders)
  t.teardown(() => first.close())
  // Other tests have their servers on the same host.
  const [id] = folderIds(Buffer.from(folders.root))
  const kept = (): number[] => [descriptors(), listClaims().filter(({ folders }) => folders[0] === id).length]
  const before = kept()
  t.match(await outcome(open(folders, { stateDir: folders.other })), { where: 'same' })
  // The first learns only then that nobody asks any more.
  for (let i = 0; i < 100 && kept().join() !== before.join(); i++) await sleep(20)
  t.strictSame(kept(), before)
})

t.test('announces its root and all folders above it', { skip: ONLY_CI }, async t => {
  const { root } = fresh(t)
  const deep = join(root, 'a/b/c/d/e/f/g')
  mkdirSync(deep, { recursive: true })
  const folders = folderIds(Buffer.from(deep))
  t.equal(folders.length, deep.split('/').length)
  t.equal(folderIds(Buffer.from('/')).length, 1)
  t.equal(folders.at(-1), folderIds(Buffer.from('/'))[0])
  t.throws(() => folderIds(Buffer.from(join(root, 'missing'))), { code: 'ENOENT' })
  const info = { hostname: 'h', root: deep, stateDir: '/s' }
  const answers = await answerWith(info)
  t.teardown(() => answers.close())
  const { port } = answers
  const names = namesOf({ state: OTHER_STATE, pid: 4_194_304, port, serial: serial(1), folders })
  for (const name of names) t.match(name, /^.{107}$/)
  for (const name of names) await answers.listenBy(name)
  const said = () => listClaims().filter(({ name }) => names.includes(name))
  t.match(
    said(),
    names.map(() => ({ state: OTHER_STATE, pid: 4_194_304, port, inode: /^\d+$/ }))
  )
  t.strictSame(new Set(said().flatMap(claim => claim.folders)), new Set(folders))
  for (const claim of said()) t.equal(claim.folders[0], folders[0])
  // What it accepted has its name too.
  const sockets = names.map(name => connect({ path: `\0${name}` }).resume())
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  t.equal(said().length, names.length)
  for (const socket of sockets) socket.destroy()
})

t.test('finds out which process owns a name', { skip: ONLY_CI }, async t => {
  const uid = process.geteuid!()
  const info = { hostname: 'h', root: '/r', stateDir: '/s' }
  const nameWith = (port: number, i: number): string =>
    namesOf({ state: OTHER_STATE, pid: 1, port, serial: serial(i), folders: ['0'.repeat(12)] })[0]!
  const honest = await answerWith(info)
  const { port } = honest
  const name = nameWith(port, 2)
  await honest.listenBy(name)
  await t.rejects(honest.listenBy(name), { code: 'EADDRINUSE' })
  t.strictSame(await holderOf({ name, port }, null), { uid, info })
  t.strictSame(await holderOf({ name, port }, 7), { uid: 7, info })
  // Nobody can keep others from asking by connections that he holds.
  const occupied = Array.from({ length: 700 }, () => connect({ path: `\0${name}` }).on('error', () => {}))
  t.strictSame(await holderOf({ name, port }, null), { uid, info })
  for (const socket of occupied) socket.destroy()

  const listener = async (answer: (question: string) => string | null, address = '127.0.0.1'): Promise<number> => {
    const socket = createSocket('udp4').bind({ address, port: 0 })
    await once(socket, 'listening')
    t.teardown(() => socket.close())
    socket.on('message', (question, from) => {
      const said = answer(String(question))
      if (said !== null) socket.send(said, from.port, from.address)
    })
    return socket.address().port
  }
  const check = async (what: string, asked: number, expected: object): Promise<void> => {
    t.strictSame(await holderOf({ name: nameWith(asked, 3), port: asked }, null), expected, what)
  }
  const nothing = { uid: null, info: null }
  const answers: [what: string, answer: (question: string) => string | null][] = [
    ['says nothing', () => null],
    ['no JSON', () => 'x'],
    ['too little', question => JSON.stringify({ hostname: 'h', root: '/r', question })],
    ['no strings', question => JSON.stringify({ ...info, root: 1, question })],
    ['another question', () => JSON.stringify({ ...info, question: 'x' })],
    ['no object', () => 'null']
  ]
  await Promise.all([
    ...answers.map(async ([what, answer]) => check(what, await listener(answer), nothing)),
    check('a port of a server that has other names', port, nothing),
    check('a port with nobody', 1, nothing),
    check('no port', 0, nothing),
    // So that everybody could have sent it: only what is bound to the loopback device counts.
    check('another address', await listener(question => JSON.stringify({ ...info, question }), '0.0.0.0'), {
      uid: null,
      info
    })
  ])
  honest.close()
  t.strictSame(await holderOf({ name, port }, null), nothing)
})

const canUnshare = spawnSync('unshare', ['-n', 'true']).status === 0
t.test(
  'starts where there is no loopback device',
  { skip: ONLY_CI || (canUnshare ? false : 'needs a network namespace') },
  async t => {
    const folders = fresh(t)
    writeFileSync(join(folders.root, 'a'), '')
    const apart = startWorker({ ...folders, file: 'a', count: 1, name: 'x' }, ['unshare', '-n'])
    await apart.printed('done')
    await apart.ended
  }
)

t.test('knows who can write in a folder', { skip: ONLY_CI }, async t => {
  const me = { uid: process.geteuid!(), pid: process.pid }
  t.equal(socketsOf(2 ** 30), null)
  t.equal(socketsOf(me.pid)?.uid, me.uid)
  const check = (folder: [uid: number, gid: number, mode: number], uid: number, pid: number, may: boolean): void => {
    const [owner, gid, mode] = folder
    t.equal(mayWriteIn({ uid: owner, gid, mode }, uid, pid), may, JSON.stringify([folder, uid]))
  }
  const gid = process.getegid!()
  check([1, 1, 0o700], 0, 1, true)
  check([FOREIGN, 1, 0o500], FOREIGN, 1, true)
  check([1, 1, 0o755], FOREIGN, 1, false)
  check([1, 1, 0o757], FOREIGN, 1, true)
  check([1, gid, 0o775], FOREIGN, me.pid, false)
  check([1, 4_000_000, 0o775], FOREIGN, 2 ** 30, false)
  if (me.uid !== 0) check([0, gid, 0o775], me.uid, me.pid, true)
})

// A process of another user, which listens by names that say what it likes. `proof`: it answers as a server does. It ends
// when its stdin does, so with the test that started it, however that ends.
const PLANT = `
process.stdin.resume().on('end', () => process.exit())
const net = require('net')
const { names, info, proof } = JSON.parse(process.argv[1])
const asked = require('dgram').createSocket('udp4')
asked.on('message', (question, from) => {
  if (proof) asked.send(JSON.stringify({ ...info, question: String(question) }), from.port, from.address)
})
asked.bind(0, '127.0.0.1', () => {
  const port = asked.address().port.toString(16).padStart(4, '0')
  let left = names.length
  for (const start of names) {
    const name = start.replace('PID', process.pid).replace('PORT', port).padEnd(107, '.')
    net.createServer(socket => socket.on('error', () => {})).listen('\\0' + name, () => { if (--left === 0) console.log('planted') })
  }
})
`
const foreigner = { uid: FOREIGN, gid: FOREIGN, cwd: '/' }
// Through env: to a Node that it starts itself tap gives an environment that asks for files of this folder, which the
// other user may not be allowed to read.
const asForeigner = (...args: string[]): [string, string[]] => ['env', ['-i', process.execPath, ...args]]
const canBeForeign = isRoot && spawnSync(...asForeigner('-e', ''), foreigner).status === 0

async function plant(t: Test, folders: string[], { count = 1, proof = false, root = '' } = {}): Promise<ChildProcess> {
  const names = Array.from(
    { length: count },
    (_, i) => `editd.${OTHER_STATE}.PID.PORT${serial(i)}.${folders.join('')}.`
  )
  const order = JSON.stringify({ names, info: { hostname: 'h', root, stateDir: '/s' }, proof })
  const child = spawn(...asForeigner('-e', PLANT, order), { ...foreigner, stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'close')
  })
  await once(child.stdout, 'data')
  return child
}

const needsRoot = { skip: ONLY_CI || (canBeForeign ? false : 'needs root, and a Node that every user may run') }

/** A root that users share, and starts on it with what they report. */
function sharedRoot(t: Test) {
  const folders = fresh(t)
  const { root } = folders
  chmodSync(folders.base, 0o777)
  const events: object[] = []
  const report = (event: object): void => {
    events.push(event)
  }
  return {
    folders,
    root,
    id: folderIds(Buffer.from(root))[0],
    events,
    async tried(options: Parameters<typeof open>[1] = {}): Promise<unknown> {
      events.length = 0
      return outcome(open(folders, { report, ...options }))
    },
    allow(uid: number, gid: number, mode: number): void {
      chownSync(root, uid, gid)
      chmodSync(root, mode)
    }
  }
}

/** Someone else's process that listens and says nothing, and the event of a start that doubts it. */
async function plantSilent(t: Test, id: string): Promise<{ silent: ChildProcess; doubt: object }> {
  const silent = await plant(t, [id])
  const socket = new RegExp(`^@editd\\.${OTHER_STATE}\\.${silent.pid}\\.`)
  return { silent, doubt: { event: 'other_server_unproven', names: 1, pid: silent.pid, socket } }
}

t.test('believes a silent socket only of users who can write in the root', needsRoot, async t => {
  const roots: [uid: number, gid: number, mode: number, may: boolean][] = [
    [0, 0, 0o755, false],
    [0, 1, 0o775, false],
    [0, FOREIGN, 0o775, true],
    [0, 0, 0o757, true],
    [FOREIGN, 0, 0o755, true]
  ]
  // All at once, as each start waits for an answer.
  await Promise.all(
    roots.map(async ([uid, gid, mode, may]) => {
      const { id, events, tried, allow } = sharedRoot(t)
      const { silent, doubt } = await plantSilent(t, id)
      allow(uid, gid, mode)
      const refused = { where: 'same', pid: silent.pid, uid: FOREIGN, info: null }
      t.match(await tried(), may ? refused : 'starts', mode.toString(8))
      t.match(events, may ? [] : [doubt])
    })
  )
})

t.test('starts in spite of sockets of users who can’t write in the root', needsRoot, async t => {
  const { folders, root, id, events, tried, allow } = sharedRoot(t)
  const { silent, doubt } = await plantSilent(t, id)
  // Who can't look into its process believes it only if it answers.
  allow(0, 0, 0o777)
  const asUser = async (): Promise<unknown> => {
    process.seteuid?.(FOREIGN + 1)
    try {
      return await tried({ stateDir: join(folders.base, 'users') })
    } finally {
      process.seteuid?.(0)
    }
  }
  t.equal(await asUser(), 'starts')
  t.match(events, [doubt])
  const honest = await plant(t, [id], { proof: true, root })
  t.match(await asUser(), { where: 'same', pid: honest.pid, uid: FOREIGN, info: { root } })
  honest.kill('SIGKILL')
  silent.kill('SIGKILL')
  await Promise.all([once(honest, 'close'), once(silent, 'close')])

  allow(0, 0, 0o755)
  mkdirSync(join(root, 'theirs'))
  chownSync(join(root, 'theirs'), FOREIGN, FOREIGN)
  mkdirSync(join(root, 'ours'))
  mkdirSync(join(folders.base, 'elsewhere'))
  chownSync(join(folders.base, 'elsewhere'), FOREIGN, FOREIGN)
  const below = async (said: string, info: string, proof: boolean, expected: unknown): Promise<void> => {
    const child = await plant(t, [folderIds(Buffer.from(said))[0], id], { proof, root: info })
    t.match(await tried(), expected, `${said} ${info}`)
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await below(join(root, 'theirs'), join(root, 'theirs'), true, { where: 'below', uid: FOREIGN })
  await below(join(root, 'theirs'), join(root, 'theirs'), false, 'starts')
  await below(join(root, 'ours'), join(root, 'ours'), true, 'starts')
  await below(join(folders.base, 'elsewhere'), join(folders.base, 'elsewhere'), true, 'starts')
  await below(join(folders.base, 'elsewhere'), join(root, '../elsewhere'), true, 'starts')
  await below(join(root, 'theirs'), join(root, 'missing'), true, 'starts')

  await plant(t, [id], { count: 100, proof: true })
  t.equal(await tried(), 'starts')
  t.match(events, [{ names: 100 }])
  writeFileSync(join(root, 'a'), '')
  const real = startWorker({ ...folders, file: 'a', count: 2, name: 'x', pause: 600_000 })
  await real.printed('done')
  // And none hides among them.
  t.match(await tried({ stateDir: folders.other }), { where: 'same', pid: real.child.pid, uid: 0 })
  real.child.kill('SIGKILL')
  await real.ended
})

t.test(
  'finds a server in another pid namespace',
  { skip: ONLY_CI || (canMount ? false : 'needs namespaces') },
  async t => {
    const folders = fresh(t)
    writeFileSync(join(folders.root, 'a'), '')
    const apart = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    const second = startWorker({ ...folders, file: 'a', count: 2, name: 'x', pause: 600_000 }, apart)
    await second.printed('done')
    t.match(await outcome(open(folders, { stateDir: folders.other })), {
      where: 'same',
      uid: 0,
      info: { root: folders.root }
    })
    second.child.kill('SIGKILL')
    await second.ended
  }
)
