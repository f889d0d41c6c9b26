// The commands of the README, and every example in the documents: answers are compared with the printed ones; code and
// configurations are used as they are written.
// runs in .ci/run
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { ONLY_CI } from './often.ts'
import { start, UNCOUNTED } from './running.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENTS = [
  'README.md',
  'docs/adapters.md',
  'docs/answers.md',
  'docs/batch.md',
  'docs/conversations.md',
  'docs/history.md',
  'docs/tools.md'
]
/** With DOCS=write the answers are written into the documents: read them before you commit. */
const WRITES = process.env.DOCS === 'write'
/** What users start is started without tap. */
const [ENV, ...UNSET] = UNCOUNTED

/** What differs from run to run. */
const settled = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (key, value) =>
      key === 'request_id'
        ? '3f0c9e1a-…'
        : key === 'edit_id' || key === 'batch_id'
          ? '01JD…'
          : key === 'modified_at'
            ? '2026-11-21T10:00:00.000Z'
            : value
    )
  )

/** Only the members of an answer that are printed; of a list, as many items. */
const part = (answer: unknown, printed: unknown): unknown =>
  Array.isArray(answer) && Array.isArray(printed)
    ? answer.slice(0, printed.length).map((item, i) => part(item, printed[i]))
    : typeof answer === 'object' && answer !== null && typeof printed === 'object' && printed !== null
      ? Object.fromEntries(
          Object.keys(printed).map(key => [
            key,
            part((answer as Record<string, unknown>)[key], (printed as Record<string, unknown>)[key])
          ])
        )
      : answer

/** An answer in JSON, or the part of it that is printed, as it is printed. */
const shown = (answer: unknown, kind: string, printed: string): string => {
  const all = settled(answer)
  return JSON.stringify(kind === 'json' ? all : part(all, JSON.parse(printed)), null, 2)
}

interface McpServer {
  url?: string
  headers?: Record<string, string>
  command?: string
  args?: string[]
}
const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<{ tools: object[]; result: string }>

for (const name of DOCUMENTS) {
  t.test(`answers as ${name} says`, { skip: ONLY_CI }, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'editd-docs-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const workspace = join(folder, 'workspace')
    mkdirSync(workspace)
    let text = readFileSync(join(ROOT, name), 'utf8')
    for (const [, path, content] of text.matchAll(/<!-- file: (\S+)\n([^]*?)-->/g)) {
      mkdirSync(dirname(join(workspace, path!)), { recursive: true })
      writeFileSync(join(workspace, path!), content!)
      utimesSync(join(workspace, path!), 0, 0)
    }
    const server = await start(workspace, join(folder, 'state'))
    t.teardown(() => {
      server.child.kill('SIGKILL')
    })
    let run = 0
    for (const [whole, language, command, kind, printed] of [
      ...text.matchAll(/```(sh|python) run\n([^]*?)```\n\n```(text|json(?: part)?)\n([^]*?)^```$/gm)
    ]) {
      run++
      if (language === 'python' && spawnSync('python3', ['--version']).status !== 0) {
        t.pass('a program in Python', { skip: 'needs python3' })
        continue
      }
      const env = { ...process.env, EDITD_URL: server.url, EDITD_TOKEN: 'a-token-for-tests' }
      const program = language === 'python' ? 'python3' : 'bash'
      const said = execFileSync(program, ['-c', command!], { cwd: folder, env, encoding: 'utf8' })
      const now =
        kind === 'text' ? said.replace(/(?<=\bedit_id: )\w{26}/g, '01JD…') : shown(JSON.parse(said), kind!, printed!)
      if (WRITES) {
        text = text.replace(
          whole,
          () => `\`\`\`${language} run\n${command}\`\`\`\n\n\`\`\`${kind}\n${now.trimEnd()}\n\`\`\``
        )
      } else t.equal(now.trimEnd(), printed!.trimEnd(), command!)
    }
    for (const [, code] of text.matchAll(/```js run\n([^]*?)```/g)) {
      // As SDKs pass it: OpenAI's calls have `arguments`, Anthropic's have `input`.
      const input = { path: 'called.txt', content: 'one\n', overwrite: false, dry_run: true }
      const call = { name: 'create_file', arguments: JSON.stringify(input), input }
      const headers = { authorization: 'Bearer a-token-for-tests', 'content-type': 'application/json' }
      const { tools, result } = await new AsyncFunction(
        'EDITD_URL',
        'headers',
        'call',
        `${code}; return { tools, result }`
      )(server.url, headers, call)
      t.match(tools[1], { name: 'edit_lines' }, code!)
      t.match(result, /^Would create called\.txt /, code!)
    }
    for (const [, config] of text.matchAll(/```json mcp\n([^]*?)```/g)) {
      const here = config!
        .replace('http://127.0.0.1:7333', server.url)
        .replace('the-token-it-printed', 'a-token-for-tests')
        .replace('path/to/editd/', ROOT)
        .replace('path/to/root', workspace)
      const { url, headers, command, args } = (JSON.parse(here) as { mcpServers: { editd: McpServer } }).mcpServers
        .editd
      const client = new Client({ name: 'test', version: '0' })
      await client.connect(
        command === undefined
          ? new StreamableHTTPClientTransport(new URL(url!), { requestInit: { headers: headers! } })
          : new StdioClientTransport({
              command: ENV,
              args: [...UNSET, command, ...args!],
              env: { ...(process.env as Record<string, string>), EDITD_STATE_DIR: join(folder, 'state') },
              stderr: 'ignore'
            })
      )
      t.match((await client.listTools()).tools[0], { name: 'edit_file' }, config!)
      await client.close()
    }
    t.equal(run, text.match(/```(sh|python) run/g)?.length, 'every example has an answer')
    if (WRITES) writeFileSync(join(ROOT, name), text)
    t.equal(await server.stop(), 0)
  })
}

t.test('lets Open WebUI in, from its page and from its backend', { skip: ONLY_CI }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-docs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [, command = ''] = /```sh open-webui\n([^]*?)\n```/.exec(readFileSync(join(ROOT, 'docs/tools.md'), 'utf8'))!
  const flags = command.replace('npx editd path/to/root --token-file path/to/token ', '').split(' ')
  t.equal(flags.length, 6)
  const server = await start(join(folder, 'root'), join(folder, 'state'), ...flags)
  t.teardown(() => {
    server.child.kill('SIGKILL')
  })
  const { port } = new URL(server.url)
  const ask = async (method: string, path: string, headers: OutgoingHttpHeaders, body = '') => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers }).end(body)
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: method === 'OPTIONS' ? answer.resume() : await json(answer)
    }
  }
  const origin = 'http://localhost:3000'
  const call = { authorization: 'Bearer a-token-for-tests', 'content-type': 'application/json' }
  /** As a browser does: it asks first, for all headers that aren't of every page. */
  const fromPage = async (method: string, path: string, more: OutgoingHttpHeaders, body = '') => {
    const headers = { ...call, ...more }
    const names = Object.keys(headers).sort().join()
    const preflight = await ask('OPTIONS', path, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': names
    })
    t.match(preflight, {
      status: 204,
      headers: { 'access-control-allow-origin': origin, 'access-control-allow-headers': names }
    })
    t.match(preflight.headers['access-control-allow-methods'], method)
    const answer = await ask(method, path, { origin, accept: 'application/json', ...headers }, body)
    t.match(answer, { status: 200, headers: { 'access-control-allow-origin': origin } }, path)
    return answer.body
  }
  const { paths } = (await fromPage('GET', '/openapi.tools.json', {})) as { paths: Record<string, object> }
  t.hasProps(paths, ['/create', '/edit'])
  const created = JSON.stringify({ path: 'a.txt', content: 'one\n' })
  // Of the chat in which the tool is called.
  await fromPage('POST', '/create', { 'x-session-id': '6f0b1d5e' }, created)

  const host = 'editd:7333'
  t.match(await ask('GET', '/openapi.tools.json', { host, ...call }), { status: 200 })
  const edit = JSON.stringify({ path: 'a.txt', old_text: 'one', new_text: 'two' })
  t.match(await ask('POST', '/edit', { host, ...call }, edit), { status: 200, body: { changed: true } })

  const refused = { status: 403 }
  t.match(await ask('POST', '/edit', { ...call, origin: 'http://localhost:3001' }, edit), refused, 'no other page')
  t.match(await ask('POST', '/edit', { ...call, host: 'editd.other:7333' }, edit), refused, 'by no other name')
  t.equal(await server.stop(), 0)
})

t.test('drains when npm start gets SIGTERM', { skip: ONLY_CI }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-npm-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  // Without its prestart, which would rebuild what other tests are running.
  const npm = spawn(
    ENV,
    [
      ...UNSET,
      'npm',
      'start',
      '--ignore-scripts',
      '--silent',
      '--',
      join(folder, 'root'),
      '--port',
      '0',
      '--state-dir',
      join(folder, 'state'),
      '--token',
      'secret'
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }
  )
  let log = ''
  npm.stderr.setEncoding('utf8').on('data', chunk => {
    log += chunk
  })
  const [line] = await once(createInterface({ input: npm.stdout }), 'line')
  const url = String(line).match(/http:\S+/)![0]
  t.equal((await fetch(`${url}/healthz`)).status, 200)
  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await t.rejects(fetch(`${url}/healthz`), 'nothing listens any more')
  t.match(log, /"event":"stopped"/)
})
