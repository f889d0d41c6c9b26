// The table of docs/operators.md that says which operations a token's scope may call: what each operation answers to a
// token of each scope. With DOCS=write it is written there.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { SCOPES, type Scope } from '../../schemas/access.ts'
import { caller } from '../../src/http/call.ts'
import { REQUEST_EXAMPLES } from '../../src/http/request-examples.ts'
import { makeOperations, operationsIn, type Operations } from '../../src/operations.ts'
import type { Subject } from '../../src/operations/operation.ts'
import { makeFolders, open, removeFolders } from '../folder/support/open.ts'
import { checkMarked } from '../marked.ts'

const DOCUMENT = fileURLToPath(new URL('../../docs/operators.md', import.meta.url))

type Body = Record<string, any>
type Name = keyof Operations

const tokenOf = (scope: Scope, name = 'ann'): Subject => ({ name, workspace: 'w', scope })
const ANN = tokenOf('review')
const BOB = tokenOf('review', 'bob')

/** A workspace; `send` calls an operation with a token, or without. */
async function serve(allowDelete: boolean) {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const workspace = await open(folders, { history: 'full', allowDelete })
  t.teardown(() => workspace.close())
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  const send = async (subject: Subject | undefined, name: Name, body: Body): Promise<Body> => {
    const call = caller(operations[name] as never)
    const request = { body, headers: {}, instance: `/${name}`, request_id: 'r' }
    return (await call(subject === undefined ? request : { ...request, subject })).body
  }
  let files = 0
  /** The path of a new file. */
  const newFile = (): string => {
    const path = `${files++}`
    writeFileSync(join(folders.root, path), '1\n2\n')
    return path
  }
  return { operations, send, newFile }
}

type Server = Awaited<ReturnType<typeof serve>>

/** A call, as a row names it. `body` first does what the call is about. */
interface Row {
  row: string
  name: Name
  body: (server: Server) => Promise<Body>
}

/** Changes a new file. Returns the id of the edit. */
async function changed({ send, newFile }: Server, by: Subject): Promise<string> {
  const { edit_id } = await send(by, 'edit', { path: newFile(), old_text: '1', new_text: 'x' })
  return edit_id
}

const undoOf = (whose: string, by: Subject): Row => ({
  row: `\`/undo\` of ${whose} changes`,
  name: 'undo',
  body: async server => ({ edit_id: await changed(server, by) })
})

const redoOf = (whose: string, by: Subject): Row => ({
  row: `\`/redo\` of ${whose} changes`,
  name: 'redo',
  async body(server) {
    const edit_id = await changed(server, by)
    await server.send(by, 'undo', { edit_id })
    return { edit_id }
  }
})

const patch = (which: string, file: (path: string) => Body): Row => ({
  row: `patches${which}`,
  name: 'apply_patch',
  async body({ newFile }) {
    const path = newFile()
    return { files: [{ path, ...file(path) }] }
  }
})

const DELETION = patch(' that delete files', () => ({ operation: 'delete' }))

/** The calls whose answer depends on more than the operation. */
const CONDITIONS: readonly Row[] = [
  undoOf('its own', ANN),
  redoOf('its own', ANN),
  undoOf("others'", BOB),
  redoOf("others'", BOB),
  patch('', () => ({ operation: 'update', diff: '@@\n-1\n+x\n' })),
  DELETION,
  patch(' that move files', path => ({ operation: 'update', move_to: `moved/${path}` })),
  {
    row: '`/redo` of these patches',
    name: 'redo',
    async body(server) {
      const { results } = await server.send(ANN, 'apply_patch', await DELETION.body(server))
      const { edit_id } = results[0]
      await server.send(ANN, 'undo', { edit_id })
      return { edit_id }
    }
  }
]

/** Every call that is a row: each operation with its first example, carried out, or with its conditions. */
function rowsOf(operations: Operations): Row[] {
  const names = new Map(Object.entries(operations).map(([name, operation]) => [operation, name as Name]))
  const conditional = new Set(CONDITIONS.map(({ name }) => name))
  const plain = operationsIn(operations).flatMap((operation): Row[] => {
    const name = names.get(operation)!
    if (conditional.has(name)) return []
    const [first] = Object.values(REQUEST_EXAMPLES[name as keyof typeof REQUEST_EXAMPLES])
    const { dry_run: _, ...example } = first!.value
    return [{ row: `\`${operation.route}\``, name, body: async () => example }]
  })
  return [...plain, ...CONDITIONS]
}

const servers = { strict: await serve(false), allowing: await serve(true) }

/** Whether a call is refused to a token. */
async function isRefused({ name, body, row }: Row, server: Server, subject: Subject | undefined, more = {}) {
  const { code } = await server.send(subject, name, { ...(await body(server)), ...more })
  t.not(code, 'INVALID_REQUEST', row)
  return code === 'FORBIDDEN_SCOPE' || code === 'DELETE_NOT_ALLOWED'
}

async function cellOf(row: Row, subject: Subject | undefined): Promise<string> {
  const { strict, allowing } = servers
  if (!(await isRefused(row, strict, subject))) return 'yes'
  if (!(await isRefused(row, allowing, subject))) return 'with `--allow-delete`'
  const { properties } = strict.operations[row.name].request as unknown as { properties: object }
  const hasDryRuns = 'dry_run' in properties
  return hasDryRuns && !(await isRefused(row, strict, subject, { dry_run: true })) ? 'dry runs' : 'no'
}

t.test('docs/operators.md has the table of scopes', async t => {
  const table = new Map<string, string[]>()
  for (const row of rowsOf(servers.strict.operations)) {
    const cells: string[] = []
    for (const subject of [...SCOPES.map(scope => tokenOf(scope)), undefined]) cells.push(await cellOf(row, subject))
    const key = cells.join(' | ')
    table.set(key, [...(table.get(key) ?? []), row.row])
  }
  const noes = (cells: string): number => cells.split(' | ').filter(cell => cell !== 'yes').length
  const lines = [
    `| call | ${SCOPES.map(scope => `\`${scope}\``).join(' | ')} | without an access file |`,
    `|---|${'---|'.repeat(SCOPES.length)}---|`,
    ...[...table].sort(([a], [b]) => noes(a) - noes(b)).map(([cells, calls]) => `| ${calls.join(', ')} | ${cells} |`),
    ''
  ].join('\n')
  checkMarked(t, DOCUMENT, 'scopes', lines)
})
