// Which digits of a file's SHA-256 a request may expect, on each route and tool that takes them, and which answers say.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, check, startServer, type TestServer } from './test-server.ts'

/** Two texts with the same first 16 digits, found in two minutes. */
const [NOBODY, EVERYONE] = ['allow: nobody    # rev 27c7cbba5fb48f1c\n', 'allow: everyone  # rev f43ba53f1c282a7d\n']
const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')
const [whole, other] = [sha256Of(NOBODY), sha256Of(EVERYONE)]
const short = whole.slice(0, 16)
t.equal(short, other.slice(0, 16))
t.not(whole, other)

const path = 'policy'
const edit = { path, old_text: '#', new_text: '##' }
/** Each does something to the file as it is now. */
const CALLS: [string, object][] = [
  ['/edit', edit],
  ['/edit-lines', { path, start_line: 1, end_line: 1, new_text: 'x' }],
  ['/create', { path, content: 'x\n', overwrite: true }],
  ['/preview', { operation: 'edit', ...edit }],
  ['/batch', { operations: [{ operation: 'edit', ...edit }] }],
  ['/tools/edit_file', { arguments: edit }]
]

const started = () => startServer(t, { files: { [path]: NOBODY } })
/** The call with `expected_hash` in each place that takes it. */
const withHash = (body: object, expected_hash: string): object => {
  if ('operations' in body) {
    return { operations: (body.operations as object[]).map(one => withHash(one, expected_hash)) }
  }
  if ('arguments' in body) return { arguments: withHash(body.arguments as object, expected_hash) }
  return { ...body, expected_hash }
}
const put = (server: TestServer, text: string) => writeFileSync(join(server.root, path), text)

t.test('takes 16 to 64 digits of the SHA-256, and compares all of them', async t => {
  const server = await started()
  for (const [at, [route, body]] of CALLS.entries()) {
    for (const length of at === 0 ? [16, 17, 40, 64] : [16, 64]) {
      put(server, NOBODY)
      await check(t, server, route, withHash(body, whole.slice(0, length)), 200, {})
      put(server, EVERYONE)
      const isSame = length === 16
      const stale = { code: 'STALE_FILE', expected_hash: whole.slice(0, length) }
      await check(t, server, route, withHash(body, whole.slice(0, length)), isSame ? 200 : 409, isSame ? {} : stale)
      if (!isSame) t.equal(bytesOf(server, path), EVERYONE)
    }
    for (const wrong of at === 0 ? [whole.slice(0, 15), `${whole}0`, whole.toUpperCase()] : []) {
      await check(t, server, route, withHash(body, wrong), 400, { code: 'INVALID_REQUEST' })
    }
  }
})

t.test('takes them in If-Match, and beside another beginning of the same hash in the body', async t => {
  const server = await started()
  const send = (status: number, match: string, fields: object = {}) => {
    put(server, NOBODY)
    return check(t, server, '/edit', { ...edit, ...fields }, status, {}, { 'if-match': `"${match}"` })
  }
  for (const match of [short, whole.slice(0, 30), whole]) {
    await send(200, match)
    for (const expected_hash of [short, whole.slice(0, 40), whole]) await send(200, match, { expected_hash })
  }
  await send(412, other)
  // The longer one counts, wherever it is.
  await send(412, other, { expected_hash: short })
  await send(409, short, { expected_hash: other })
  await send(400, whole, { expected_hash: other })
  for (const wrong of [whole.slice(0, 15), `${whole}0`]) await send(400, wrong)
})

t.test('expects the whole hash in undos and redos', async t => {
  const server = await started()
  const { body } = await check(t, server, '/edit', edit, 200, {})
  const { edit_id } = body
  await check(t, server, '/undo', { path, expected_hash: other }, 409, { code: 'STALE_FILE' })
  await check(t, server, '/undo', { path, expected_hash: body.sha256 }, 200, { results: [{ sha256: whole }] })
  await check(t, server, '/redo', { edit_id, expected_hash: other }, 409, { code: 'STALE_FILE' })
  await check(t, server, '/redo', { edit_id, expected_hash: whole }, 200, { results: [{ sha256: body.sha256 }] })
})

t.test('answers the whole hash of the file as it is now', async t => {
  const server = await started()
  const hashes = (text: string) => ({ file_hash: sha256Of(text).slice(0, 16), sha256: sha256Of(text) })
  const edited = NOBODY.replace('#', '##')
  await check(t, server, '/inspect', { path }, 200, hashes(NOBODY))
  await check(t, server, '/preview', { operation: 'edit', ...edit }, 200, { ...hashes(NOBODY), hash_before: short })
  await check(t, server, '/edit', edit, 200, hashes(edited))
  await check(t, server, '/pending', { path }, 200, hashes(edited))
  await check(t, server, '/blame', { path }, 200, hashes(edited))
  await check(t, server, '/undo', { path, dry_run: true }, 200, { results: [hashes(edited)] })
  await check(t, server, '/undo', { path }, 200, { results: [hashes(NOBODY)] })
  await check(t, server, '/batch', { operations: [{ operation: 'edit', ...edit }] }, 200, { results: [hashes(edited)] })
  await check(t, server, '/create', { path: 'new', content: 'x', dry_run: true }, 200, {
    file_hash: undefined,
    sha256: undefined
  })
  await check(t, server, '/create', { path: 'new', content: 'x' }, 200, hashes('x'))
})

t.test('gives a model no more than the short one', async t => {
  const server = await started()
  const { text } = await server.call('POST', '/tools/edit_file', {
    body: { arguments: edit },
    headers: { accept: 'text/plain' }
  })
  t.match(text, /file_hash: [0-9a-f]{16} edit_id: \w{26}$/m)
  t.notMatch(text, /[0-9a-f]{17}/)
})
