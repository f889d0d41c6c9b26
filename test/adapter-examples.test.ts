// The programs of examples/adapters/: compiled with the vendors' own SDKs, and run against the built server and a
// scripted model behind the vendor's own protocol.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { testFolder } from './folder.ts'
import { start, uncounted } from './running.ts'

const EXAMPLES = join(import.meta.dirname, '../examples/adapters')
const MODULES = join(import.meta.dirname, 'clients/node_modules')
const isInstalled = existsSync(join(MODULES, '@anthropic-ai/sdk')) && existsSync(join(MODULES, 'openai'))
const options = { skip: !isInstalled && 'the SDKs are not installed (npm ci --prefix test/clients)' }

const BEFORE = 'const host = process.env.HOST\nconst port = 8080\nlisten(port, host)\n'
const AFTER = BEFORE.replace('8080', '9090')

/** What the model does next, knowing the outputs so far: a call, or the text that ends the conversation. */
type Script = (outputs: readonly string[]) => object | string

interface Vendor {
  path: string
  env: Record<string, string>
  /** The outputs that a request of the SDK holds; the last is that of the call before. */
  outputsOf(body: never): string[]
  /** The answer of the model. */
  answer(move: object | string, turn: number): object
}

const ANTHROPIC: Vendor = {
  path: '/v1/messages',
  env: { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_MODEL: 'a-model' },
  outputsOf: ({ messages }: { messages: { content: string | { type: string; content?: string }[] }[] }) =>
    messages.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap(block => (block.type === 'tool_result' ? [block.content!] : []))
    ),
  answer: (move, turn) => ({
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model: 'a-model',
    content: [
      typeof move === 'string' ? { type: 'text', text: move } : { type: 'tool_use', id: `toolu_${turn}`, ...move }
    ],
    stop_reason: typeof move === 'string' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 }
  })
}

const OPENAI: Vendor = {
  path: '/v1/responses',
  env: { OPENAI_API_KEY: 'a-key', OPENAI_MODEL: 'a-model' },
  outputsOf: ({ input }: { input: { type?: string; output?: string }[] }) =>
    input.flatMap(({ type, output }) => (type?.endsWith('_output') === true ? [output!] : [])),
  answer: (move, turn) => ({
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1,
    model: 'a-model',
    status: 'completed',
    output: [
      typeof move === 'string'
        ? {
            type: 'message',
            id: `msg_${turn}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: move, annotations: [] }]
          }
        : { id: `item_${turn}`, call_id: `call_${turn}`, status: 'completed', ...move }
    ]
  })
}

/** The end of a text from the line that begins with this: a call or a patch that is ready to send. */
const from = (text: string, beginning: string): string => text.slice(text.search(new RegExp(`^${beginning}`, 'm')))

const editorCall = (input: object) => ({ name: 'str_replace_based_edit_tool', input })
const memoryCall = (input: object) => ({ name: 'memory', input })
const patchCall = (operation: object) => ({ type: 'apply_patch_call', operation })
const codexCall = (input: string) => ({ type: 'custom_tool_call', name: 'apply_patch', input })
const MISSED = '@@\n const host = process.env.HOST\n-const port  = 8080\n+const port = 9090\n'

/** Each model misses by a space, sends what the answer asks for, and ends with the last answer. */
const SCRIPTS: Record<string, { vendor: Vendor; script: Script; file: string; before?: string; after: string }> = {
  'anthropic-text-editor': {
    vendor: ANTHROPIC,
    file: 'app.js',
    before: BEFORE,
    after: AFTER,
    script([viewed, missed, edited]) {
      if (viewed === undefined) return editorCall({ command: 'view', path: 'app.js' })
      const edit = { path: 'app.js', old_str: 'const port  = 8080', new_str: 'const port = 9090' }
      if (missed === undefined) return editorCall({ command: 'str_replace', ...edit })
      return edited ?? editorCall(JSON.parse(/^\{.*$/m.exec(missed)![0]) as object)
    }
  },
  'anthropic-memory': {
    vendor: ANTHROPIC,
    file: 'memories/ports.md',
    after: 'staging: 9090\nproduction: 443\n',
    script([viewed, created, inserted]) {
      if (viewed === undefined) return memoryCall({ command: 'view', path: '/memories' })
      const path = '/memories/ports.md'
      if (created === undefined) return memoryCall({ command: 'create', path, file_text: 'staging: 9090\n' })
      return inserted ?? memoryCall({ command: 'insert', path, insert_line: 1, insert_text: 'production: 443\n' })
    }
  },
  'openai-apply-patch': {
    vendor: OPENAI,
    file: 'app.js',
    before: BEFORE,
    after: AFTER,
    script([missed, edited]) {
      const update = { type: 'update_file', path: 'app.js' }
      if (missed === undefined) return patchCall({ ...update, diff: MISSED })
      return edited ?? patchCall({ ...update, diff: from(missed, '@@') })
    }
  },
  'codex-apply-patch': {
    vendor: OPENAI,
    file: 'app.js',
    before: BEFORE,
    after: AFTER,
    script([missed, edited]) {
      const patch = `*** Begin Patch\n*** Update File: app.js\n${MISSED}*** End Patch\n`
      return missed === undefined ? codexCall(patch) : (edited ?? codexCall(from(missed, '\\*\\*\\* Begin Patch')))
    }
  }
}

/** An endpoint of the vendor for one conversation. */
async function scriptedModel(t: Test, { path, outputsOf, answer }: Vendor, script: Script) {
  let turn = 0
  const told: string[] = []
  const server = createServer(async (request, response) => {
    t.match(`${request.method} ${request.url}`, `POST ${path}`)
    const outputs = outputsOf((await json(request)) as never)
    if (turn > 0) told.push(outputs.at(-1)!)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(script(told), turn++)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told }
}

t.test('each compiles with the types of its SDK', options, async t => {
  const folder = testFolder(t, {
    'package.json': '{"type":"module"}',
    node_modules: t.fixture('symlink', MODULES),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        module: 'nodenext',
        target: 'es2023',
        noEmit: true,
        skipLibCheck: true,
        types: ['node']
      }
    })
  })
  for (const name of readdirSync(EXAMPLES)) copyFileSync(join(EXAMPLES, name), join(folder, name))
  const tsc = uncounted(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', folder])
  const compiled = await promisify(execFile)(...tsc).catch((error: { stdout: string }) => error)
  t.equal(compiled.stdout, '')
})

t.test('there is one for each adapter', async t => {
  t.strictSame(
    readdirSync(EXAMPLES).map(name => name.replace(/\.ts$/, '')),
    Object.keys(SCRIPTS).sort()
  )
})

for (const [name, { vendor, script, file, before, after }] of Object.entries(SCRIPTS)) {
  t.test(`${name} does what the model asks for`, options, async t => {
    const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLES, `${name}.ts`), 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }
    })
    const program = join(
      testFolder(t, { 'program.mjs': outputText, node_modules: t.fixture('symlink', MODULES) }),
      'program.mjs'
    )
    const folder = mkdtempSync(join(tmpdir(), 'editd-adapters-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'workspace'))
    if (before !== undefined) writeFileSync(join(folder, 'workspace', file), before)
    const server = await start(join(folder, 'workspace'), join(folder, 'state'))
    const model = await scriptedModel(t, vendor, script)
    const { stdout } = await promisify(execFile)(...uncounted(process.execPath, [program, 'Change the port.']), {
      env: {
        ...process.env,
        ...vendor.env,
        ANTHROPIC_BASE_URL: model.url,
        OPENAI_BASE_URL: `${model.url}/v1`,
        EDITD_URL: server.url,
        EDITD_TOKEN: 'a-token-for-tests'
      }
    })
    t.equal(readFileSync(join(folder, 'workspace', file), 'utf8'), after)
    t.equal(stdout.trim(), model.told.at(-1)!.trim(), 'it ends with the last output')
    t.equal(await server.stop(), 0)
  })
}
