// /history, /undo and /redo over HTTP, on real files.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { testFolder } from '../folder.ts'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'
const JSON_ONLY = { accept: 'application/json' }
const files = { 'a.txt': TEXT, 'b.txt': TEXT, dir: { 'c.txt': TEXT } }

const as = (agent: string, session?: string): Record<string, string> => ({
  'editd-agent': agent,
  ...(session !== undefined && { 'editd-session': session })
})

/** Replaces a text as an agent; returns the edit's id. */
async function edit(server: TestServer, path: string, old_text: string, new_text: string, headers = as('ann')) {
  const reply = await server.call('POST', '/edit', { body: { path, old_text, new_text }, headers })
  if (reply.status !== 200) throw new Error(reply.text)
  return String(reply.body.edit_id)
}

const first = (reply: Reply, member: string): Record<string, any> => (reply.body[member] as Record<string, any>[])[0]!

t.test('takes back the edit of one agent among three, and nothing else', async t => {
  const server = await startServer(t, { files })
  const ann = await edit(server, 'a.txt', 'two', 'TWO', as('ann', 's1'))
  await edit(server, 'a.txt', 'four', 'FOUR', as('bob'))
  await edit(server, 'a.txt', 'six', 'SIX', as('cid'))
  const dry = await check(t, server, '/undo', { edit_id: ann, dry_run: true, show_diff: true }, 200, {
    dry_run: true,
    undone: [ann],
    skipped: [],
    message: `Would take back edit ${ann} in a.txt (line 2); it would then have 7 lines; nothing was written.`,
    results: [{ path: 'a.txt', changed: true, dry_run: true, changes: [{ old_content: 'TWO', new_content: 'two' }] }]
  })
  const done = await check(t, server, '/undo', { edit_id: ann, note: 'not wanted', show_diff: true }, 200, {
    message: `Took back edit ${ann} in a.txt (line 2); it now has 7 lines.`,
    undone: [ann],
    results: [{ path: 'a.txt', edit_id: String, file_hash: first(dry, 'results').new_hash }]
  })
  t.equal(first(done, 'results').diff, first(dry, 'results').diff)
  t.equal(bytesOf(server, 'a.txt'), 'one\ntwo\nthree\nFOUR\nfive\nSIX\nseven\n')
  t.equal(done.headers.get('etag'), `"${first(done, 'results').sha256}"`)
  const listed = await check(t, server, '/history', { path: 'a.txt' }, 200, {
    message: '4 edits, newest first.',
    edits: [
      { operation: 'undo', reason: 'not wanted', undoes: [ann], state: 'applied' },
      { agent: 'cid', state: 'applied' },
      { agent: 'bob', state: 'applied', lines_added: 1, lines_removed: 1 },
      { edit_id: ann, agent: 'ann', session: 's1', state: 'undone', undone_by: first(done, 'results').edit_id }
    ]
  })
  t.match(first(listed, 'edits'), { changes: [{ change_index: 0, start_line: 2, new_start_line: 2 }] })
})

t.test('takes back an edit by the hash that it answered', async t => {
  const server = await startServer(t, { files })
  const made = await server.call('POST', '/edit', { body: { path: 'a.txt', old_text: 'two', new_text: 'TWO' } })
  const { edit_id, file_hash, sha256 } = made.body
  await edit(server, 'a.txt', 'four', 'FOUR', as('bob'))
  await check(t, server, '/undo', { edit_id: sha256, dry_run: true }, 200, { undone: [edit_id] })
  await check(t, server, '/tools/undo_edit', { edit_ids: [file_hash] }, 200, { undone: [edit_id] }, JSON_ONLY)
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('four', 'FOUR'))
  const nothing = { code: 'NOTHING_TO_UNDO' }
  await check(t, server, '/undo', { edit_id: file_hash }, 422, { ...nothing, detail: / is undone already\./ })
  await check(t, server, '/undo', { edit_id: '0123456789abcdef' }, 422, nothing)
  const ids: unknown[] = []
  for (const path of ['x.txt', 'y.txt']) {
    const { body } = await server.call('POST', '/create', { body: { path, content: 'same\n' } })
    ids.unshift(body.edit_id)
    if (path === 'y.txt') {
      await check(t, server, '/undo', { edit_id: body.file_hash }, 422, {
        ...nothing,
        detail:
          /^Several edits that are applied have left a text with this hash.*\(x\.txt.*edit_ids of the one that you mean\./,
        suggested_fixes: ids.map(id => ({ call: { name: '/undo', arguments: { edit_ids: [id] } } }))
      })
      await check(
        t,
        server,
        '/tools/undo_edit',
        { path: 'x.txt', edit_ids: [body.file_hash] },
        200,
        {
          undone: [ids[1]],
          results: [{ path: 'x.txt' }]
        },
        JSON_ONLY
      )
      await check(t, server, '/undo', { path: 'x.txt', edit_id: ids[0] }, 422, {
        ...nothing,
        path: 'x.txt',
        detail: new RegExp(`^The file has no edit ${ids[0]}\\.`)
      })
      await check(t, server, '/undo', { path: 'y.txt', edit_ids: [ids[0]] }, 200, { undone: [ids[0]] })
    }
  }
})

t.test('says by which index each change is taken back, in whatever order they were asked for', async t => {
  const server = await startServer(t, { files })
  const edits = [
    { old_text: 'six', new_text: 'SIX' },
    { old_text: 'two', new_text: 'TWO' },
    { old_text: 'three\nfour', new_text: 'three\nFOUR' }
  ]
  const changes = [
    { edit_index: 0, start_line: 6, change_index: 2 },
    { edit_index: 1, start_line: 2, change_index: 0 },
    { edit_index: 2, start_line: 4, change_index: 1 }
  ]
  await check(t, server, '/preview', { operation: 'edit', path: 'a.txt', edits }, 200, { changes })
  const { body } = await check(t, server, '/edit', { path: 'a.txt', edits }, 200, { changes })
  const batch = { operations: [{ operation: 'edit', path: 'b.txt', edits }] }
  await check(t, server, '/batch', batch, 200, { results: [{ changes }] })
  const headers = { accept: 'application/json' }
  const asTool = await server.call('POST', '/tools/edit_file', { body: { path: 'dir/c.txt', edits }, headers })
  t.match(asTool.body, { changes })
  const undo = { edit_id: body.edit_id, change_indexes: [changes[0]!.change_index] }
  await check(t, server, '/undo', undo, 200, { results: [{ changes: [{ start_line: 6, change_index: 0 }] }] })
  t.equal(bytesOf(server, 'a.txt'), 'one\nTWO\nthree\nFOUR\nfive\nsix\nseven\n')
})

t.test('tells of a line that is put behind another one what git would', async t => {
  const server = await startServer(t, { files: { 'a.ini': '[a]\nx=1\n[paths]\ny=2\n' } })
  const request = { path: 'a.ini', old_text: '[paths]', new_text: '[paths]\ntemp=y', show_diff: true }
  const { body } = await check(t, server, '/edit', request, 200, {
    message: 'Successfully replaced 1 occurrence in a.ini (line 4).',
    changes: [{ start_line: 4, end_line: 3, new_start_line: 4, new_end_line: 4, lines_removed: 0, lines_added: 1 }],
    diff: /^@@ -1,4 \+1,5 @@\n \[a\]\n x=1\n \[paths\]\n\+temp=y\n y=2$/m
  })
  await check(t, server, '/history', { path: 'a.ini' }, 200, {
    edits: [
      {
        lines_added: 1,
        lines_removed: 0,
        changes: [{ start_line: 4, lines_added: 1, lines_removed: 0 }]
      }
    ]
  })
  await check(t, server, '/pending', { path: 'a.ini', context_lines: 0 }, 200, {
    hunks: [{ lines: [{ kind: 'added', text: 'temp=y' }] }]
  })
  const blamed = await check(t, server, '/blame', { path: 'a.ini' }, 200, {})
  t.strictSame(
    (blamed.body.lines as { edit_ids: string[] }[]).map(({ edit_ids }) => edit_ids),
    [[], [], [], [body.edit_id], []]
  )
  // The line that was kept is nobody's but its author's: another edit of it is no conflict.
  await edit(server, 'a.ini', '[paths]', '[PATHS]', as('bob'))
  await check(t, server, '/undo', { edit_id: body.edit_id }, 200, {})
  t.equal(bytesOf(server, 'a.ini'), '[a]\nx=1\n[PATHS]\ny=2\n')
})

t.test('refuses to take away what a later edit stands on, with fixes that work', async t => {
  const server = await startServer(t, { files })
  const ann = await edit(server, 'a.txt', 'two', 'TWO')
  const bob = await edit(server, 'a.txt', 'TWO', 'TWO and more', as('bob'))
  const refused = await check(t, server, '/undo', { edit_id: ann }, 409, {
    code: 'UNDO_CONFLICT',
    path: 'a.txt',
    conflicts: [{ path: 'a.txt', edit_id: ann, by: bob, kind: /./, start_line: 2, end_line: 2 }],
    suggested_fixes: [
      { type: 'UNDO_LATER_TOO', call: { name: '/undo', arguments: { edit_ids: [ann, bob] } } },
      { type: 'RESTORE_TEXT' }
    ]
  })
  t.comment(refused.text)
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO and more'))
  const [too, text] = refused.body.suggested_fixes as Record<string, any>[]
  await check(t, server, '/undo', { ...too!.call.arguments, dry_run: true }, 200, { undone: [ann, bob] })
  await check(t, server, '/edit', { path: 'a.txt', ...text!.edit }, 200, { changed: true })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})

t.test('proposes no edit where the text to put back is only a part of lines', async t => {
  const server = await startServer(t, { files })
  const lines = (new_text: string) => ({ path: 'a.txt', start_line: 2, end_line: 3, new_text })
  const made = await check(t, server, '/edit-lines', lines('TWO\nTHREE\n'), 200, { changed: true })
  const later = await check(t, server, '/edit-lines', lines('2\n3\n'), 200, { changed: true })
  const [ann, bob] = [String(made.body.edit_id), String(later.body.edit_id)]
  const refused = await check(t, server, '/undo', { edit_id: ann }, 409, {
    code: 'UNDO_CONFLICT',
    conflicts: [{ edit_id: ann, by: bob, start_line: 2 }],
    suggested_fixes: [{ type: 'UNDO_LATER_TOO', call: { arguments: { edit_ids: [ann, bob] } } }]
  })
  t.equal((refused.body.suggested_fixes as object[]).length, 1)
  await check(t, server, '/undo', { edit_ids: [ann, bob] }, 200, { undone: Array })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})

t.test('undoes several files, or none', async t => {
  const server = await startServer(t, { files })
  const a = await edit(server, 'a.txt', 'two', 'TWO', as('ann', 's1'))
  const b = await edit(server, 'b.txt', 'two', 'TWO', as('ann', 's1'))
  const done = await check(t, server, '/undo', { session: 's1' }, 200, {
    message: /^Took back edits \S+ and \S+ in 2 files\.$/,
    results: [{}, {}]
  })
  t.strictSame([...(done.body.undone as string[])].sort(), [a, b].sort())
  t.equal(bytesOf(server, 'a.txt'), TEXT)
  t.equal(bytesOf(server, 'b.txt'), TEXT)
  await check(t, server, '/undo', { session: 's1' }, 422, { code: 'NOTHING_TO_UNDO' })
  const undos = (done.body.results as { edit_id: string }[]).map(({ edit_id }) => edit_id)
  await check(t, server, '/redo', { edit_ids: undos }, 200, { redone: Array })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'))
  const later = await edit(server, 'b.txt', 'TWO', 'TWO!', as('bob'))
  await check(t, server, '/undo', { agent: 'ann' }, 409, { code: 'UNDO_CONFLICT', conflicts: [{ by: later }] })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'), 'the file without conflict is untouched')
  await check(t, server, '/undo', { agent: 'ann', on_conflict: 'skip' }, 200, { undone: [a], skipped: [b] })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
  t.equal(bytesOf(server, 'b.txt'), TEXT.replace('two', 'TWO!'))
})

t.test('takes back a creation, and makes it again', async t => {
  const server = await startServer(t, { files })
  const made = await check(t, server, '/create', { path: 'new/x.txt', content: 'x\n' }, 200, { created: true })
  const id = String(made.body.edit_id)
  await check(t, server, '/undo', { edit_id: id, dry_run: true }, 200, { results: [{ removed: true }] })
  t.ok(existsSync(join(server.root, 'new/x.txt')))
  const done = await check(t, server, '/undo', { edit_id: id }, 200, {
    message: `Took back edit ${id} in new/x.txt, which removed the file.`,
    results: [{ removed: true, file_hash: undefined }]
  })
  t.notOk(existsSync(join(server.root, 'new')), 'the folder that it made is gone too')
  const undo = String(first(done, 'results').edit_id)
  await check(t, server, '/redo', { edit_id: undo, dry_run: true }, 200, { results: [{ created: true }] })
  await check(t, server, '/redo', { edit_id: undo }, 200, {
    message: `Made again edit ${id} in new/x.txt; the file is there again (1 line).`,
    redone: [id],
    results: [{ created: true, file_hash: made.body.file_hash }]
  })
  t.equal(bytesOf(server, 'new/x.txt'), 'x\n')
  await edit(server, 'new/x.txt', 'x', 'y', as('bob'))
  await check(t, server, '/undo', { edit_id: id }, 409, { code: 'UNDO_CONFLICT' })
})

t.test('undoes an undo only by redo', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'TWO')
  const done = await check(t, server, '/undo', { path: 'a.txt' }, 200, { undone: [id] })
  const undo = String(first(done, 'results').edit_id)
  await check(t, server, '/undo', { edit_id: undo }, 422, {
    code: 'NOTHING_TO_UNDO',
    detail: `${undo} is an undo of edit ${id}. To make it again, call /redo with edit_id ${undo}. Nothing was written.`,
    suggested_fixes: [{ type: 'USE_REDO', call: { name: '/redo', arguments: { edit_id: undo } } }]
  })
  await check(t, server, '/undo', { path: 'a.txt' }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { edit_id: id }, 422, { code: 'NOTHING_TO_UNDO', detail: /undone already/ })
  await check(t, server, '/redo', { edit_id: id }, 200, { redone: [id] })
  await check(t, server, '/redo', { edit_id: id }, 422, { code: 'NOTHING_TO_UNDO', detail: /applied/ })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'))
})

t.test('takes the last edit of the caller, and makes the last undo again', async t => {
  const server = await startServer(t, { files })
  const ann = await edit(server, 'a.txt', 'two', 'TWO', as('ann'))
  await edit(server, 'a.txt', 'five', 'FIVE', as('bob'))
  const undone = await check(t, server, '/undo', {}, 200, { undone: [ann] }, as('ann'))
  await check(
    t,
    server,
    '/undo',
    {},
    422,
    { code: 'NOTHING_TO_UNDO', detail: /^No edit of yours \("ann"\) is left to take back/ },
    as('ann')
  )
  await check(t, server, '/undo', {}, 422, { code: 'NOTHING_TO_UNDO', detail: /a caller who gave no name/ })
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, as('bob'))
  await check(t, server, '/redo', {}, 200, { redone: [ann] }, as('ann'))
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, as('ann'))
  t.ok(undone)
})

t.test('brings a file to the state after an edit', async t => {
  const server = await startServer(t, { files })
  await edit(server, 'a.txt', 'one', 'ONE')
  const second = await edit(server, 'a.txt', 'two', 'TWO')
  const then = bytesOf(server, 'a.txt')
  await edit(server, 'a.txt', 'three', 'THREE', as('bob'))
  writeFileSync(join(server.root, 'a.txt'), bytesOf(server, 'a.txt').replace('seven', 'SEVEN'))
  await check(t, server, '/undo', { path: 'a.txt', to: second }, 200, { results: [{ changed: true }] })
  t.equal(bytesOf(server, 'a.txt'), then)
  await check(t, server, '/undo', { path: 'a.txt', to: second }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { path: 'a.txt', to: 'none' }, 422, { code: 'NOTHING_TO_UNDO', edit_ids: ['none'] })
})

t.test('takes back single changes of an edit', async t => {
  const server = await startServer(t, { files })
  const edits = [
    { old_text: 'one', new_text: 'ONE' },
    { old_text: 'four', new_text: 'FOUR' }
  ]
  const { body } = await check(t, server, '/edit', { path: 'a.txt', edits }, 200, {})
  const { edit_id } = body
  await check(t, server, '/undo', { edit_id, change_indexes: [1] }, 200, { undone: [edit_id] })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('one', 'ONE'))
  await check(t, server, '/history', { path: 'a.txt', state: 'partly_undone' }, 200, { edits: [{ edit_id }] })
  await check(t, server, '/undo', { edit_id, change_indexes: [0, 7] }, 400, {
    errors: [{ pointer: '/change_indexes/1', message: 'is 7, but the edit has changes 0 to 1' }]
  })
  await check(t, server, '/undo', { edit_id }, 200, { undone: [edit_id] })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})

t.test('refuses requests that could mean two things', async t => {
  const server = await startServer(t, { files })
  const a = await edit(server, 'a.txt', 'two', 'TWO')
  const b = await edit(server, 'b.txt', 'two', 'TWO')
  const invalid = (route: string, request: object, pointer: string, message: RegExp) =>
    check(t, server, route, request, 400, { code: 'INVALID_REQUEST', errors: [{ pointer, message }] })
  await invalid('/undo', { path: 'a.txt', batch_id: a }, '/path', /second selector/)
  await invalid('/undo', { path: 'a.txt', changes: [{ edit_id: a }] }, '/path', /second selector/)
  await invalid('/undo', { path: 'a.txt', edit_id: a, to: a }, '/path', /second selector/)
  await invalid('/undo', { session: 's', agent: 'x' }, '/agent', /second selector/)
  await invalid('/undo', { to: a }, '/to', /together with path/)
  await invalid('/undo', { path: 'a.txt', to: a, on_conflict: 'skip' }, '/on_conflict', /leave it out/)
  await invalid('/undo', { agent: 'ann', change_indexes: [0] }, '/change_indexes', /together with edit_id/)
  await invalid('/undo', { edit_ids: [a, b], expected_hash: '0123456789abcdef' }, '/expected_hash', /of several/)
  await invalid('/redo', { edit_id: a, edit_ids: [b] }, '/edit_ids', /second selector/)
  await invalid('/history', { since: 'yesterday' }, '/since', /must be a date and time/)
  await invalid('/history', { until: '2026-13-45T00:00:00Z' }, '/until', /not a valid date and time/)
  await check(t, server, '/undo', { edit_id: 'nothing' }, 422, {
    code: 'NOTHING_TO_UNDO',
    edit_ids: ['nothing'],
    detail: /^There is no edit nothing\. The history goes back to 20\d\d-/
  })
  await check(t, server, '/redo', { edit_id: 'nothing' }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { edit_id: a, expected_hash: '0123456789abcdef' }, 409, { code: 'STALE_FILE' })
  await check(t, server, '/undo', { path: 'nowhere.txt' }, 404, { code: 'FILE_NOT_FOUND' })
  await check(t, server, '/undo', { path: '../x' }, 403, { code: 'PATH_NOT_ALLOWED' })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'))
})

t.test('touches nothing where a link stands, or nothing any more', async t => {
  const server = await startServer(t, { files })
  const a = await edit(server, 'a.txt', 'two', 'TWO')
  const c = await edit(server, 'dir/c.txt', 'two', 'TWO')
  const b = await edit(server, 'b.txt', 'two', 'TWO')
  rmSync(join(server.root, 'a.txt'))
  symlinkSync('b.txt', join(server.root, 'a.txt'))
  await check(t, server, '/undo', { edit_id: a }, 422, { code: 'NOT_A_FILE', detail: /symbolic link to b\.txt/ })
  renameSync(join(server.root, 'dir'), join(server.root, 'other'))
  symlinkSync('other', join(server.root, 'dir'))
  await check(t, server, '/undo', { edit_id: c }, 422, { code: 'NOT_A_FILE', detail: /symbolic link to other\/c\.txt/ })
  rmSync(join(server.root, 'dir'))
  symlinkSync('/etc', join(server.root, 'dir'))
  await check(t, server, '/undo', { edit_id: c }, 403, { code: 'PATH_NOT_ALLOWED' })
  rmSync(join(server.root, 'b.txt'))
  await check(t, server, '/undo', { edit_id: b }, 409, { code: 'UNDO_CONFLICT', conflicts: [{ kind: 'removed' }] })
  t.equal(readFileSync(join(server.root, 'other/c.txt'), 'utf8'), TEXT.replace('two', 'TWO'))
  mkdirSync(join(server.root, 'b.txt'))
  await check(t, server, '/undo', { edit_id: b }, 422, { code: 'NOT_A_FILE' })
})

t.test('keeps bytes that are not UTF-8, and line breaks as they are', async t => {
  const server = await startServer(t, { files })
  const path = join(server.root, 'raw.txt')
  const bytes = Buffer.from('caf\x81\r\nold\r\nna\x81ve\rend', 'latin1')
  writeFileSync(path, bytes)
  const id = await edit(server, 'raw.txt', 'old', 'new\nlines')
  const other = await edit(server, 'raw.txt', 'end', 'END', as('bob'))
  const done = await check(t, server, '/undo', { edit_id: id, show_diff: true }, 200, { undone: [id] })
  t.match(first(done, 'results').diff_unavailable, /not UTF-8/)
  t.ok(readFileSync(path).equals(Buffer.from(bytes.toString('latin1').replace('end', 'END'), 'latin1')))
  await check(t, server, '/undo', { edit_id: other }, 200, {})
  t.ok(readFileSync(path).equals(bytes))
})

t.test('lists edits by what is asked for, with diffs that apply', async t => {
  const server = await startServer(t, { files })
  const before = new Date().toISOString()
  const edits = [
    { old_text: 'one\n', new_text: 'zero\none\n' },
    { old_text: 'seven', new_text: 'SEVEN' }
  ]
  await check(t, server, '/edit', { path: 'a.txt', edits }, 200, {}, as('ann', 's1'))
  await edit(server, 'dir/c.txt', 'four\n', '', as('bob', 's2'))
  const made = await check(t, server, '/create', { path: 'x y.txt', content: 'no break' }, 200, {}, as('bob'))
  const ids = async (request: object) =>
    ((await check(t, server, '/history', request, 200, {})).body.edits as Record<string, any>[]).map(({ path }) => path)
  t.strictSame(await ids({}), ['x y.txt', 'dir/c.txt', 'a.txt'])
  t.strictSame(await ids({ agent: 'bob' }), ['x y.txt', 'dir/c.txt'])
  t.strictSame(await ids({ session: 's1' }), ['a.txt'])
  t.strictSame(await ids({ under: 'dir' }), ['dir/c.txt'])
  t.strictSame(await ids({ path: 'nowhere' }), [])
  t.strictSame(await ids({ edit_id: made.body.edit_id }), ['x y.txt'])
  t.strictSame(await ids({ since: before }), ['x y.txt', 'dir/c.txt', 'a.txt'])
  t.strictSame(await ids({ until: before.replace('Z', '+00:00') }), [])
  const page = await check(t, server, '/history', { limit: 1 }, 200, {
    edits: [{ path: 'x y.txt' }],
    next_before: String
  })
  t.strictSame(await ids({ before: page.body.next_before }), ['dir/c.txt', 'a.txt'])
  const { body } = await check(t, server, '/history', { show_diff: true }, 200, {})
  const copy = testFolder(t, { 'a.txt': TEXT, dir: { 'c.txt': TEXT } })
  for (const { diff } of body.edits as { diff: string }[]) {
    execFileSync('git', ['apply', '-'], {
      cwd: copy,
      input: diff,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: join(copy, '..') }
    })
  }
  for (const path of ['a.txt', 'dir/c.txt', 'x y.txt']) {
    t.equal(readFileSync(join(copy, path), 'utf8'), bytesOf(server, path), path)
  }
})

t.test('tells an agent whose edit was taken back, on its next miss there', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'TWO', as('ann'))
  const other = await edit(server, 'b.txt', 'two', 'TWO', as('ann'))
  const { body } = await check(t, server, '/undo', { edit_id: id, note: 'keep it "small"' }, 200, {}, as('bob'))
  const undone_by = first({ body } as Reply, 'results').edit_id
  const taken_back = { edit_id: id, undone_by, agent: 'bob', note: 'keep it "small"' }
  const sentence = `Your edit ${id} of this file was taken back by "bob": "keep it \\"small\\"". Don't make it again.`
  const missed = { path: 'a.txt', old_text: 'TWO', new_text: '2' }
  const miss = await check(t, server, '/edit', missed, 422, { code: 'NO_MATCH', taken_back }, as('ann'))
  t.ok(String(miss.body.detail).endsWith(sentence))
  const stale = { ...missed, expected_hash: '0123456789abcdef' }
  await check(t, server, '/edit', stale, 409, { code: 'STALE_FILE', taken_back }, as('ann'))
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'x', expected_hash: '0123456789abcdef' },
    409,
    { taken_back },
    as('ann')
  )
  const text = await server.call('POST', '/tools/edit_file', { body: missed, headers: { ...as('ann'), accept: '*/*' } })
  t.ok(text.text.includes(sentence), text.text)
  await check(t, server, '/edit', missed, 422, { code: 'NO_MATCH', taken_back: undefined }, as('bob'))
  await check(t, server, '/edit', { ...missed, path: 'dir/c.txt' }, 422, { taken_back: undefined }, as('ann'))
  await check(t, server, '/undo', { edit_id: other }, 200, {}, as('ann'))
  await check(t, server, '/edit', { ...missed, path: 'b.txt' }, 422, { taken_back: undefined }, as('ann'))
  await check(t, server, '/redo', { edit_id: id }, 200, {}, as('bob'))
  await check(t, server, '/edit', { ...missed, old_text: 'nowhere' }, 422, { taken_back: undefined }, as('ann'))
})

t.test('answers models in a few lines', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'TWO', as('ann', 's1'))
  const ask = async (tool: string, body: object) =>
    (await server.call('POST', `/tools/${tool}`, { body, headers: { ...as('ann'), accept: '*/*' } })).text
      .replace(/01[0-9A-Z]{24}/g, found => (found === id ? 'ID' : 'UNDO'))
      .replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/, 'TIME')
      .replace(/file_hash: \w+/, 'file_hash: HASH')
  t.equal(await ask('edit_history', {}), 'ID  TIME  a.txt  edit +1 -1 at 2  by "ann"  session "s1"')
  t.equal(
    await ask('undo_edit', {}),
    'Took back edit ID in a.txt (line 2); it now has 7 lines. file_hash: HASH edit_id: UNDO\n1\tone\n2\ttwo\n3\tthree'
  )
  t.equal(
    await ask('undo_edit', { edit_id: id }),
    'Edit ID is undone already. [NOTHING_TO_UNDO] Nothing was written.\nfile_hash: HASH'
  )
  t.equal(
    await ask('redo_edit', {}),
    'Made again edit ID in a.txt (line 2); it now has 7 lines. file_hash: HASH edit_id: UNDO\n1\tone\n2\tTWO\n3\tthree'
  )
  await edit(server, 'a.txt', 'TWO', 'TWO and more', as('bob'))
  t.equal(
    await ask('undo_edit', { edit_id: id }),
    "Edit ID can't be taken back: the later edit UNDO changed the same line (line 2 of a.txt). [UNDO_CONFLICT]\n" +
      'To take back the later edit too, send:\n{"edit_ids":["ID","UNDO"]}\n' +
      'To put back only the text, over the later edit, send:\n' +
      '{"name":"edit_file","arguments":{"path":"a.txt","old_text":"TWO and more\\n","new_text":"two\\n"}}\n' +
      'file_hash: HASH'
  )
})

t.test('says so where no history is kept', async t => {
  const server = await startServer(t, { files, settings: { history: 'off' } })
  await check(t, server, '/edit', { path: 'a.txt', old_text: 'two', new_text: 'TWO' }, 200, { edit_id: undefined })
  for (const [route, request] of [
    ['/history', {}],
    ['/undo', {}],
    ['/undo', { path: 'a.txt' }],
    ['/redo', {}],
    ['/redo', { edit_id: 'x' }]
  ] as const) {
    await check(t, server, route, request, 410, { code: 'HISTORY_GONE', detail: /--history off/ })
  }
})

t.test('can take back nothing whose texts are not kept', async t => {
  const server = await startServer(t, {
    files: { ...files, '.env.local': 'A=1\nB=2\n' },
    settings: { history: 'meta' }
  })
  const id = await edit(server, 'a.txt', 'two', 'TWO')
  await check(t, server, '/history', {}, 200, { edits: [{ edit_id: id, metadata_only: true, lines_added: 1 }] })
  await check(t, server, '/undo', { edit_id: id }, 410, {
    code: 'HISTORY_GONE',
    edit_ids: [id],
    detail: /are not kept/
  })
  await check(t, server, '/undo', { path: 'a.txt' }, 410, { code: 'HISTORY_GONE' })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'))
})

t.test('tells edits that are not kept any more from those that never were', async t => {
  const first = await startServer(t, { files })
  const id = await edit(first, 'a.txt', 'two', 'TWO')
  await first.workspace.close()
  const { root, stateDir } = first
  const server = await startServer(t, { files, settings: { root, stateDir, historyDays: 0 } })
  const gone = (rest: RegExp) => ({
    code: 'HISTORY_GONE',
    edit_ids: [id],
    detail: new RegExp(`^Edit ${id} is not kept any more\\. The history is empty\\.${rest.source}$`)
  })
  const instead = / Nothing was written\. To get the text that you want, edit the file instead\./
  await check(t, server, '/undo', { edit_id: id }, 410, gone(instead))
  await check(t, server, '/redo', { edit_id: id }, 410, gone(instead))
  await check(t, server, '/undo', { path: 'a.txt', to: id }, 410, gone(instead))
  await check(t, server, '/review', { verdict: 'keep', edit_id: id }, 410, gone(/ Nothing was written\./))
  await check(t, server, '/blame', { path: 'a.txt', at: id }, 410, gone(/(?:)/))
  const later = await edit(server, 'a.txt', 'four', 'FOUR')
  const { oldest_kept_at } = (await server.call('POST', '/history', { body: {} })).body
  await check(t, server, '/undo', { edit_ids: [later, id] }, 410, { edit_ids: [id], oldest_kept_at })
  const never = `${later.slice(0, -1)}${later.endsWith('0') ? '1' : '0'}`
  await check(t, server, '/undo', { edit_id: never }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/blame', { path: 'a.txt', at: never }, 400, { code: 'INVALID_REQUEST' })
  await check(t, server, '/undo', { edit_id: later }, 200, { undone: [later] })
})

t.test('says of a batch, session, agent or file without a kept edit that it may have had some', async t => {
  const first = await startServer(t, { files })
  const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'two', new_text: 'TWO' }))
  const eve = { 'editd-agent': 'eve', 'editd-session': 's1' }
  const { body } = await check(t, first, '/batch', { operations }, 200, {}, eve)
  const batch_id = String(body.batch_id)
  await check(t, first, '/undo', { session: 's2' }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, first, '/undo', { batch_id: `${batch_id.slice(0, -1)}!` }, 422, { code: 'NOTHING_TO_UNDO' })
  await first.workspace.close()
  const { root, stateDir } = first
  const server = await startServer(t, { files, settings: { root, stateDir, historyDays: 0 } })
  const later = await edit(server, 'a.txt', 'four', 'FOUR')
  const { oldest_kept_at } = (await server.call('POST', '/history', { body: {} })).body
  const end = ` The history goes back to ${String(oldest_kept_at)}. Nothing was written.`
  const instead = `${end} To get the text that you want, edit the file instead.`
  const none = (whose: string) => `The history has no edit ${whose}; if there was one, it is not kept any more.`
  const gone = async (route: string, request: Record<string, unknown>, detail: string, headers = {}) => {
    const answer = await check(
      t,
      server,
      route,
      request,
      410,
      { code: 'HISTORY_GONE', detail, oldest_kept_at },
      headers
    )
    t.notOk('edit_ids' in answer.body)
  }
  await gone('/undo', { batch_id }, `No edit of batch ${batch_id} is kept any more.${instead}`)
  await gone('/redo', { batch_id }, `No edit of batch ${batch_id} is kept any more.${instead}`)
  await gone('/undo', { session: 's1' }, `${none('of session "s1"')}${instead}`)
  await gone('/undo', { agent: 'eve' }, `${none('of agent "eve"')}${instead}`)
  await gone('/undo', { path: 'b.txt' }, `${none('of this file')}${instead}`)
  await gone('/tools/undo_edit', {}, `${none('of yours ("eve")')}${instead}`, eve)
  await gone('/redo', {}, `${none('of yours ("eve")')}${instead}`, eve)
  await gone('/review', { verdict: 'keep', session: 's1' }, `${none('of session "s1"')}${end}`)
  await check(t, server, '/undo', { path: 'nowhere.txt' }, 404, { code: 'FILE_NOT_FOUND' })
  await check(t, server, '/undo', { batch_id: later }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, { 'editd-agent': 'ann' })
  await check(t, server, '/undo', { path: 'a.txt' }, 200, { undone: [later] })
  await check(t, server, '/undo', { path: 'a.txt' }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', {}, 422, { code: 'NOTHING_TO_UNDO' }, { 'editd-agent': 'ann' })
})

t.test('undoes once under one key', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'TWO')
  const request = { edit_id: id, idempotency_key: 'k1' }
  const done = await check(t, server, '/undo', request, 200, { undone: [id] })
  const again = await check(t, server, '/undo', request, 200, { undone: [id] })
  t.strictSame(again.body, done.body)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
})

t.test('keeps no texts of several files, or of a private one, with the answer under a key', async t => {
  const server = await startServer(t, { files })
  await edit(server, 'a.txt', 'two', 'TWO', as('ann', 's1'))
  await edit(server, 'b.txt', 'two', 'TWO', as('ann', 's1'))
  const request = { session: 's1', show_diff: true, idempotency_key: 'k1' }
  const done = await check(t, server, '/undo', request, 200, { results: [{ diff: /TWO/ }, { diff: /TWO/ }] })
  const again = await check(t, server, '/undo', request, 200, { undone: done.body.undone, results: [{}, {}] })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.notMatch(again.text, 'TWO')
  await edit(server, 'dir/c.txt', 'two', 'TWO', as('ann', 's2'))
  const one = { session: 's2', show_diff: true, idempotency_key: 'k2' }
  const single = await check(t, server, '/undo', one, 200, { results: [{ diff: /TWO/ }] })
  t.strictSame((await check(t, server, '/undo', one, 200, {})).body, single.body)
})
