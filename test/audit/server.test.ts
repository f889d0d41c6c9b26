// `--audit` of a server process: which file is refused, SIGHUP, several processes, an access file, and `editd mcp`. The
// line that docs/operators.md shows is one of them.
// runs in .ci/run
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { COMMAND, start } from '../running.ts'

type Line = Record<string, unknown>

function folders(t: Test) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-audit-')))
  t.teardown(() => rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  mkdirSync(join(base, 'root', 'docs'), { recursive: true })
  writeFileSync(join(base, 'root', 'docs', 'a.txt'), 'hello\n')
  return { base, root: join(base, 'root'), state: join(base, 'state'), audit: join(base, 'audit.jsonl') }
}

const linesOf = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Line)

/** Waits until it holds so many lines. */
async function hasLines(path: string, count: number): Promise<Line[]> {
  while (!existsSync(path) || linesOf(path).length < count) await sleep(20)
  return linesOf(path)
}

async function ends(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; stderr: string }> {
  const [command = '', ...own] = COMMAND
  const child = spawn(command, [...own, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env }
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  return { code, stderr }
}

t.test('does not start with a file in the root, or without one that is required', { skip: ONLY_CI }, async t => {
  const { root, state } = folders(t)
  const inside = ['--audit', join(root, 'audit.jsonl')]
  const flags = [root, '--state-dir', state, '--port', '0']
  for (const [args, message] of [
    [[...flags, ...inside], 'is in the root'],
    [['mcp', root, '--state-dir', state, ...inside], 'is in the root'],
    [[...flags, '--audit-required'], '--audit-required needs a file to write to: name one with --audit.']
  ] as const) {
    const { code, stderr } = await ends([...args])
    t.equal(code, 2, stderr)
    t.match(stderr, message)
  }
})

t.test('opens the file again on SIGHUP', { skip: ONLY_CI }, async t => {
  const { base, root, state, audit } = folders(t)
  const server = await start(root, state, '--audit', audit)
  const make = async (name: string) => {
    const { status } = await server.post('/create', { path: name, content: '' }, { connection: 'close' })
    t.equal(status, 200)
  }
  await make('a')
  await make('b')
  await hasLines(audit, 2)
  renameSync(audit, join(base, 'kept'))
  process.kill(server.child.pid!, 'SIGHUP')
  await hasLines(audit, 0)
  await sleep(300)
  for (const name of ['c', 'd', 'e', 'f']) await make(name)
  t.equal(await server.stop(), 0)
  t.strictSame(
    linesOf(join(base, 'kept')).map(({ path }) => path),
    ['a', 'b']
  )
  t.strictSame(
    linesOf(audit)
      .map(({ path }) => path)
      .sort(),
    ['c', 'd', 'e', 'f']
  )
})

const settled = (line: Line): Line => ({
  ...line,
  time: '2026-11-24T12:04:31.218Z',
  request_id: '3f0c9e1a-…',
  edit_id: '01JD…'
})

t.test('names workspace and token with an access file, as docs/operators.md shows it', { skip: ONLY_CI }, async t => {
  const { base, root, state, audit } = folders(t)
  const token = 'a-token-for-tests'
  const access = join(base, 'access.yaml')
  const sha256 = createHash('sha256').update(token).digest('hex')
  const write = (of: string) =>
    writeFileSync(
      access,
      `workspaces: { acme: { root: ${of} } }\ntokens: [{ name: ci, sha256: ${sha256}, workspace: acme, scope: edit }]\n`
    )
  write(root)
  const [command = '', ...own] = COMMAND
  const child = spawn(command, [...own, '--access', access, '--state-dir', state, '--port', '0', '--audit', audit], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    log += chunk
  })
  const [printed] = await once(child.stdout.setEncoding('utf8'), 'data')
  const url = / listening on (\S+)/.exec(String(printed))![1]!
  const post = async (path: string, body: object, headers: Record<string, string> = {}) =>
    (
      await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body)
      })
    ).status
  const edit = { path: 'docs/a.txt', old_text: 'hello', new_text: 'bye' }
  const headers = {
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'editd-agent': 'bot',
    'editd-session': 's-17'
  }
  t.equal(await post('/edit', edit, headers), 200)
  t.equal(await post('/review', { verdict: 'keep', path: 'docs/a.txt' }), 403)
  const [done, refused] = await hasLines(audit, 2)
  const shown = /<!-- audit -->\n```json\n([^]*?)\n```/.exec(
    readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8')
  )![1]!
  t.equal(JSON.stringify(settled(done!)), shown)
  t.match(refused, {
    outcome: 'refused',
    subject: 'ci',
    workspace: 'acme',
    code: 'FORBIDDEN_SCOPE',
    operation: 'review_edits'
  })
  t.match(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' })
  // What is above the audit file becomes no root.
  write(base)
  child.kill('SIGHUP')
  while (!log.includes('access_unchanged')) await sleep(20)
  t.match(log, /access_unchanged.*is in the root/)
  child.kill('SIGTERM')
  await once(child, 'exit')
})

t.test('has the calls of editd mcp', { skip: ONLY_CI }, async t => {
  const { root, state, audit } = folders(t)
  const [command = '', ...own] = COMMAND
  const child = spawn(command, [...own, 'mcp', root, '--state-dir', state, '--audit', audit], {
    stdio: ['pipe', 'pipe', 'ignore']
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  send({ id: 1, method: 'initialize', params })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'create_file', arguments: { path: 'm.txt', content: 'm' } } })
  t.match(await hasLines(audit, 1), [{ outcome: 'done', operation: 'create_file', path: 'm.txt', agent: 'c/1' }])
  child.stdin.end()
  t.strictSame(await once(child, 'exit'), [0, null])
})
