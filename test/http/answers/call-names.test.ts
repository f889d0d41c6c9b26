// The names of calls in answers: a caller of a tool reads the names of tools, a caller of a route those of routes.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { ONLY_CI } from '../../often.ts'
import { parse } from 'yaml'
import type { ProblemCode } from '../../../schemas/problem.ts'
import { TOOL_NAMES } from '../../../schemas/tools.ts'
import { BY_ROUTE, BY_TOOL, byTools, type CallSyntax } from '../../../src/http/answers/call-names.ts'
import { exampleOf, toProblem } from '../../../src/http/answers/problem.ts'
import { makeOperations, operationsIn, toolsIn, type RoutedOperations } from '../../../src/operations.ts'
import { MISSES } from '../../misses.ts'
import { EXAMPLES, FAILURES } from './all-failures.ts'
import { startServer, type TestServer } from '../test-server.ts'

const ROUTES = [
  '/edit',
  '/edit-lines',
  '/edit-section',
  '/preview',
  '/batch',
  '/replace',
  '/create',
  '/delete',
  '/move',
  '/inspect',
  '/find',
  '/history',
  '/undo',
  '/redo',
  '/review',
  '/pending',
  '/blame',
  '/changes'
]
const ofRoutes = new RegExp(`(?<![\\w.-])(${ROUTES.join('|')})(?![\\w/-])`)
// "find" alone is an ordinary verb.
const ofTools = new RegExp(`\\b(${TOOL_NAMES.map(name => (name === 'find' ? '(?<!/)find with' : name)).join('|')})\\b`)

/** Every text in a value, but for those of these members. */
function* textsIn(value: unknown, but: readonly string[]): Generator<string> {
  if (typeof value === 'string') yield value
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) if (!but.includes(name)) yield* textsIn(member, but)
}

/** The texts that name a call otherwise than `naming` does. `instance` is the call itself. */
const strayIn = (value: unknown, naming: CallSyntax, but = ['instance']) =>
  [...textsIn(value, but)].filter(text => (naming === BY_TOOL ? ofRoutes : ofTools).test(text))

t.test('has the names of the operations', async t => {
  const server = await startServer(t)
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  t.strictSame(
    operationsIn(operations).map(({ route }) => route),
    ROUTES
  )
  t.strictSame(
    toolsIn(operations).map(({ id }) => id),
    [...TOOL_NAMES]
  )
  const { edit, edit_lines, edit_section, create, inspect, history, undo, redo } = operations
  const names = (of: 'route' | 'id') => ({
    edit: edit[of],
    edit_lines: edit_lines[of],
    edit_section: edit_section[of],
    create: create[of],
    inspect: inspect[of],
    history: history[of],
    undo: undo[of],
    redo: redo[of]
  })
  t.hasStrict(BY_ROUTE, names('route'))
  t.hasStrict(BY_TOOL, names('id'))
  t.equal(BY_ROUTE.inspectWith({ path: 'x' }), `POST ${inspect.route} {"path":"x"}`)
  t.equal(BY_TOOL.inspectWith({ path: 'x' }), `${inspect.id} with {"path":"x"}`)
  t.strictSame(strayIn(['use /edit.', 'src/edit', '/edit-lines2'], BY_TOOL), ['use /edit.'], 'a route is found')
  t.strictSame(strayIn(['(edit_file)', 'x_edit_file'], BY_ROUTE), ['(edit_file)'], 'a tool is found')
})

t.test('names calls in every problem as its caller does', async t => {
  for (const naming of [BY_ROUTE, BY_TOOL]) {
    for (const code of Object.keys(EXAMPLES) as ProblemCode[]) {
      t.strictSame(strayIn(exampleOf(code, { instance: '/', naming }), naming), [], code)
    }
    for (const { failure } of FAILURES.filter(({ failure }) => failure.code !== 'ROUTE_NOT_FOUND')) {
      for (const hashed of [{}, { file_hash: '60303ae22b998861' }]) {
        const { body } = toProblem(failure, { instance: '/', request_id: 'r-1', path: 'a.ts', naming, ...hashed })
        t.strictSame(strayIn(body, naming), [], JSON.stringify(failure).slice(0, 200))
      }
    }
  }
})

t.test('names only tools that are offered, and the one that was called', async t => {
  const called = { name: BY_TOOL.edit, arguments: { path: 'a.ts', old_text: 'foo', new_text: 'bar' } }
  const offers: string[][] = [
    [],
    [BY_TOOL.inspect],
    [BY_TOOL.edit_lines, BY_TOOL.undo],
    [BY_TOOL.create, BY_TOOL.history]
  ]
  for (const offered of offers) {
    const has = [...offered, called.name]
    const others = TOOL_NAMES.filter(name => !has.includes(name) && name !== 'find')
    const stray = new RegExp(`\\b(${others.join('|')})\\b`)
    for (const { failure, context } of FAILURES.filter(({ failure }) => failure.code !== 'ROUTE_NOT_FOUND')) {
      const about = { instance: '/', request_id: 'r-1', path: 'a.ts', made: called, ...context }
      const { body, text } = toProblem(failure, { ...about, naming: byTools(has) })
      t.notMatch(text(), stray, `${offered.join()}: ${text()}`)
      t.notMatch(text(), /undefined|[.:] {2}/, text())
      t.notMatch(body.detail, stray, body.detail)
      for (const { call, suggestion } of body.suggested_fixes ?? []) {
        t.notMatch(`${suggestion} ${call?.name}`, stray, body.detail)
      }
    }
  }
})

const files = {
  'a.txt': 'one\ntwo\none\n',
  'empty.txt': '',
  'app.js': 'export function parse (text) {\n  return text.trim()\n}\n\nconst a = 1; const b = 2\n',
  'guide.md': '# Guide\n\n## Setup\n\nRun it.\n\n```sh\nnpm ci\n```\n\n## Use\n\nGreet.\n',
  'data.bin': Buffer.from([0, 1, 2, 3]),
  misses: Object.fromEntries(MISSES.map(({ cause, file, encoding }) => [`${cause}.txt`, Buffer.from(file, encoding)]))
}
const section = { path: 'guide.md', action: 'replace', heading: 'Setup', new_text: 'Text.' }

/** Requests that change nothing: what they are for, and whether they are done. */
const CALLS: [keyof RoutedOperations, status: number, object][] = [
  [
    'edit',
    200,
    { path: 'a.txt', old_string: 'one', new_text: '// ... existing code ...', occurrence: '1', dry_run: true }
  ],
  ['edit', 200, { path: 'a.txt', old_text: 'two', new_text: 'two' }],
  ['edit', 422, { path: 'a.txt', old_text: 'one', new_text: '1' }],
  ['edit', 422, { path: 'a.txt', old_text: 'nowhere', new_text: '' }],
  ['edit', 422, { path: 'empty.txt', old_text: 'nowhere', new_text: '' }],
  ['edit', 409, { path: 'a.txt', old_text: 'two', new_text: '2', expected_hash: '0'.repeat(16) }],
  ['edit', 400, { path: 'a.txt', old_txt: 'two', new_text: '2' }],
  ['edit', 404, { path: 'b.txt', old_text: 'x', new_text: '' }],
  ['edit', 422, { path: '.', old_text: 'x', new_text: '' }],
  ['edit', 415, { path: 'data.bin', old_text: 'x', new_text: '' }],
  ...MISSES.map(({ cause, old_text, new_text, line_endings }): [keyof RoutedOperations, number, object] => [
    'edit',
    422,
    { path: `misses/${cause}.txt`, old_text, new_text, ...(line_endings && { line_endings }) }
  ]),
  ['edit_lines', 200, { path: 'a.txt', start_line: 1, end_line: 2, new_text: '1: x\n2: y\n3: z\n', dry_run: true }],
  ['edit_lines', 422, { path: 'a.txt', start_line: 9, end_line: 9, new_text: '' }],
  ['edit_lines', 422, { path: 'a.txt', start_line: 1, end_line: 1, new_text: '', expected_text: 'two' }],
  ['edit_section', 200, { ...section, dry_run: true }],
  [
    'edit_section',
    200,
    { path: 'app.js', action: 'replace', symbol: 'parse', new_text: 'function parse () {{{', dry_run: true }
  ],
  ['edit_section', 400, { ...section, new_text: '```\n' }],
  ['edit_section', 422, { ...section, heading: 'Install' }],
  ['edit_section', 422, { ...section, path: 'app.js' }],
  ['edit_section', 422, { ...section, path: 'a.txt' }],
  ['edit_section', 422, { path: 'app.js', action: 'replace', symbol: 'a', new_text: 'x' }],
  ['create', 409, { path: 'a.txt', content: 'x' }],
  ['create', 409, { path: 'a.txt', content: 'x', overwrite: true }],
  ['create', 200, { path: 'new.txt', content: 'x', dry_run: true }],
  ['preview', 200, { operation: 'edit', path: 'a.txt', old_text: 'two', new_text: '2' }],
  ['preview', 422, { operation: 'edit', path: 'empty.txt', old_text: 'two', new_text: '2' }],
  ['preview', 400, { ...section, operation: 'edit_section', new_text: '```\n' }],
  ['inspect', 200, { path: 'a.txt', search: 'one', start_line: 1 }],
  ['inspect', 200, { path: 'app.js', structure: true }],
  ['inspect', 200, { path: '.' }],
  ['inspect', 404, { path: 'nowhere' }],
  ['inspect', 422, { path: 'a.txt', structure: true }],
  ['history', 200, { show_diff: true }],
  ['history', 400, { since: 'yesterday' }],
  ['undo', 422, { path: 'a.txt' }],
  ['undo', 422, { edit_ids: ['none'] }],
  ['undo', 400, { path: 'a.txt', session: 's' }],
  ['redo', 422, {}]
]

const VERSION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

/** What MCP answers to a request without a handshake. */
async function overMcp(server: TestServer, method: string, params: object, name = ''): Promise<Record<string, any>> {
  const accept = 'application/json, text/event-stream'
  const headers = { accept, 'mcp-protocol-version': VERSION, 'mcp-method': method, 'mcp-name': name }
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }
  const reply = await server.call('POST', '/mcp', { headers, body })
  return reply.body.result as Record<string, any>
}

t.test('names calls in every answer as its caller does', async t => {
  const server = await startServer(t, { files })
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  for (const [i, [name, status, body]] of CALLS.entries()) {
    const { route, id } = operations[name]
    const shown = `${id} ${JSON.stringify(body).slice(0, 200)}`
    const byRoute = await server.call('POST', route, { body })
    t.equal(byRoute.status, status, `${shown} ${byRoute.text.slice(0, 300)}`)
    t.strictSame(strayIn(byRoute.body, BY_ROUTE), [], shown)
    const byTool = await server.call('POST', `/tools/${id}`, { body })
    t.equal(byTool.status, status, shown)
    t.strictSame(strayIn(byTool.body, BY_TOOL), [], shown)
    // MCP gives the same text as the tool's route.
    if (ONLY_CI && i % 5 !== 0) continue
    const { content, isError = false } = await overMcp(server, 'tools/call', { name: id, arguments: body }, id)
    t.equal(isError, status !== 200, shown)
    t.strictSame(strayIn({ text: content[0].text }, BY_TOOL), [], shown)
  }
  const says = async (route: string, body: object, expected: object) =>
    t.match((await server.call('POST', route, { body })).body, expected)
  const unclosed = { path: 'guide.md', action: 'replace', heading: 'Setup', newText: '```\n' }
  const instead = /close it, or use \/edit$/
  await says('/edit-section', unclosed, { errors: [{ pointer: '/newText', message: instead }] })
  const missed = { path: 'empty.txt', old_text: 'x', new_text: '' }
  await says('/tools/edit_file', missed, { detail: /The file is empty\. .*, use edit_lines with start_line 1/ })
  await says('/create', { path: 'a.txt', content: '' }, { detail: /To change part of it, use \/edit\. / })
})

t.test('names calls so where hosts, programs and people read what there is', async t => {
  const server = await startServer(t, { files })
  const formats = ['openai-chat', 'anthropic&strict=true', 'gemini', 'bedrock', 'mcp'].map(name => `?format=${name}`)
  const queries = ['', ...formats, '?strict=true']
  for (const path of ['/openapi.tools.json', ...queries.map(query => `/tools${query}`)]) {
    t.strictSame(strayIn((await server.call('GET', path)).body, BY_TOOL), [], path)
  }
  t.strictSame(strayIn(await overMcp(server, 'tools/list', {}), BY_TOOL), [])
  const withAll = await startServer(t, { files, settings: { tools: [...TOOL_NAMES] } })
  for (const path of ['/openapi.tools.json', '/tools']) {
    t.strictSame(strayIn((await withAll.call('GET', path)).body, BY_TOOL), [], `${path} of all tools`)
  }
  t.strictSame(strayIn(await overMcp(server, 'server/discover', {}), BY_TOOL), [])
  // The values of the operation of /preview and /batch are not names of calls.
  const { operations } = (await server.call('GET', '/capabilities')).body as { operations: { route: string }[] }
  t.strictSame(
    strayIn(
      operations.filter(({ route }) => !['/preview', '/batch'].includes(route)),
      BY_ROUTE,
      ['name']
    ),
    []
  )
  const { paths, components } = parse(readFileSync(new URL('../../../openapi.yaml', import.meta.url), 'utf8'))
  const {
    PreviewRequest: _,
    PreviewEdit: __,
    BatchOperation: ___,
    BatchedResult,
    NamedEdit,
    PastEdit,
    EditTold,
    TextEditorCall: ____,
    ApplyPatchOperation: _____,
    ...others
  } = components.schemas
  t.strictSame(strayIn(others, BY_ROUTE), [])
  // Neither are those of the operation that made a change.
  for (const { properties } of [PastEdit, EditTold]) {
    const { operation, ...ofChanges } = properties
    t.strictSame(strayIn(ofChanges, BY_ROUTE), [])
    t.strictSame(strayIn(operation, BY_ROUTE, ['enum']), [])
  }
  t.strictSame(strayIn(NamedEdit, BY_ROUTE, ['enum']), [])
  t.strictSame(strayIn(BatchedResult, BY_ROUTE, ['enum']), [])
  for (const path of ROUTES.filter(route => !['/preview', '/batch'].includes(route))) {
    t.strictSame(strayIn(paths[path], BY_ROUTE, ['instance', 'operationId']), [], path)
  }
  t.strictSame(strayIn(paths['/tools/{name}'], BY_TOOL), [])
})
