// Random requests made from the published document, valid, nearly valid and hostile: no answer is a 500, and none is
// anything that the document doesn't describe. `npm run test:fuzz -- --requests N` for more.
// runs in .ci/run
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import fc, { type Arbitrary } from 'fast-check'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { parse } from 'yaml'
import { validator } from '../http/test-server.ts'
import { SEED } from '../random.ts'
import { descriptorsOf, makeFolders, many, startServer, TOKEN } from './harness.ts'

type Schema = Record<string, any>
const REQUESTS = many('requests', 800, 400)
const document = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'))
const faultsOf = validator(document)
const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1)])

const FILES: Record<string, string> = {
  'a.txt': 'one\ntwo\nthree\nfour\nfive\n',
  'b.ts': 'export const a = 1\n\nfunction f (x) {\n  return x + 1\n}\n',
  'crlf.md': '# Title\r\n\r\nText\r\n',
  'd/e.txt': 'aaa',
  empty: '',
  'nul.bin': 'a\0b',
  '.git/config': 'x\n'
}
const TEXTS = [
  'one',
  'two\nthree',
  'one\ntwo\nthree\nfour\nfive\n',
  'a',
  'aa',
  'return x + 1',
  '  return x+1',
  'Text\n',
  '\n',
  'é',
  '$&'
]
const ODD_TEXTS = ['\r\n', '', '\u0000', '\ufeff', '\ud800', '../x', 'x'.repeat(5000)]
const PATHS = ['a.txt', 'a.txt', 'b.ts', 'crlf.md', 'd/e.txt', 'empty', '.', 'new.txt', 'new/deep/er.txt']
const ODD_PATHS = [
  '',
  'd',
  'd/',
  'nul.bin',
  '.git/config',
  '../x',
  '/etc/passwd',
  'a.txt/x',
  'b.TS',
  'no\nsuch',
  '\u0000',
  'x'.repeat(300),
  'a/'.repeat(2100)
]
/** Nine times out of ten a usual one. */
const mostly = (usual: readonly string[], odd: readonly string[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })
/** Values that no schema describes. */
const HOSTILE = fc.oneof(
  fc.anything({ maxDepth: 3, withNullPrototype: false }),
  fc.constantFrom<unknown>(null, -1, 0, 1e308, 2 ** 53, 0.5, '', [], {}, true, '1', 'true', ['x'], { __proto__: null }),
  fc.string({ unit: 'binary' })
)

/** A value that a schema describes; for paths and texts, usually one that exists. */
function valid(unresolved: Schema, name = ''): Arbitrary<unknown> {
  const schema = resolve(unresolved)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return fc.oneof(...union.map((part: Schema) => valid(part, name)))
  switch (schema.type) {
    case 'object':
      return objectOf(schema)
    case 'array':
      return fc.array(valid(schema.items, name), { maxLength: 4, minLength: schema.minItems ?? 0 })
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return fc.oneof(
        {
          weight: 4,
          arbitrary: fc.integer({ min: Math.max(schema.minimum ?? 0, 0), max: Math.min(schema.maximum ?? 8, 8) })
        },
        { weight: 1, arbitrary: fc.integer({ min: schema.minimum ?? -9, max: schema.maximum ?? 2 ** 31 }) }
      )
    case 'string':
      return schema.pattern !== undefined
        ? fc.constantFrom('0123456789abcdef', '60303ae22b998861')
        : name === 'path' || name === 'after'
          ? mostly(PATHS, ODD_PATHS)
          : fc.oneof(
              { weight: 9, arbitrary: mostly(TEXTS, ODD_TEXTS) },
              { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) }
            )
    default:
      return HOSTILE
  }
}

/** The fields of a single edit; they exclude `edits`. */
const SINGLE = ['old_text', 'new_text', 'start_line', 'end_line', 'content']
/** Those of /preview, by operation. */
const SINGLE_OF: Record<string, string[]> = {
  edit: ['old_text', 'new_text'],
  edit_lines: ['start_line', 'end_line', 'new_text'],
  create: ['content']
}

function objectOf({ properties = {}, required = [] }: Schema): Arbitrary<unknown> {
  const names = Object.keys(properties)
  const single = names.includes('edits') ? SINGLE : []
  const all = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valid(schema as Schema, name)]))
  )
  // Most optional fields are left out: with all of them at once, nearly every request would be refused.
  return fc.tuple(all, fc.subarray(names, { maxLength: 2 }), fc.nat(3)).map(([value, more, form]) =>
    Object.fromEntries(
      Object.entries(value).filter(([name]) => {
        if (required.includes(name)) return true
        if (single.includes(name)) return form !== 0 && (SINGLE_OF[value.operation as string] ?? single).includes(name)
        return name === 'edits' ? form === 0 : more.includes(name)
      })
    )
  )
}

/** A body with one thing wrong: a field missing, one too many, or one with a value of any kind. */
const nearly = (good: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.tuple(good, HOSTILE, fc.nat(), fc.constantFrom('replace', 'remove', 'add')).map(([value, wrong, index, how]) => {
    const entries = Object.entries(value as object)
    const at = index % Math.max(entries.length, 1)
    if (how === 'add') {
      return Object.fromEntries([
        ...entries,
        [['extra', '__proto__', 'constructor', 'toString', 'search', 'content', 'preview'][index % 7]!, wrong]
      ])
    }
    return Object.fromEntries(
      how === 'remove'
        ? entries.filter((_, i) => i !== at)
        : entries.map(([name, old], i) => [name, i === at ? wrong : old])
    )
  })

const ROUTES = {
  '/edit': 'edit_file',
  '/edit-lines': 'edit_lines',
  '/preview': 'preview_edit',
  '/create': 'create_file',
  '/inspect': 'inspect_file'
}
const bodyOf = (route: string) => valid(document.paths[route].post.requestBody.content['application/json'].schema)

interface RandomRequest {
  method: string
  route: string
  /** Its path in the document. */
  published: string
  text: string | Buffer
  headers: Record<string, string>
}
const json = (value: unknown) => JSON.stringify(value) ?? 'null'
const HEADERS = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'if-match': '"0123456789abcdef"' },
      { 'if-none-match': '*' },
      { 'if-match': 'x' },
      { 'content-type': 'text/plain' },
      { 'x-request-id': '\u00ff'.repeat(80) },
      { expect: '100-continue' }
    )
  }
)

const cases: Arbitrary<RandomRequest> = fc.constantFrom(...Object.entries(ROUTES)).chain(([route, tool]) => {
  const good = bodyOf(route)
  const body = fc.oneof(
    { weight: 9, arbitrary: good.map(json) },
    { weight: 5, arbitrary: nearly(good).map(json) },
    { weight: 1, arbitrary: HOSTILE.map(json) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)) },
    // Cut off, or with a byte changed.
    {
      weight: 1,
      arbitrary: fc.tuple(good.map(json), fc.nat(), fc.nat(255)).map(([text, at, byte]) => {
        const bytes = Buffer.from(text)
        bytes[at % Math.max(bytes.length, 1)] = byte
        return byte < 60 ? bytes.subarray(0, at % bytes.length) : bytes
      })
    }
  )
  return fc
    .tuple(
      fc.oneof(
        { weight: 15, arbitrary: fc.constant<string>(route) },
        { weight: 4, arbitrary: fc.constant(`/tools/${tool}`) },
        { weight: 1, arbitrary: fc.constant('/tools/nope') }
      ),
      body,
      HEADERS
    )
    .map(([to, text, headers]) => ({
      method: 'POST',
      route: to,
      published: to.startsWith('/tools/') ? '/tools/{name}' : to,
      text,
      headers
    }))
})

t.test('answers every request as it is published', { skip: ONLY_CI, timeout: 0 }, async t => {
  const server = await startServer(
    t,
    makeFolders(t, FILES),
    '--durability',
    'fast',
    '--lock',
    'local',
    '--log-level',
    'error',
    '--body-limit',
    '1MB'
  )
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  t.teardown(() => {
    agent.destroy()
  })
  const send = ({ method, route, text, headers }: RandomRequest) =>
    new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
      const sent = request(
        server.url + route,
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${TOKEN}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            ...headers
          }
        },
        response => {
          let received = ''
          response
            .setEncoding('utf8')
            .on('data', chunk => {
              received += chunk
            })
            .on('end', () =>
              resolve({
                status: response.statusCode ?? 0,
                type: String(response.headers['content-type']),
                text: received
              })
            )
            .on('error', reject)
        }
      )
      sent.on('error', reject)
      sent.end(text)
    })
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1] ?? 0)
  const statuses = new Map<number, number>()
  let [count, settled] = [0, 0]
  const property = fc.asyncProperty(cases, async sent => {
    // After many edits, hardly any text would be found.
    if (count % 50 === 0) {
      for (const name of ['a.txt', 'b.ts', 'crlf.md', 'd/e.txt', 'empty']) {
        writeFileSync(join(server.root, name), FILES[name]!)
      }
    }
    if (count % 50 === 0) rmSync(join(server.root, 'new'), { recursive: true, force: true })
    const { status, type, text } = await send(sent)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (++count === Math.floor(REQUESTS / 2)) settled = memory()
    const published = document.paths[sent.published].post.responses[status] ?? {}
    const shared = document.components.responses[published.$ref?.split('/').at(-1) ?? '']
    const content = (shared ?? published).content ?? {}
    const media = Object.entries<Schema>(content).find(([name]) => type.startsWith(name))
    if (status >= 500) throw new Error(`${status} ${text}`)
    if (media === undefined) throw new Error(`${status} ${type} is not published: ${text.slice(0, 500)}`)
    if (media[0] === 'text/plain') return
    const faults = faultsOf(media[1].schema.$ref.split('/').at(-1), JSON.parse(text))
    if (faults.length > 0) throw new Error(`${faults.join('; ')}: ${text.slice(0, 500)}`)
  })
  const result = await fc.check(property, { seed: SEED, numRuns: REQUESTS, endOnFailure: false })
  t.comment(
    `SEED=${SEED}; ${JSON.stringify([...statuses].sort())}; ${settled} KB at half, ${memory()} KB at the end; ` +
      `${descriptorsOf(server.child.pid)} descriptors`
  )
  const [sent] = result.counterexample ?? []
  const { route, text, headers } = sent ?? {}
  const counterexample = `${route} ${String(text).slice(0, 1000)} ${JSON.stringify(headers)} (SEED=${SEED})`
  t.notOk(
    result.failed,
    result.failed ? `${String(result.errorInstance)} for ${counterexample}` : 'every answer is described'
  )
  t.ok((statuses.get(200) ?? 0) > REQUESTS / 25, 'some of them do something')
  t.ok(descriptorsOf(server.child.pid) < 60, 'no descriptor leaks')
  if (REQUESTS >= 10_000) t.ok(memory() < settled * 1.25 + 20_000, 'memory is level')
  t.equal((await server.post('/inspect', { path: '.' })).status, 200)
})
