// GET /tools and POST /tools/{name}: definitions that the hosts take by what they publish, and calls that go the way of
// the routes.
import t from 'tap'
import { hasProperty, type JsonSchema } from '../../src/http/requests/json-schema.ts'
import { makeOperations, operationsIn } from '../../src/operations.ts'
import { bytesOf, startServer, type TestServer } from './test-server.ts'
import { faultsOf, parts, RULES, type Defined } from './tool-rules.ts'

const NAMES = ['edit_file', 'edit_lines', 'edit_section', 'create_file', 'inspect_file', 'find', 'undo_edit']
const ALL =
  'edit_file,edit_lines,edit_section,preview_edit,batch_edit,replace_in_files,create_file,inspect_file,find,edit_history,undo_edit,redo_edit'
const files = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' }

interface Definition {
  type?: string
  name: string
  description: string
  function?: Definition
  strict?: boolean
  functionDeclarations?: Definition[]
  toolSpec?: Definition
  parameters?: JsonSchema
  input_schema?: JsonSchema
  inputSchema?: JsonSchema & { json?: JsonSchema }
  outputSchema?: JsonSchema
  annotations?: Record<string, unknown>
}

const definitionsOf = async (server: TestServer, query = '') =>
  (await server.call('GET', `/tools${query}`)).body as unknown as Definition[]
const plain = ({ function: nested, toolSpec, ...definition }: Definition): Defined => {
  const { name, description, parameters, input_schema, inputSchema, strict = false } = nested ?? toolSpec ?? definition
  return { name, description, schema: (parameters ?? input_schema ?? inputSchema?.json ?? inputSchema)!, strict }
}
/** Those of Gemini are all in one. */
const plainOf = (definitions: readonly Definition[]): Defined[] =>
  definitions.flatMap(({ functionDeclarations, ...definition }) => functionDeclarations ?? [definition]).map(plain)
/** The definition with its parts changed. */
const spoilt = (definition: Defined, change: (definition: Defined) => void): Defined => {
  const copy = structuredClone(definition)
  change(copy)
  return copy
}

t.test('defines tools as each host takes them', async t => {
  const server = await startServer(t, { files })
  for (const [host, query] of [
    ['openai', ''],
    ['openai', '?format=openai-chat'],
    ['openai', '?format=openai&strict=true'],
    ['openai', '?strict=true&format=openai-chat'],
    ['anthropic', '?format=anthropic'],
    ['anthropic', '?format=anthropic&strict=true'],
    ['anthropic', '?format=mcp'],
    ['openai', '?format=mcp&strict=true'],
    ['gemini', '?format=gemini'],
    ['bedrock', '?format=bedrock'],
    ['bedrock', '?format=bedrock&strict=true'],
    ['openai', `?names=${ALL}`],
    ['openai', `?strict=true&names=${ALL}`],
    ['anthropic', `?format=anthropic&strict=true&names=${ALL}`],
    ['gemini', `?format=gemini&names=${ALL}`],
    ['bedrock', `?format=bedrock&names=${ALL}`],
    ['bedrock', `?format=bedrock&strict=true&names=${ALL}`]
  ] as const) {
    const definitions = plainOf(await definitionsOf(server, query))
    t.strictSame(
      definitions.map(({ name }) => name),
      query.includes('names') ? ALL.split(',') : NAMES,
      query
    )
    t.strictSame(faultsOf(host, definitions), [], `${host} ${query}`)
    for (const { schema, name, strict } of definitions) {
      for (const part of parts(schema)) {
        t.notOk('$ref' in part.schema || '$id' in part.schema, `${name}${part.at} is self-contained`)
      }
      const isOpen = host === 'gemini' || (host === 'bedrock' && !strict)
      t.equal(schema.additionalProperties, isOpen ? undefined : false)
    }
  }
  t.match(await definitionsOf(server), [
    {
      type: 'function',
      name: 'edit_file',
      strict: false,
      parameters: { required: ['path'], properties: { edits: { items: { required: ['old_text', 'new_text'] } } } }
    }
  ])
  t.match(await definitionsOf(server, '?format=openai-chat'), [
    { type: 'function', function: { name: 'edit_file', strict: false } }
  ])
  t.strictSame(Object.keys((await definitionsOf(server, '?format=anthropic'))[0]!), [
    'name',
    'description',
    'input_schema'
  ])
  const strict = await definitionsOf(server, '?strict=true')
  t.match(strict[0], {
    strict: true,
    description: /Send null for every field that you would leave out\.$/,
    parameters: {
      required: ['path', 'old_text', 'new_text'],
      properties: {
        path: { type: 'string' },
        old_text: { type: ['string', 'null'] },
        occurrence: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
        line_endings: { type: ['string', 'null'], enum: ['adapt', 'exact', null] },
        edits: {
          type: ['array', 'null'],
          items: { required: ['old_text', 'new_text', 'occurrences', 'replace_all', 'occurrence'] }
        }
      }
    }
  })
  const anthropic = await definitionsOf(server, '?format=anthropic&strict=true')
  t.strictSame(
    anthropic.map(({ strict }) => strict),
    [true, true, true, true, undefined, undefined, undefined],
    'the last three would go over the limit of all'
  )
  t.notOk(
    (await definitionsOf(server, '?format=anthropic&strict=true&names=preview_edit'))[0]!.strict,
    'what stands for other operations has too many optional fields'
  )
  t.match(anthropic[0], {
    input_schema: {
      required: ['path', 'edits'],
      properties: {
        old_text: undefined,
        show_diff: undefined,
        edits: {
          description: 'Several edits, each on the result of those before it.',
          items: { properties: { old_text: { description: /^Copied from the file/ } } }
        }
      }
    }
  })
  const [{ functionDeclarations }] = (await definitionsOf(server, '?format=gemini')) as [Definition]
  t.match(functionDeclarations![0], {
    name: 'edit_file',
    description: /^Replaces exact text/,
    parameters: {
      type: 'OBJECT',
      required: ['path'],
      properties: {
        path: { type: 'STRING' },
        occurrences: { type: 'INTEGER' },
        occurrence: {
          type: 'STRING',
          description: 'Which one of several matches. Send first, last, all or a number, as a string.'
        },
        edits: {
          type: 'ARRAY',
          items: { properties: { occurrence: { description: 'Send first, last, all or a number, as a string.' } } }
        }
      }
    }
  })
  const bedrock = await definitionsOf(server, '?format=bedrock')
  t.match(bedrock[0], {
    toolSpec: {
      name: 'edit_file',
      strict: undefined,
      inputSchema: { json: { type: 'object', required: ['path'], properties: { occurrence: { type: 'string' } } } }
    }
  })
  t.strictSame(
    (await definitionsOf(server, '?format=bedrock&strict=true')).map(plain).map(({ name, schema, strict }) => ({
      name,
      schema: strict && schema
    })),
    anthropic.map(plain).map(({ name, schema, strict }) => ({ name, schema: strict && schema })),
    'the strict tools are those of Anthropic'
  )
  t.match(await definitionsOf(server, '?format=mcp'), [
    {
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
      outputSchema: undefined
    },
    { annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false } },
    { annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false } },
    { annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true } },
    {
      title: 'Look at a file or list a directory',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
    }
  ])
  t.match(await definitionsOf(server, '?format=mcp&names=preview_edit'), [
    { annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } }
  ])
  const telling = await startServer(t, { files, settings: { mcpOutputSchema: true } })
  t.match(await definitionsOf(telling, '?format=mcp'), [
    {
      outputSchema: {
        type: 'object',
        properties: { changes: { items: { properties: { context: { properties: {} } } } } }
      }
    }
  ])
})

t.test('defines the tools that are named, by the request or by the server', async t => {
  const namesOf = async (server: TestServer, query = '') => (await definitionsOf(server, query)).map(({ name }) => name)
  const server = await startServer(t, { files })
  t.strictSame(await namesOf(server, '?names=preview_edit,edit_file'), ['edit_file', 'preview_edit'])
  const chosen = await startServer(t, { files, settings: { tools: ['inspect_file', 'preview_edit'] } })
  t.strictSame(await namesOf(chosen), ['preview_edit', 'inspect_file'])
  t.strictSame(await namesOf(chosen, '?names=edit_file'), ['edit_file'])
  const reading = await startServer(t, { files, settings: { readOnly: true, tools: ['edit_file', 'inspect_file'] } })
  t.strictSame(await namesOf(reading), ['inspect_file'])
  const refused = async (at: TestServer, names: string, message: string) =>
    t.match((await at.call('GET', `/tools?names=${names}`)).body, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer: '/names', message }]
    })
  await refused(
    server,
    'edit_file,inspect',
    'has an unknown tool "inspect" (did you mean inspect_file?); the tools are edit_file, edit_lines, edit_section, ' +
      'preview_edit, batch_edit, replace_in_files, create_file, inspect_file, find, edit_history, undo_edit and redo_edit'
  )
  await refused(server, '', 'has an unknown tool ""; the tools are')
  t.match((await server.call('GET', '/tools?format=gemini&strict=true')).body, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/strict', message: /^is not for gemini, .*: leave it out, .* the mode VALIDATED$/ }]
  })
  await refused(
    reading,
    'edit_file',
    'has edit_file, which a read-only server does not offer; the tools are inspect_file'
  )
})

t.test('gives a model the rules of matching and the order of work', async t => {
  const server = await startServer(t, { files })
  const definitions = (await definitionsOf(server, `?names=${ALL}`)).map(plain)
  const [edit, lines, section, preview, , , create, inspect] = definitions.map(({ description }) => description)
  t.match(
    edit,
    /the default way.*Inspect first.*file_hash on as expected_hash.*add context rather than a count.*Check changes/s
  )
  t.match(lines, /when you have just read the line numbers.*file_hash as expected_hash.*edit_file is safer/s)
  t.match(section, /by its name.*inspect_file with structure: true.*file_hash on as expected_hash/s)
  t.match(preview, /writes nothing/)
  t.match(create, /fails if the file exists.*overwrite: true.*expected_hash/s)
  t.match(inspect, /before an edit.*file_hash on as expected_hash/s)
  const hint = (tool: number, field: string) => definitions[tool]?.schema.properties?.[field]?.description
  for (const [tool, field, text] of [
    [0, 'path', /workspace root/],
    [0, 'old_text', /every space.*one place/],
    [0, 'edits', /result of those before/],
    [1, 'start_line', /total_lines \+ 1 appends/],
    [1, 'end_line', /Inclusive.*start_line - 1 inserts/],
    [1, 'new_text', /without line numbers/],
    [2, 'heading', /Guide > Setup.*one of heading, code_block, symbol/],
    [6, 'expected_hash', /last answer/],
    [7, 'numbered', /leave them out of old_text/]
  ] as const) {
    t.match(hint(tool, field), text, field)
  }
  for (const { id, hints, request } of operationsIn(
    makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  )) {
    t.strictSame(
      Object.keys(hints).filter(field => !hasProperty(request, field)),
      [],
      `${id} hints at fields that it has`
    )
  }
})

t.test('has a lint that finds what hosts refuse', async t => {
  const server = await startServer(t, { files })
  const openai = (await definitionsOf(server, '?strict=true')).map(plain)
  const anthropic = (await definitionsOf(server, '?format=anthropic&strict=true')).map(plain)
  const [google] = plainOf(await definitionsOf(server, '?format=gemini')) as [Defined]
  const [amazon] = plainOf(await definitionsOf(server, '?format=bedrock')) as [Defined]
  const [one] = openai as [Defined]
  const [small] = anthropic as [Defined]
  const root = (schema: object) => (definition: Defined) => {
    Object.assign(definition.schema, schema)
  }
  const deep = (levels: number): JsonSchema =>
    levels === 0
      ? { type: 'string' }
      : { type: 'object', additionalProperties: false, required: ['a'], properties: { a: deep(levels - 1) } }
  const wide = (count: number, schema: object = { type: 'string' }) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, schema]))
  const breaks: [Parameters<typeof faultsOf>[0], RegExp, Defined[]][] = [
    [
      'openai',
      /a name is/,
      [
        spoilt(one, it => {
          it.name = 'edit file'
        })
      ]
    ],
    [
      'openai',
      /1024/,
      [
        spoilt(one, it => {
          it.description = 'x'.repeat(1025)
        })
      ]
    ],
    ['openai', /128 tools/, Array.from({ length: 129 }, () => one)],
    ['openai', /union at the root/, [spoilt(one, root({ anyOf: [{ required: ['edits'] }] }))]],
    ['openai', /valid JSON Schema/, [spoilt(one, root({ required: 'path' }))]],
    ['openai', /every field is required/, [spoilt(one, root({ required: ['path'] }))]],
    [
      'openai',
      /additionalProperties: false: edit_file\/edits\[\]/,
      [
        spoilt(one, it => {
          delete it.schema.properties!.edits!.items!.additionalProperties
        })
      ]
    ],
    [
      'openai',
      /no allOf/,
      [
        spoilt(one, it => {
          it.schema.properties!.path!.not = {}
        })
      ]
    ],
    [
      'openai',
      /no bounds and patterns/,
      [
        spoilt(one, it => {
          it.schema.properties!.path!.minLength = 1
        })
      ]
    ],
    ['openai', /5000 fields/, [spoilt(one, root({ properties: wide(5001), required: Object.keys(wide(5001)) }))]],
    ['openai', /10 levels/, [spoilt(one, root(deep(11)))]],
    [
      'openai',
      /1000 enum values/,
      [spoilt(one, root({ required: ['a'], properties: { a: { type: 'string', enum: Object.keys(wide(1001)) } } }))]
    ],
    [
      'anthropic',
      /a name is/,
      [
        spoilt(small, it => {
          it.name = 'x'.repeat(65)
        })
      ]
    ],
    ['anthropic', /without oneOf/, [spoilt(small, root({ oneOf: [] }))]],
    ['anthropic', /additionalProperties/, [spoilt(small, root({ additionalProperties: true }))]],
    [
      'anthropic',
      /no bounds/,
      [
        spoilt(small, it => {
          it.schema.properties!.path!.minLength = 1
        })
      ]
    ],
    ['anthropic', /enum values/, [spoilt(small, root({ properties: { a: { enum: ['x'] } }, required: ['a'] }))]],
    ['anthropic', /20 strict/, Array.from({ length: 21 }, () => spoilt(small, root({ properties: {}, required: [] })))],
    ['anthropic', /24 optional/, [spoilt(small, root({ properties: wide(25), required: [] }))]],
    [
      'anthropic',
      /16 unions/,
      [spoilt(small, root({ properties: wide(17, { type: ['string', 'null'] }), required: Object.keys(wide(17)) }))]
    ],
    [
      'gemini',
      /a name begins/,
      [
        spoilt(google, it => {
          it.name = '1st'
        })
      ]
    ],
    ['gemini', /only the fields of Schema/, [spoilt(google, root({ additionalProperties: false }))]],
    ['gemini', /has one type/, [spoilt(google, root({ type: 'object' }))]],
    [
      'gemini',
      /beside anyOf/,
      [
        spoilt(google, it => {
          it.schema.properties!.path!.anyOf = [{ type: 'STRING' }]
        })
      ]
    ],
    [
      'gemini',
      /enum values are texts/,
      [
        spoilt(google, it => {
          it.schema.properties!.occurrences!.enum = [1, 2]
        })
      ]
    ],
    ['gemini', /an object has fields/, [spoilt(google, root({ required: ['pat'] }))]],
    [
      'gemini',
      /an array has items/,
      [
        spoilt(google, it => {
          delete it.schema.properties!.edits!.items
        })
      ]
    ],
    [
      'bedrock',
      /a name is/,
      [
        spoilt(amazon, it => {
          it.name = 'edit.file'
        })
      ]
    ],
    ['bedrock', /JSON Schema of an object/, [spoilt(amazon, root({ type: 'string' }))]],
    ['bedrock', /nothing but type/, [spoilt(amazon, root({ additionalProperties: false }))]],
    ['bedrock', /additionalProperties/, [spoilt(small, root({ additionalProperties: true }))]],
    ['bedrock', /no oneOf, no maxItems/, [spoilt(small, root({ maxItems: 3 }))]],
    ['bedrock', /24 optional/, [spoilt(small, root({ properties: wide(25), required: [] }))]],
    [
      'gpt-actions',
      /300/,
      [
        spoilt(one, it => {
          it.description = 'x'.repeat(301)
        })
      ]
    ],
    [
      'gpt-actions',
      /700/,
      [
        spoilt(one, it => {
          it.schema.properties!.path!.description = 'x'.repeat(701)
        })
      ]
    ],
    [
      'gpt-actions',
      /operationId/,
      [
        spoilt(one, it => {
          it.name = 'a.b'
        })
      ]
    ],
    ['gpt-actions', /no union/, [one]]
  ]
  for (const [host, rule, definitions] of breaks) t.match(faultsOf(host, definitions).join('\n'), rule, String(rule))
  const broken = new Set(
    breaks.map(
      ([host, rule]) =>
        RULES.find(candidate => candidate.host === host && rule.test(`${candidate.rule}: edit_file/edits[]`))?.rule
    )
  )
  t.strictSame(
    RULES.filter(({ rule }) => !broken.has(rule)),
    [],
    'every rule can be broken'
  )
  for (const { source, read } of RULES) t.match(`${source} ${read}`, /\S.* 2026-\d\d-\d\d$/)
})

t.test('takes the arguments of a tool call as models give them', async t => {
  const server = await startServer(t, { files })
  const call = async (name: string, body: unknown, status: number, expected: object, headers = {}) => {
    const reply = await server.call('POST', `/tools/${name}`, { body, headers })
    t.equal(reply.status, status, reply.text.slice(0, 300))
    t.match(reply.body, expected)
    return reply
  }
  const given = { path: 'a.txt' }
  for (const body of [given, { arguments: given }, { arguments: JSON.stringify(given) }]) {
    await call('inspect_file', body, 200, { path: 'a.txt', total_lines: 2 })
  }
  const edited = await call(
    'edit_file',
    { arguments: JSON.stringify({ path: 'a.txt', old_string: 'one', new_string: 'uno' }) },
    200,
    { changed: true, warnings: ['old_string was read as old_text.', 'new_string was read as new_text.'] }
  )
  t.equal(edited.headers.get('etag'), `"${edited.body.sha256}"`)
  t.equal(bytesOf(server, 'a.txt'), 'uno\ntwo\n')
  await call('edit_lines', { arguments: { path: 'a.txt', start_line: 2, end_line: 2, new_text: 'due' } }, 200, {
    total_lines_after: 2
  })
  await call('create_file', { path: 'new/c.txt', content: 'c' }, 200, { created: true })
  await call('preview_edit', { operation: 'edit', path: 'a.txt', old_text: 'due', new_text: '2' }, 200, {
    dry_run: true
  })
  // A problem is that of the route, with its status.
  await call('edit_file', { arguments: JSON.stringify({ path: 'a.txt', old_text: 'two', new_text: '' }) }, 422, {
    code: 'NO_MATCH',
    instance: '/tools/edit_file',
    path: 'a.txt'
  })
  await call(
    'edit_file',
    { path: 'a.txt', old_text: 'uno', new_text: '' },
    412,
    { code: 'STALE_FILE' },
    { 'if-match': '"0123456789abcdef"' }
  )
  await call('edit_file', { arguments: { path: 'a\0b', old_text: 'x', new_text: '' } }, 400, { code: 'INVALID_PATH' })
  await call('edit_file', { arguments: '{"path":"a.txt","old_text":"\\ud800","new_text":""}' }, 400, {
    code: 'INVALID_UNICODE',
    errors: [{ pointer: '/old_text' }]
  })
  await call('edit_file', '{"arguments":"\\ud800"}', 400, {
    code: 'INVALID_UNICODE',
    errors: [{ pointer: '/arguments' }]
  })
  await call('edit_file', { arguments: given, name: 'edit_file' }, 400, {
    errors: [{ pointer: '/name', message: /beside arguments/ }]
  })
  for (const [text, why] of [
    ['', /it is empty/],
    ['{"path":', /was cut off after 8 characters/],
    ['{"path": b}', /is not valid JSON: (at character|it has a syntax error)/],
    ['{"path":"a","path":"b"}', /"path" is given twice/],
    ['['.repeat(30), /was cut off after 30 characters/],
    ['['.repeat(40) + ']'.repeat(40), /deeper than 32/],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, i]))), /more than 100 fields/]
  ] as const) {
    await call('edit_file', { arguments: text }, 400, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer: '/arguments', message: why }]
    })
  }
  for (const other of [null, 1, [], true]) {
    await call('edit_file', { arguments: other }, 400, {
      errors: [{ pointer: '/arguments', message: /as an object or as the JSON/ }]
    })
  }
  await call('edit_file', { arguments: '"text"' }, 400, { errors: [{ pointer: '', message: /must be a JSON object/ }] })
  await call('edit_file', [], 400, { errors: [{ pointer: '', message: /must be a JSON object/ }] })
  await call('edit_file', '{', 400, { code: 'INVALID_JSON' })
  await call('edit_file', '{}', 415, { code: 'UNSUPPORTED_MEDIA_TYPE' }, { 'content-type': 'text/plain' })
  await call('edit_file?x=1', {}, 400, { code: 'INVALID_REQUEST' })
  await call('edit_fil', {}, 404, {
    code: 'ROUTE_NOT_FOUND',
    detail:
      'There is no tool "edit_fil"; did you mean edit_file? The tools are edit_file, edit_lines, edit_section, ' +
      'create_file, inspect_file, find and undo_edit.'
  })
  await call('read_file', {}, 404, {
    detail: /^There is no tool "read_file"; did you mean inspect_file\? The tools are/
  })
  await call('copy_file', {}, 404, { detail: /^There is no tool "copy_file"\. The tools are edit_file,/ })
  await call('edit_file', given, 401, { code: 'UNAUTHORIZED' }, { authorization: '' })
  const got = await server.call('GET', '/tools/edit_file')
  t.match({ ...got.body, allow: got.headers.get('allow') }, { code: 'METHOD_NOT_ALLOWED', allow: 'POST' })
  t.equal((await server.call('POST', '/tools/edit_file/x', { body: {} })).body.code, 'ROUTE_NOT_FOUND')
})

t.test('takes what strict tools send: every field, null for what is left out', async t => {
  const server = await startServer(t, { files })
  const strict = new Map(
    (await definitionsOf(server, `?strict=true&names=${ALL}`)).map(plain).map(({ name, schema }) => [name, schema])
  )
  const full = (schema: JsonSchema, given: object) => ({
    ...Object.fromEntries((schema.required ?? []).map(name => [name, null])),
    ...given
  })
  const call = async (name: string, given: Record<string, unknown>) => {
    const schema = strict.get(name)!
    const edits = Array.isArray(given.edits)
      ? { edits: given.edits.map(edit => full(schema.properties!.edits!.items!, edit)) }
      : {}
    const reply = await server.call('POST', `/tools/${name}`, {
      body: { arguments: JSON.stringify(full(schema, { ...given, ...edits })) }
    })
    t.equal(reply.status, 200, reply.text.slice(0, 300))
  }
  await call('inspect_file', { path: 'a.txt' })
  await call('preview_edit', { operation: 'edit', path: 'a.txt', old_text: 'one', new_text: '1' })
  await call('preview_edit', {
    operation: 'edit_lines',
    path: 'a.txt',
    edits: [{ start_line: 1, end_line: 1, new_text: 'x' }]
  })
  await call('preview_edit', { operation: 'create', path: 'z.txt', content: 'z' })
  await call('edit_file', { path: 'a.txt', old_text: 'one', new_text: '1' })
  await call('edit_file', { path: 'a.txt', edits: [{ old_text: '1', new_text: '2', occurrence: 'first' }] })
  await call('edit_lines', { path: 'a.txt', edits: [{ start_line: 1, end_line: 1, new_text: 'x' }] })
  await call('create_file', { path: 'z.txt', content: 'z' })
})

t.test('refuses what it does not know in the query', async t => {
  const server = await startServer(t, { files })
  const refused = async (query: string, message: RegExp) =>
    t.match((await server.call('GET', `/tools?${query}`)).body, { code: 'INVALID_REQUEST', detail: message })
  await refused('format=open-ai', /\/format must be "openai", "openai-chat", "anthropic", "gemini", "bedrock" or "mcp"/)
  await refused('strict=1', /\/strict must be "true" or "false"/)
  await refused('formats=mcp', /\/formats is an unknown field \(did you mean format\?\)/)
  await refused('strict=true&strict=false', /\/strict is given twice/)
  t.equal((await server.call('GET', '/tools?format=mcp', { headers: { authorization: '' } })).status, 401)
})

t.test('offers a reader only what works', async t => {
  const server = await startServer(t, { files, settings: { readOnly: true } })
  t.strictSame(
    (await definitionsOf(server)).map(({ name }) => name),
    ['inspect_file', 'find']
  )
  t.match(
    (await server.call('POST', '/tools/edit_file', { body: { path: 'a.txt', old_text: 'one', new_text: '' } })).body,
    { code: 'READ_ONLY' }
  )
  t.match((await server.call('POST', '/tools/nothing', { body: {} })).body, {
    code: 'ROUTE_NOT_FOUND',
    detail: /The tools are inspect_file and find\.$/
  })
})

t.test('offers tools that delete only where that is allowed', async t => {
  const namesOf = async (settings: object, query = '') => {
    const server = await startServer(t, { files, settings })
    const reply = await server.call('GET', `/tools${query}`)
    const listed = Array.isArray(reply.body) ? (reply.body as { name: string }[]).map(({ name }) => name) : []
    return { names: listed.filter(name => name === 'delete_file' || name === 'move_file'), reply, server }
  }
  const { server, names } = await namesOf({ allowDelete: true })
  t.strictSame(names, ['delete_file', 'move_file'])
  t.match((await server.call('GET', '/capabilities')).body, { root: { allow_delete: true } })
  t.match((await server.call('POST', '/tools/delete_file', { body: { path: 'a.txt' } })).body, { removed: true })
  for (const settings of [{}, { allowDelete: true, readOnly: true }, { allowDelete: true, history: 'meta' }]) {
    t.strictSame((await namesOf(settings)).names, [])
  }
  const unoffered = await namesOf({}, '?names=move_file')
  t.match(unoffered.reply.body, { code: 'INVALID_REQUEST', detail: /move_file, which is offered only where files may/ })
  t.match((await unoffered.server.call('POST', '/tools/move_file', { body: { path: 'a.txt', to: 'b.txt' } })).body, {
    code: 'DELETE_NOT_ALLOWED',
    path: 'a.txt'
  })
})
