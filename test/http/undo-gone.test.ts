// What /undo and /redo say where the file of an edit is gone, or another one is there by now, over HTTP, on real files.
import { existsSync, renameSync, writeFileSync } from 'node:fs'
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
