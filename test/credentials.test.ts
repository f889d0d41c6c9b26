// What a server process does on SIGHUP, and when its token file changes. For the access file see access.test.ts.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from './often.ts'
import { COMMAND, start } from './running.ts'

function folder(t: Test): string {
  const base = mkdtempSync(join(tmpdir(), 'editd-credentials-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'root'))
  return base
}

t.test('takes the token that its file has', { skip: ONLY_CI }, async t => {
  const base = folder(t)
  const file = join(base, 'token')
  writeFileSync(file, 'first-token\n')
  const flags = ['--token-file', file, '--log-level', 'info']
  const server = await start(join(base, 'root'), join(base, 'state'), ...flags)
  t.teardown(() => server.child.kill('SIGKILL'))
  const headersOf = (token: string) => ({ authorization: `Bearer ${token}`, connection: 'close' })
  const check = async (token: string, status: number) => {
    t.equal((await server.post('/inspect', { path: '.' }, headersOf(token))).status, status)
  }
  const events = (name: string) => server.log().split(`"event":"${name}"`).length - 1
  const becomes = async (text: string, event: string, count: number) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
    server.child.kill('SIGHUP')
    while (events(event) < count) await sleep(10)
  }
  const stream = await fetch(`${server.url}/events`, { headers: headersOf('first-token') })
  await check('first-token', 200)

  await becomes('second-token', 'token_read', 1)
  await stream.text()
  await check('first-token', 401)
  await check('second-token', 200)
  for (const [count, text] of [
    [1, ''],
    [2, 'two words']
  ] as const) {
    await becomes(text, 'token_unchanged', count)
    await check('second-token', 200)
  }
  t.match(server.log(), /token\\" is empty: it must contain the token[^]*does not contain a valid token/)
  await becomes('second-token', 'token_read', 2)

  // As Kubernetes replaces a mounted secret, which sends no signal.
  writeFileSync(join(base, 'mounted'), 'third-token')
  symlinkSync('mounted', `${file}.new`)
  renameSync(`${file}.new`, file)
  while (events('token_read') < 3) await sleep(50)
  await check('third-token', 200)
  await check('second-token', 401)
  rmSync(file)
  while (events('token_unchanged') < 3) await sleep(50)
  await check('third-token', 200)
  t.equal(await server.stop(), 0)
  t.equal(events('token_unchanged'), 3, 'says it once')
})

t.test('goes on at SIGHUP where nothing is to be read again', { skip: ONLY_CI }, async t => {
  const base = folder(t)
  const server = await start(join(base, 'root'), join(base, 'state'))
  t.teardown(() => server.child.kill('SIGKILL'))
  server.child.kill('SIGHUP')
  await sleep(100)
  t.equal((await server.post('/inspect', { path: '.' })).status, 200)
  t.equal(await server.stop(), 0)
})

const needsScript = { skip: ONLY_CI || (spawnSync('script', ['--version']).status !== 0 && 'needs script (bsdutils)') }

t.test('ends with the terminal from which it was started', needsScript, async t => {
  const base = folder(t)
  const line = [...COMMAND, join(base, 'root'), '--port', '0', '--state-dir', join(base, 'state')].join(' ')
  const terminal = spawn('script', ['--quiet', '--flush', '--command', `exec ${line} 2>${base}/log`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore']
  })
  let out = ''
  for await (const chunk of terminal.stdout.setEncoding('utf8')) {
    out += chunk
    if (out.includes('try: ')) break
  }
  const [, url = ''] = /listening on (\S+)/.exec(out) ?? []
  t.equal((await fetch(`${url}/healthz`)).status, 200)
  const ended = once(terminal, 'exit')
  terminal.kill('SIGKILL')
  await ended
  let answers = true
  while (answers) {
    await sleep(50)
    answers = await fetch(`${url}/healthz`).then(
      () => true,
      () => false
    )
  }
  t.pass('it has ended')
})
