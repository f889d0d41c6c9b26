// Where to listen, as settings: what is accepted, and every fault.
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { DISK, loadConfig, type Config } from '../../src/config/config.ts'

const disk = { ...DISK, platform: 'linux' as NodeJS.Platform, pid: 345 }
/** What systemd sets. */
const handed = (count: number | string, pid = '345') => ({ LISTEN_FDS: String(count), LISTEN_PID: pid })

const load = (argv: string[], env: NodeJS.ProcessEnv, platform = disk.platform) =>
  loadConfig(argv, { HOME: '/home/me', ...env }, { ...disk, platform })

/** The settings have these values. */
function check(t: Test, argv: string[], env: NodeJS.ProcessEnv, expected: Partial<Config>) {
  const config = load(argv, env)
  t.match(config.ok ? config.value : config.failure, expected, { argv, env })
}

/** There are exactly these faults, beginning with these words. */
function faults(t: Test, argv: string[], env: NodeJS.ProcessEnv, ...expected: string[]) {
  const config = load(argv, env)
  const failure = config.ok ? [] : config.failure
  t.strictSame(
    failure.map((sentence, i) => sentence.slice(0, expected[i]?.length)),
    expected,
    { argv, env }
  )
}

t.test('takes the path of a unix socket, without a token if it is told to', async t => {
  t.equal((load([], {}) as { value: Config }).value.listen, null)
  check(t, ['--listen', 'unix:/run/x.sock'], {}, { listen: { path: '/run/x.sock' }, tokenGenerated: true })
  check(t, [], { EDITD_LISTEN: 'unix:x.sock' }, { listen: { path: resolve('x.sock') } })
  check(t, ['--listen=unix:/a:b', '--no-auth'], {}, { listen: { path: '/a:b' }, tokenGenerated: false })
})

t.test('takes a socket that was handed over, with a token', async t => {
  check(t, ['--listen=fd:3', '--token=x'], handed(1), { listen: { fd: 3 } })
  check(t, ['--listen=fd:5', '--token=x'], handed(3), { listen: { fd: 5 } })
  const needs = '--listen "fd:3" may be reached from other machines, so it needs a token: set one'
  faults(t, ['--listen=fd:3'], handed(1), needs)
  const noAuth = '--no-auth works on a loopback host or a unix socket only, but --listen is "fd:3": set a token'
  faults(t, ['--listen=fd:3', '--no-auth'], handed(1), noAuth)
})

t.test('takes only sockets that were handed to this process', async t => {
  const isNone = (fd: number, said: string) =>
    `--listen "fd:${fd}" is no socket that was handed to this process: ${said}, and this is process 345. Let a systemd `
  const cases: [number, NodeJS.ProcessEnv, string][] = [
    [3, {}, 'LISTEN_FDS is not set, LISTEN_PID is not set'],
    [3, handed(1, '344'), 'LISTEN_FDS is "1", LISTEN_PID is "344"'],
    [3, handed('x'), 'LISTEN_FDS is "x", LISTEN_PID is "345"'],
    [4, handed(1), 'LISTEN_FDS is "1", LISTEN_PID is "345"'],
    [2, handed(1), 'LISTEN_FDS is "1", LISTEN_PID is "345"']
  ]
  for (const [fd, env, said] of cases) faults(t, [`--listen=fd:${fd}`, '--token=x'], env, isNone(fd, said))
})

t.test('refuses what is neither', async t => {
  for (const text of ['/run/x.sock', 'unix:', 'fd:', 'fd:0', 'fd:03', 'fd:-1', 'fd:12345', 'tcp:80', 'localhost:80']) {
    faults(t, ['--listen', text], {}, `--listen "${text}" is invalid: expected unix:PATH or fd:N, such as`)
  }
})

t.test('refuses a path that is too long, by what the system takes', async t => {
  const ends = (bytes: number) => `/${'ä'.repeat((bytes - 1) / 2)}`
  check(t, ['--listen', `unix:${ends(107)}`], {}, { listen: { path: ends(107) } })
  faults(
    t,
    ['--listen', `unix:${ends(109)}`, '--port=x'],
    {},
    '--listen and --port are both given: give only one.',
    '--port "x" is invalid',
    `--listen "unix:${ends(109)}" is too long: the path of a unix socket has at most 107 bytes, and this one has 109.`
  )
  const elsewhere = load(['--listen', `unix:${ends(105)}`], {}, 'darwin')
  t.match(elsewhere.ok ? [] : elsewhere.failure, [/at most 103 bytes, and this one has 105\.$/])
})

t.test('takes one of both, a flag before a variable', async t => {
  const both = (a: string, b: string) => `${a} and ${b} are both given: give only one.`
  const unix = 'unix:/x'
  faults(t, ['--listen', unix, '--host=::1', '--port=1'], {}, both('--listen', '--host'), both('--listen', '--port'))
  faults(t, [], { EDITD_LISTEN: unix, EDITD_PORT: '1' }, both('EDITD_LISTEN', 'EDITD_PORT'))
  // As the image sets it.
  check(t, ['--listen', unix], { EDITD_HOST: '0.0.0.0' }, { listen: { path: '/x' }, host: '127.0.0.1' })
  check(t, ['--port=1'], { EDITD_LISTEN: unix }, { listen: null, port: 1 })
})
