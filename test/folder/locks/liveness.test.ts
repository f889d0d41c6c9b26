// Sockets by which servers see whether another one still runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LivenessSockets } from '../../../src/folder/locks/liveness.ts'
import { makeFolders, onLinux, removeFolders } from '../support/open.ts'

function fresh(t: Test, ...names: string[]): string {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const folder = join(folders.base, ...names)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** A process that listens there and is ended by force. */
async function killed(path: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `process.stdin.resume().on('end', () => process.exit()); require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('ready'))`
    ],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {}
    }
  )
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

for (const [name, folders, skip] of [
  ['a short path', ['live'], false],
  ['a path that is longer than an address may be', ['x'.repeat(120), 'live'], onLinux ? false : 'needs /proc']
] as const) {
  t.test(`tells living from dead processes by ${name}`, { skip }, async t => {
    const folder = fresh(t, ...folders)
    const [mine, others] = [new LivenessSockets(folder), new LivenessSockets(folder)]
    t.teardown(() => others.close())
    t.equal(await mine.announce('mine'), true)
    t.equal(await others.hasEnded('mine'), false)
    t.equal(await others.hasEnded('nobody'), null, 'of whom nothing is known')
    writeFileSync(join(folder, 'file'), '')
    t.equal(await others.hasEnded('file'), true, 'nobody listens')
    mine.close()
    t.equal(await others.hasEnded('mine'), null, 'who closed it left nothing')
    t.notOk(existsSync(join(folder, 'mine')))
  })
}

t.test('notices that a process was killed, and forgets it when it can', async t => {
  const folder = fresh(t, 'live')
  const sockets = new LivenessSockets(folder)
  t.teardown(() => sockets.close())
  await sockets.announce('mine')
  await killed(join(folder, 'killed'))
  t.equal(await sockets.hasEnded('killed'), true)
  await sockets.sweep(() => false)
  t.equal(readdirSync(folder).length, 2)
  await sockets.sweep(() => true)
  t.strictSame(readdirSync(folder), ['mine'])
})

t.test('leaves a socket alone on which nobody listens yet', async t => {
  const folder = fresh(t, 'live')
  const sockets = new LivenessSockets(folder)
  t.teardown(() => sockets.close())
  for (const name of ['begun.new', 'left.new']) await killed(join(folder, name))
  const long_ago = Date.now() / 1000 - 120
  utimesSync(join(folder, 'left.new'), long_ago, long_ago)
  const [announced] = await Promise.all([sockets.announce('mine'), sockets.sweep(() => true)])
  t.equal(announced, true)
  t.strictSame(readdirSync(folder).sort(), ['begun.new', 'mine'])
})

t.test(
  'takes a process that does not answer for alive',
  { skip: onLinux ? false : 'other systems refuse it' },
  async t => {
    const folder = fresh(t, 'live')
    const path = join(folder, 'stopped')
    // Never accepts, as it is suspended.
    const script = `const s = require('node:net').createServer()
      s.listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => process.kill(process.pid, 'SIGSTOP'))`
    const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit', env: {} })
    t.teardown(() => child.kill('SIGKILL'))
    const stopped = (): boolean => /\) T /.test(readFileSync(`/proc/${child.pid}/stat`, 'latin1'))
    while (!existsSync(path) || !stopped()) await new Promise(resolve => setTimeout(resolve, 10))
    const sockets = new LivenessSockets(folder)
    t.teardown(() => sockets.close())
    for (let i = 0; i < 5; i++) t.equal(await sockets.hasEnded('stopped'), false)
  }
)

t.test('reports that it can’t make a socket', async t => {
  const folder = fresh(t, 'live')
  const sockets = new LivenessSockets(join(folder, 'missing'))
  t.equal(await sockets.announce('mine'), false)
  const taken = createServer().listen(join(folder, 'taken.new'))
  await once(taken, 'listening')
  t.equal(await new LivenessSockets(folder).announce('taken'), false)
  taken.close()
  mkdirSync(join(folder, 'folder'))
  const unnamed = new LivenessSockets(folder)
  t.equal(await unnamed.announce('folder'), false)
  unnamed.close()
  t.strictSame(readdirSync(folder), ['folder'])
})
