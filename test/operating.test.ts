// An operator's setup from docs/operators.md: two workspaces, three tokens and an issuer, metrics and audit, two or
// three servers behind Caddy, and a restart of each while clients continue.
// runs in .ci/run
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeKey, now, sign, startIssuer } from './http/access/issuer.ts'
import { ONLY_CI } from './often.ts'
import { start, type Running } from './running.ts'

const CADDYFILE = join(import.meta.dirname, '../examples/deploy/rolling.Caddyfile')
const needsCaddy = { skip: ONLY_CI || (spawnSync('caddy', ['version']).status !== 0 && 'needs caddy (caddy)') }
const REQUESTS = 1000

/** Free ports below those that the system gives to connections, which may take one between its uses here. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false
    )
    if (!isFree) continue
    await once(server.close(), 'close')
    ports.push(port)
  }
  return ports
}

for (const count of [2, 3]) {
  t.test(`restarts ${count} servers behind Caddy, and no request of clients fails`, needsCaddy, async t => {
    const dir = mkdtempSync(join(tmpdir(), 'editd-operating-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    const [site = 0, ...ports] = await freePorts(1 + 2 * count)
    const audience = `http://127.0.0.1:${site}/mcp`
    const issuer = await startIssuer(t)
    const key = await makeKey('ES256', 'key')
    issuer.keys.push(key.jwk)
    for (const name of ['acme', 'beta']) mkdirSync(join(dir, name))
    const hashed = (token: string) => createHash('sha256').update(token).digest('hex')
    const tokens = [
      { name: 'ci', sha256: hashed('ci-secret'), workspace: 'acme', scope: 'edit', paths: ['docs/**'] },
      { name: 'ann', sha256: hashed('ann-secret'), workspace: 'acme', scope: 'review' },
      { name: 'zoe', sha256: hashed('zoe-secret'), workspace: 'beta', scope: 'edit' }
    ]
    const issuers = [{ issuer: issuer.url, audience, algorithms: ['ES256'] }]
    // JSON is YAML.
    const access = { workspaces: { acme: { root: 'acme' }, beta: { root: 'beta' } }, tokens, issuers }
    writeFileSync(join(dir, 'access.yaml'), JSON.stringify(access))
    const claims = { iss: issuer.url, aud: audience, sub: 'kim', iat: now(), exp: now() + 600, workspace: 'acme' }
    const jwt = await sign(key, { ...claims, scp: ['edit', 'openid'] })

    const audit = join(dir, 'audit.jsonl')
    const logs: string[] = []
    const startOne = (i: number): Promise<Running> => {
      const listen = ['--port', String(ports[i]), '--metrics-listen', `127.0.0.1:${ports[i + count]}`]
      const files = ['--access', join(dir, 'access.yaml'), '--audit', audit]
      return start('', join(dir, 'state'), ...files, ...listen, '--stop-delay', '5s')
    }
    const servers: Running[] = []
    for (let i = 0; i < count; i++) servers.push(await startOne(i))
    t.teardown(() => servers.forEach(server => server.child.kill('SIGKILL')))
    const caddyfile = join(dir, 'Caddyfile')
    writeFileSync(caddyfile, `{\n\tadmin off\n\tauto_https off\n}\nimport ${CADDYFILE}\n`)
    const url = `http://127.0.0.1:${site}`
    const places = Object.fromEntries(
      ['ONE', 'TWO', 'THREE'].slice(0, count).map((name, i) => [`PROXY_${name}`, `127.0.0.1:${ports[i]}`])
    )
    const env = { ...process.env, HOME: dir, XDG_DATA_HOME: dir, PROXY_SITE: url, ...places }
    const caddy = spawn('caddy', ['run', '--config', caddyfile, '--adapter', 'caddyfile'], { env, stdio: 'ignore' })
    t.teardown(() => caddy.kill('SIGKILL'))
    const statusOf = (at: string) =>
      fetch(`${at}/readyz`).then(
        ({ status }) => status,
        () => 0
      )
    while ((await statusOf(url)) !== 200) await sleep(50)

    const send = async (token: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, text: await answer.text() }
    }
    const restart = { isOver: false }
    let sent = 0
    const failed: string[] = []
    const client = async (token: string, file: string) => {
      const made = await send(token, '/create', { path: file, content: 'n = 0;\n' })
      if (made.status !== 200) failed.push(made.text)
      for (let n = 0; !restart.isOver || sent < REQUESTS; n++) {
        const edit = { path: file, old_text: `n = ${n};`, new_text: `n = ${n + 1};` }
        const { status, text } = await send(token, '/edit', edit).catch((error: unknown) => ({
          status: 0,
          text: String(error)
        }))
        sent++
        if (status !== 200) failed.push(`${status} ${text}`)
        await sleep(20)
      }
    }
    const clients = [
      client('ci-secret', 'docs/ci.txt'),
      client('ann-secret', 'ann.txt'),
      client('zoe-secret', 'zoe.txt'),
      client(jwt, 'kim.txt')
    ]
    for (const i of servers.keys()) {
      await sleep(500)
      t.equal(await servers[i]!.stop(), 0)
      t.comment(`${failed.length} failed`)
      logs.push(servers[i]!.log())
      servers[i] = await startOne(i)
      while ((await statusOf(`http://127.0.0.1:${ports[i]}`)) !== 200) await sleep(50)
      // As the Caddyfile asks for: Caddy must have found it before the next one goes.
      await sleep(3000)
    }
    restart.isOver = true
    await Promise.all(clients)
    t.comment(`${sent} requests, ${failed.length} failed`)
    t.strictSame(failed, [])
    t.ok(sent >= REQUESTS)

    const metrics = await (await fetch(`http://127.0.0.1:${ports[count]}/metrics`)).text()
    for (const workspace of ['acme', 'beta']) {
      t.match(
        metrics,
        new RegExp(`^editd_calls_total\\{workspace="${workspace}",operation="edit_file",code="ok"\\} \\d`, 'm')
      )
    }
    t.match(metrics, /^editd_requests_total\{route="\/edit",status="200"\} \d/m)
    await Promise.all(servers.map(server => server.stop()))
    logs.push(...servers.map(server => server.log()))
    const lines = logs.join('').trim().split('\n')
    const calls = lines
      .map(line => JSON.parse(line) as Record<string, unknown>)
      .filter(({ route }) => route === '/edit')
    t.notMatch(logs.join(''), /"route":"\/readyz","status":200/, 'probes are not logged')
    const callers = new Set(calls.map(({ workspace, token }) => `${String(workspace)} ${String(token)}`))
    t.strictSame([...callers].sort(), ['acme ann', 'acme ci', `acme ${issuer.url}#kim`, 'beta zoe'].sort())
    const audited = readFileSync(audit, 'utf8').trim().split('\n')
    t.equal(audited.filter(line => line.includes('"operation":"edit_file"')).length, sent, 'each edit has a line')
  })
}
