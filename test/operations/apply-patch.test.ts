// Patches as an operation: what becomes of files, what is answered, recorded and refused, and what undo and redo make of
// it. Called as the adapters call it, with a request and headers; the formats of patches are in test/engine/patch/.
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeOperations, operationsIn, toolsIn } from '../../src/operations.ts'
import { BY_PATCH } from '../../src/http/adapters/apply-patch.ts'
import { caller } from '../../src/http/call.ts'
import type { WorkspaceOptions } from '../../src/workspace/api.ts'
import { makeValidator } from '../../src/http/requests/validator.ts'
import { ApplyPatchResultSchema, PatchedFileSchema } from '../../schemas/apply-patch.ts'
import { OUTCOME_COMPONENTS } from '../../schemas/outcome.ts'
import { open } from '../folder/support/open.ts'
import { ALLOWED, create, openWith, remove, type Files } from './support/patched.ts'

type Body = Record<string, unknown>

const validate = makeValidator([...OUTCOME_COMPONENTS, PatchedFileSchema, ApplyPatchResultSchema])
const DIFF = '@@\n-b\n+B\n'
const update = (path: string, diff: string, move_to?: string) => ({
  operation: 'update',
  path,
  diff,
  ...(move_to !== undefined && { move_to })
})
const move = (path: string, move_to: string) => ({ operation: 'update', path, move_to })

/** A workspace with these files and its operations, called by name. */
async function serve(t: Test, files: Files, options: Partial<WorkspaceOptions> = ALLOWED) {
  const { root, workspace, texts } = await openWith(t, files, options)
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  const call = async (name: 'apply_patch' | 'undo' | 'redo' | 'history' | 'edit', body: Body, headers = {}) => {
    const answer = await caller(operations[name] as never)({
      body,
      headers,
      instance: '/x',
      request_id: 'r',
      naming: BY_PATCH
    })
    if (name === 'apply_patch' && !('code' in answer.body)) {
      t.strictSame(validate(ApplyPatchResultSchema, answer.body), [])
    }
    // As it is sent: what is undefined isn't in JSON.
    const sent = JSON.parse(JSON.stringify(answer.body)) as Body
    return { body: sent, headers: answer.headers, text: answer.text() }
  }
  const patch = (files: object[], more: Body = {}, headers = {}) => call('apply_patch', { files, ...more }, headers)
  return { root, workspace, call, patch, texts }
}

const BEFORE: Files = { a: 'a\nb\nc\n', 'd/old': 'o\nb\n', gone: 'g\n' }

/** A patch, and what becomes of it. */
interface Case {
  name: string
  files?: Files
  prepare?: (root: string) => void
  options?: Partial<WorkspaceOptions>
  patch: object[]
  more?: Body
  /** All texts afterwards; absent: as before. */
  after?: Files
  answer: object
  also?: (t: Test, root: string) => void
}

async function check(t: Test, { files = BEFORE, options = ALLOWED, ...one }: Case): Promise<void> {
  await t.test(one.name, async t => {
    const { root, patch, texts } = await serve(t, files, options)
    one.prepare?.(root)
    const before = texts()
    const { body } = await patch(one.patch, one.more)
    t.match(body, one.answer)
    t.strictSame(texts(), one.after ?? before)
    one.also?.(t, root)
  })
}

t.test('changes all files', async t => {
  await check(t, {
    name: 'of each kind',
    patch: [create('n/new', 'n\n'), update('a', DIFF), remove('gone'), update('d/old', DIFF, 'e/moved')],
    after: { a: 'a\nB\nc\n', 'e/moved': 'o\nB\n', 'n/new': 'n\n' },
    answer: {
      message: 'Created 1 file, updated 1 file, deleted 1 file and moved 1 file.',
      dry_run: false,
      batch_id: /^.{26}$/,
      results: [
        { operation: 'create', path: 'n/new', message: 'Created n/new (1 line, 2 bytes).', edit_id: /^.{26}$/ },
        {
          operation: 'update',
          path: 'a',
          message: 'Replaced line 2 of a; it is now line 2. a now has 3 lines.',
          changes: [{ start_line: 2 }],
          hash_before: /^.{16}$/,
          file_hash: /^.{16}$/
        },
        { operation: 'delete', path: 'gone', message: 'Deleted gone.', removed: true, file_hash: undefined },
        {
          operation: 'move',
          path: 'e/moved',
          moved_from: 'd/old',
          message: 'Moved d/old to e/moved. Replaced line 2 of e/moved; it is now line 2. e/moved now has 2 lines.',
          hash_before: /^.{16}$/,
          file_hash: /^.{16}$/,
          edit_id: /^.{26}$/
        }
      ]
    }
  })
  await check(t, {
    name: 'or none in a dry run, which says the same',
    patch: [create('n/new', 'n\n'), update('a', DIFF), remove('gone'), move('d/old', 'e/moved')],
    more: { dry_run: true, show_diff: true },
    answer: {
      message: 'Would create 1 file, update 1 file, delete 1 file and move 1 file; nothing was written.',
      batch_id: undefined,
      results: [
        { file_hash: undefined, new_hash: /./ },
        { diff: /^-b\n\+B$/m },
        {
          message: 'Would delete gone; nothing was written.',
          file_hash: /./,
          new_hash: undefined,
          diff: '--- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-g\n'
        },
        { message: 'Would move d/old to e/moved; nothing was written.', moved_from: 'd/old', changes: [] }
      ]
    }
  })
  await check(t, {
    name: 'a new file by a diff',
    patch: [{ operation: 'create', path: 'n', diff: '+1\n+2' }],
    after: { ...BEFORE, n: '1\n2\n' },
    answer: { message: 'Created 1 file.', results: [{ operation: 'create' }] }
  })
  await check(t, {
    name: 'a moved file again',
    patch: [update('a', DIFF), update('a', '@@\n-B\n+C\n', 'm'), update('m', '@@\n-C\n+D\n')],
    after: { 'd/old': 'o\nb\n', gone: 'g\n', m: 'a\nD\nc\n' },
    answer: { results: [{}, { operation: 'move' }, { operation: 'update', path: 'm' }] }
  })
  await check(t, {
    name: 'with what it was',
    prepare: root => chmodSync(join(root, 'a'), 0o751),
    patch: [move('a', 'm')],
    after: { 'd/old': 'o\nb\n', gone: 'g\n', m: 'a\nb\nc\n' },
    answer: { message: 'Moved 1 file.', results: [{ message: 'Moved a to m.', changed: true }] },
    also: (t, root) => t.equal(statSync(join(root, 'm')).mode & 0o777, 0o751)
  })
})

t.test('refuses what can not be done, whole', async t => {
  const first = update('a', DIFF)
  const cases: Omit<Case, 'after'>[] = [
    {
      name: 'deleting where the operator does not allow it',
      options: { history: 'full' },
      patch: [first, remove('gone')],
      answer: {
        code: 'DELETE_NOT_ALLOWED',
        status: 403,
        path: 'gone',
        operation_index: 1,
        detail: /^Delete of gone: gone can't be deleted or moved: .*Nothing was changed.*--allow-delete/
      }
    },
    {
      name: 'and moving',
      options: { history: 'full' },
      patch: [first, move('d/old', 'm')],
      answer: { code: 'DELETE_NOT_ALLOWED', path: 'd/old', operation_index: 1, detail: /^Update of d\/old: / }
    },
    {
      name: 'deleting what no history keeps',
      options: { allowDelete: true },
      patch: [first, remove('gone')],
      answer: { code: 'DELETE_NOT_ALLOWED', operation_index: 1, detail: /--history off/ }
    },
    {
      name: 'a file that is there',
      patch: [first, create('gone', 'n\n')],
      answer: { code: 'ALREADY_EXISTS', status: 409, path: 'gone', operation_index: 1, file_hash: /./ }
    },
    {
      name: 'a new place where a file is',
      patch: [first, move('d/old', 'gone')],
      answer: { code: 'ALREADY_EXISTS', path: 'gone', operation_index: 1 }
    },
    {
      name: 'a file that is deleted before',
      patch: [remove('a'), first],
      answer: { code: 'FILE_NOT_FOUND', operation_index: 1, detail: /deletes a\./ }
    },
    {
      name: 'changing what is created and deleted before',
      patch: [create('n', 'n\n'), remove('n'), create('n', '')],
      answer: { code: 'FILE_NOT_FOUND', operation_index: 2, detail: /deletes n\./ }
    },
    {
      name: 'a file below one that it makes',
      patch: [first, create('n', ''), create('n/m', '')],
      answer: {
        code: 'NOT_A_FILE',
        detail:
          "Create of n/m: n/m can't be made: create of n makes a file where it needs a directory. " +
          'Nothing was changed in any file. Give one of the two another path.'
      }
    },
    { name: 'a folder', patch: [first, remove('d')], answer: { code: 'NOT_A_FILE', path: 'd', operation_index: 1 } },
    {
      name: 'a link',
      prepare: root => symlinkSync('gone', join(root, 'link')),
      patch: [first, remove('link')],
      answer: { code: 'NOT_A_FILE', path: 'link', resolved_path: 'gone', detail: /symbolic link/ }
    },
    {
      name: 'a protected file',
      files: { a: 'a\nb\n', '.git/config': 'c\n' },
      patch: [first, remove('.git/config')],
      answer: { code: 'PROTECTED_PATH', operation_index: 1 }
    },
    {
      name: 'a binary file',
      files: { a: 'a\nb\n', x: 'a\0' },
      patch: [first, update('x', DIFF, 'y')],
      answer: { code: 'BINARY_FILE', path: 'x', operation_index: 1 }
    },
    {
      name: 'a hunk that does not fit what an earlier file made',
      patch: [first, update('gone', '@@\n-g\n+h\n'), update('a', DIFF)],
      answer: { code: 'NO_MATCH', path: 'a', operation_index: 2, detail: /an earlier part of this patch had made\.$/ }
    },
    {
      name: 'a hunk of a file that is moved too',
      patch: [first, update('d/old', '@@\n-x\n+y\n', 'm')],
      answer: { code: 'NO_MATCH', path: 'd/old', operation_index: 1 }
    },
    {
      name: 'a result that has a syntax error',
      files: { 'a.json': '[]\n' },
      patch: [update('a.json', '@@\n-[]\n+[\n')],
      more: { syntax: 'refuse' },
      answer: { code: 'SYNTAX_ERROR', operation_index: undefined }
    },
    {
      name: 'any change where a hash is required',
      options: { ...ALLOWED, requireHash: true },
      patch: [first],
      answer: { code: 'PRECONDITION_REQUIRED', status: 428, detail: /which this tool cannot send\..*--require-hash/ }
    },
    {
      name: 'any where nothing may be changed',
      options: { ...ALLOWED, readOnly: true },
      patch: [first, remove('gone')],
      answer: { code: 'READ_ONLY', operation_index: undefined }
    },
    {
      name: 'a diff that is none',
      patch: [first, update('gone', 'x')],
      answer: {
        code: 'INVALID_REQUEST',
        operation_index: 1,
        path: 'gone',
        errors: [{ pointer: '/files/1/diff', message: /./ }]
      }
    },
    {
      name: 'and one of a new file',
      patch: [{ operation: 'create', path: 'n', diff: ' x' }],
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/files/0/diff' }] }
    },
    {
      name: 'nothing to do',
      patch: [first, { operation: 'update', path: 'gone' }],
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/files/1/diff', message: 'is missing' }] }
    },
    {
      name: 'no content',
      patch: [{ operation: 'create', path: 'n' }],
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/files/0/content', message: 'is missing' }] }
    },
    {
      name: 'two contents',
      patch: [{ ...create('n', 'n\n'), diff: '+n' }],
      answer: {
        code: 'INVALID_REQUEST',
        errors: [{ pointer: '/files/0/diff', message: "can't be combined with content; send one of them" }]
      }
    },
    {
      name: 'fields of another operation, and of the whole',
      patch: [
        { ...remove('gone'), diff: DIFF },
        { ...create('n', 'n\n'), move_to: 'm', dry_run: true }
      ],
      answer: {
        code: 'INVALID_REQUEST',
        errors: [{ pointer: '/files/0/diff' }, { pointer: '/files/1/dry_run' }, { pointer: '/files/1/move_to' }]
      }
    },
    {
      name: 'an unknown operation',
      patch: [{ operation: 'move', path: 'a', move_to: 'b' }],
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/files/0/operation' }] }
    },
    { name: 'no files', patch: [], answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/files' }] } },
    {
      name: 'too many files',
      patch: Array.from({ length: 101 }, () => first),
      answer: { code: 'TOO_MANY_OPERATIONS', limit: 100, actual: 101 }
    },
    {
      name: 'too many paths',
      patch: Array.from({ length: 51 }, (_, i) => move(`a${i}`, `b${i}`)),
      answer: { code: 'TOO_MANY_OPERATIONS', limit: 100, actual: 102, detail: /names 102 paths/ }
    }
  ]
  for (const one of cases) await check(t, one)
})

const AFTER: Files = { a: 'a\nB\nc\n', 'e/f/moved': 'o\nB\n', 'n/new': 'n\n' }
const ALL = [create('n/new', 'n\n'), update('a', DIFF), remove('gone'), update('d/old', DIFF, 'e/f/moved')]

t.test('is taken back and made again as a whole, with what the files were', async t => {
  const { root, patch, call, texts } = await serve(t, BEFORE)
  chmodSync(join(root, 'gone'), 0o640)
  chmodSync(join(root, 'd/old'), 0o751)
  const modeOf = (path: string) => statSync(join(root, path)).mode & 0o777
  const { body } = await patch(ALL, { agent: 'ann', reason: 'why' })
  const { batch_id } = body
  t.strictSame(texts(), AFTER)
  t.equal(modeOf('e/f/moved'), 0o751)
  rmSync(join(root, 'd'), { recursive: true })
  const history = await call('history', { batch_id })
  const edits = history.body.edits as Body[]
  t.match(edits, Array(5).fill({ operation: 'apply_patch', agent: 'ann', reason: 'why', batch_id }))
  t.match(edits.map(({ path, file_hash }) => `${path} ${file_hash === undefined ? 'gone' : 'there'}`).sort(), [
    'a there',
    'd/old gone',
    'e/f/moved there',
    'gone gone',
    'n/new there'
  ])
  for (let round = 0; round < 2; round++) {
    const undo = await call('undo', { batch_id })
    t.match(undo.body, { results: { length: 5 }, undone: { length: 5 } })
    t.strictSame(texts(), BEFORE)
    t.strictSame([modeOf('gone'), modeOf('d/old')], [0o640, 0o751])
    t.strictSame(readdirSync(root).sort(), ['a', 'd', 'gone'], 'folders that were made are gone')
    t.match((await call('redo', { batch_id: undo.body.batch_id })).body, { code: undefined })
    t.strictSame(texts(), AFTER)
    t.equal(modeOf('e/f/moved'), 0o751)
  }
})

t.test('brings a deleted file back, by each selector', async t => {
  const selectors: [string, (deleted: Body, before: Body) => Body][] = [
    ['its edit', ({ results }) => ({ edit_id: (results as Body[])[0]!.edit_id })],
    ['the batch', ({ batch_id }) => ({ batch_id })],
    ['its path', () => ({ path: 'gone' })],
    ['its path and a state', (_, before) => ({ path: 'gone', to: before.edit_id })],
    ['the last edit', () => ({})],
    ['the agent', () => ({ agent: 'ann' })]
  ]
  for (const [name, selector] of selectors) {
    const { patch, call, texts } = await serve(t, BEFORE)
    const edit = await call('edit', { path: 'gone', old_text: 'g', new_text: 'G' })
    const deleted = await patch([remove('gone')], name === 'the agent' ? { agent: 'ann' } : {})
    t.strictSame(Object.keys(texts()), ['a', 'd/old'])
    const dry = await call('undo', { ...selector(deleted.body, edit.body), dry_run: true })
    t.match(dry.body, { dry_run: true, results: [{ path: 'gone', created: true }] })
    const undo = await call('undo', selector(deleted.body, edit.body))
    t.match(undo.body, { results: [{ path: 'gone', created: true, file_size: 2 }] }, name)
    t.strictSame(texts(), { ...BEFORE, gone: 'G\n' }, name)
    t.match((await call('undo', { edit_id: edit.body.edit_id })).body, { undone: [/./] })
    t.strictSame(texts(), BEFORE, name)
  }
})

t.test('has undo say what stands in the way of edits of a deleted file', async t => {
  const { root, patch, call, texts } = await serve(t, BEFORE)
  const edit = await call('edit', { path: 'gone', old_text: 'g', new_text: 'G' })
  const deleted = await patch([remove('gone')])
  const [{ edit_id: by }] = deleted.body.results as [Body]
  const conflict = await call('undo', { edit_id: edit.body.edit_id })
  t.match(conflict.body, { code: 'UNDO_CONFLICT', conflicts: [{ kind: 'removed', by }] })
  t.match((await call('undo', { edit_ids: [edit.body.edit_id, by] })).body, { results: [{ created: true }] })
  t.strictSame(texts(), BEFORE)
  // Somebody makes another one.
  const again = await patch([remove('gone')])
  writeFileSync(join(root, 'gone'), 'other\n')
  t.match((await call('undo', { batch_id: again.body.batch_id })).body, { code: 'UNDO_CONFLICT' })
  t.equal(texts().gone, 'other\n')
})

t.test('does not repeat a deletion where deleting is not allowed any more', async t => {
  const { root, workspace, patch, call, texts } = await serve(t, BEFORE)
  const one = await patch([remove('gone')])
  const undo = await call('undo', { batch_id: one.body.batch_id })
  t.match(undo.body, { results: [{ created: true }] })
  const two = await patch([remove('gone'), remove('a')])
  t.match((await call('undo', { batch_id: two.body.batch_id })).body, { results: [{}, {}] })
  await workspace.close()
  const later = await open({ base: '', root, state: join(root, '..', 'state') }, { history: 'full' })
  t.teardown(() => later.close())
  const { redo } = makeOperations(later, { max_edits: 1000, max_file_size: 1e6 })
  for (const part of [one, two]) {
    const [{ edit_id }] = part.body.results as [Body]
    const refused = await redo.call({ edit_id: `${edit_id}` })
    t.match(refused, { ok: false, failure: { code: 'DELETE_NOT_ALLOWED', reason: 'setting' } })
  }
  t.strictSame(Object.keys(texts()), Object.keys(BEFORE).sort())
})

t.test('is carried out once under a key, and its paths must be allowed still', async t => {
  const { patch, texts } = await serve(t, { ...BEFORE, b: 'b\n' })
  const headers = { 'idempotency-key': 'k1' }
  const first = await patch([update('a', DIFF), remove('gone'), move('b', 'm')], {}, headers)
  const again = await patch([update('a', DIFF), remove('gone'), move('b', 'm')], {}, headers)
  t.match(again.headers, { 'idempotency-replayed': 'true' })
  t.match(again.body, { message: first.body.message, batch_id: first.body.batch_id })
  t.match((again.body.results as Body[])[0]!.changes, [{ context: undefined }], 'texts of several files are not kept')
  t.strictSame(texts(), { a: 'a\nB\nc\n', 'd/old': 'o\nb\n', m: 'b\n' })
  t.match((await patch([update('a', DIFF)], {}, headers)).body, { code: 'IDEMPOTENCY_KEY_REUSED' })
  const alone = { 'idempotency-key': 'k2' }
  const one = await patch([update('a', '@@\n-B\n+C\n')], {}, alone)
  t.strictSame((await patch([update('a', '@@\n-B\n+C\n')], {}, alone)).body, one.body, 'of one file they are')
})

t.test('says in words what it did, and has no route and no tool', async t => {
  const { workspace, patch, texts } = await serve(t, BEFORE)
  const { text } = await patch([update('a', DIFF)])
  t.equal(text, 'Updated 1 file.')
  const miss = await patch([update('a', DIFF), remove('gone')])
  t.match(miss.text, /^Update of a: /)
  const warned = await patch([update('a', '@@\n-B\n+# ... existing code ...\n'), create('n', '// rest of the code\n')])
  t.match(warned.body.results, [{ warnings: [/^The new text contains the placeholder/] }, {}])
  const marked = await patch([create('m', '\ufeffa\nb\n'), update('m', '@@\n-a\n+A\n')])
  t.match(marked.body.results, [{}, { warnings: [] }])
  t.equal(texts().m, '\ufeffA\nb\n', 'a byte-order mark stays')
  const operations = makeOperations(workspace, { max_edits: 1, max_file_size: 1 })
  for (const listed of [operationsIn(operations), toolsIn(operations)]) {
    t.notOk(listed.some(({ id }) => String(id) === 'apply_patch'))
  }
})
