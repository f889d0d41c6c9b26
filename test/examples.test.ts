// The programs of examples/, run on the built server; the agents get a scripted model behind a real
// /v1/chat/completions.
// runs in .ci/run
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { ONLY_CI } from './often.ts'
import ts from 'typescript'
import { testFolder } from './folder.ts'
import { start } from './running.ts'

const EXAMPLES = join(import.meta.dirname, '../examples')
const TASK = 'In app.js, let the port be 9090.'
const BEFORE = 'const host = process.env.HOST\nconst port = 8080\nlisten(port, host)\n'
const AFTER = BEFORE.replace('8080', '9090')
const DONE = 'Successfully replaced 1 occurrence in app.js (line 2).'

interface Message {
  role: string
  content: string | null
  tool_call_id?: string
}
interface Asked {
  model: string
  messages: Message[]
  tools: { type: string; function: { name: string; parameters: object } }[]
}

/**
 * What the model does next: it looks, misses by a space, takes the call that it is given, and tells what it was told.
 */
function nextMove(results: string[]): { name: string; arguments: object } | string {
  const [looked, missed, edited] = results
  if (looked === undefined) return { name: 'inspect_file', arguments: { path: 'app.js', start_line: 1, end_line: 100 } }
  const request = {
    path: 'app.js',
    expected_hash: /file_hash: (\w+)/.exec(looked)?.[1],
    old_text: 'const port  = 8080',
    new_text: 'const port = 9090'
  }
  if (looked === undefined) return { name: 'inspect_file', arguments: { path: 'app.js' } }
  if (missed === undefined) return { name: 'edit_file', arguments: request }
  if (edited === undefined) return { name: 'edit_file', arguments: JSON.parse(/^\{.*$/m.exec(missed)![0]) }
  return edited.split(' file_hash')[0]!
}

/** An endpoint for one conversation: its address, and the answers that the model was given. */
async function scriptedModel(t: Test) {
  const told: string[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const { model, messages, tools } = (await json(request)) as Asked
    t.equal(
      `${request.method} ${request.url} ${request.headers.authorization}`,
      'POST /v1/chat/completions Bearer a-key'
    )
    t.equal(model, 'a-model')
    t.strictSame(
      messages.slice(0, 2).map(({ role }) => role),
      ['system', 'user']
    )
    t.equal(messages[1]?.content, TASK)
    t.ok(
      tools.some(
        tool =>
          tool.type === 'function' && tool.function.name === 'edit_file' && 'properties' in tool.function.parameters
      )
    )
    const results = messages.filter(({ role }) => role === 'tool')
    t.strictSame(
      results.map(({ tool_call_id }) => tool_call_id),
      results.map((_, i) => `call_${i}`)
    )
    told.splice(0, told.length, ...results.map(({ content }) => content ?? ''))
    const move = nextMove(told)
    const message =
      typeof move === 'string'
        ? { role: 'assistant', content: move }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${results.length}`,
                type: 'function',
                function: { name: move.name, arguments: JSON.stringify(move.arguments) }
              }
            ]
          }
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        object: 'chat.completion',
        model,
        choices: [{ index: 0, message, finish_reason: typeof move === 'string' ? 'stop' : 'tool_calls' }]
      })
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, told }
}

const lacks = (...commands: string[]) => {
  const missing = commands.filter(command => {
    try {
      return execFileSync(command, ['--version'], { stdio: 'ignore' }) === undefined
    } catch {
      return true
    }
  })
  return missing.length > 0 && `${missing.join(' and ')} not installed`
}

/** Runs an example in a workspace that holds app.js; it must change the file and tell so. */
async function check(t: Test, command: string, args: string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'editd-examples-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'workspace'))
  const file = join(folder, 'workspace/app.js')
  writeFileSync(file, BEFORE)
  const server = await start(join(folder, 'workspace'), join(folder, 'state'))
  const { stdout, stderr } = await promisify(execFile)(command, args, {
    env: { ...process.env, ...env, EDITD_URL: server.url, EDITD_TOKEN: 'a-token-for-tests' }
  })
  t.equal(stdout.trim().replace(/ edit_id: \w{26}$/, ''), DONE)
  t.equal(readFileSync(file, 'utf8'), AFTER)
  t.equal(await server.stop(), 0)
  return stderr
}

async function checkAgent(t: Test, command: string, program: string) {
  const { url, told } = await scriptedModel(t)
  const stderr = await check(t, command, [program, TASK], {
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'a-key',
    OPENAI_MODEL: 'a-model'
  })
  t.strictSame(
    [...stderr.matchAll(/^(\w+) .* → (\d+)$/gm)].map(([, name, status]) => `${name} ${status}`),
    ['inspect_file 200', 'edit_file 422', 'edit_file 200']
  )
  t.match(told, [/\n2\tconst port = 8080\n/, /\[NO_MATCH\]/, DONE])
}

/** With a token that is wrong, the agent ends with what editd says, before it asks a model. */
async function checkRefused(t: Test, command: string, program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'editd-examples-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const server = await start(join(folder, 'workspace'), join(folder, 'state'))
  await t.rejects(
    promisify(execFile)(command, [program, TASK], {
      env: { ...process.env, EDITD_URL: server.url, EDITD_TOKEN: 'wrong', OPENAI_BASE_URL: 'http://no-model.invalid' }
    }),
    { code: 1, stderr: /UNAUTHORIZED/ }
  )
  t.equal(await server.stop(), 0)
}

t.test('an agent in TypeScript looks, misses, takes the fix', { skip: ONLY_CI }, async t => {
  const source = readFileSync(join(EXAMPLES, 'agent.ts'), 'utf8')
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }
  })
  const program = join(testFolder(t, { 'agent.mjs': outputText }), 'agent.mjs')
  await checkAgent(t, process.execPath, program)
  await checkRefused(t, process.execPath, program)
})

t.test('an agent in Python does', { skip: ONLY_CI || lacks('python3') }, async t => {
  await checkAgent(t, 'python3', join(EXAMPLES, 'agent.py'))
  await checkRefused(t, 'python3', join(EXAMPLES, 'agent.py'))
})

t.test('a script does, with curl', { skip: ONLY_CI || lacks('bash', 'curl', 'jq') }, async t => {
  t.match(
    await check(t, join(EXAMPLES, 'edit.sh'), ['app.js', 'const port  = 8080', 'const port = 9090']),
    'was not found in app.js'
  )
})
