// The published document: fresh, closed, bounded, described for a model.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { toProblem } from '../../src/http/answers/problem.ts'
import { PROBLEMS } from '../../src/http/answers/problems/table.ts'
import { openapiYaml } from '../../src/print-openapi.ts'
import { FAILURES } from '../http/answers/all-failures.ts'

const committed = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean
  unevaluatedProperties?: boolean
  oneOf?: { $ref: string }[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
  description?: string
  default?: unknown
  items?: Schema
  $ref?: string
  maxItems?: number
}
interface Response {
  description: string
  headers?: object
}
interface Operation {
  operationId: string
  summary: string
  description: string
  security?: unknown[]
  tags: string[]
  responses: Record<string, Response | { $ref: string }>
  parameters?: ({ name: string } | { $ref: string })[]
}

const document: {
  openapi: string
  info: object
  servers: object[]
  security: object[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
} = parse(committed)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, ...operation }))
)

function* schemas(schema: Schema, at: string): Generator<[string, Schema]> {
  yield [at, schema]
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* schemas(property, `${at}.${name}`)
  if (schema.items) yield* schemas(schema.items, `${at}[]`)
}

const nameIn = (ref: string) => ref.split('/').at(-1) ?? ''

t.test('is small enough to be read by a program at each start', async t => {
  // Eighteen operations, four adapters, two more codes at each route (429, 403), and the whole hash in each answer; a
  // quarter are descriptions.
  t.ok(JSON.stringify(document).length <= 310_000, `${JSON.stringify(document).length} characters`)
})

t.test('says which headers a client needs to go on', async t => {
  const expected: Record<string, string> = {
    401: 'WWW-Authenticate',
    423: 'Retry-After',
    429: 'Retry-After',
    503: 'Retry-After'
  }
  for (const { at, responses } of operations) {
    for (const [status, header] of Object.entries(expected)) {
      const response = responses[status]
      if (response === undefined || at === 'get /readyz' || at === 'get /healthz') continue
      const { headers } = '$ref' in response ? document.components.responses[nameIn(response.$ref)]! : response
      t.strictSame(Object.keys(headers ?? {}), [header], `${at} ${status}`)
    }
  }
  const sent = new Set<string>()
  for (const { failure, context } of FAILURES) {
    const { body, headers } = toProblem(failure, { instance: '/edit', request_id: 'r', ...context })
    const header = expected[body.status]?.toLowerCase()
    // What may have been made nobody should send again by itself.
    if (header === undefined || (body.status === 503 && body.retry === 'after_read')) continue
    t.ok(header in headers, `${body.code} ${body.detail}`)
    sent.add(String(body.status))
  }
  t.strictSame([...sent].sort(), Object.keys(expected))
})

t.test('tells problems apart by code, and what was inspected by type', async t => {
  const { Problem, InspectResult } = document.components.schemas
  const check = (schema: Schema | undefined, member: string, values: readonly string[]) => {
    t.equal(schema?.discriminator?.propertyName, member)
    const { mapping = {} } = schema?.discriminator ?? {}
    t.strictSame(Object.keys(mapping).sort(), [...values].sort())
    t.strictSame([...new Set(Object.values(mapping))].sort(), schema?.oneOf?.map(({ $ref }) => $ref).sort())
    for (const [value, ref] of Object.entries(mapping)) {
      const { properties, required } = document.components.schemas[nameIn(ref)] as Schema & { required: string[] }
      t.ok((properties?.[member] as { enum?: string[] }).enum?.includes(value), value)
      t.ok(required.includes(member), value)
    }
  }
  check(Problem, 'code', Object.keys(PROBLEMS))
  check(InspectResult, 'type', ['file', 'directory'])
})

t.test('is as the code has it', async t => {
  t.equal(committed, await openapiYaml(), 'openapi.yaml is stale: npm run openapi')
})

t.test('says of line_endings the same everywhere', async t => {
  const said = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
    // That of a batch only says where it is described.
    properties?.line_endings === undefined || name === 'BatchOperation'
      ? []
      : [[name, properties.line_endings.description] as const]
  )
  t.strictSame(said.map(([name]) => name).sort(), [
    'CreateRequest',
    'EditLinesRequest',
    'EditRequest',
    'EditSectionRequest',
    'PreviewRequest'
  ])
  const sentences = [
    'the line breaks of the file; where the file mixes them, with that of the line on which the change starts.',
    "exact: the bytes as given; a line break that editd adds is still the file's."
  ]
  const answers = readFileSync(new URL('../../docs/answers.md', import.meta.url), 'utf8').replaceAll('`', '')
  const texts = [...said, ['docs/answers.md', answers] as const]
  for (const [name, text] of texts) {
    for (const sentence of sentences) t.ok(text?.includes(sentence), `${name}: ${sentence}`)
  }
})

t.test('names every operation and tells a model what it is for', async t => {
  t.match(document, {
    openapi: '3.1.0',
    info: { license: { name: 'MIT' }, contact: {} },
    servers: [{}],
    security: [{ bearer: [] }]
  })
  t.strictSame(
    operations.map(({ at, operationId }) => [at, operationId]),
    [
      ['post /edit', 'edit_file'],
      ['post /edit-lines', 'edit_lines'],
      ['post /edit-section', 'edit_section'],
      ['post /preview', 'preview_edit'],
      ['post /batch', 'batch_edit'],
      ['post /replace', 'replace_in_files'],
      ['post /create', 'create_file'],
      ['post /delete', 'delete_file'],
      ['post /move', 'move_file'],
      ['post /inspect', 'inspect_file'],
      ['post /find', 'find'],
      ['post /history', 'edit_history'],
      ['post /undo', 'undo_edit'],
      ['post /redo', 'redo_edit'],
      ['post /review', 'review_edits'],
      ['post /pending', 'pending_changes'],
      ['post /blame', 'blame_file'],
      ['post /changes', 'wait_for_changes'],
      ['get /tools', 'get_tools'],
      ['post /tools/{name}', 'call_tool'],
      ['post /adapters/anthropic-text-editor', 'anthropic_text_editor'],
      ['post /adapters/anthropic-memory', 'anthropic_memory'],
      ['post /adapters/openai-apply-patch', 'openai_apply_patch'],
      ['post /adapters/codex-apply-patch', 'codex_apply_patch'],
      ['get /capabilities', 'get_capabilities'],
      ['get /events', 'get_events'],
      ['get /healthz', 'get_health'],
      ['get /readyz', 'get_readiness']
    ]
  )
  for (const { at, summary, description, tags, responses } of operations) {
    t.ok(summary.length <= 60, `summary of ${at}`)
    t.ok(description.length <= 300, `description of ${at}`)
    t.equal(tags.length, 1)
    for (const status of ['200', '400', '408', '431', '500', '503']) {
      const response = responses[status] ?? { description: '' }
      const shared = '$ref' in response ? document.components.responses[nameIn(response.$ref)] : response
      t.ok(shared?.description, `${at} ${status}`)
    }
  }
  t.match(operations[0], {
    description: /the default.*Inspect first.*expected_hash.*add context rather than a count.*Check changes/s,
    parameters: [{ $ref: '#/components/parameters/If-Match' }]
  })
  t.match(operations[1], { description: /when you have just read the line numbers.*expected_hash.*check changes/s })
  t.match(operations[9], { description: /before an edit.*expected_hash/s, parameters: undefined })
  t.strictSame(
    operations.filter(({ security }) => security?.length === 0).map(({ at }) => at),
    ['get /healthz', 'get /readyz']
  )
})

t.test('has each field of a request in the table of the documents', async t => {
  const answers = readFileSync(new URL('../../docs/answers.md', import.meta.url), 'utf8')
  const rows = new Map(
    [...answers.matchAll(/^\| `?(\/?[a-z -]+)`? \| (.*) \|$/gm)].map(([, route, text]) => [route!, text!])
  )
  for (const name of [
    'edit',
    'edit-lines',
    'edit-section',
    'create',
    'delete',
    'move',
    'inspect',
    'history',
    'undo',
    'redo',
    'review'
  ]) {
    const { $ref } = (document.paths[`/${name}`]!.post as any).requestBody.content['application/json'].schema
    const row = `${rows.get(`/${name}`)} ${rows.get('all that change')}`
    const missing = Object.keys(document.components.schemas[nameIn($ref)]!.properties!).filter(
      field => !row.includes(`\`${field}\``)
    )
    t.strictSame(missing, [], name)
  }
})

t.test('has closed, described schemas without defaults', async t => {
  for (const [name, component] of Object.entries(document.components.schemas)) {
    for (const [at, schema] of schemas(component, name)) {
      t.notMatch(name, /^(def|schema)-/)
      // Of the open one each problem is made, which is closed; the item of OpenAI has fields that its API adds.
      if (schema.properties !== undefined && at !== 'ProblemBase' && at !== 'ApplyPatchCall') {
        t.equal(schema.unevaluatedProperties ?? schema.additionalProperties, false, at)
      }
      // The code of a problem is what its schema is named after.
      const isCode = at.endsWith('Problem.code')
      if (schema.$ref === undefined && !at.endsWith('[]') && !isCode) t.type(schema.description, 'string', at)
      t.notOk('default' in schema, at)
    }
  }
  t.match(document.components.schemas.EditRequest, {
    properties: { edits: { maxItems: 1000, minItems: 1 }, path: { maxLength: 4096 } }
  })
  // Flat, for callers that take no union: one object, whatever the operation.
  for (const name of [
    'EditRequest',
    'CreateRequest',
    'EditLinesRequest',
    'EditSectionRequest',
    'PreviewRequest',
    'CreateRequest',
    'InspectRequest'
  ]) {
    t.match(document.components.schemas[name], { type: 'object', anyOf: undefined, oneOf: undefined, allOf: undefined })
  }
  const { TextEditorCall: _, MemoryCall: __, ...ours } = document.components.schemas
  t.notMatch(
    JSON.stringify({ ...document, components: { ...document.components, schemas: ours } }),
    /old_string|file_path|dryRun|startLine|file_text/,
    'names of other dialects are taken, not published'
  )
})
