// The files of examples/deploy/, each checked by its own program and tried with the built server, as far as that works
// on a machine without Docker, Kubernetes and a booted systemd.
// runs in .ci/run
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { ONLY_CI } from './often.ts'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { environmentWarnings } from '../src/config/config.ts'
import { SERVER, start, uncounted } from './running.ts'

const TOP = join(import.meta.dirname, '..')
const DEPLOY = join(TOP, 'examples/deploy')
const TOKEN = 'a-token-for-tests'
const textOf = (name: string) => readFileSync(join(DEPLOY, name), 'utf8')

/** Skips without the program, whose Debian package is named, and in runs to which another Node makes no difference. */
const needs = (program: string, debian: string, probe = '--version') => ({
  skip:
    ONLY_CI ||
    (process.env.NO_DEPLOY === '1'
      ? 'tried on one Node only'
      : spawnSync(program, [probe]).status === 0
        ? false
        : `needs ${program} (${debian})`)
})

const CLIENTS = join(TOP, 'test/clients')
/** The types of Kubernetes, which say which fields there are. */
const KUBERNETES = join(CLIENTS, 'node_modules/kubernetes-models')

const needsTraces = {
  skip:
    process.env.NO_DEPLOY === '1'
      ? 'tried on one Node only'
      : !existsSync(join(CLIENTS, 'node_modules/@fastify/otel')) && 'needs npm ci --prefix test/clients'
}

/** A folder of a short path, with a root and a token. */
function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'editd-'))
  chmodSync(path, 0o755)
  for (const name of ['root', 'state', 'secret']) mkdirSync(join(path, name))
  writeFileSync(join(path, 'root/a.txt'), 'one\n')
  writeFileSync(join(path, 'secret/token'), TOKEN)
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const end = async (child: ChildProcess) => {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  return (await closed)[0] as number | null
}

t.test('Prometheus takes the alerts, which are of metrics that there are', needs('promtool', 'prometheus'), async t => {
  const said = spawnSync('promtool', ['check', 'rules', join(DEPLOY, 'alerts.yaml')], { encoding: 'utf8' })
  t.equal(said.status, 0, said.stderr)
  t.match(said.stdout, /7 rules found/)
  const known = readFileSync(join(TOP, 'docs/operators.md'), 'utf8')
  const [, queries = ''] = /```promql\n([^]*?)```/.exec(known) ?? []
  const asRules = queries
    .trim()
    .split('\n')
    .map((expr, i) => ({ record: `query:${i}`, expr }))
  const file = join(folder(t), 'queries.yaml')
  // JSON is YAML.
  const takes = (rules: object[]) => {
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'documented', rules }] }))
    return spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
  }
  t.match(takes(asRules), { status: 0, stdout: /3 rules found/ })
  t.not(takes([{ record: 'query:0', expr: 'rate(' }]).status, 0, 'it looks')
  const named = [...`${textOf('alerts.yaml')}${queries}`.matchAll(/\beditd_[a-z_]+/g)].map(([name]) =>
    name.replace(/_bucket$/, '')
  )
  t.ok(named.length > 5)
  for (const name of named) t.ok(known.includes(`| \`${name}\` |`), name)
})

t.test('a collector gets the spans of requests, as parts of the traces of callers', needsTraces, async t => {
  const dir = folder(t)
  cpSync(join(DEPLOY, 'otel.mjs'), join(dir, 'otel.mjs'))
  symlinkSync(join(CLIENTS, 'node_modules'), join(dir, 'node_modules'))
  let traces = ''
  const collector = createHttpServer((request, response) => {
    request.setEncoding('utf8').on('data', chunk => (traces += `${request.url} ${chunk}`))
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => collector.close())
  const { port } = collector.address() as AddressInfo
  const child = spawn(
    process.execPath,
    ['--import', './otel.mjs', SERVER, 'root', '--state-dir', 'state', '--port', '0'],
    {
      cwd: dir,
      env: {
        PATH: process.env.PATH,
        EDITD_TOKEN: TOKEN,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`
      }
    }
  )
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  const url = / listening on (\S+)/.exec(String((await once(child.stdout, 'data'))[0]))?.[1]
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const answer = await fetch(`${url}/edit`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      traceparent: `00-${trace}-b7ad6b7169203331-01`
    },
    body: JSON.stringify({ path: 'a.txt', old_text: 'one', new_text: 'two' })
  })
  t.equal(answer.status, 200)
  while (!traces.includes('/edit') && child.exitCode === null) await sleep(20)
  t.match(traces, /^\/v1\/traces /)
  t.match(traces, trace)
  t.equal(await end(child), 0)
})

t.test('systemd takes the units, and finds them well confined', needs('systemd-analyze', 'systemd'), async t => {
  const dir = folder(t)
  for (const name of ['editd.service', 'editd.socket']) cpSync(join(DEPLOY, name), join(dir, name))
  // Whether the program is there is no fault of the unit.
  const service = join(dir, 'editd.service')
  const unit = textOf('editd.service')
  writeFileSync(service, unit.replace(/^ExecStart=\S+ \S+/m, `ExecStart=${process.execPath} ${SERVER}`))
  const verified = spawnSync('systemd-analyze', ['verify', service, join(dir, 'editd.socket')], { encoding: 'utf8' })
  t.strictSame([verified.status, verified.stderr], [0, ''])
  writeFileSync(service, unit.replace('ProtectSystem=strict', 'ProtectSystem=maybe'))
  t.match(spawnSync('systemd-analyze', ['verify', service], { encoding: 'utf8' }).stderr, 'protect system', 'it looks')
  writeFileSync(service, unit)
  // 100 is an exposure of 10, where nothing is confined.
  const analysed = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', service])
  t.equal(analysed.status, 0, String(analysed.stdout).trim().split('\n').at(-1) ?? '')
})

t.test(
  'the command of the unit serves on the socket, and reloads its audit',
  needs('systemd-socket-activate', 'systemd'),
  async t => {
    const dir = folder(t)
    const line = /^ExecStart=(.*)$/m.exec(textOf('editd.service'))![1]!
    const command = line
      .replace('/usr/bin/node', process.execPath)
      .replace('/opt/editd/dist/server.js', SERVER)
      .replace('/srv/workspace', join(dir, 'root'))
      .replace(/\$\{STATE_DIRECTORY\}/, join(dir, 'state'))
      .split(' ')
    const unit = textOf('editd.service')
    const [, logs = ''] = /^LogsDirectory=(.*)$/m.exec(unit)!
    const [, flag = '', path = ''] = /\(for `(--audit) (\S+)`\)/.exec(
      readFileSync(join(TOP, 'docs/operators.md'), 'utf8')
    )!
    t.match(path, `/var/log/${logs}/`)
    mkdirSync(join(dir, logs))
    const audit = path.replace('/var/log', dir)
    const socket = join(dir, 'editd.sock')
    const variables = [...textOf('editd.service').matchAll(/^Environment=(.*)$/gm)]
      .flatMap(([, all = '']) => all.split(' '))
      .flatMap(variable => ['-E', variable.replace('%d', join(dir, 'secret'))])
    const child = spawn('systemd-socket-activate', ['-l', socket, ...variables, '--', ...command, flag, audit])
    t.teardown(() => {
      child.kill('SIGKILL')
    })
    await once(child.stderr, 'data')
    const curl = ['-sS', '--max-time', '20', '--unix-socket', socket, '-H', 'Host: editd.example']
    const headers = ['-H', `Authorization: Bearer ${TOKEN}`, '-H', 'Content-Type: application/json']
    const edit = async (old_text: string, new_text: string) => {
      const body = ['-d', JSON.stringify({ path: 'a.txt', old_text, new_text }), 'http://localhost/edit']
      const answer = spawn('curl', [...curl, ...headers, '-o', '/dev/null', '-w', '%{http_code}', ...body])
      t.equal(String((await once(answer.stdout, 'data'))[0]), '200')
    }
    await edit('one', 'two')
    t.equal(readFileSync(join(dir, 'root/a.txt'), 'utf8'), 'two\n')
    while (!existsSync(audit)) await sleep(20)
    renameSync(audit, `${audit}.1`)
    const [, reload = ''] = /^ExecReload=(.*)$/m.exec(unit)!
    execFileSync('bash', ['-c', reload], { env: { MAINPID: String(child.pid) } })
    while (!existsSync(audit)) await sleep(20)
    await edit('two', 'three')
    while (readFileSync(audit, 'utf8') === '') await sleep(20)
    t.match(JSON.parse(readFileSync(audit, 'utf8')), { outcome: 'done', path: 'a.txt' })
    t.equal(await end(child), 0)
  }
)

t.test('Caddy passes requests and events on, also below a prefix', needs('caddy', 'caddy', 'version'), async t => {
  const dir = folder(t)
  const path = join(dir, 'editd.sock')
  const server = await start(join(dir, 'root'), join(dir, 'state'), '--listen', `unix:${path}`)
  const site = `http://127.0.0.1:${await freePort()}`
  // Without its port for administration, and without certificates, for which it would ask others.
  writeFileSync(join(dir, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\nimport ${join(DEPLOY, 'Caddyfile')}\n`)
  const env = { ...process.env, HOME: dir, XDG_DATA_HOME: dir, PROXY_SITE: site, PROXY_SOCKET: path }
  const caddy = spawn('caddy', ['run', '--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile'], {
    env,
    stdio: 'ignore'
  })
  t.teardown(async () => {
    await end(caddy)
    await server.stop()
  })
  const healthy = () => fetch(`${site}/healthz`).catch(() => null)
  while ((await healthy()) === null && caddy.exitCode === null) await sleep(50)
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  // What editd takes by default, Caddy passes on.
  const content = 'x'.repeat(20_000_000)
  const large = JSON.stringify({ path: 'large.txt', content })
  t.equal((await fetch(`${site}/create`, { method: 'POST', headers, body: large })).status, 200)
  const larger = JSON.stringify({ path: 'larger.txt', content: `${content}${content}` })
  t.equal((await fetch(`${site}/create`, { method: 'POST', headers, body: larger })).status, 413)
  let [before, after] = ['one', 'two']
  for (const prefix of ['', '/editd']) {
    const url = site + prefix
    t.equal((await fetch(`${url}/readyz`)).status, 200, url)
    t.equal((await fetch(`${url}/capabilities`)).status, 401)
    const { servers } = (await (await fetch(`${url}/openapi.tools.json`)).json()) as { servers: unknown }
    t.strictSame(servers, [{ url }])
    const events = await fetch(`${url}/events`, { headers })
    t.match(events.headers.get('content-type'), /^text\/event-stream/)
    const body = JSON.stringify({ path: 'a.txt', old_text: before, new_text: after })
    t.equal((await fetch(`${url}/edit`, { method: 'POST', headers, body })).status, 200)
    let told = ''
    // The stream stays open: what comes, comes at once.
    for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
      told += chunk
      if (/"path":\s*"a\.txt"/.test(told)) break
    }
    t.match(told, /"path":\s*"a\.txt"/)
    ;[before, after] = [after, before]
  }
})

t.test('editd warns of no variable that a deployment has', async t => {
  const names = readdirSync(DEPLOY).flatMap(name => textOf(name).match(/\bEDITD_[A-Z0-9_]+/g) ?? [])
  t.ok(names.length > 5)
  t.strictSame(environmentWarnings(Object.fromEntries(names.map(name => [name, 'x']))), [])
})

/** Objects of Kubernetes in a file. */
const objectsOf = (yaml: string) =>
  parseAllDocuments(yaml).map(document => document.toJS() as Record<string, any> & { apiVersion: string; kind: string })

const image = readFileSync(join(TOP, 'Dockerfile'), 'utf8')
const ofImage = (instruction: string) =>
  JSON.parse(new RegExp(`${instruction} (\\[.*\\])`).exec(image)![1]!) as string[]
const imageEnvironment = Object.fromEntries(
  [...image.matchAll(/^ENV (.*)$/gm)].flatMap(([, all = '']) => all.split(' ').map(pair => pair.split('=')))
) as Record<string, string>

/**
 * Runs what the image runs, as its user and with nothing but the mounts to write to; what it prints. `probe` has to
 * succeed while it runs.
 */
function runImage(mounts: Record<string, string>, env: Record<string, string>, probe: string[]): string {
  const copied = ['dist', 'node_modules', 'page', 'package.json'].flatMap(name => [
    '--ro-bind',
    join(TOP, name),
    `/app/${name}`
  ])
  const variables = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...imageEnvironment, ...env })
  const script = `${ofImage('ENTRYPOINT').join(' ')} & server=$!
    for i in $(seq 100); do "$@" 2>/dev/null && break; sleep 0.1; done
    "$@" && echo healthy; kill $server; wait $server && echo ended`
  const options = ['--unshare-all', '--die-with-parent', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL']
  const system = ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib']
  const more = ['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--chdir', '/app', '--clearenv']
  const given = Object.entries(mounts).flatMap(([inside, outside]) => ['--bind', outside, inside])
  const set = variables.flatMap(([name, value]) => ['--setenv', name, value])
  const command = [...options, ...system, ...copied, ...given, ...more, ...set, 'sh', '-c', script, 'sh', ...probe]
  return execFileSync('bwrap', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 })
}

t.test('the image runs with what compose.yaml gives it', needs('bwrap', 'bubblewrap'), async t => {
  const dir = folder(t)
  const { services, secrets, volumes } = parse(textOf('compose.yaml'))
  const { editd } = services
  t.match(editd, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  t.strictSame(editd.volumes, ['./workspace:/workspace', 'state:/state'])
  t.strictSame([Object.keys(secrets), Object.keys(volumes)], [editd.secrets, ['state']])
  t.match(editd.ports, [/^127\.0\.0\.1:/])
  const mounts = {
    '/workspace': join(dir, 'root'),
    '/state': join(dir, 'state'),
    [`/run/secrets/${editd.secrets[0]}`]: join(dir, 'secret/token')
  }
  const said = runImage(mounts, editd.environment, ofImage('CMD'))
  t.equal(said, 'editd listening on http://0.0.0.0:7333 root=/workspace\nhealthy\nended\n')
})

t.test('docker-compose takes compose.yaml', needs('docker-compose', 'docker-compose'), async t => {
  const dir = folder(t)
  const config = (text: string) => {
    writeFileSync(join(dir, 'compose.yaml'), text)
    return spawnSync('docker-compose', ['-f', join(dir, 'compose.yaml'), 'config'], { encoding: 'utf8' })
  }
  const { status, stdout } = config(textOf('compose.yaml'))
  t.equal(status, 0)
  t.match(parse(stdout).services.editd, { image: 'editd', read_only: true, mem_limit: '2g' })
  t.not(config(textOf('compose.yaml').replace('read_only', 'read_onyl')).status, 0, 'it looks')
})

t.test('docker-compose takes bucket.yaml', needs('docker-compose', 'docker-compose'), async t => {
  const dir = folder(t)
  writeFileSync(join(dir, 'bucket.yaml'), textOf('bucket.yaml'))
  const config = (env: Record<string, string>) =>
    spawnSync('docker-compose', ['-f', join(dir, 'bucket.yaml'), 'config'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: dir, ...env }
    })
  const bucket = { EDITD_ROOT: 's3://docs/x', EDITD_S3_ENDPOINT: 'https://s3.example' }
  const { status, stdout, stderr } = config(bucket)
  t.equal(status, 0, stderr)
  t.match(parse(stdout).services, { editd: { environment: bucket, read_only: true }, proxy: { image: /^haproxy:/ } })
  t.not(config({}).status, 0, 'it asks for the bucket')
})

/** Answers each question for addresses with these; its port. */
async function nameServer(t: Test, addresses: string[]): Promise<number> {
  const A = 1
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 1
    const isForV4 = query.readUInt16BE(end) === A
    const answers = isForV4
      ? addresses.map(address =>
          Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)])
        )
      : []
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([query.subarray(0, 2), header, query.subarray(12, end + 4), ...answers]), from.port)
  })
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return socket.address().port
}

t.test(
  'the proxy of bucket.yaml leaves out what is not ready, and sends no request twice',
  needs('haproxy', 'haproxy', '-v'),
  async t => {
    const dir = folder(t)
    const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
    const [port, site] = [await freePort(), await freePort()]
    let received: string[] = []
    let isReady = true
    /** What the second server does with a request that it has received. */
    let answer: RequestListener = (_request, response) => response.end('second')
    // At the third address is none yet.
    const [, second] = await Promise.all(
      addresses.slice(0, 2).map(async (address, i) => {
        const server = createHttpServer(async (request, response) => {
          if (request.url === '/readyz') return response.writeHead(i === 0 || isReady ? 200 : 503).end()
          const body = await text(request)
          received.push(`${body.slice(0, 2)}${body.length}`)
          if (i === 0) response.end('first')
          else answer(request, response)
        })
        await once(server.listen(port, address), 'listening')
        t.teardown(() => {
          server.closeAllConnections()
          server.close()
        })
        return server
      })
    )
    const [, , script] = parse(textOf('bucket.yaml')).services.proxy.command as [string, string, string]
    const config = /<<'END'\n(.*?\n)END\n/s.exec(script)![1]!
    const here = config
      .replace('127.0.0.11:53', `127.0.0.1:${await nameServer(t, addresses)}`)
      .replace('bind :7333', `bind 127.0.0.1:${site}`)
      .replace('editd:7333', `editd:${port}`)
    writeFileSync(join(dir, 'haproxy.cfg'), here)
    const proxy = spawn('haproxy', ['-W', '-f', join(dir, 'haproxy.cfg')], { stdio: 'ignore' })
    t.teardown(() => end(proxy))
    /** Sends so many requests; what was answered. */
    const send = async (count: number) => {
      received = []
      const answers = []
      for (let i = 0; i < count; i++) {
        const body = `${i} ${'x'.repeat(100_000)}`
        const response = await fetch(`http://127.0.0.1:${site}/edit`, { method: 'POST', body }).catch(() => null)
        answers.push(response === null ? 'closed' : response.ok ? await response.text() : response.status)
      }
      return answers
    }
    const each = Array.from({ length: 6 }, (_, i) => `${i} 100002`)
    const until = async (answers: (string | number)[]) => {
      const wanted = new Set(answers)
      for (;;) {
        const got = new Set(await send(6))
        if (got.size === wanted.size && [...got].every(answer => wanted.has(answer))) return
        if (proxy.exitCode !== null) throw new Error('HAProxy has ended')
      }
    }
    await until(['first', 'second'])
    isReady = false
    await until(['first'])
    isReady = true
    await until(['first', 'second'])
    answer = (_request, response) => response.writeHead(503, { 'retry-after': '5' }).end('NOT_READY')
    t.strictSame(new Set(await send(6)), new Set(['first', 503]), 'what a server says comes through')
    t.strictSame(received, each)
    answer = request => request.socket.destroy()
    const unknown = await send(6)
    t.ok(unknown.includes('first'))
    t.ok(unknown.some(answer => answer === 502 || answer === 'closed'))
    t.strictSame(received, each)
    second!.closeAllConnections()
    second!.close()
    t.strictSame(new Set(await send(6)), new Set(['first']), 'one that is gone is passed over')
    t.strictSame(received, each)
    const flags = ['--host', addresses[2]!, '--port', String(port)]
    const third = await start(join(dir, 'root'), join(dir, 'state'), ...flags)
    await until(['first', 401])
    t.equal(await third.stop(), 0)
    t.strictSame(new Set(await send(6)), new Set(['first']), 'a real one comes and goes')
  }
)

t.test(
  'Kubernetes has all fields of sidecar.yaml and kubernetes.yaml',
  {
    skip:
      process.env.NO_DEPLOY === '1'
        ? 'tried on one Node only'
        : !existsSync(KUBERNETES) && 'its types are not installed (npm ci --prefix test/clients)'
  },
  async t => {
    const dir = mkdtempSync(join(CLIENTS, 'pod-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    const compile = (objects: { apiVersion: string; kind: string }[]) => {
      const lines = objects.flatMap((object, i) => [
        `import type { I${object.kind} as Kind${i} } from 'kubernetes-models/${object.apiVersion}/${object.kind}'`,
        `export const object${i}: Kind${i} = ${JSON.stringify(object)}`
      ])
      writeFileSync(join(dir, 'pod.ts'), lines.join('\n'))
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022']
      const tsc = join(CLIENTS, 'node_modules/typescript/bin/tsc')
      const command = uncounted(process.execPath, [tsc, ...flags, join(dir, 'pod.ts')])
      const { status, stdout } = spawnSync(...command, { encoding: 'utf8' })
      return { status, stdout }
    }
    const [pod, others] = [objectsOf(textOf('sidecar.yaml')), objectsOf(textOf('kubernetes.yaml'))]
    t.strictSame(
      [...pod, ...others].map(({ kind }) => kind),
      ['Pod', 'Deployment', 'Service', 'PersistentVolumeClaim', 'PersistentVolumeClaim']
    )
    t.strictSame(compile([...pod, ...others]), { status: 0, stdout: '' })
    const wrong = objectsOf(
      ['sidecar.yaml', 'kubernetes.yaml']
        .map(textOf)
        .join('---\n')
        .replaceAll('readOnlyRootFilesystem', 'readOnlyRootFilesystme')
    )
    t.equal(compile(wrong).stdout.match(/"readOnlyRootFilesystme"/g)?.length, 2, 'it looks')
  }
)

interface Named {
  name: string
}
/** What a container is given by a pod: the image's mounts, and its variables. */
function givenBy(
  dir: string,
  { volumeMounts, env }: { volumeMounts: (Named & { mountPath: string })[]; env: (Named & { value: string })[] }
) {
  const places: Record<string, string> = { workspace: 'root', state: 'state', token: 'secret' }
  return {
    mounts: Object.fromEntries(volumeMounts.map(({ name, mountPath }) => [mountPath, join(dir, places[name]!)])),
    variables: Object.fromEntries(env.map(({ name, value }) => [name, value]))
  }
}
const namesOf = (list: Named[]) => list.map(({ name }) => name)

t.test('the image runs with what the pod gives it', needs('bwrap', 'bubblewrap'), async t => {
  const dir = folder(t)
  const { spec } = parse(textOf('sidecar.yaml'))
  const [editd] = spec.initContainers
  t.match(spec, { enableServiceLinks: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } })
  t.match(editd, { restartPolicy: 'Always', securityContext: { readOnlyRootFilesystem: true } })
  t.strictSame(namesOf(editd.volumeMounts), namesOf(spec.volumes))
  const { mounts, variables } = givenBy(dir, editd)
  const probes = ['startupProbe', 'livenessProbe'].map(probe => editd[probe].exec.command as string[])
  t.strictSame(editd.readinessProbe.exec.command, probes[0])
  for (const [i, path] of ['/readyz', '/healthz'].entries()) {
    t.match(probes[i]!.at(-1), `7333${path}'`)
    const said = runImage(mounts, variables, probes[i]!)
    t.equal(said, 'editd listening on http://127.0.0.1:7333 root=/workspace\nhealthy\nended\n')
  }
})

t.test(
  'the image runs with what kubernetes.yaml gives it, by the names of the service',
  needs('bwrap', 'bubblewrap'),
  async t => {
    const dir = folder(t)
    const [deployment, service, ...claims] = objectsOf(textOf('kubernetes.yaml'))
    const { spec, metadata } = deployment!.spec.template
    const [editd] = spec.containers
    t.match(deployment!.spec, {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: metadata.labels }
    })
    t.match(spec, { enableServiceLinks: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } })
    t.match(editd.securityContext, { readOnlyRootFilesystem: true })
    t.strictSame(namesOf(editd.volumeMounts), namesOf(spec.volumes))
    t.strictSame(
      claims.map(({ metadata }) => metadata.name),
      spec.volumes.slice(0, 2).map((volume: any) => volume.persistentVolumeClaim.claimName)
    )
    const [port] = service!.spec.ports
    t.strictSame([service!.spec.selector, port.targetPort, port.port], [metadata.labels, editd.ports[0].name, 7333])
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(probe => editd[probe].httpGet)
    t.strictSame(
      probes.map(({ path, port }) => `${port}${path}`),
      ['http/readyz', 'http/readyz', 'http/healthz']
    )
    const { mounts, variables } = givenBy(dir, editd)
    const names = variables.EDITD_ALLOW_HOST!.split(',')
    t.equal(names[0], service!.metadata.name)
    const asked = [
      ...probes.map(({ path }) => ({ path, headers: { host: '10.1.2.3:7333' } })),
      ...names.map(name => ({
        path: '/capabilities',
        headers: { host: `${name}:${port.port}`, authorization: `Bearer ${TOKEN}` }
      }))
    ]
    const ask = `Promise.all(${JSON.stringify(asked)}.map(({ path, headers }) => new Promise((resolve, reject) =>
    require('node:http').get({ host: '127.0.0.1', port: ${editd.ports[0].containerPort}, path, headers }, ({ statusCode }) =>
      statusCode === 200 ? resolve() : reject(statusCode)).on('error', reject)))).then(() => process.exit(0), () => process.exit(1))`
    const said = runImage(mounts, variables, ['node', '-e', ask])
    t.equal(said, 'editd listening on http://0.0.0.0:7333 root=/workspace\nhealthy\nended\n')
  }
)
