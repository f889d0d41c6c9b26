// /preview over HTTP: the same answer as the real call, and nothing touched.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { often } from '../often.ts'
import { randomFile, Random, SEED } from '../random.ts'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const files = { 'a.txt': 'one\ntwo\nthree\n' }

t.test('computes any one operation, and writes nothing', async t => {
  const server = await startServer(t, { files })
  const path = 'a.txt'
  const {
    body: { file_hash: hash }
  } = await check(t, server, '/preview', { operation: 'edit', path, old_text: 'two', new_text: '2' }, 200, {
    message: /^Would replace 1 occurrence/,
    dry_run: true,
    changed: true,
    total_replacements: 1,
    changes: [{ old_content: 'two', new_content: '2' }],
    diff: /^--- a/,
    new_hash: /^[0-9a-f]{16}$/
  })
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit_lines', path, start_line: 1, end_line: 1, new_text: '', show_diff: false, dry_run: true },
    200,
    {
      message: /^Would delete line 1 of a\.txt\./,
      changes: [{ old_content: 'one\n', new_content: '' }],
      diff: undefined
    }
  )
  await check(t, server, '/preview', { operation: 'edit_file', path, old_text: 'two', new_text: '2' }, 200, {
    warnings: ['operation "edit_file" was read as edit.']
  })
  await check(t, server, '/preview', { operation: 'create', path: 'new/b.txt', content: 'x\n' }, 200, {
    message: /^Would create/,
    created: true,
    file_hash: undefined,
    diff: /^--- \/dev\/null\n/
  })
  await check(
    t,
    server,
    '/preview',
    {
      operation: 'edit',
      path,
      edits: [
        { old_text: 'one', new_text: '1' },
        { old_text: 'x', new_text: '' }
      ]
    },
    422,
    { code: 'NO_MATCH', edit_index: 1, instance: '/preview' }
  )
  await check(t, server, '/preview', { operation: 'edit_lines', path, start_line: 9, end_line: 9, new_text: '' }, 422, {
    code: 'LINE_OUT_OF_RANGE'
  })
  await check(t, server, '/preview', { operation: 'create', path, content: '' }, 409, { code: 'ALREADY_EXISTS' })
  await check(
    t,
    server,
    '/preview',
    { operation: 'create', path, content: '' },
    412,
    { code: 'ALREADY_EXISTS' },
    { 'if-none-match': '*' }
  )
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit', path, old_text: 'two', new_text: '2' },
    400,
    { detail: /If-None-Match is only for/ },
    { 'if-none-match': '*' }
  )
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit', path, old_text: 'two', new_text: '2' },
    412,
    { code: 'STALE_FILE' },
    { 'if-match': '"0123456789abcdef"' }
  )
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit', path, old_text: 'two', new_text: '2' },
    200,
    { file_hash: hash },
    { 'if-match': `"${hash}"` }
  )
  await check(t, server, '/preview', { operation: 'edit', path: 'b.txt', old_text: 'two', new_text: '2' }, 404, {
    code: 'FILE_NOT_FOUND',
    did_you_mean: [path]
  })
  t.equal(bytesOf(server, path), files[path])
  const closed = await startServer(t, { files, settings: { readOnly: true } })
  await check(t, closed, '/preview', { operation: 'edit', path, old_text: 'two', new_text: '2' }, 403, {
    code: 'READ_ONLY',
    detail: /edited or previewed/
  })
})

t.test('says which operation takes a field', async t => {
  const server = await startServer(t, { files, settings: { maxEdits: 2 } })
  const invalid = (request: object, ...errors: { pointer: string; message: string | RegExp }[]) =>
    check(t, server, '/preview', { path: 'a.txt', ...request }, 400, { code: 'INVALID_REQUEST', errors })
  const edit = { operation: 'edit', old_text: 'one', new_text: '1' }
  await invalid(
    { ...edit, start_line: 1, create_parents: true },
    { pointer: '/start_line', message: 'is a field of edit_lines, not of edit' },
    { pointer: '/create_parents', message: 'is a field of create and move, not of edit' }
  )
  await invalid(
    { operation: 'create', content: '', new_text: '' },
    { pointer: '/new_text', message: 'is a field of edit, edit_lines and edit_section, not of create' }
  )
  for (const name of ['__proto__', 'constructor', 'toString']) {
    await invalid(JSON.parse(`{"operation":"edit","old_text":"one","new_text":"1","${name}":1}`), {
      pointer: `/${name}`,
      message: /^is an unknown field/
    })
  }
  await invalid(
    { operation: 'edit_lines', edits: [{ start_line: 1, end_line: 1, new_text: '', occurrence: 1 }] },
    { pointer: '/edits/0/occurrence', message: /^is an unknown field/ }
  )
  await invalid(
    { operation: 'edit_lines', edits: [{ old_text: 'one', new_text: '' }] },
    { pointer: '/edits/0/start_line', message: 'is missing' },
    { pointer: '/edits/0/end_line', message: 'is missing' },
    { pointer: '/edits/0/old_text', message: /^is an unknown field/ }
  )
  await invalid({ operation: 'create' }, { pointer: '/content', message: 'is missing' })
  await invalid({ ...edit, operation: undefined }, { pointer: '/operation', message: 'is missing' })
  await invalid({ ...edit, operation: 'undo_edit' }, { pointer: '/operation', message: /^must be "edit"/ })
  await invalid({ ...edit, operation: null }, { pointer: '/operation', message: 'must be a string, not null' })
  await invalid(
    { ...edit, operation: 'copy' },
    { pointer: '/operation', message: 'must be "edit", "edit_lines", "edit_section", "create", "delete" or "move"' }
  )
  await invalid({ ...edit, operation: 'constructor' }, { pointer: '/operation', message: /^must be "edit"/ })
  await invalid({ ...edit, dry_run: false }, { pointer: '/dry_run', message: 'may only be true here; leave it out' })
  await invalid({ ...edit, dry_run: 'x' }, { pointer: '/dry_run', message: 'must be true or false, not a string' })
  await invalid({ ...edit, old_txt: 'x' }, { pointer: '/old_txt', message: /^is an unknown field/ })
  await invalid(
    { ...edit, old_text: 1, context_lines: 99 },
    { pointer: '/old_text', message: 'must be a string, not a whole number' },
    { pointer: '/context_lines', message: 'must be at most 20' }
  )
  await check(t, server, '/preview', [] as object, 400, { code: 'INVALID_REQUEST', detail: /must be a JSON object/ })
  await check(t, server, '/preview', { path: 'a.txt', operation: 'edit' }, 400, {
    code: 'NO_EDITS',
    detail: /Send old_text and new_text/
  })
  await check(t, server, '/preview', { path: 'a.txt', operation: 'edit_lines', edits: [] }, 400, {
    code: 'NO_EDITS',
    detail: /Send start_line, end_line and new_text/
  })
  await check(t, server, '/preview', { path: 'a.txt', ...edit, edits: [{ old_text: 'one', new_text: '1' }] }, 400, {
    code: 'MIXED_MODES'
  })
  await check(t, server, '/preview', { path: 'a.txt', operation: 'edit', edits: [1, 2, 3] }, 400, {
    code: 'TOO_MANY_EDITS'
  })
  await check(
    t,
    server,
    '/preview',
    { path: 'a.txt', ...edit },
    400,
    { errors: [{ pointer: '', message: /must be one quoted file hash/ }] },
    { 'if-match': 'x'.repeat(1001) }
  )
})

const TIMES = often(150, 60, 20)
const ROUTES = { edit: '/edit', edit_lines: '/edit-lines', create: '/create' }

/** A request that works more often than not, on a file with this text. */
function randomRequest(
  random: Random,
  text: string,
  alphabet: string[]
): { operation: keyof typeof ROUTES; fields: Record<string, unknown> } {
  const lines = text.split(/\r\n|\n|\r/).length
  const line = () => random.int(lines + 1) + (random.chance(5) ? -1 : 1)
  const piece = () => {
    const start = random.int(text.length + 1)
    return random.chance(10) ? random.text(alphabet, 3) : text.slice(start, start + 1 + random.int(6)).toWellFormed()
  }
  const put = () => random.text(alphabet, 8)
  const textEdit = () => ({
    old_text: piece() || 'a',
    new_text: put(),
    ...(random.chance(60) &&
      random.pick<object>([
        { replace_all: true },
        { occurrence: 'first' },
        { occurrence: '1' },
        { occurrences: 1 + random.int(3) }
      ]))
  })
  const lineEdit = () => {
    const start_line = line()
    return {
      start_line,
      end_line: start_line + random.int(3) - 1,
      new_text: put(),
      ...(random.chance(20) && { expected_text: piece() })
    }
  }
  const several = (one: () => object): object =>
    random.chance(40) ? { edits: Array.from({ length: 1 + random.int(4) }, one) } : one()
  const operation = random.pick(['edit', 'edit_lines', 'edit_lines', 'create'] as const)
  const own =
    operation === 'edit'
      ? several(textEdit)
      : operation === 'edit_lines'
        ? several(lineEdit)
        : { content: put(), overwrite: random.chance(70) }
  return {
    operation,
    fields: { ...own, show_diff: true, context_lines: random.int(4), ...(random.chance(10) && { max_diff_lines: 5 }) }
  }
}

/** What preview and the real call have in common. Warnings say what would be done, or was: as many. */
function shared({ status, body }: Reply): object {
  const { message, dry_run, new_hash, file_hash, sha256, edit_id, request_id, instance, ...others } = body
  const { changes, changes_truncated, warnings, ...rest } = others as Record<string, unknown> & {
    changes?: Record<string, unknown>[]
    warnings?: string[]
  }
  const listed = changes?.slice(0, 20).map(({ old_content, new_content, lossy, ...change }) => change)
  return { status, ...rest, ...(listed && { changes: listed }), warnings: warnings?.length }
}

/** All that could betray a write. */
const traces = ({ root }: TestServer) =>
  [root, ...readdirSync(root).map(name => join(root, name))].map(path => {
    const { mtimeNs, ctimeNs, ino, size } = statSync(path, { bigint: true })
    return [path, mtimeNs, ctimeNs, ino, size]
  })

t.test('agrees with the real call, whatever is asked for', async t => {
  const random = new Random(SEED)
  t.comment(`SEED=${SEED}`)
  const server = await startServer(t, { files: {} })
  const statuses = new Map<number, number>()
  for (let i = 0; i < TIMES; i++) {
    const { bytes, alphabet } = randomFile(random)
    const name = `f${i}`
    const isThere = !random.chance(10)
    if (isThere) writeFileSync(join(server.root, name), bytes)
    const { operation, fields } = randomRequest(random, bytes.toString(), alphabet)
    const {
      body: { file_hash }
    } = await server.call('POST', '/inspect', { body: { path: name } })
    const request = {
      [random.chance(20) ? 'file_path' : 'path']: name,
      ...fields,
      ...(file_hash !== undefined && random.chance(80) && { expected_hash: file_hash })
    }
    const before = traces(server)
    const preview = await server.call('POST', '/preview', { body: { operation, ...request } })
    t.strictSame(traces(server), before)
    const real = await server.call('POST', ROUTES[operation], { body: request })
    t.strictSame(shared(preview), shared(real), `SEED=${SEED} ${i} ${operation} ${encodeURI(JSON.stringify(request))}`)
    t.notOk('edit_id' in preview.body, 'nothing is in the history')
    if (real.status === 200) t.equal(preview.body.new_hash, real.body.file_hash)
    else t.equal(preview.body.detail, real.body.detail)
    if (real.status !== 200 && isThere) t.ok(readFileSync(join(server.root, name)).equals(bytes))
    statuses.set(real.status, (statuses.get(real.status) ?? 0) + 1)
    rmSync(join(server.root, name), { force: true })
  }
  t.ok((statuses.get(200) ?? 0) > TIMES / 4, JSON.stringify([...statuses]))
  t.ok((statuses.get(422) ?? 0) > 5)
})

t.test('writes nothing outside the workspace either', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-preview-'))
  t.teardown(() => rmSync(stateDir, { recursive: true }))
  const server = await startServer(t, { files, settings: { stateDir } })
  const state = () => readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).sort()
  const before = state()
  await check(t, server, '/preview', { operation: 'edit', path: 'a.txt', old_text: 'two', new_text: '2' }, 200, {})
  await check(t, server, '/preview', { operation: 'create', path: 'b.txt', content: '' }, 200, {})
  t.strictSame(state(), before, 'no lock, no intent')
})
