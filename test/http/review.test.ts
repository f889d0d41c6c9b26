// POST /review over HTTP, and what /history says of it, on real files.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { caller } from '../../src/http/call.ts'
import { makeReview } from '../../src/operations/review.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { bytesOf, check, startServer, TOKEN, type Reply, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\n'
const files = { 'a.txt': TEXT, 'b.txt': TEXT, dir: { 'c.txt': TEXT } }
const UNKNOWN = '01KASMCX2G0000000000000000'

type Headers = Record<string, string>
const as = (agent: string, session?: string): Headers => ({
  'editd-agent': agent,
  ...(session !== undefined && { 'editd-session': session })
})

/** Makes each word upper case, as one edit of that many changes; returns its id. */
async function shout(server: TestServer, path: string, words: string, headers = as('ann', 's1')): Promise<string> {
  const edits = words.split(' ').map(word => ({ old_text: word, new_text: word.toUpperCase() }))
  const reply = await server.call('POST', '/edit', { body: { path, edits }, headers })
  if (reply.status !== 200) throw new Error(reply.text)
  return String(reply.body.edit_id)
}

const keep = (t: Test, server: TestServer, what: object, kept: readonly string[], headers: Headers = {}) =>
  check(t, server, '/review', { verdict: 'keep', ...what }, 200, { kept }, headers)

interface Listed {
  edit_id: string
  operation: string
  review?: string
  changes: { kept?: true; undone?: true }[]
}

const listed = async (server: TestServer, query: object = {}): Promise<Listed[]> =>
  (await server.call('POST', '/history', { body: query })).body.edits as Listed[]

/** Each edit, newest first, with the state of its review and, for each of its changes, k (kept) and u (undone). */
const reviews = async (server: TestServer, query: object = {}): Promise<string[]> =>
  (await listed(server, query)).map(({ operation, review, changes }) => {
    const each = changes.map(({ kept, undone }) => (kept === true ? 'k' : '') + (undone === true ? 'u' : '') || '-')
    return `${operation} ${review ?? 'nothing'} ${each.join(' ')}`
  })

const ids = (reply: Reply, member: string): string[] => [...(reply.body[member] as string[])].sort()

t.test('keeps an edit, and finds it pending again when somebody takes it back', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two', as('ann', 's1'))
  t.strictSame(await reviews(server), ['edit pending -'])
  const before = bytesOf(server, 'a.txt')
  const done = await keep(t, server, { edit_id: id }, [id], as('me'))
  t.strictSame(done.body, { message: `Kept edit ${id} in a.txt.`, kept: [id] })
  t.equal(bytesOf(server, 'a.txt'), before, 'the file is as it was')
  t.strictSame(await reviews(server), ['edit kept k'])
  await keep(t, server, { edit_id: id }, [])
  await check(t, server, '/undo', { edit_id: id }, 200, {}, as('bob'))
  t.strictSame(await reviews(server), ['undo nothing -', 'edit pending ku'])
  await keep(t, server, { edit_id: id }, [id])
  t.strictSame(await reviews(server), ['undo nothing -', 'edit nothing u'], 'it is to stay undone')
  await check(t, server, '/redo', { edit_id: id }, 200, {})
  t.strictSame(await reviews(server, { limit: 3 }), ['redo nothing -', 'undo nothing -', 'edit pending -'])
})

t.test('needs no review of what was taken back before anybody kept it', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two')
  await check(t, server, '/undo', { edit_id: id }, 200, {})
  t.strictSame(await reviews(server), ['undo nothing -', 'edit nothing u'])
  await keep(t, server, { path: 'a.txt' }, [])
})

t.test('makes pending again', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two four')
  const none = await check(t, server, '/review', { verdict: 'pending', edit_id: id }, 200, { pending: [] })
  t.equal(none.body.message, 'Nothing of this was kept: no verdict was changed.')
  await keep(t, server, { edit_id: id }, [id])
  await check(t, server, '/review', { verdict: 'pending', edit_id: id, change_indexes: [1] }, 200, {
    message: `Edit ${id} in a.txt is pending again.`,
    pending: [id],
    kept: undefined
  })
  t.strictSame(await reviews(server), ['edit pending k -'])
})

t.test('keeps a part of an edit, as it stands', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'one three five')
  await keep(t, server, { edit_id: id, change_indexes: [0] }, [id])
  await keep(t, server, { edit_id: id, change_indexes: [0, 0] }, [])
  t.strictSame(await reviews(server), ['edit pending k - -'])
  await check(t, server, '/undo', { edit_id: id, change_indexes: [1] }, 200, {})
  await keep(t, server, { edit_id: id }, [id])
  t.strictSame(await reviews(server), ['undo nothing -', 'edit kept k u k'])
  await check(t, server, '/review', { verdict: 'keep', edit_id: id, change_indexes: [0, 3] }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/change_indexes/1', message: 'is 3, but the edit has changes 0 to 2' }]
  })
})

t.test('takes what is selected, in several files', async t => {
  const server = await startServer(t, { files })
  const a = await shout(server, 'a.txt', 'one two', as('ann', 's1'))
  const b = await shout(server, 'b.txt', 'one', as('ann', 's2'))
  const c = await shout(server, 'dir/c.txt', 'one', as('bob'))
  const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'five', new_text: '5' }))
  const batch = await check(t, server, '/batch', { operations }, 200, {})
  const batch_id = String(batch.body.batch_id)
  const of = async (query: object) => (await listed(server, query)).map(({ edit_id }) => edit_id)
  const members = await of({ batch_id })
  for (const [what, expected] of [
    [{ session: 's1' }, [a]],
    [{ agent: 'ann' }, [a, b]],
    [{ agent: 'bob' }, [c]],
    [{ batch_id }, members],
    [{ path: 'b.txt' }, [b, ...members.slice(0, 1)]],
    [{ under: 'dir' }, [c]],
    [{ under: '.' }, [a, b, c, ...members]],
    [{ edit_ids: [c, a, c] }, [a, c]],
    [{ changes: [{ edit_id: a, change_indexes: [1] }, { edit_id: b }, { edit_id: a }] }, [a, b]]
  ] as [object, string[]][]) {
    const done = await check(t, server, '/review', { verdict: 'keep', ...what }, 200, {})
    t.strictSame(ids(done, 'kept'), [...expected].sort(), JSON.stringify(what))
    t.strictSame(done.body.kept, [...expected].sort().reverse(), 'newest first')
    t.equal((await of({ review: 'kept' })).length, expected.length)
    const back = await check(t, server, '/review', { verdict: 'pending', ...what }, 200, {})
    t.strictSame(ids(back, 'pending'), [...expected].sort())
    t.strictSame((await of({ review: 'pending' })).length, 5)
  }
  await check(t, server, '/review', { verdict: 'keep', edit_ids: [a, c] }, 200, {
    message: /^Kept edits \S+ and \S+ in 2 files\.$/
  })
  await check(t, server, '/review', { verdict: 'pending', under: '.' }, 200, {
    message: /^Edits \S+ and \S+ in 2 files are pending again\.$/
  })
})

t.test('keeps what an undo or another program did by the changes that these were of', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two four')
  await keep(t, server, { path: 'a.txt' }, [id])
  const undo = await check(t, server, '/undo', { edit_id: id, change_indexes: [0] }, 200, {})
  const [{ edit_id: undo_id } = { edit_id: '' }] = undo.body.results as { edit_id: string }[]
  await check(t, server, '/review', { verdict: 'keep', edit_id: undo_id, change_indexes: [0] }, 400, {
    errors: [{ pointer: '/change_indexes', message: /^names changes of an undo or redo; / }]
  })
  await keep(t, server, { edit_id: undo_id }, [id])
  t.strictSame(await reviews(server), ['undo nothing -', 'edit kept u k'])
  await keep(t, server, { edit_ids: [undo_id, id] }, [])
  writeFileSync(join(server.root, 'a.txt'), `${bytesOf(server, 'a.txt')}six\n`)
  await shout(server, 'a.txt', 'one')
  t.strictSame((await reviews(server)).slice(0, 2), ['edit pending -', 'outside pending -'])
  const done = await check(t, server, '/review', { verdict: 'keep', path: 'a.txt' }, 200, {})
  t.equal(ids(done, 'kept').length, 2)
  t.strictSame((await reviews(server)).slice(0, 2), ['edit kept k', 'outside kept k'])
})

t.test('keeps a creation, and the removal that takes it back', async t => {
  const server = await startServer(t)
  const made = await check(t, server, '/create', { path: 'x/empty.txt', content: '' }, 200, {})
  const id = String(made.body.edit_id)
  await keep(t, server, { edit_id: id }, [id])
  t.strictSame(await reviews(server), ['create kept '])
  await check(t, server, '/undo', { edit_id: id }, 200, {})
  t.strictSame(await reviews(server), ['undo nothing ', 'create pending '])
  await keep(t, server, { path: 'x/empty.txt' }, [id])
  t.strictSame(await reviews(server), ['undo nothing ', 'create nothing '])
})

t.test('is carried out once under a key', async t => {
  const server = await startServer(t, { files })
  const [a, b] = [await shout(server, 'a.txt', 'one'), await shout(server, 'b.txt', 'one')]
  const keyed = async (request: object, key: string) => {
    const first = await server.call('POST', '/review', { body: { ...request, idempotency_key: key } })
    const again = await server.call('POST', '/review', { body: { ...request, idempotency_key: key } })
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.strictSame([again.status, again.body], [200, first.body])
    return first.body
  }
  t.match(await keyed({ verdict: 'keep', edit_ids: [a, b] }, 'k'), { kept: [b, a] })
  t.match(await keyed({ verdict: 'keep', edit_ids: [a, b] }, 'nothing to do'), { kept: [] })
  const c = await shout(server, 'a.txt', 'two')
  t.match(await keyed({ verdict: 'keep', session: 's1' }, 'all'), { kept: [c] })
  const d = await shout(server, 'a.txt', 'three')
  t.match(await keyed({ verdict: 'keep', session: 's1' }, 'all'), { kept: [c] }, 'later ones are not kept by it')
  t.strictSame(
    (await listed(server, { review: 'pending' })).map(({ edit_id }) => edit_id),
    [d]
  )
  await check(t, server, '/review', { verdict: 'pending', session: 's1', idempotency_key: 'all' }, 422, {
    code: 'IDEMPOTENCY_KEY_REUSED'
  })
})

t.test('is one verdict for all servers, also after a restart', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-review-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const one = await startServer(t, { files, settings: { stateDir } })
  const settings = { root: one.root, stateDir }
  const id = await shout(one, 'a.txt', 'two four')
  await t.test('another server', async t => {
    const two = await startServer(t, { settings })
    t.strictSame(await reviews(two), ['edit pending - -'])
    await keep(t, two, { edit_id: id, change_indexes: [1] }, [id])
    t.strictSame(await reviews(one), ['edit pending - k'])
    await check(t, one, '/review', { verdict: 'keep', edit_id: id, idempotency_key: 'k' }, 200, { kept: [id] })
    t.strictSame(await reviews(two), ['edit kept k k'])
    await check(t, two, '/undo', { edit_id: id, change_indexes: [0] }, 200, {})
    t.strictSame(await reviews(one), ['undo nothing -', 'edit pending ku k'])
  })
  await t.test('a third one, later', async t => {
    const three = await startServer(t, { settings })
    t.strictSame(await reviews(three), ['undo nothing -', 'edit pending ku k'])
    const replay = await check(t, three, '/review', { verdict: 'keep', edit_id: id, idempotency_key: 'k' }, 200, {})
    t.equal(replay.headers.get('idempotency-replayed'), 'true')
    await check(t, three, '/review', { verdict: 'pending', path: 'a.txt' }, 200, { pending: [id] })
    t.strictSame(await reviews(one), ['undo nothing -', 'edit pending u -'])
  })
})

t.test('refuses what could mean nothing, or two things', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two')
  const refused = (request: object, pointer: string, message: RegExp) =>
    check(t, server, '/review', request, 400, { code: 'INVALID_REQUEST', errors: [{ pointer, message }] })
  const verdict = 'keep'
  await refused({ verdict }, '', /^the request does not say which changes it means; send one of edit_id, .* or under$/)
  await refused({ verdict, edit_id: id, path: 'a.txt' }, '/path', /second selector/)
  await refused({ verdict, edit_ids: [id], changes: [{ edit_id: id }] }, '/changes', /second selector/)
  await refused(
    { verdict, path: 'a.txt', change_indexes: [0] },
    '/change_indexes',
    /only be used together with edit_id/
  )
  await refused({ verdict: 'kept', edit_id: id }, '/verdict', /"keep" or "pending"/)
  await refused({ edit_id: id }, '/verdict', /missing/)
  await refused(
    { verdict, changes: [{ edit_id: id, change_indexes: [1] }] },
    '/changes/0/change_indexes/0',
    /only change 0/
  )
  await refused({ verdict, changes: [] }, '/changes', /./)
  await refused({ verdict, edit_id: id, note: 'x' }, '/note', /unknown/)
  await check(t, server, '/review', { verdict, path: '../a.txt' }, 403, { code: 'PATH_NOT_ALLOWED' })
  t.strictSame(await reviews(server), ['edit pending -'], 'nothing was written')
})

t.test('writes nothing where one of the edits is not known', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two')
  const hostile = [UNKNOWN, 'a\nb', '\u202e<script>', '../../x', 'constructor', '0'.repeat(100)]
  for (const unknown of hostile) {
    for (const what of [{ edit_ids: [id, unknown] }, { changes: [{ edit_id: id }, { edit_id: unknown }] }]) {
      const reply = await check(t, server, '/review', { verdict: 'keep', ...what }, 422, { code: 'NOTHING_TO_UNDO' })
      t.strictSame(reply.body.edit_ids, [unknown])
    }
  }
  for (const what of [
    { session: 'nobody' },
    { batch_id: UNKNOWN },
    { path: 'b.txt' },
    { under: 'dir' },
    { agent: 'x' }
  ]) {
    for (const verdict of ['keep', 'pending']) {
      await check(t, server, '/review', { verdict, ...what }, 422, {
        code: 'NOTHING_TO_UNDO',
        detail: 'No matching edit is known. /history lists the edits. Nothing was written.'
      })
    }
  }
  t.strictSame(await reviews(server), ['edit pending -'])
})

t.test('takes as many ids as a request may name', async t => {
  const server = await startServer(t, { files })
  const id = await shout(server, 'a.txt', 'two')
  const many = Array.from({ length: 999 }, (_, i) => `${UNKNOWN.slice(0, -3)}${String(i).padStart(3, '0')}`)
  const reply = await check(t, server, '/review', { verdict: 'keep', edit_ids: [id, ...many] }, 422, {})
  t.equal((reply.body.edit_ids as string[]).length, 999)
  const changes = Array.from({ length: 1000 }, () => ({ edit_id: id, change_indexes: [0] }))
  await keep(t, server, { changes }, [id])
  await check(t, server, '/review', { verdict: 'keep', changes: [...changes, { edit_id: id }] }, 400, {
    code: 'TOO_MANY_EDITS',
    limit: 1000,
    actual: 1001
  })
  await check(t, server, '/review', { verdict: 'keep', edit_ids: [...many, 'x', 'y'] }, 400, {
    code: 'INVALID_REQUEST'
  })
})

t.test('answers HISTORY_GONE without a history, and READ_ONLY where nothing may be written', async t => {
  const off = await startServer(t, { files, settings: { history: 'off' } })
  await check(t, off, '/review', { verdict: 'keep', path: 'a.txt' }, 410, { code: 'HISTORY_GONE' })
  t.match(await off.workspace.review({ verdict: 'kept', files: [] }), { failure: { code: 'HISTORY_GONE' } })
  await t.test('read-only', async t => {
    const stateDir = mkdtempSync(join(tmpdir(), 'editd-review-'))
    t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
    const open = await startServer(t, { files, settings: { stateDir } })
    await shout(open, 'a.txt', 'two')
    await t.test('server', async t => {
      const closed = await startServer(t, { settings: { root: open.root, stateDir, readOnly: true } })
      await check(t, closed, '/review', { verdict: 'keep', path: 'a.txt' }, 403, { code: 'READ_ONLY' })
      t.strictSame(await reviews(closed), ['edit pending -'])
    })
  })
})

t.test('reviews as a whole what was kept without texts', async t => {
  for (const settings of [{ history: 'meta' as const }, { historyPrivate: ['*.txt'] }]) {
    await t.test(JSON.stringify(settings), async t => {
      const server = await startServer(t, { files, settings })
      const id = await shout(server, 'a.txt', 'one three')
      t.strictSame(await reviews(server), ['edit pending '])
      await check(t, server, '/review', { verdict: 'keep', edit_id: id, change_indexes: [0] }, 400, {
        errors: [{ pointer: '/change_indexes', message: /not kept one by one; leave it out/ }]
      })
      await keep(t, server, { edit_id: id }, [id])
      t.strictSame(await reviews(server), ['edit kept '])
      await check(t, server, '/review', { verdict: 'pending', edit_id: id }, 200, { pending: [id] })
    })
  }
})

t.test('names no file that may not be read now', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-review-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const used: { workspace?: Workspace } = {}
  const server = await startServer(t, {
    files,
    settings: { stateDir },
    replace: {
      keyed: (...args) => (used.workspace ?? server.opened).keyed(...args),
      history: query => (used.workspace ?? server.opened).history(query),
      review: target => (used.workspace ?? server.opened).review(target)
    }
  })
  const [a, b] = [await shout(server, 'a.txt', 'one'), await shout(server, 'b.txt', 'one')]
  const request = { verdict: 'keep', edit_ids: [a, b], idempotency_key: 'k' }
  await check(t, server, '/review', request, 200, { kept: [b, a] })
  const loaded = loadConfig([server.root, '--token', TOKEN, '--state-dir', stateDir], {})
  if (!loaded.ok) throw new Error(loaded.failure.join())
  const withPolicy = async (options: object, work: () => Promise<unknown>) => {
    used.workspace = await openWorkspace({ ...loaded.value, ...options })
    await work()
    await used.workspace.close()
    delete used.workspace
  }
  await withPolicy({ protect: ['b.txt'], readProtect: ['b.txt'] }, async () => {
    await check(t, server, '/review', request, 403, { code: 'PROTECTED_PATH' })
    await check(t, server, '/review', { verdict: 'pending', edit_id: b }, 422, { code: 'NOTHING_TO_UNDO' })
    await check(t, server, '/review', { verdict: 'pending', path: 'b.txt' }, 403, { code: 'PROTECTED_PATH' })
    await check(t, server, '/review', { verdict: 'pending', under: '.' }, 200, { pending: [a] })
  })
  await withPolicy({ protect: ['*.txt'] }, async () => {
    await check(t, server, '/review', request, 200, { kept: [b, a] })
    await check(t, server, '/review', { verdict: 'pending', edit_id: b }, 200, { pending: [b] })
  })
})

t.test('is no tool', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/tools/review_edits', { verdict: 'keep', path: 'a.txt' }, 404, { code: 'ROUTE_NOT_FOUND' })
  t.equal((await server.call('GET', '/tools?names=review_edits')).status, 400)
  const { body } = await server.call('GET', '/capabilities')
  t.match(
    (body.operations as { name: string; route: string }[]).find(({ route }) => route === '/review'),
    { name: 'review_edits', method: 'POST' }
  )
  await shout(server, 'a.txt', 'two')
  const call = caller(makeReview(server.workspace))
  const answer = await call({
    body: { verdict: 'keep', file: 'a.txt' },
    headers: {},
    instance: '/review',
    request_id: '1'
  })
  t.match(answer.text(), /^Kept edit \w{26} in a\.txt\.\nWarning: file was read as path\.$/, 'it can be said in words')
})

t.test('takes changes of several edits back, and makes them again', async t => {
  const server = await startServer(t, { files })
  const a = await shout(server, 'a.txt', 'one three five')
  const b = await shout(server, 'b.txt', 'one three')
  const later = await shout(server, 'a.txt', 'four')
  const changes = [
    { edit_id: a, change_indexes: [0, 2] },
    { edit_id: b, change_indexes: [1] },
    { edit_id: a, change_indexes: [0] },
    { edit_id: later }
  ]
  const dry = await check(t, server, '/undo', { changes, dry_run: true }, 200, {})
  t.strictSame(ids(dry, 'undone'), [a, b, later].sort())
  const undo = await check(t, server, '/undo', { changes }, 200, {})
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('three', 'THREE'))
  t.equal(bytesOf(server, 'b.txt'), TEXT.replace('one', 'ONE'))
  await check(t, server, '/redo', { changes: changes.slice(0, 2) }, 200, { results: [{}, {}] })
  t.equal(bytesOf(server, 'a.txt'), 'ONE\ntwo\nTHREE\nfour\nFIVE\n')
  t.equal(bytesOf(server, 'b.txt'), TEXT.replace('one', 'ONE').replace('three', 'THREE'))
  const [{ edit_id: undo_id } = { edit_id: '' }] = undo.body.results as { edit_id: string }[]
  const wrong = (route: string, named: object[], pointer: string, message: RegExp) =>
    check(t, server, route, { changes: named }, 400, { errors: [{ pointer, message }] })
  const missing = [{ edit_id: a }, { edit_id: b, change_indexes: [0, 2] }]
  await wrong('/undo', missing, '/changes/1/change_indexes/1', /is 2, but the edit has changes 0 to 1/)
  await wrong('/redo', missing, '/changes/1/change_indexes/1', /is 2, but/)
  await wrong('/redo', [{ edit_id: undo_id, change_indexes: [0] }], '/changes/0/change_indexes', /of an undo or redo/)
  await check(t, server, '/undo', { changes: [{ edit_id: UNKNOWN }] }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { changes, path: 'a.txt' }, 400, { errors: [{ pointer: '/path' }] })
  await check(t, server, '/redo', { changes, edit_id: a }, 400, { errors: [{ pointer: '/changes' }] })
  await check(t, server, '/undo', { changes: Array(1001).fill({ edit_id: a }) }, 400, { code: 'TOO_MANY_EDITS' })
  t.match(readFileSync(join(server.root, 'b.txt'), 'utf8'), 'THREE', 'nothing was written')
})
