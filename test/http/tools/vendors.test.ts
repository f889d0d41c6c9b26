// The forms for Gemini and Bedrock through the vendors' own SDKs: what they send of our definitions, a call that comes
// back through them, and its result. The model is a script behind the vendor's protocol.
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { bytesOf, startServer } from '../test-server.ts'
import { GEMINI_SCHEMA, GEMINI_TYPES } from '../tool-rules.ts'

const MODULES = join(import.meta.dirname, '../../clients/node_modules')
const GENAI = join(MODULES, '@google/genai')
const BEDROCK = join(MODULES, '@aws-sdk/client-bedrock-runtime')
const skip = existsSync(GENAI) && existsSync(BEDROCK) ? false : 'needs npm ci --prefix test/clients'

const BEFORE = 'const host = process.env.HOST\nconst port = 8080\nlisten(port, host)\n'
const MISS = { path: 'app.js', old_text: 'const port  = 8080', new_text: 'const port = 9090' }

interface Call {
  name: string
  args: Record<string, unknown>
}
interface Result {
  text: string
  isError: boolean
}
/** What a model does next: it calls a tool, or ends with a text. */
type Move = Call | string

/** A conversation by a vendor's SDK: sends the result of the last call, resolves with what the model does next. */
type Next = (result?: Result) => Promise<Move>

interface Vendor {
  query: string
  /** Begins a conversation with the API at this URL. */
  open(url: string, tools: unknown): Promise<Next>
  /** What a request of the SDK has: the tools, and the result of the last call. */
  read(body: never): { tools: unknown; result: Result | undefined }
  /** The answer of the API. */
  answer(move: Move): object
}

const load = async (folder: string, entry: string): Promise<any> => import(pathToFileURL(join(folder, entry)).href)

const gemini = (options: object): Vendor => ({
  query: 'format=gemini',
  async open(baseUrl, tools) {
    const { GoogleGenAI } = await load(GENAI, 'dist/node/index.mjs')
    const ai = new GoogleGenAI({ apiKey: 'a-key', httpOptions: { baseUrl }, ...options })
    const contents: object[] = [{ role: 'user', parts: [{ text: 'Change the port.' }] }]
    let last: { id: string; name: string }
    return async result => {
      if (result !== undefined) {
        const response = result.isError ? { error: result.text } : { output: result.text }
        contents.push({ role: 'user', parts: [{ functionResponse: { id: last.id, name: last.name, response } }] })
      }
      const reply = await ai.models.generateContent({ model: 'gemini-x', contents, config: { tools } })
      contents.push(reply.candidates[0].content)
      const [call] = reply.functionCalls ?? []
      if (call === undefined) return reply.text
      last = call
      return { name: call.name, args: call.args }
    }
  },
  read({ tools, contents }: { tools: unknown; contents: { parts: any[] }[] }) {
    const response = contents.at(-1)!.parts[0].functionResponse?.response
    const isError = response?.error !== undefined
    return { tools, result: response && { text: isError ? response.error : response.output, isError } }
  },
  answer: move => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [typeof move === 'string' ? { text: move } : { functionCall: { id: 'call-1', ...move } }]
        },
        finishReason: 'STOP'
      }
    ]
  })
})

const bedrock = (query: string): Vendor => ({
  query,
  async open(endpoint, tools) {
    const { BedrockRuntimeClient, ConverseCommand } = await load(BEDROCK, 'dist-cjs/index.js')
    const client = new BedrockRuntimeClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'an-id', secretAccessKey: 'a-key' },
      // Its own speaks HTTP/2.
      requestHandler: {
        async handle({ method, path, headers, body }: { method: string; path: string; headers: object; body: string }) {
          const { host: _, 'content-length': __, ...others } = headers as Record<string, string>
          const reply = await fetch(endpoint + path, { method, headers: others, body })
          return {
            response: {
              statusCode: reply.status,
              headers: Object.fromEntries(reply.headers),
              body: Readable.from([Buffer.from(await reply.arrayBuffer())])
            }
          }
        }
      }
    })
    const messages: object[] = [{ role: 'user', content: [{ text: 'Change the port.' }] }]
    let toolUseId: string
    return async result => {
      if (result !== undefined) {
        const toolResult = { toolUseId, content: [{ text: result.text }], ...(result.isError && { status: 'error' }) }
        messages.push({ role: 'user', content: [{ toolResult }] })
      }
      const { output } = await client.send(new ConverseCommand({ modelId: 'a-model', messages, toolConfig: { tools } }))
      messages.push(output.message)
      const [{ text, toolUse }] = output.message.content
      if (toolUse === undefined) return text
      toolUseId = toolUse.toolUseId
      return { name: toolUse.name, args: toolUse.input }
    }
  },
  read({ toolConfig, messages }: { toolConfig: { tools: unknown }; messages: { content: any[] }[] }) {
    const { toolResult } = messages.at(-1)!.content[0]
    return {
      tools: toolConfig.tools,
      result: toolResult && { text: toolResult.content[0].text, isError: toolResult.status === 'error' }
    }
  },
  answer: move => ({
    output: {
      message: {
        role: 'assistant',
        content: [
          typeof move === 'string'
            ? { text: move }
            : { toolUse: { toolUseId: 'call-1', name: move.name, input: move.args } }
        ]
      }
    },
    stopReason: typeof move === 'string' ? 'end_turn' : 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metrics: { latencyMs: 1 }
  })
})

const VENDORS: Record<string, Vendor> = {
  Gemini: gemini({}),
  'Gemini on Vertex AI': gemini({ vertexai: true }),
  Bedrock: bedrock('format=bedrock'),
  'Bedrock, strict': bedrock('format=bedrock&strict=true')
}

/** The vendor's API: its model misses by a space, sends what the answer asks for, and ends with the last answer. */
async function scriptedModel(t: Test, { read, answer }: Vendor) {
  const sent: { tools: unknown; result: Result | undefined }[] = []
  const api = createServer(async (request, response) => {
    const body = read((await json(request)) as never)
    sent.push(body)
    const { text, isError } = body.result ?? { text: JSON.stringify(MISS), isError: true }
    const args = JSON.parse(/^\{.*\}$/m.exec(text)?.[0] ?? '{}') as Call['args']
    const move = isError ? { name: 'edit_file', args } : text
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(move)))
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  t.teardown(() => api.close())
  return { url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, sent }
}

for (const [name, vendor] of Object.entries(VENDORS)) {
  t.test(`${name}: takes the tools, and gives back calls and results as they are`, { skip }, async t => {
    const server = await startServer(t, { files: { 'app.js': BEFORE } })
    const tools: unknown = (await server.call('GET', `/tools?${vendor.query}`)).body
    const model = await scriptedModel(t, vendor)
    const next = await vendor.open(model.url, tools)
    const results: Result[] = []
    let move = await next()
    while (typeof move !== 'string') {
      const { status, text } = await server.call('POST', `/tools/${move.name}`, {
        body: move.args,
        headers: { accept: '*/*' }
      })
      results.push({ text, isError: status >= 400 })
      move = await next(results.at(-1))
    }
    t.equal(bytesOf(server, 'app.js'), BEFORE.replace('8080', '9090'))
    t.match(results, [
      { isError: true, text: /\[NO_MATCH\]/ },
      { isError: false, text: /^Successfully replaced/ }
    ])
    t.equal(move, results[1]!.text)
    t.strictSame(
      model.sent.map(({ result }) => result),
      [undefined, ...results]
    )
    for (const { tools: arrived } of model.sent) t.strictSame(arrived, tools, 'the SDK leaves nothing out')
  })
}

t.test('the lint of the tools knows what the types of the SDK have', { skip }, async t => {
  const { Type } = (await load(GENAI, 'dist/node/index.mjs')) as { Type: Record<string, string> }
  t.strictSame(
    Object.values(Type)
      .filter(type => type !== 'TYPE_UNSPECIFIED')
      .sort(),
    [...GEMINI_TYPES].sort()
  )
  const source = ts.createSourceFile(
    'genai.d.ts',
    readFileSync(join(GENAI, 'dist/genai.d.ts'), 'utf8'),
    ts.ScriptTarget.ES2023
  )
  const schema = source.statements
    .filter(statement => ts.isInterfaceDeclaration(statement))
    .find(statement => statement.name.text === 'Schema')
  t.strictSame(schema!.members.map(member => (member.name as ts.Identifier).text).sort(), [...GEMINI_SCHEMA].sort())
})
