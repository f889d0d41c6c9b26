// What /undo and /redo say where the file of an edit is gone, or another one is there by now, over HTTP, on real files.
import { chmodSync, existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, check, startServer, type TestServer } from './test-server.ts'

const as = (agent: string): Record<string, string> => ({ 'editd-agent': agent })

/** Makes g.txt and takes that back; returns the ids of both. */
async function madeAndGone(t: Parameters<typeof check>[0], server: TestServer) {
  const made = await check(t, server, '/create', { path: 'g.txt', content: 'x\n' }, 200, {}, as('ann'))
  const undone = await check(t, server, '/undo', {}, 200, { results: [{ removed: true }] }, as('ann'))
  const [{ edit_id: undo }] = undone.body.results as [{ edit_id: string }]
  return { made: String(made.body.edit_id), undo }
}

/** Deletes a file; returns the id of that edit. */
async function deleted(
  t: Parameters<typeof check>[0],
  server: TestServer,
  path: string,
  headers: Record<string, string> = as('ann')
): Promise<string> {
  const input = `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`
  const { body } = await check(t, server, '/adapters/codex-apply-patch', { input }, 200, {}, headers)
  const { results } = body.result as { results: [{ edit_id: string }] }
  return results[0].edit_id
}

t.test('says of a creation that is undone that it is, and how to bring the file back', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'x\n' } })
  const { made, undo } = await madeAndGone(t, server)
  await check(t, server, '/undo', { edit_id: made }, 422, {
    code: 'NOTHING_TO_UNDO',
    detail: /is undone already\. To make it again, call \/redo\./,
    suggested_fixes: [{ type: 'USE_REDO', call: { name: '/redo', arguments: { edit_id: made } } }]
  })
  for (const request of [{ path: 'g.txt' }, { path: 'g.txt', to: made }]) {
    await check(t, server, '/undo', request, 422, {
      code: 'NOTHING_TO_UNDO',
      detail: /^The file is not there: undo \S+ took back its creation\./,
      suggested_fixes: [{ type: 'USE_REDO', call: { name: '/redo', arguments: { edit_id: undo } } }]
    })
  }
  await check(t, server, '/undo', { path: 'nowhere.txt' }, 404, { code: 'FILE_NOT_FOUND' })
  await check(t, server, '/redo', { edit_id: undo }, 200, {})
  t.equal(bytesOf(server, 'g.txt'), 'x\n')
})

t.test('says of an edit that stands that its file is gone, beside one that is undone', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'one\ntwo\n' } })
  const edit = async (old_text: string, new_text: string) => {
    const { body } = await check(t, server, '/edit', { path: 'p.txt', old_text, new_text }, 200, {}, as('ann'))
    return String(body.edit_id)
  }
  const [first, second] = [await edit('one', 'ONE'), await edit('two', 'TWO')]
  await check(t, server, '/undo', { edit_id: first }, 200, {})
  renameSync(join(server.root, 'p.txt'), join(server.root, 'q.txt'))
  const { body } = await check(t, server, '/undo', { edit_ids: [first, second] }, 409, {
    code: 'UNDO_CONFLICT',
    detail: /p\.txt is gone/
  })
  t.match(body.conflicts, [{ edit_id: second, kind: 'removed' }])
  t.equal((body.conflicts as unknown[]).length, 1)
})

t.test('sends nobody in a circle where another file was made in the place', async t => {
  const server = await startServer(t)
  const { made } = await madeAndGone(t, server)
  writeFileSync(join(server.root, 'g.txt'), 'someone made it\n')
  const refused = await check(t, server, '/redo', { edit_id: made }, 409, {
    code: 'UNDO_CONFLICT',
    detail: /it changed an earlier g\.txt, which another file has replaced since\..*Change the file as it is now/,
    suggested_fixes: []
  })
  t.strictSame(refused.body.suggested_fixes, [])
  const { text } = await server.call('POST', '/tools/redo_edit', {
    body: { edit_id: made },
    headers: { accept: '*/*' }
  })
  t.match(text, /another file has replaced since/)
  t.notMatch(text, /"edit_ids"/)
  t.ok(existsSync(join(server.root, 'g.txt')))
})

t.test('says that an edit is not one of the file whose state is asked for', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'one\n', 'q.txt': 'one\n' } })
  const { body } = await check(t, server, '/edit', { path: 'p.txt', old_text: 'one', new_text: 'two' }, 200, {})
  const to = String(body.edit_id)
  await check(t, server, '/undo', { path: 'q.txt', to }, 422, {
    code: 'NOTHING_TO_UNDO',
    detail: `The file has no edit ${to}. /history with its path lists those that it has. Nothing was written.`
  })
})

t.test('brings a deleted file back where what was made in its place is undone, or with that', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'old\n' }, settings: { allowDelete: true } })
  chmodSync(join(server.root, 'p.txt'), 0o750)
  const undoAll = async (ids: string[]) => check(t, server, '/undo', { edit_ids: ids }, 200, {})
  const removal = await deleted(t, server, 'p.txt')
  const create = { path: 'p.txt', content: 'new\n' }
  const { body } = await check(t, server, '/create', create, 200, {}, as('bob'))
  const making = String(body.edit_id)

  const call = { name: '/undo', arguments: { edit_ids: [removal, making] } }
  const refused = await check(t, server, '/undo', { edit_id: removal }, 409, {
    code: 'UNDO_CONFLICT',
    detail:
      `Edit ${removal} can't be taken back: it changed an earlier p.txt, which another file has replaced since. ` +
      `Nothing was written. If that is what you mean, take back edit ${making} too, or send on_conflict "skip" to ` +
      'leave what is in conflict. suggested_fixes has the call.',
    suggested_fixes: [{ type: 'UNDO_LATER_TOO', call }]
  })
  const conflict = { path: 'p.txt', edit_id: removal, change_index: 0, by: making, kind: 'removed' }
  t.strictSame(refused.body.conflicts, [conflict])
  t.equal((refused.body.suggested_fixes as unknown[]).length, 1)
  const { text } = await server.call('POST', '/tools/undo_edit', {
    body: { edit_ids: [removal] },
    headers: { accept: '*/*' }
  })
  t.match(text, 'To take back the later edit too, send:')
  t.match(text, `{"edit_ids":["${removal}","${making}"]}`)

  await undoAll([removal, making])
  t.equal(bytesOf(server, 'p.txt'), 'old\n')
  const redone = await check(t, server, '/redo', { edit_ids: [removal, making] }, 200, {})
  t.equal(bytesOf(server, 'p.txt'), 'new\n')
  t.equal((redone.body.results as unknown[]).length, 1)

  await undoAll([making])
  t.notOk(existsSync(join(server.root, 'p.txt')))
  await undoAll([removal])
  t.equal(bytesOf(server, 'p.txt'), 'old\n')
  t.equal(statSync(join(server.root, 'p.txt')).mode & 0o777, 0o750, 'as it was when it was deleted')
})

t.test('takes all edits of a session back, of a file too that it made and deleted', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'one\n' }, settings: { allowDelete: true } })
  const session = { 'editd-session': 's1' }
  const change = async (route: string, body: Record<string, unknown>) =>
    String((await check(t, server, route, body, 200, {}, session)).body.edit_id)
  const made = await change('/create', { path: 'd/tmp.txt', content: 'x\n', create_parents: true })
  const edited = await change('/edit', { path: 'd/tmp.txt', old_text: 'x', new_text: 'y' })
  const removal = await deleted(t, server, 'd/tmp.txt', session)
  const states = async (): Promise<unknown[]> => {
    const { body } = await check(t, server, '/history', { path: 'd/tmp.txt' }, 200, {})
    return (body.edits as { edit_id: string; state: string }[])
      .filter(({ edit_id }) => [made, edited, removal].includes(edit_id))
      .map(({ state }) => state)
  }
  const tmp = { path: 'd/tmp.txt', changed: false, removed: true }
  const would = await check(t, server, '/undo', { session: 's1', dry_run: true }, 200, {
    results: [tmp],
    message: /^Would take back .* in d\/tmp\.txt; the file would stay removed; nothing was written\.$/
  })
  t.notMatch(JSON.stringify(would.body), '_hash', 'there is no file')
  t.strictSame(await states(), ['applied', 'applied', 'applied'])

  const undo = await check(t, server, '/undo', { session: 's1' }, 200, {
    results: [tmp],
    message: /^Took back .* in d\/tmp\.txt; the file stays removed\.$/
  })
  const [{ edit_id }] = undo.body.results as [{ edit_id: string }]
  t.match(edit_id, /^.{26}$/, 'which can be made undone')
  t.notOk(existsSync(join(server.root, 'd/tmp.txt')))
  t.strictSame(await states(), ['undone', 'undone', 'undone'])
  await check(t, server, '/undo', { session: 's1' }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { path: 'd/tmp.txt' }, 422, { code: 'NOTHING_TO_UNDO', detail: /No matching edit/ })
  await check(t, server, '/undo', { edit_id: made }, 422, { detail: /is undone already\./ })

  await check(t, server, '/redo', { edit_id }, 200, { results: [tmp] })
  t.strictSame(await states(), ['applied', 'applied', 'applied'])
  await check(t, server, '/undo', { edit_id: removal }, 200, { results: [{ created: true }] })
  t.equal(bytesOf(server, 'd/tmp.txt'), 'y\n')
  await check(t, server, '/undo', { session: 's1' }, 200, { results: [{ changed: true, removed: true }] })

  // Beside a file that is changed, in one batch.
  await check(
    t,
    server,
    '/edit',
    { path: 'p.txt', old_text: 'one', new_text: 'two' },
    200,
    {},
    { 'editd-session': 's2' }
  )
  const other = { 'editd-session': 's2' }
  const again = await check(t, server, '/create', { path: 'd/tmp.txt', content: 'z\n' }, 200, {}, other)
  await deleted(t, server, 'd/tmp.txt', other)
  const results = [tmp, { path: 'p.txt', changed: true }]
  const both = await check(t, server, '/undo', { session: 's2', idempotency_key: 'k' }, 200, { results })
  t.equal(bytesOf(server, 'p.txt'), 'one\n')
  t.notOk(existsSync(join(server.root, 'd/tmp.txt')))
  await check(t, server, '/undo', { session: 's2', idempotency_key: 'k' }, 200, { results })
  await check(t, server, '/redo', { batch_id: both.body.batch_id }, 200, {})
  t.equal(bytesOf(server, 'p.txt'), 'two\n')
  await check(t, server, '/undo', { edit_id: String(again.body.edit_id) }, 409, {
    code: 'UNDO_CONFLICT',
    detail: /d\/tmp\.txt is gone: edit \S+ deleted it\./
  })
})

t.test('gives a file that is gone a state in which it was gone', async t => {
  const server = await startServer(t, { files: { 'p.txt': 'one\n' }, settings: { allowDelete: true } })
  const to = await deleted(t, server, 'p.txt')
  await check(t, server, '/create', { path: 'p.txt', content: 'two\n' }, 200, {})
  await deleted(t, server, 'p.txt')
  const results = [{ changed: false, removed: true, edit_id: /^.{26}$/ }]
  const keyed = { path: 'p.txt', to, idempotency_key: 'k' }
  const first = await check(t, server, '/undo', keyed, 200, { results })
  t.notOk(existsSync(join(server.root, 'p.txt')))
  const again = await check(t, server, '/undo', keyed, 200, { results })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.strictSame(again.body, first.body)
  await check(t, server, '/undo', { path: 'p.txt', to }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { edit_id: to }, 200, { results: [{ created: true }] })
  t.equal(bytesOf(server, 'p.txt'), 'one\n')
})
