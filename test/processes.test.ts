// `--processes`: several processes serve on one address, and what happens when one of them ends.
// runs in .ci/run
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import { ONLY_CI } from './often.ts'
import { testFolder } from './folder.ts'
import { COMMAND, start, type Running } from './running.ts'

const options = { skip: ONLY_CI || (process.platform === 'linux' ? false : 'needs Linux') }
const CLOSE = { connection: 'close' }

interface Entry {
  pid: number
  event?: string
  route?: string
  process?: number
  how?: string
  reason?: string
  replaced_in_ms?: number
}

/** The lines of its log; each is whole, whichever process has written it. */
const entries = (server: Running): Entry[] =>
  server
    .log()
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
const eventsOf = (server: Running, name: string) => entries(server).filter(({ event }) => event === name)

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)

/** Waits for something that comes sooner or later; the test has its own limit. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20)
}

const lives = (pid: number) => {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/** A server of two processes with a folder that has `a.txt`. */
async function serve(t: Test, ...flags: string[]) {
  const dir = testFolder(t, { root: { 'a.txt': 'end\n' } })
  const [root, state] = [join(dir, 'root'), join(dir, 'state')]
  const server = await start(root, state, '--processes', '2', ...flags)
  const primary = server.child.pid!
  const pids = childrenOf(primary)
  t.teardown(() => {
    for (const pid of [primary, ...(lives(primary) ? childrenOf(primary) : pids)]) {
      if (lives(pid)) process.kill(pid, 'SIGKILL')
    }
  })
  /** Asks on a connection of its own. */
  const ask = () => server.post('/inspect', { path: 'a.txt' }, CLOSE)
  return { server, root, state, primary, pids, ask }
}

/** Sends half a request; `finish` sends the rest and resolves with the answer. */
async function halfRequest(url: string): Promise<{ finish(): Promise<string> }> {
  const body = JSON.stringify({ path: 'a.txt', old_text: 'end', new_text: 'done' })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    'POST /edit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a-token-for-tests\r\n' +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`
  )
  // Nothing tells when it has arrived.
  await sleep(300)
  return {
    async finish() {
      let text = ''
      socket.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      socket.on('error', () => {})
      socket.write(body.slice(9))
      await once(socket, 'close')
      return text
    }
  }
}

t.test('edits of one file through several processes are all made', options, async t => {
  const { server, root, primary, pids, ask } = await serve(t)
  t.equal(pids.length, 2)
  t.equal(server.printed.length, 1, 'one line says where they listen')
  const numbers = Array.from({ length: 40 }, (_, i) => `<${i}>`)
  const answers = await Promise.all(
    numbers.map(number => server.post('/edit', { path: 'a.txt', old_text: 'end', new_text: `${number}end` }, CLOSE))
  )
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
  const text = readFileSync(join(root, 'a.txt'), 'utf8')
  t.strictSame(
    numbers.filter(number => !text.includes(number)),
    [],
    'no update is lost'
  )
  t.equal((await ask()).status, 200)
  t.equal(await server.stop(), 0)
  const requests = entries(server).filter(({ route }) => route === '/edit')
  t.equal(requests.length, 40)
  t.strictSame(new Set(requests.map(({ pid }) => pid)), new Set(pids), 'both have answered')
  t.strictSame(new Set(eventsOf(server, 'stopped').map(({ pid }) => pid)), new Set([primary, ...pids]))
  t.strictSame(pids.filter(lives), [])
})

t.test('takes a generated token in every process, and says once what is wrong with a variable', options, async t => {
  const dir = testFolder(t, { root: {} })
  const [program = '', ...args] = COMMAND
  const given = ['--port', '0', '--state-dir', join(dir, 'state'), '--host', 'localhost']
  const child = spawn(program, [...args, join(dir, 'root'), ...given], {
    env: { ...process.env, EDITD_PROCESSES: '3', EDITD_PROCESES: '2' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  let [out, err] = ['', '']
  child.stderr.on('data', data => {
    err += data
  })
  const ready = new Promise<void>(resolve => {
    child.stdout.on('data', data => {
      out += data
      if (out.includes('try: ')) resolve()
    })
  })
  await Promise.race([ready, once(child, 'exit')])
  const [, url = ''] = /listening on (\S+)/.exec(out) ?? []
  const [, token = ''] = /token \(for this run\): (\S+)/.exec(out) ?? []
  const headers = { authorization: `Bearer ${token}`, ...CLOSE }
  for (let i = 0; i < 6; i++) t.equal((await fetch(`${url}/capabilities`, { headers })).status, 200)
  child.kill('SIGINT')
  t.equal((await once(child, 'close'))[0], 0)
  const lines: Entry[] = err
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.equal(new Set(lines.filter(({ route }) => route === '/capabilities').map(({ pid }) => pid)).size, 3)
  t.strictSame(
    lines.filter(({ event }) => event === 'unknown_variable').map(({ pid }) => pid),
    [child.pid]
  )
})

t.test('replaces a process that ends, later each time if it ends soon', options, async t => {
  const { server, pids, ask } = await serve(t)
  for (let [killed = 0] = pids, i = 1; i <= 2; i++) {
    process.kill(killed, 'SIGKILL')
    await until(() => eventsOf(server, 'process_ended').length === i)
    t.equal((await ask()).status, 200, 'the other one answers')
    await until(() => eventsOf(server, 'process_replaced').length === i)
    killed = eventsOf(server, 'process_replaced').at(-1)!.process!
  }
  t.match(eventsOf(server, 'process_ended'), [
    { process: pids[0], how: 'SIGKILL', replaced_in_ms: 100 },
    { how: 'SIGKILL', replaced_in_ms: 200 }
  ])
  await ask()
  await ask()
  const last = eventsOf(server, 'process_replaced').at(-1)!.process
  // An answer can come before its line of the log.
  await until(() => entries(server).some(({ pid, route }) => pid === last && route === '/inspect'))
  process.kill(pids[1]!, 'SIGTERM')
  await until(() => eventsOf(server, 'process_replaced').length === 3)
  t.match(eventsOf(server, 'process_ended').at(-1), { process: pids[1], how: 'exit status 0' })
  t.equal(await server.stop(), 0)
})

t.test('keeps its address when none of them is left', options, async t => {
  const { server, state, primary, pids, ask } = await serve(t)
  const [first = 0, second = 0] = pids
  const before = readdirSync(join(state, 'live'))
  process.kill(first, 'SIGKILL')
  // Its replacement has been told port 0, and listens soon: that will be another port, once the second one is gone.
  await until(() => readdirSync(join(state, 'live')).some(name => !before.includes(name)))
  process.kill(second, 'SIGKILL')
  await until(() => eventsOf(server, 'process_replaced').length === 2)
  t.equal((await ask()).status, 200)
  for (const pid of childrenOf(primary)) process.kill(pid, 'SIGKILL')
  await until(() => eventsOf(server, 'process_replaced').length === 4)
  for (let i = 0; i < 3; i++) t.equal((await ask()).status, 200)
  t.equal(await server.stop(), 0)
})

t.test('closes a connection on its way to a process that is killed', options, async t => {
  const { server, pids, ask } = await serve(t)
  process.kill(pids[0]!, 'SIGSTOP')
  const asked = [ask(), ask()].map(answer =>
    answer.then(
      ({ status }) => status,
      () => 'closed'
    )
  )
  // One of them is answered by the other process; nothing tells when the second one is on its way.
  t.equal(await Promise.race(asked), 200)
  await sleep(300)
  process.kill(pids[0]!, 'SIGKILL')
  t.strictSame((await Promise.all(asked)).sort(), [200, 'closed'])
  await until(() => eventsOf(server, 'process_replaced').length === 1)
  t.equal(await server.stop(), 0)
})

t.test('finishes what runs when every process gets each signal', options, async t => {
  const { server, root, primary, pids } = await serve(t)
  const { finish } = await halfRequest(server.url)
  // As a terminal sends Ctrl-C, and npm once more.
  for (const pid of [...pids, primary, primary, ...pids]) process.kill(pid, 'SIGINT')
  await until(() => eventsOf(server, 'stopping').length === 3)
  const exited = once(server.child, 'exit')
  t.match(await finish(), /^HTTP\/1.1 200 /)
  t.strictSame((await exited)[0], 0)
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'done\n')
  t.strictSame(pids.filter(lives), [])
  t.equal(eventsOf(server, 'process_ended').length, 0)
})

t.test('finishes what runs, and ends, when the primary is killed', options, async t => {
  const { server, root, pids } = await serve(t)
  const { finish } = await halfRequest(server.url)
  server.child.kill('SIGKILL')
  await until(() => eventsOf(server, 'stopping').length === 2)
  t.match(await finish(), /^HTTP\/1.1 200 /)
  await until(() => !pids.some(lives))
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'done\n')
  t.equal(eventsOf(server, 'stopped').length, 2)
  t.match(eventsOf(server, 'stopping')[0], { reason: 'the primary process has ended' })
  const next = createServer().listen(Number(new URL(server.url).port), '127.0.0.1')
  await once(next, 'listening')
  next.close()
})

t.test('kills a process that does not end', options, async t => {
  const { server, pids } = await serve(t)
  process.kill(pids[0]!, 'SIGSTOP')
  t.equal(await server.stop(), 0)
  await until(() => !pids.some(lives))
})

t.test('says once why it cannot start, and leaves no process', options, async t => {
  const dir = testFolder(t, { root: {}, other: {}, file: '' })
  const root = join(dir, 'root')
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as AddressInfo
  const other = await start(join(dir, 'other'), join(dir, 'others-state'))
  t.teardown(async () => {
    busy.close()
    await other.stop()
  })
  const cases: [string, string[], RegExp][] = [
    [root, ['--port', String(port)], new RegExp(`^editd: port ${port} of 127\\.0\\.0\\.1 is already in use: .*\\n$`)],
    [root, ['--port', '0', '--state-dir', join(dir, 'file')], /^editd: the state folder \S+ can't be used .*\n$/],
    [
      join(dir, 'other'),
      ['--port', '0'],
      new RegExp(`^editd: \\S+ is already served by process ${other.child.pid} .*\\n$`)
    ]
  ]
  for (const [folder, flags, sentence] of cases) {
    const state = flags.includes('--state-dir') ? [] : ['--state-dir', join(dir, 'state')]
    const [program = '', ...args] = [...COMMAND, folder, '--token', 'x', '--processes', '2', ...state, ...flags]
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, err] = ['', '']
    child.stdout.on('data', data => {
      out += data
    })
    child.stderr.on('data', data => {
      err += data
    })
    // All that could write there have ended.
    t.strictSame((await once(child, 'close'))[0], 1)
    t.match(err, sentence)
    t.equal(out, '')
  }
})

t.test('stops at the start where a process is killed, or a signal comes', options, async t => {
  const dir = testFolder(t, { root: {} })
  for (const [signal, toPrimary, status, said] of [
    ['SIGKILL', false, 1, /^editd: can't start on \S+: one of its processes ended with SIGKILL\.\n$/],
    ['SIGTERM', true, 0, /^[^\n]*"event":"stopping","signal":"SIGTERM"/]
  ] as const) {
    const [program = '', ...args] = [...COMMAND, join(dir, 'root'), '--port', '0', '--state-dir', join(dir, 'state')]
    const child = spawn(program, [...args, '--processes', '2'], { stdio: ['ignore', 'ignore', 'pipe'] })
    let err = ''
    child.stderr.on('data', data => {
      err += data
    })
    await until(() => childrenOf(child.pid!).length === 2)
    process.kill(toPrimary ? child.pid! : childrenOf(child.pid!)[0]!, signal)
    t.strictSame((await once(child, 'close'))[0], status, err)
    t.match(err, said)
  }
})

t.test('tries again while another process serves, and gives up where none can', options, async t => {
  const { server, state, pids } = await serve(t)
  renameSync(state, `${state}.aside`)
  writeFileSync(state, '')
  process.kill(pids[0]!, 'SIGKILL')
  await until(() => eventsOf(server, 'process_ended').length >= 2)
  t.match(eventsOf(server, 'process_ended').slice(0, 2), [
    { how: 'SIGKILL', replaced_in_ms: 100 },
    { how: 'exit status 1', reason: /^the state folder \S+ can't be used/, replaced_in_ms: 200 }
  ])
  const exited = once(server.child, 'exit')
  process.kill(pids[1]!, 'SIGKILL')
  t.strictSame((await exited)[0], 1)
  t.match(server.log(), /\neditd: the state folder \S+ can't be used .*\n/)
})
