// MCP with the official client, in both eras, over HTTP and stdio, and with the inspector's command line.
import { execFileSync, spawn } from 'node:child_process'
import { ONLY_CI } from '../often.ts'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type Transport
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { SERVER, start } from '../running.ts'
import { bytesOf, startServer, TOKEN, type TestServer } from './test-server.ts'

const NAMES = ['edit_file', 'edit_lines', 'edit_section', 'create_file', 'inspect_file', 'find', 'undo_edit']
const files = { 'a.txt': 'one\ntwo\n' }
const ERAS = [
  ['2025-11-25', { mode: 'legacy' }],
  ['2026-07-28', { mode: 'auto' }]
] as const

async function connected(
  t: Test,
  transport: Transport,
  [version, versionNegotiation]: (typeof ERAS)[number]
): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation })
  await client.connect(transport)
  t.teardown(() => client.close())
  t.equal(client.getNegotiatedProtocolVersion(), version)
  return client
}

const overHttp = (t: Test, server: TestServer, era: (typeof ERAS)[number]) =>
  connected(
    t,
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } }
    }),
    era
  )

const call = async (client: Client, name: string, given: Record<string, unknown>) =>
  (await client.callTool({ name, arguments: given })) as CallToolResult
const textIn = ({ content }: CallToolResult) => (content[0]?.type === 'text' ? content[0].text : '')
const hashIn = (text: string) => /file_hash: (\w{16})/.exec(text)?.[1]

/** What the tools do over each transport of MCP. */
async function checkTools(t: Test, client: Client, read: () => string) {
  const { tools } = await client.listTools()
  t.strictSame(
    tools.map(({ name }) => name),
    NAMES
  )
  t.match(tools[0], {
    inputSchema: { type: 'object', properties: { edits: {} } },
    outputSchema: undefined,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false }
  })
  t.match(tools.at(NAMES.indexOf('inspect_file')), {
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
  })
  t.match(client.getServerVersion(), { name: 'editd' })
  t.match(client.getInstructions(), /Read a file before you edit it.* its answer says what to do next\.$/)
  const says = async (name: string, given: Record<string, unknown>, text: RegExp, isError?: true) => {
    const result = await call(client, name, given)
    t.match(textIn(result), text)
    t.strictSame([result.isError, result.structuredContent], [isError, undefined], textIn(result))
    return textIn(result)
  }
  const facts = await says('inspect_file', { path: 'a.txt' }, /^a\.txt: 2 lines/)
  const habits = { file_path: 'a.txt', old_string: 'one', new_text: 'uno', edits: null, expected_hash: hashIn(facts) }
  await says(
    'edit_file',
    habits,
    /^Successfully replaced .*\n1\tuno\n2\ttwo\nWarning: file_path was read as path\.\nWarning: old_string was read/
  )
  t.equal(read(), 'uno\ntwo\n')
  const one = { path: 'a.txt', old_text: 'one', new_text: 'eins' }
  await says('edit_file', one, /^old_text was not found in a\.txt: .* \[NO_MATCH\]\n1\tuno\n2\ttwo\nfile_hash/, true)
  await says(
    'edit_file',
    { ...one, path: 'b.txt' },
    /did you mean a\.txt\? \[FILE_NOT_FOUND\]\nIf so, send:\n\{"path":"a\.txt","old_text":"one",/,
    true
  )
  await says(
    'edit_file',
    { path: 'a.txt', old_txt: 'x' },
    /old_txt is an unknown field \(did you mean old_text\?\)/,
    true
  )
  await says('edit_file', { path: 'a\0', old_text: 'x', new_text: '' }, /INVALID_PATH/, true)
  t.match(textIn((await client.callTool({ name: 'inspect_file' })) as CallToolResult), /\/path is missing/)
  await says(
    'preview_edit',
    { operation: 'edit_lines', path: 'a.txt', start_line: 1, end_line: 1, new_text: '' },
    /^Would delete line 1 of a\.txt\. a\.txt would then have 1 line; nothing was written\. file_hash: \w+\n--- a/
  )
  await says('create_file', { path: 'b.txt', content: 'b' }, /^Created b\.txt/)
  await says('edit_lines', { path: 'b.txt', start_line: 2, end_line: 1, new_text: 'c' }, /\n1\tb\n2\tc$/)
  await t.rejects(call(client, 'edit_fil', {}), {
    code: -32602,
    message: /There is no tool "edit_fil"; did you mean edit_file\?/
  })
  await t.rejects(call(client, `inspect_file${' '.repeat(1000)}edit_section`, {}), {
    message: /^There is no tool "inspect_file .*"\. The tools are edit_file,/
  })
}

for (const era of ERAS) {
  t.test(`serves the official client over HTTP in the era of ${era[0]}`, async t => {
    const server = await startServer(t, { files })
    await checkTools(t, await overHttp(t, server, era), () => bytesOf(server, 'a.txt'))
    t.ok(
      server.log.some(({ route, code }) => route === '/mcp' && code === 'NO_MATCH'),
      'the log has the code of a failed call'
    )
  })

  // How messages come doesn't depend on what is in them.
  const skip = era !== ERAS[1] && ONLY_CI
  t.test(`serves the official client over stdio in the era of ${era[0]}`, { skip }, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'editd-mcp-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'a.txt'), files['a.txt'])
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [SERVER, 'mcp', folder, '--state-dir', `${folder}-state`],
      stderr: 'pipe'
    })
    t.teardown(() => rmSync(`${folder}-state`, { recursive: true, force: true }))
    await checkTools(t, await connected(t, transport, era), () => readFileSync(join(folder, 'a.txt'), 'utf8'))
  })
}

t.test('lists its tools for an hour, without what they answer unless that is asked for', async t => {
  const server = await startServer(t, { files, settings: { tools: ['inspect_file', 'preview_edit'] } })
  const client = await overHttp(t, server, ERAS[1])
  const listed = await client.listTools()
  t.match(listed, { ttlMs: 3_600_000, cacheScope: 'private', tools: [{ name: 'preview_edit' }, {}] })
  t.notOk(listed.tools.some(({ outputSchema }) => outputSchema !== undefined))
  t.equal((await call(client, 'inspect_file', { path: 'a.txt' })).structuredContent, undefined)
  t.match(
    await call(client, 'create_file', { path: 'b.txt', content: 'b' }),
    { isError: undefined },
    'what is not offered can still be called'
  )
})

t.test('stands behind the same access as all routes', async t => {
  const server = await startServer(t, { files, settings: { allowOrigins: ['https://app.example'] } })
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const accept = 'application/json, text/event-stream'
  const refused = async (headers: Record<string, string>, status: number, code: string, body: unknown = list) =>
    t.match(await server.call('POST', '/mcp', { body, headers: { accept, ...headers } }), { status, body: { code } })
  await refused({ authorization: '' }, 401, 'UNAUTHORIZED')
  await refused({ origin: 'https://evil.example' }, 403, 'FORBIDDEN_ORIGIN')
  await refused({ 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE')
  await refused({}, 400, 'INVALID_JSON', '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}')
  await refused({}, 400, 'INVALID_JSON', '{')
  t.match(
    await server.raw(
      `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`
    ),
    /^HTTP\/1.1 403 .*FORBIDDEN_HOST/s
  )
  for (const method of ['GET', 'DELETE']) {
    const { status, body, headers } = await server.call(method, '/mcp')
    t.match(
      { status, code: body.code, allow: headers.get('allow') },
      { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'POST' },
      'as a server without sessions has to'
    )
  }
  const preflight = await server.call('OPTIONS', '/mcp', {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'mcp-protocol-version,mcp-method,mcp-name',
      authorization: ''
    }
  })
  t.match(preflight.headers.get('access-control-allow-headers'), /mcp-protocol-version,mcp-method,mcp-name/)
  const open = await startServer(t, { files, settings: { token: null } })
  const client = await connected(t, new StreamableHTTPClientTransport(new URL(`${open.url}/mcp`)), ERAS[1])
  t.equal((await client.listTools()).tools.length, NAMES.length, 'and needs no token without auth')
})

t.test('answers a single request without a handshake, and lets nobody listen', async t => {
  const server = await startServer(t, { files })
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'inspect_file'
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  const reply = await server.call('POST', '/mcp', {
    headers,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { _meta, name: 'inspect_file', arguments: { path: 'a.txt' } }
    }
  })
  t.match(
    { ...reply, type: reply.headers.get('content-type') },
    { status: 200, type: /^application\/json/, body: { id: 1, result: { content: [{ text: /^a\.txt: / }] } } }
  )
  const dropped =
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":${JSON.stringify(_meta)},` +
    '"name":"inspect_file","arguments":{"path":"a.txt","__proto__":{}}}}'
  t.match(
    await server.call('POST', '/mcp', { headers: { ...headers, 'content-type': 'application/json' }, body: dropped }),
    { status: 400, body: { code: 'INVALID_REQUEST', errors: [{ pointer: '/params/arguments/__proto__' }] } },
    'the SDK would drop it'
  )
  const listening = await server.call('POST', '/mcp', {
    headers: { ...headers, 'mcp-method': 'subscriptions/listen', 'mcp-name': '' },
    body: {
      jsonrpc: '2.0',
      id: 2,
      method: 'subscriptions/listen',
      params: { _meta, notifications: { toolsListChanged: true } }
    }
  })
  t.notMatch(listening.headers.get('content-type'), 'event-stream', listening.text.slice(0, 300))
})

t.test(
  'answers in the one type that a client accepts, at a path with a slash, and takes null for no arguments',
  async t => {
    const server = await startServer(t, { files })
    const of = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const initialize = of('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' }
    })
    for (const body of [
      of('tools/list', {}),
      initialize,
      of('tools/call', { name: 'inspect_file', arguments: null })
    ]) {
      for (const accept of ['application/json', 'text/event-stream', 'application/*', 'text/event-stream, text/*']) {
        for (const path of ['/mcp', '/mcp/']) {
          const { status, headers, text } = await server.call('POST', path, { body, headers: { accept } })
          const isJson = accept.startsWith('application')
          t.equal(status, 200, text)
          t.match(headers.get('content-type'), isJson ? /^application\/json/ : /^text\/event-stream/)
          const message = isJson ? text : /^event: message\n(?:id: .*\n)?data: (.*)\n\n$/.exec(text)?.[1]
          t.match(JSON.parse(message ?? ''), { id: 1, result: {} }, text)
        }
      }
    }
  }
)

t.test('answers whoever takes any type, as curl does', { skip: ONLY_CI }, async t => {
  const server = await startServer(t, { files })
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const statuses = [
    ['*/*', 200],
    ['text/html, */*', 200],
    ['text/html, */*;q=0.8', 200],
    ['application/json, text/event-stream', 200]
  ] as const
  for (const [accept, status] of statuses) {
    t.equal((await server.call('POST', '/mcp', { body, headers: { accept } })).status, status, accept)
  }
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n`
  const sent = JSON.stringify(body)
  const without = await server.raw(
    `${head}Content-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n${sent}`
  )
  t.match(without, /^HTTP\/1.1 200 /, 'without the header')
})

t.test('offers a reader only what works, and tells of a bug only its request_id', async t => {
  const reading = await startServer(t, { files, settings: { readOnly: true } })
  const reader = await overHttp(t, reading, ERAS[1])
  t.strictSame(
    (await reader.listTools()).tools.map(({ name }) => name),
    ['inspect_file', 'find']
  )
  t.match(textIn(await call(reader, 'create_file', { path: 'b', content: '' })), /READ_ONLY/)
  const broken = await startServer(t, {
    files,
    replace: {
      look: async () => {
        throw new Error('secret')
      }
    }
  })
  const failed = await call(await overHttp(t, broken, ERAS[1]), 'inspect_file', { path: 'a.txt' })
  t.match({ ...failed, text: textIn(failed) }, { isError: true, text: /\[INTERNAL_ERROR\]/ })
  t.notMatch(JSON.stringify(failed), 'secret')
  t.ok(
    broken.log.some(
      ({ msg, request_id }) => msg === 'bug' && textIn(failed).includes(`request_id ${String(request_id)}`)
    )
  )
})

t.test('takes one message a request, so that each call is counted and logged', async t => {
  const server = await startServer(t, { files })
  const made = ['x.txt', 'y.txt'].map((path, id) => {
    const params = { name: 'create_file', arguments: { path, content: '' } }
    return { jsonrpc: '2.0', id, method: 'tools/call', params }
  })
  const headers = { accept: 'application/json, text/event-stream' }
  for (const body of [made, made.slice(1), []]) {
    t.match(await server.call('POST', '/mcp', { headers, body }), {
      status: 400,
      body: { code: 'INVALID_REQUEST', detail: /one JSON-RPC message, not an array/ }
    })
  }
  t.notOk(existsSync(join(server.root, 'x.txt')) || existsSync(join(server.root, 'y.txt')))
})

t.test('says in /capabilities what it speaks', async t => {
  const server = await startServer(t, { files })
  t.match((await server.call('GET', '/capabilities')).body, {
    mcp_versions: ERAS.map(([version]) => version).reverse(),
    tool_formats: ['openai', 'openai-chat', 'anthropic', 'gemini', 'bedrock', 'mcp']
  })
})

t.test(
  'writes nothing but the protocol to stdout, and answers what it was asked before the end',
  { skip: ONLY_CI },
  async t => {
    const folder = mkdtempSync(join(tmpdir(), 'editd-mcp-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'a.txt'), files['a.txt'])
    const speak = (...flags: string[]) =>
      spawn(process.execPath, [SERVER, 'mcp', join(folder), '--state-dir', join(folder, '.state'), ...flags], {
        env: { ...process.env, EDITD_HOST: '0.0.0.0', EDITD_TOKEN: 'x' }
      })
    const child = speak('--body-limit', '5000')
    let out = ''
    let log = ''
    child.stdout.setEncoding('utf8').on('data', chunk => {
      out += chunk
    })
    child.stderr.setEncoding('utf8').on('data', chunk => {
      log += chunk
    })
    const initialize = {
      jsonrpc: '2.0',
      id: 'i',
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    }
    const tool = (id: number, name: string, given: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: given }
    })
    const lines: (string | object | Buffer)[] = [
      initialize,
      '',
      '{"jsonrpc":"2.0","id":1,"id":2}',
      '{',
      '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"edit_file",' +
        '"arguments":{"path":"a.txt","old_text":"two","new_text":"lost","__proto__":{"dry_run":true}}}}',
      [],
      'x'.repeat(9000),
      Buffer.from([0x22, 0xff, 0x22]),
      tool(3, 'inspect_file', { path: 'a.txt', search: 'two' }),
      tool(4, 'edit_file', { path: 'a.txt', old_text: 'one', new_text: 'ö' }),
      tool(5, 'inspect_file', { path: 'nowhere' }),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } }
    ]
    for (const line of lines) {
      child.stdin.write(
        Buffer.concat([
          line instanceof Buffer ? line : Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)),
          Buffer.from('\n')
        ])
      )
    }
    child.stdin.end()
    const [code] = await once(child, 'close')
    t.equal(code, 0)
    const answers = out
      .trim()
      .split('\n')
      .map(
        line => JSON.parse(line) as { id: string | number | null; error?: { message: string }; result?: CallToolResult }
      )
    t.match(
      answers.filter(({ id }) => id === null).map(({ error }) => error?.message),
      [
        /"id" is given twice/,
        /not valid JSON/,
        /the line is not a JSON-RPC message/,
        /larger than 5000 bytes/,
        /not valid UTF-8/
      ]
    )
    for (const [id, expected] of [
      [3, { result: { content: [{ text: /"two" was found 1 time/ }] } }],
      [4, { result: { content: [{ text: /^Successfully/ }] } }],
      [5, { result: { isError: true } }],
      [6, { error: { message: /\/params\/arguments\/__proto__ is an unknown field/ } }]
    ] as const) {
      t.match(
        answers.find(answer => answer.id === id),
        expected
      )
    }
    t.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'ö\ntwo\n')
    t.match(log, /"event":"started"/)
    const calls = log
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
      .filter(({ operation }) => operation !== undefined)
    t.equal(new Set(calls.map(({ request_id }) => request_id)).size, calls.length, 'each call has an id of its own')
    t.match(calls.map(({ operation, path, code, duration_ms }) => [operation, path, code, typeof duration_ms]).sort(), [
      ['edit_file', 'a.txt', undefined, 'number'],
      ['inspect_file', 'a.txt', undefined, 'number'],
      ['inspect_file', 'nowhere', 'FILE_NOT_FOUND', 'number']
    ])
    t.match(log, /"event":"stopped"/)

    const signalled = speak()
    signalled.stderr.once('data', () => {
      signalled.kill('SIGTERM')
    })
    const left = speak()
    left.stdout.destroy()
    left.stdin.write(`${JSON.stringify(initialize)}\n`)
    const exits = await Promise.all([signalled, left].map(async process => (await once(process, 'exit'))[0]))
    t.strictSame(exits, [0, 0], 'a signal ends it, and so does a reader that is gone')
    const faulty = speak('--port=1', '--listen=fd:3', '--token', 'x')
    let complaint = ''
    faulty.stderr.on('data', chunk => {
      complaint += chunk
    })
    t.strictSame((await once(faulty, 'close'))[0], 2)
    t.strictSame(
      [...complaint.matchAll(/--\w+(?= is only for the HTTP server)/g)].map(([flag]) => flag),
      ['--port', '--listen', '--token']
    )
  }
)

/**
 * A folder with the packages `node@24` and `@modelcontextprotocol/inspector`; .ci/run makes it. The inspector needs
 * Node 22.19.
 */
const { INSPECTOR } = process.env

t.test('serves the inspector', { skip: INSPECTOR === undefined && 'INSPECTOR names no folder with it' }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-inspector-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'a.txt'), files['a.txt'])
  const server = await start(folder, join(folder, '.state'))
  const bin = join(INSPECTOR!, 'node_modules/.bin')
  const inspect = (...given: string[]) =>
    JSON.parse(
      execFileSync(join(bin, 'node'), [join(bin, 'mcp-inspector'), '--cli', ...given], {
        encoding: 'utf8',
        timeout: 60_000,
        stdio: ['ignore', 'pipe', 'pipe']
      })
    ) as Record<string, unknown>
  const http = [`${server.url}/mcp`, '--transport', 'http', '--header', 'Authorization: Bearer a-token-for-tests']
  for (const target of [http, [process.execPath, SERVER, 'mcp', folder, '--state-dir', join(folder, '.state')]]) {
    t.match(inspect(...target, '--method', 'tools/list'), { tools: NAMES.map(name => ({ name })) })
    t.match(inspect(...target, '--method', 'tools/call', '--tool-name', 'inspect_file', '--tool-arg', 'path=a.txt'), {
      content: [{ text: /^a\.txt: 2 lines/ }]
    })
  }
  t.equal(await server.stop(), 0)
})

t.test('takes a message that comes in parts over stdio', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-mcp-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'a.txt'), 'one\n')
  const child = spawn(process.execPath, [SERVER, 'mcp', folder, '--state-dir', join(folder, '.state')], {
    stdio: ['pipe', 'pipe', 'ignore']
  })
  let out = ''
  const answered = new Promise<void>(resolve => {
    child.stdout.setEncoding('utf8').on('data', chunk => {
      out += chunk
      resolve()
    })
  })
  const bytes = (message: object) => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const initialize = bytes({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  })
  const edit = bytes({
    id: 2,
    method: 'tools/call',
    params: { name: 'edit_file', arguments: { path: 'a.txt', old_text: 'one', new_text: 'ö' } }
  })
  // In the midst of a character.
  const cut = edit.indexOf('ö') + 1
  child.stdin.write(Buffer.concat([initialize, edit.subarray(0, cut)]))
  await answered
  child.stdin.write(edit.subarray(cut))
  child.stdin.end()
  t.strictSame((await once(child, 'close'))[0], 0)
  t.strictSame(
    out
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { id: number }).id),
    [1, 2]
  )
  t.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'ö\n')
})
