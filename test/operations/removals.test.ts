// What an undo of an edit says where its file was removed since: by what, and the one call that brings it back. Each is
// sent back as it was answered, by routes and as the text that a model is given, on real files.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bytesOf, check, startServer, type TestServer } from '../http/test-server.ts'

const BEFORE = 'one\ntwo\n'

const patch = (server: TestServer, ...lines: string[]) =>
  check(
    t,
    server,
    '/adapters/codex-apply-patch',
    { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
    200,
    {
      status: 'completed'
    }
  )

/** The newest edit of a path, and its batch. */
async function newest(server: TestServer, path: string): Promise<{ edit_id: string; batch_id?: string }> {
  const { body } = await check(t, server, '/history', { path, limit: 1 }, 200, {})
  return (body.edits as { edit_id: string; batch_id?: string }[])[0]!
}

interface Case {
  name: string
  /** Removes k1.txt, whose edit is `edit_id`. */
  remove: (server: TestServer) => Promise<unknown>
  /** By what, in words; ID is the edit that did it. */
  says: string
  call: 'undo' | 'redo'
}

const deleted = (server: TestServer) => patch(server, '*** Delete File: k1.txt')
const moved = (server: TestServer) => patch(server, '*** Update File: k1.txt', '*** Move to: k2.txt')
/** It is taken back by its batch, and made again. */
async function again(server: TestServer) {
  const { batch_id } = await newest(server, 'k1.txt')
  await check(t, server, '/undo', { batch_id }, 200, {})
  await check(t, server, '/redo', { batch_id }, 200, {})
}

const CASES: Case[] = [
  { name: 'a deletion', remove: deleted, says: 'edit ID deleted it', call: 'undo' },
  { name: 'a move', remove: moved, says: 'edit ID moved it to k2.txt', call: 'undo' },
  {
    name: 'a deletion that a redo made again',
    remove: server => deleted(server).then(() => again(server)),
    says: 'redo ID deleted it again',
    call: 'undo'
  },
  {
    name: 'a move that a redo made again',
    remove: server => moved(server).then(() => again(server)),
    says: 'redo ID moved it to k2.txt again',
    call: 'undo'
  },
  {
    name: 'an undo',
    async remove(server) {
      // The file is deleted, and made by an edit that a later undo takes back.
      await deleted(server)
      await check(t, server, '/create', { path: 'k1.txt', content: 'other\n' }, 200, {})
      await check(t, server, '/undo', { edit_id: (await newest(server, 'k1.txt')).edit_id }, 200, {})
    },
    says: 'undo ID removed it',
    call: 'redo'
  }
]

async function start(t: Test, { remove }: Case) {
  const server = await startServer(t, {
    files: { 'k1.txt': BEFORE },
    settings: { allowDelete: true, tools: ['undo_edit', 'redo_edit', 'edit_file'] }
  })
  const body = { path: 'k1.txt', old_text: 'one', new_text: 'ONE' }
  const edit = await check(t, server, '/edit', body, 200, {})
  await remove(server)
  t.notOk(existsSync(join(server.root, 'k1.txt')))
  const { edit_id: by } = await newest(server, 'k1.txt')
  return { server, edit_id: String(edit.body.edit_id), by }
}

for (const one of CASES) {
  t.test(`says what brings back a file that was removed by ${one.name}`, async t => {
    const gone = `k1.txt is gone: ${one.says}`
    await t.test('to who calls a route', async t => {
      const { server, edit_id, by } = await start(t, one)
      const refused = await check(t, server, '/undo', { edit_id }, 409, {
        code: 'UNDO_CONFLICT',
        conflicts: [{ kind: 'removed', by }],
        suggested_fixes: [{ call: { name: `/${one.call}` } }]
      })
      const fixes = refused.body.suggested_fixes as { call: { name: string; arguments: object } }[]
      t.equal(fixes.length, 1)
      const { name, arguments: args } = fixes[0]!.call
      t.equal(
        refused.body.detail,
        `Edit ${edit_id} can't be taken back: ${gone.replace('ID', by)}. Nothing was written. ` +
          `To bring the file back first, call ${name} with ${JSON.stringify(args)}.` +
          (one.says.includes('k2.txt') ? ' Or change k2.txt with /edit.' : '')
      )
      await check(t, server, name, args, 200, {})
      t.ok(existsSync(join(server.root, 'k1.txt')))
      t.notOk(existsSync(join(server.root, 'k2.txt')))
      if (one.call === 'redo') return
      await check(t, server, '/undo', { edit_id }, 200, { undone: [edit_id] })
      t.equal(bytesOf(server, 'k1.txt'), BEFORE)
    })
    await t.test('to a model', async t => {
      const { server, edit_id, by } = await start(t, one)
      const ask = (tool: string, body: object) =>
        server.call('POST', `/tools/${tool}`, { body, headers: { accept: '*/*' } })
      const { text } = await ask('undo_edit', { edit_ids: [edit_id] })
      const [what, how, call = '', ...rest] = text.split('\n')
      t.equal(what, `Edit ${edit_id} can't be taken back: ${gone.replace('ID', by)}. [UNDO_CONFLICT]`)
      t.equal(how, 'To bring the file back first, send:')
      t.strictSame(rest, [])
      const sent = JSON.parse(call) as { name?: string; arguments?: object }
      const { status } = await ask(sent.name ?? 'undo_edit', sent.arguments ?? sent)
      t.equal(status, 200)
      t.ok(existsSync(join(server.root, 'k1.txt')))
    })
  })
}
