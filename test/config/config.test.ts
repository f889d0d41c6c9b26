// The settings: what is accepted, from where, and every fault at once. Does not know what a setting does.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { environmentWarnings, helpText, loadConfig, VERSION, type Config, type Disk } from '../../src/config/config.ts'
import { DEFAULT_PROTECTED } from '../../src/workspace/policy.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { testFolder } from '../folder.ts'

const disk: Disk = {
  platform: 'linux',
  pid: 345,
  readText: path =>
    path.endsWith('token')
      ? { ok: true, value: ' secret-1\n' }
      : path.endsWith('empty')
        ? { ok: true, value: '\n' }
        : path.endsWith('colon')
          ? { ok: true, value: 'a:read:b' }
          : { ok: false, failure: 'ENOENT' },
  kindOf: path => (path.endsWith('.txt') ? 'other' : 'folder'),
  realPath: path => `/real${path}`
}
const HOME = { HOME: '/home/me' }

const load = (argv: string[], env: NodeJS.ProcessEnv = {}) => loadConfig(argv, { ...HOME, ...env }, disk)

/** The settings have these values. */
function check(t: Test, argv: string[], env: NodeJS.ProcessEnv, expected: Partial<Config>) {
  const config = load(argv, env)
  t.ok(config.ok, JSON.stringify(config), { argv, env })
  if (config.ok) t.match(config.value, expected, { argv, env })
}

/** There are exactly these faults, each containing these words. */
function faults(t: Test, argv: string[], env: NodeJS.ProcessEnv, ...expected: (string | RegExp)[]) {
  const config = load(argv, env)
  const failure = config.ok ? [] : config.failure
  t.equal(failure.length, expected.length, JSON.stringify(failure), { argv, env })
  for (const [i, words] of expected.entries()) t.match(failure[i], words)
}

t.test('has defaults that need no setting', async t => {
  check(
    t,
    [],
    {},
    {
      root: resolve('workspace'),
      host: '127.0.0.1',
      port: 7333,
      token: /^[A-Za-z0-9_-]{43}$/ as unknown as string,
      tokenGenerated: true,
      stateDir: /^\/home\/me\/\.local\/state\/editd\/workspace-[0-9a-f]{12}$/ as unknown as string,
      durability: 'full',
      lock: 'shared',
      stopDelay: 0,
      rate: null,
      lockTimeout: 10_000,
      maxFileSize: 100_000_000,
      maxEdits: 1000,
      bodyLimit: 32_000_000,
      allowExtensions: null,
      protect: [...DEFAULT_PROTECTED],
      readProtect: ['.git'],
      readOnly: false,
      requireHash: false,
      docs: true,
      tools: null,
      mcpOutputSchema: false,
      allowHosts: [],
      allowOrigins: [],
      auditFile: null,
      auditRequired: false,
      logLevel: 'info',
      logPaths: true
    }
  )
  const [a, b] = [load([]), load([])]
  t.not(a.ok && a.value.token, b.ok && b.value.token, 'each start has a token of its own')
})

t.test('takes a rate of requests', async t => {
  check(t, ['--rate', '600/min'], {}, { rate: { requests: 600, per: 'min' } })
  check(t, [], { EDITD_RATE: '10/s' }, { rate: { requests: 10, per: 's' } })
  check(t, ['--rate=5000/h'], {}, { rate: { requests: 5000, per: 'h' } })
  for (const text of ['0/min', '600', '600/m', '1.5/s', '-1/s', '/s', '9999999999/s']) {
    faults(t, [`--rate=${text}`], {}, `--rate "${text}" is invalid: expected a number of requests such as 600/min`)
  }
})

t.test('takes a host and a port for metrics', async t => {
  check(t, [], {}, { metricsListen: null })
  check(t, ['--metrics-listen', '127.0.0.1:9464'], {}, { metricsListen: { host: '127.0.0.1', port: 9464 } })
  check(t, ['--metrics-listen=[::1]:0'], {}, { metricsListen: { host: '::1', port: 0 } })
  check(t, [], { EDITD_METRICS_LISTEN: 'localhost:65535' }, { metricsListen: { host: 'localhost', port: 65_535 } })
  for (const text of ['9464', ':9464', '::1:9464', '[a]:1', 'a:65536', 'a:', 'http://a:1']) {
    faults(t, [`--metrics-listen=${text}`], {}, `--metrics-listen "${text}" is invalid: expected HOST:PORT, such as`)
  }
})

t.test('takes names of tools, and only those', async t => {
  check(
    t,
    ['--tools', 'edit_file, inspect_file', '--tools=preview_edit', '--mcp-output-schema'],
    {},
    { tools: ['edit_file', 'inspect_file', 'preview_edit'], mcpOutputSchema: true }
  )
  check(t, [], { EDITD_TOOLS: 'create_file' }, { tools: ['create_file'] })
  const names =
    'edit_file, edit_lines, edit_section, preview_edit, batch_edit, replace_in_files, create_file, delete_file, move_file, inspect_file, find, edit_history, undo_edit, redo_edit'
  faults(
    t,
    ['--tools', 'edit_file,inspect'],
    {},
    `--tools "edit_file,inspect" is invalid: expected comma-separated names of tools (${names}).`
  )
  faults(
    t,
    ['--tools', 'edit_file', '--read-only'],
    {},
    '--tools names no tool that a read-only server offers: add inspect_file, or leave --read-only out.'
  )
  check(t, ['--tools', 'inspect_file', '--read-only'], {}, { readOnly: true, tools: ['inspect_file'] })
})

t.test('accepts flags in each form, and the environment', async t => {
  check(
    t,
    ['/w', '--port', '0', '--host=::1', '--read-only', '--require-hash=false', '--no-docs=1'],
    {},
    { root: '/w', port: 0, host: '::1', readOnly: true, requireHash: false, docs: false }
  )
  check(
    t,
    [],
    {
      EDITD_ROOT: '/w',
      EDITD_PORT: '80',
      EDITD_READ_ONLY: 'true',
      EDITD_NO_DOCS: '0',
      EDITD_LOCK: 'local',
      EDITD_DURABILITY: 'fast',
      EDITD_LOG_LEVEL: 'warn',
      OTHER: 'x'
    },
    { root: '/w', port: 80, readOnly: true, docs: true, lock: 'local', durability: 'fast', logLevel: 'warn' }
  )
  check(t, ['--port', '81', '--read-only=0'], { EDITD_PORT: '80', EDITD_READ_ONLY: '1' }, { port: 81, readOnly: false })
  check(t, ['--token', 'a=b'], {}, { token: 'a=b', tokenGenerated: false })
  check(t, ['--token-file', '/run/token'], {}, { token: 'secret-1', tokenFile: '/run/token', tokenGenerated: false })
  check(t, ['--no-auth'], {}, { tokenGenerated: false })
  t.equal((load(['--no-auth']) as { value: Config }).value.token, null)
  check(t, ['--host', '0.0.0.0', '--token', 'x'], {}, { host: '0.0.0.0' })
  check(t, ['--no-auth', '--host', 'localhost'], {}, { host: 'localhost' })
})

t.test('accepts sizes, durations and lists', async t => {
  for (const [text, bytes] of [
    ['1', 1],
    ['100MB', 1e8],
    ['64KiB', 65536],
    ['2kb', 2000],
    ['1GiB', 2 ** 30],
    ['3MiB', 3 * 2 ** 20]
  ] as const) {
    check(t, ['--max-file-size', text], {}, { maxFileSize: bytes })
  }
  for (const [text, ms] of [
    ['10s', 10_000],
    ['500ms', 500],
    ['3', 3000],
    ['2m', 120_000]
  ] as const) {
    check(t, ['--lock-timeout', text], {}, { lockTimeout: ms })
  }
  check(
    t,
    ['--allow-extensions', 'ts,.md', '--allow-extensions=.d.ts'],
    {},
    { allowExtensions: ['.ts', '.md', '.d.ts'] }
  )
  check(
    t,
    [],
    { EDITD_ALLOW_HOST: 'Editd.example, 10.0.0.1', EDITD_ALLOW_ORIGIN: 'https://app.example:8443' },
    { allowHosts: ['editd.example', '10.0.0.1'], allowOrigins: ['https://app.example:8443'] }
  )
  check(
    t,
    ['--protect', 'secrets/**', '--unprotect', '.git,.envrc'],
    {},
    { protect: [...DEFAULT_PROTECTED.filter(p => p !== '.git' && p !== '.envrc'), 'secrets/**'], readProtect: [] }
  )
})

t.test('keeps one state folder for each root', async t => {
  const dir = (argv: string[], env = {}) => {
    const config = load(argv, env)
    return config.ok ? config.value.stateDir : ''
  }
  t.not(dir(['/a/w']), dir(['/b/w']), 'roots of the same name have different state folders')
  t.equal(dir(['/a/w']), dir(['/a/../a/w']))
  t.match(dir(['/a/w'], { XDG_STATE_HOME: '/state' }), /^\/state\/editd\/w-/)
  t.match(dir(['/']), /\/editd\/real-/)
  t.equal(dir(['--state-dir', '/s/x/']), '/s/x')
})

t.test('reports every fault at once, by name, value and what is expected', async t => {
  faults(
    t,
    ['/a', '/b', '--port', '70000', '--nope', 'x', '--durability=some'],
    { EDITD_MAX_EDITS: 'many' },
    'The root is given twice, as "/a" and "/b"',
    'Unknown flag --nope: the nearest is --',
    'EDITD_MAX_EDITS "many" is invalid: expected a whole number from 1 to 100000',
    '--port "70000" is invalid: expected a whole number from 0 to 65535',
    '--durability "some" is invalid: expected full or fast'
  )
})

t.test('ignores variables of its clients and of Kubernetes, and warns of others that are no settings', async t => {
  const clients = { EDITD_URL: 'http://127.0.0.1:7333', EDITD_TOKEN: 'a-token' }
  const links = {
    EDITD_SERVICE_HOST: '10.0.0.1',
    EDITD_SERVICE_PORT: '80',
    EDITD_SERVICE_PORT_HTTP: '80',
    EDITD_PORT: 'tcp://10.0.0.1:80',
    EDITD_PORT_80_TCP: 'tcp://10.0.0.1:80',
    EDITD_PORT_80_TCP_PROTO: 'tcp',
    EDITD_PORT_80_TCP_PORT: '80',
    EDITD_PORT_80_TCP_ADDR: '10.0.0.1',
    EDITD_ROOT_SERVICE_HOST: '10.0.0.2',
    EDITD_ROOT_PORT: 'udp://10.0.0.2:53'
  }
  check(t, [], { ...clients, ...links }, { port: 7333, root: resolve('workspace'), token: 'a-token' })
  t.strictSame(environmentWarnings({ ...clients, ...links, OTHER: 'x', EDITD_PORT_80: undefined }), [])
  check(t, [], { EDITD_LOKC: 'local', EDITD_PORTS: '80' }, { lock: 'shared', port: 7333 })
  t.strictSame(environmentWarnings({ EDITD_LOKC: 'local', EDITD_PORTS: '80' }), [
    'Unknown environment variable EDITD_LOKC is ignored: the nearest is EDITD_LOCK, and editd --help lists them all.',
    'Unknown environment variable EDITD_PORTS is ignored: the nearest is EDITD_PORT, and editd --help lists them all.'
  ])
  faults(t, [], { EDITD_PORT: 'tcp' }, 'EDITD_PORT "tcp" is invalid: expected a whole number')
})

t.test('refuses what it would have to guess', async t => {
  faults(t, ['--port'], {}, '--port needs a value: the port to listen on; 0 picks a free one.')
  faults(t, ['--port', '--read-only'], {}, '--port needs a value')
  faults(
    t,
    ['/w', '--s3-endpoint', 'https://s3.example'],
    {},
    '--s3-endpoint is only for a bucket, and /w is a folder: leave it out, or name s3://BUCKET/PREFIX.'
  )
  check(t, ['/w'], { EDITD_S3_REGION: 'eu-west-1' }, { root: '/w', bucket: null })
  faults(t, ['-p', '80'], {}, 'Unknown flag -p: the nearest is --')
  faults(t, ['--root=/w'], {}, 'Unknown flag --root: the root is given without a flag, as in "editd ./root".')
  faults(t, ['--root', '/w'], {}, 'Unknown flag --root: the root is given without a flag, as in "editd ./root".')
  faults(t, ['--hlep'], {}, 'Unknown flag --hlep: the nearest is --help, and --help lists them all.')
  faults(t, ['--nope=1'], {}, 'Unknown flag --nope: the nearest is --')
  faults(t, ['--read-only', 'false'], {}, '--read-only takes its value after an equals sign: write --read-only=false.')
  faults(t, ['--read-only=yes'], {}, 'expected 1, true, 0 or false')
  faults(t, ['--no-auth=constructor'], {}, 'expected 1, true, 0 or false')
  faults(t, [], { EDITD_NO_AUTH: 'valueOf' }, 'expected 1, true, 0 or false')
  faults(t, [], { EDITD_TOKEN: '' }, 'EDITD_TOKEN is empty: give it a value or leave it out.')
  faults(t, ['--lock', 'redis://u:p@h'], {}, 'Redis locks are not supported yet')
  faults(t, ['--lock', 'none'], {}, /expected shared or local\.$/)
  for (const size of ['0', '1.5MB', '1 MB', '-1', '5TB', '9999GB', 'big']) {
    faults(t, ['--body-limit', size], {}, '--body-limit')
  }
  for (const time of ['0', '1h', '2h', '61m']) faults(t, ['--lock-timeout', time], {}, '--lock-timeout')
  check(t, ['--stop-delay', '5s'], {}, { stopDelay: 5000 })
  for (const time of ['0', '61s']) faults(t, ['--stop-delay', time], {}, '--stop-delay')
  for (const ext of ['*', 'a/b', '.', 'ts,,md']) faults(t, ['--allow-extensions', ext], {}, 'extensions such as')
  faults(t, ['--protect', 'a,,b'], {}, 'none of them empty')
  for (const host of ['http://x', 'a b', 'x:80', '*']) faults(t, ['--allow-host', host], {}, 'host names or addresses')
  for (const origin of ['*', 'null', 'https://a.example/', 'ftp://a.example', 'a.example']) {
    faults(t, ['--allow-origin', origin], {}, 'origins such as')
  }
  faults(t, ['--unprotect', 'src'], {}, '--unprotect "src" is not a protected path: expected .git, ')
  faults(t, ['/w/file.txt'], {}, 'The root "/w/file.txt" is not a usable folder')
  faults(t, [], { EDITD_ROOT: '/w/file.txt' }, 'EDITD_ROOT "/w/file.txt" is not a usable folder')
  const homeless = loadConfig([], {}, disk)
  t.match(homeless.ok ? [] : homeless.failure, [/neither HOME nor XDG_STATE_HOME/])
})

t.test('requires a token wherever others can reach it, and never shows one', async t => {
  faults(t, ['--host', '0.0.0.0'], {}, '--host "0.0.0.0" can be reached from other machines, so it needs a token')
  faults(t, ['--host', 'editd.example', '--no-auth'], {}, '--no-auth works on a loopback host or a unix socket only')
  faults(t, ['--no-auth', '--token', 'x'], {}, '--no-auth and --token are both given')
  faults(t, ['--no-auth', '--token-file', '/run/token'], {}, '--no-auth and --token-file are both given')
  faults(t, ['--token', 'x', '--token-file', '/run/token'], {}, '--token and --token-file are both given')
  faults(t, ['--token-file', '/run/nothing'], {}, '--token-file "/run/nothing" can\'t be read: ENOENT')
  faults(t, ['--token-file', '/run/empty'], {}, 'is empty: it must contain the token')
  faults(
    t,
    ['--token-file', '/run/colon'],
    {},
    /does not contain a valid token: expected.*; tokens with a name and a scope are in the file of --access/
  )
  for (const argv of [['--token', 'ci:read:hush'], ['--token', 'hush', '--token', 'hush'], ['--token=hush hush']]) {
    const config = load(argv)
    t.notOk(config.ok)
    t.notMatch(JSON.stringify(config), 'hush')
  }
  faults(t, ['--token', 'ci:read:x'], {}, 'tokens with a name and a scope are in the file of --access')
})

t.test('looks at the real disk', async t => {
  const dir = testFolder(t, { root: {}, token: 'from-file\n', 'file.txt': '' })
  symlinkSync('root', join(dir, 'link'))
  const state = (root: string) => {
    const config = loadConfig([join(dir, root), '--token-file', join(dir, 'token')], HOME)
    return config.ok ? config.value.stateDir.replace(/.*-/, '') : ''
  }
  t.equal(state('root'), state('link'), 'a root has one state folder, whichever name it goes by')
  t.equal(state('root/new/one'), state('link/new/one'), 'before it exists, too')
  mkdirSync(join(dir, 'root/new/one'), { recursive: true })
  t.equal(state('root/new/one'), state('link/new/one'))
  writeFileSync(join(dir, 'none'), '')
  for (const [argv, words] of [
    [[join(dir, 'file.txt')], 'not a usable folder'],
    [[join(dir, 'file.txt/below')], 'not a usable folder'],
    [['--token-file', join(dir, 'nope')], 'ENOENT'],
    [['--token-file', join(dir, 'none')], 'is empty']
  ] as const) {
    const config = loadConfig(argv, HOME)
    t.match(config.ok ? '' : config.failure.join(), words)
  }
})

t.test('lists the settings in --help', async t => {
  for (const words of ['--token-file', 'EDITD_ALLOW_ORIGIN', '[root]', './workspace']) t.match(helpText(), words)
  t.notMatch(helpText(), '--root')
  t.equal(VERSION, packageJson.version)
})
