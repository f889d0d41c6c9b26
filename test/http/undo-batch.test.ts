// /undo and /redo of several files over HTTP, on real files: one batch, all or nothing.
import { existsSync, linkSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Workspace } from '../../src/workspace/api.ts'
import { letFail } from '../folder/support/let-fail.ts'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\n'
const DONE = TEXT.replace('two', 'TWO')
const files = { 'a.txt': TEXT, 'b.txt': TEXT, dir: { 'c.txt': TEXT } }
const PATHS = ['a.txt', 'b.txt', 'dir/c.txt']
const OPERATIONS = [
  ...PATHS.map(path => ({ operation: 'edit', path, old_text: 'two', new_text: 'TWO' })),
  { operation: 'create', path: 'new/x/y.txt', content: 'y\n' }
]
const as = (agent: string): Record<string, string> => ({ 'editd-agent': agent })

/** Carries a batch out as ann; returns its batch_id. */
async function makeBatch(t: Test, server: TestServer, operations: readonly object[] = OPERATIONS): Promise<string> {
  const { body } = await check(t, server, '/batch', { operations }, 200, { batch_id: String }, as('ann'))
  return String(body.batch_id)
}

const idsOf = ({ body }: Reply): string[] => (body.results as { edit_id: string }[]).map(({ edit_id }) => edit_id)

function checkFiles(t: Test, server: TestServer, is: 'done' | 'undone'): void {
  for (const path of PATHS) t.equal(bytesOf(server, path), is === 'done' ? DONE : TEXT, path)
  t.equal(existsSync(join(server.root, 'new/x/y.txt')), is === 'done')
  if (is === 'undone') t.notOk(existsSync(join(server.root, 'new')), 'nor are the folders that were made for it')
  const left = readdirSync(server.root, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.tmp'))
  t.strictSame(left, [])
}

t.test('says that the rest of a batch stands, where only one file of it was named', async t => {
  const server = await startServer(t, { files, settings: { allowDelete: true } })
  const move = { operation: 'move', path: 'b.txt', to: 'moved.txt' }
  const batch = await makeBatch(t, server, [OPERATIONS[0]!, move])
  const warnings = [
    `This edit is one of batch ${batch}, and others of it still stand. ` +
      `To take back all of it, call /undo with {"batch_id":"${batch}"}.`
  ]
  await check(t, server, '/undo', { path: 'a.txt', dry_run: true }, 200, { warnings })
  await check(t, server, '/undo', { path: 'moved.txt' }, 200, { warnings })
  await check(t, server, '/undo', { path: 'a.txt' }, 200, { warnings: undefined })
})

t.test('takes several files back as one batch, which is made again by its batch_id', async t => {
  const server = await startServer(t, { files })
  const batch = await makeBatch(t, server)
  const dry = await check(t, server, '/undo', { batch_id: batch, dry_run: true }, 200, { batch_id: undefined })
  checkFiles(t, server, 'done')
  const undone = await check(t, server, '/undo', { batch_id: batch, note: 'no' }, 200, {
    message: 'Took back 4 edits in 4 files.',
    batch_id: /^[0-9A-Z]{26}$/
  })
  checkFiles(t, server, 'undone')
  t.strictSame(undone.body.undone, dry.body.undone)
  const undo = String(undone.body.batch_id)
  const listed = await check(t, server, '/history', { batch_id: undo }, 200, { message: '4 edits, newest first.' })
  t.match(
    listed.body.edits,
    idsOf(undone)
      .toReversed()
      .map(edit_id => ({ edit_id, operation: 'undo', reason: 'no' }))
  )
  await check(t, server, '/undo', { batch_id: undo }, 422, {
    code: 'NOTHING_TO_UNDO',
    edit_ids: Array,
    detail:
      `Batch ${undo} is an undo of 4 edits. To make them again, call /redo with batch_id ${undo}. ` +
      'Nothing was written.',
    suggested_fixes: [{ type: 'USE_REDO', call: { name: '/redo', arguments: { batch_id: undo } } }]
  })
  const redone = await check(t, server, '/redo', { batch_id: undo }, 200, {
    message: 'Made again 4 edits in 4 files.',
    batch_id: String,
    redone: Array
  })
  checkFiles(t, server, 'done')
  await check(t, server, '/redo', { batch_id: undo }, 422, { code: 'NOTHING_TO_UNDO', detail: /applied/ })
  await check(t, server, '/undo', { batch_id: redone.body.batch_id }, 200, { undone: undone.body.undone as string[] })
  checkFiles(t, server, 'undone')
  await check(t, server, '/redo', { batch_id: batch }, 200, { message: 'Made again 4 edits in 4 files.' })
  checkFiles(t, server, 'done')
  await check(t, server, '/redo', { batch_id: 'none' }, 422, {
    code: 'NOTHING_TO_UNDO',
    detail: /^No matching edit is known/
  })
  await check(t, server, '/redo', { batch_id: batch, edit_id: 'x' }, 400, { errors: [{ pointer: '/batch_id' }] })
})

t.test('makes the last undo of a caller again with all of its files', async t => {
  const server = await startServer(t, { files })
  await makeBatch(t, server)
  await check(t, server, '/undo', {}, 200, { results: [{}, {}, {}, {}] }, as('ann'))
  checkFiles(t, server, 'undone')
  await check(t, server, '/redo', {}, 200, { results: [{}, {}, {}, {}] }, as('ann'))
  checkFiles(t, server, 'done')
})

t.test('tells a model the batch_id', async t => {
  const server = await startServer(t, { files })
  const batch_id = await makeBatch(t, server)
  const ask = async (tool: string, body: Record<string, unknown>): Promise<string> =>
    (await server.call('POST', `/tools/${tool}`, { body, headers: { accept: '*/*' } })).text
  const text = await ask('undo_edit', { batch_id })
  const id = /batch_id: (\w+)/.exec(text)?.[1]
  t.match(text, /^Took back 4 edits in 4 files\. batch_id: \w{26}\n/)
  t.match(await ask('redo_edit', { batch_id: id }), /^Made again 4 edits/)
})

t.test('takes back all files or none where one fails on the way', async t => {
  const server = await startServer(t, { files })
  const batch_id = await makeBatch(t, server)
  const faults: [request: string, stop: () => () => void, status: number, problem: Record<string, unknown>][] = [
    [
      'a name can’t be given',
      () => letFail((call, _, to) => (call === 'renameSync' && to === 'b.txt' ? 'ENOSPC' : null)),
      507,
      { code: 'NO_SPACE', path: 'b.txt', written: undefined, detail: /^There is no space left .* b\.txt/ }
    ],
    [
      'a file can’t be removed',
      () => letFail((call, from) => (call === 'renameSync' && from === 'y.txt' ? 'EACCES' : null)),
      403,
      { code: 'PERMISSION_DENIED', path: 'new/x/y.txt' }
    ]
  ]
  for (const [name, begin, status, problem] of faults) {
    const stop = begin()
    await check(t, server, '/undo', { batch_id }, status, problem).finally(stop)
    t.comment(name)
    checkFiles(t, server, 'done')
    await check(t, server, '/history', { batch_id }, 200, { edits: [{}, {}, {}, {}].map(() => ({ state: 'applied' })) })
  }
  await check(t, server, '/undo', { batch_id }, 200, {})
  checkFiles(t, server, 'undone')
  const stop = letFail((call, _, to) => (call === 'linkSync' && to === 'y.txt' ? 'ENOSPC' : null))
  await check(t, server, '/redo', { batch_id }, 507, { code: 'NO_SPACE' }).finally(stop)
  checkFiles(t, server, 'undone')
})

t.test('names the conflicts of all files, also of edits that come in between', async t => {
  const real: { workspace?: Workspace } = {}
  let before = async (): Promise<void> => {}
  let batches = 0
  const server = await startServer(t, {
    files,
    replace: {
      async batch(steps, options) {
        batches++
        await before()
        return real.workspace!.batch(steps, options)
      }
    }
  })
  real.workspace = server.opened
  const batch_id = await makeBatch(t, server)
  const change = (path: string) => check(t, server, '/edit', { path, old_text: 'TWO', new_text: 'TWO!' }, 200, {})
  batches = 0
  before = async () => {
    for (const path of PATHS) await change(path)
  }
  await check(t, server, '/undo', { batch_id }, 409, {
    code: 'UNDO_CONFLICT',
    conflicts: PATHS.toReversed().map(path => ({ path, kind: 'same_line' }))
  })
  t.equal(batches, 1)
  const refused = await check(t, server, '/undo', { batch_id, dry_run: true }, 409, { code: 'UNDO_CONFLICT' })
  const [too] = refused.body.suggested_fixes as { type: string; call: { arguments: { edit_ids: string[] } } }[]
  t.match(too, { type: 'UNDO_LATER_TOO', call: { name: '/undo', arguments: { edit_ids: { length: 7 } } } })
  const all = { ...too!.call.arguments, dry_run: true }
  await check(t, server, '/undo', all, 200, { undone: { length: 7 }, results: { length: 4 } })
  t.ok(existsSync(join(server.root, 'new/x/y.txt')))
  before = async () => {}
  // Of what is left, only one file can be changed.
  await check(t, server, '/undo', { batch_id, on_conflict: 'skip' }, 200, {
    batch_id: undefined,
    results: [{ path: 'new/x/y.txt', removed: true }],
    skipped: [String, String, String]
  })
  t.equal(batches, 1, 'which is no batch')
})

t.test('gives up where the files change each time, and says nothing of one file where all are meant', async t => {
  const real: { workspace?: Workspace; answer?: object } = {}
  let batches = 0
  const server = await startServer(t, {
    files,
    replace: {
      batch(steps, options) {
        batches++
        if (real.answer === undefined) return real.workspace!.batch(steps, options)
        return Promise.resolve({ ok: false, path: 'a.txt', at: 0, ...real.answer } as never)
      }
    }
  })
  real.workspace = server.opened
  const batch_id = await makeBatch(t, server)
  batches = 0
  real.answer = { failure: { code: 'FILE_NOT_FOUND' } }
  await check(t, server, '/undo', { batch_id }, 404, { code: 'FILE_NOT_FOUND', path: 'a.txt' })
  t.equal(batches, 3)
  real.answer = { failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 } }
  await check(t, server, '/undo', { batch_id }, 503, { code: 'NOT_READY', path: undefined })
  const edit_ids = ['1']
  const conflict = {
    path: 'a.txt',
    edit_id: '1',
    change_index: 0,
    by: '2',
    kind: 'overlap',
    start_line: 1,
    end_line: 1
  }
  const conflicts = [{ ...conflict, current_text: 'x', would_restore: 'y' }]
  const together = [{ edit_id: '1' }, { edit_id: '2' }]
  real.answer = { failure: { code: 'UNDO_CONFLICT', verb: 'undo', edit_ids, conflicts, together } }
  const refused = await check(t, server, '/undo', { batch_id }, 409, { code: 'UNDO_CONFLICT' })
  t.strictSame(refused.body.suggested_fixes, [], 'what could be taken back together is not known of the other files')
})

t.test('keeps names of one file one file', async t => {
  const server = await startServer(t, { files })
  linkSync(join(server.root, 'a.txt'), join(server.root, 'a2.txt'))
  const operations = ['a.txt', 'a2.txt'].map((path, i) => ({
    operation: 'edit',
    path,
    old_text: ['one', 'two'][i],
    new_text: ['ONE', 'TWO'][i]
  }))
  const batch_id = await makeBatch(t, server, operations)
  const areOne = (): boolean => statSync(join(server.root, 'a.txt')).ino === statSync(join(server.root, 'a2.txt')).ino
  t.ok(areOne())
  await check(t, server, '/undo', { batch_id }, 200, { results: [{ warnings: [] }, { warnings: [] }] })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
  t.ok(areOne())
  await check(t, server, '/redo', { batch_id }, 200, { results: [{}, {}] })
  t.equal(bytesOf(server, 'a2.txt'), 'ONE\nTWO\nthree\n')
  t.ok(areOne())
})

t.test('carries out an undo of several files once under a key', async t => {
  const server = await startServer(t, { files })
  const batch_id = await makeBatch(t, server)
  const request = { batch_id, idempotency_key: 'k' }
  const done = await check(t, server, '/undo', request, 200, { batch_id: String, results: [{}, {}, {}, {}] })
  await check(t, server, '/redo', { batch_id: done.body.batch_id }, 200, {})
  const again = await check(t, server, '/undo', request, 200, { batch_id: done.body.batch_id as string })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  checkFiles(t, server, 'done')
})

t.test('gives the answer again as it was, also of a file whose bytes stay as they are', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } })
  const as = { 'editd-session': 's1' }
  const edits = [
    { path: 'a.txt', old_text: 'one', new_text: 'two' },
    { path: 'a.txt', old_text: 'two', new_text: 'one' },
    { path: 'b.txt', old_text: 'one', new_text: 'two' }
  ]
  for (const edit of edits) await check(t, server, '/edit', edit, 200, {}, as)
  const body = { session: 's1', idempotency_key: 'k' }
  const first = await check(t, server, '/undo', body, 200, {
    results: [
      { path: 'b.txt', changed: true, edit_id: /./ },
      { path: 'a.txt', changed: false, edit_id: /./ }
    ]
  })
  const again = await check(t, server, '/undo', body, 200, {})
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const ids = ({ body }: typeof first) => (body.results as { edit_id?: string }[]).map(({ edit_id }) => edit_id)
  t.strictSame(ids(again), ids(first))
  t.equal(new Set(ids(first)).size, 2)
  for (const edit_id of ids(first)) {
    await check(t, server, '/history', { edit_id }, 200, { edits: [{ edit_id, operation: 'undo' }] })
  }
})
