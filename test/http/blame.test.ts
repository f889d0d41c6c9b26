// POST /blame, over HTTP, on real files: who wrote which lines, now and after each edit.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { check, startServer, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\n'
const as = (agent: string): Record<string, string> => ({ 'editd-agent': agent })
type Test = Parameters<typeof startServer>[0]

async function edit(t: Test, server: TestServer, old_text: string, new_text: string, agent = 'ann'): Promise<string> {
  const { body } = await check(t, server, '/edit', { path: 'a.txt', old_text, new_text }, 200, {}, as(agent))
  return String(body.edit_id)
}

type Blamed = { text: string; edit_ids: string[] }[]

/** The lines as `TWO @0`: with whose they are, as numbers of `ids`. */
async function blame(t: Test, server: TestServer, ids: readonly string[], more: object = {}) {
  const { body } = await check(t, server, '/blame', { path: 'a.txt', ...more }, 200, {})
  const shown = (body.lines as Blamed).map(
    ({ text, edit_ids }) => `${text}${edit_ids.map(id => ` @${ids.indexOf(id)}`).join('')}`
  )
  return { body, shown }
}

t.test('says who wrote each line, now and after each edit', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const ann = await edit(t, server, 'two', 'TWO')
  const ben = await edit(t, server, 'TWO\n', 'TWO!\nmore\n', 'ben')
  const undo = await check(t, server, '/undo', { edit_id: ben }, 200, {})
  const cyd = await edit(t, server, 'three', 'THREE', 'cyd')
  const ids = [ann, ben, cyd]
  const now = await blame(t, server, ids)
  t.strictSame(now.shown, ['one', 'TWO @0', 'THREE @2'])
  t.match(now.body, {
    message: 'Who wrote lines 1 to 3 (of 3) of a.txt.',
    path: 'a.txt',
    start_line: 1,
    total_lines: 3,
    lines: [{ line: 1 }, { line: 2 }, { line: 3 }],
    edits: [
      { edit_id: cyd, agent: 'cyd', review: 'pending' },
      { edit_id: ann, agent: 'ann', state: 'applied' }
    ],
    at: undefined,
    incomplete: undefined
  })
  t.strictSame((await blame(t, server, ids, { at: ann })).shown, ['one', 'TWO @0', 'three'])
  const then = await blame(t, server, ids, { at: ben })
  t.strictSame(then.shown, ['one', 'TWO! @0 @1', 'more @1', 'three'])
  t.match(then.body, {
    message: `Who wrote lines 1 to 4 (of 4) of a.txt as it was after edit ${ben}.`,
    at: ben,
    file_hash: now.body.file_hash,
    edits: [{ edit_id: ben, state: 'undone' }, { edit_id: ann }]
  })
  const { edit_id } = (undo.body.results as { edit_id: string }[])[0]!
  t.strictSame((await blame(t, server, ids, { at: edit_id })).shown, ['one', 'TWO @0', 'three'])
  await check(t, server, '/blame', { path: 'a.txt', at: '01KASMCX2G0000000000000000' }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/at', message: /is not the edit_id of a known edit of this file/ }]
  })
})

t.test('lists a part of the lines, and where to go on', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT, 'empty.txt': '' } })
  const ann = await edit(t, server, 'two', 'TWO')
  const part = await blame(t, server, [ann], { start_line: 2, limit: 1 })
  t.strictSame(part.shown, ['TWO @0'])
  t.match(part.body, {
    truncated: true,
    next_line: 3,
    message: 'Who wrote line 2 (of 3) of a.txt; continue with start_line 3.'
  })
  const rest = await blame(t, server, [ann], { start_line: 2, end_line: 9 })
  t.strictSame(rest.shown, ['TWO @0', 'three'])
  t.match(rest.body, { truncated: undefined, next_line: undefined })
  for (const range of [{ start_line: 4 }, { start_line: 3, end_line: 2 }]) {
    await check(t, server, '/blame', { path: 'a.txt', ...range }, 422, { code: 'LINE_OUT_OF_RANGE', total_lines: 3 })
  }
  await check(t, server, '/blame', { path: 'empty.txt' }, 200, {
    lines: [],
    message: 'There are no lines in empty.txt.'
  })
})

t.test('shows a file that was removed as it was', async t => {
  const server = await startServer(t)
  const made = await check(t, server, '/create', { path: 'a.txt', content: TEXT }, 200, {}, as('ann'))
  const { edit_id } = made.body
  await check(t, server, '/undo', { edit_id }, 200, {})
  t.match((await blame(t, server, [])).body, { lines: [], file_hash: undefined, total_lines: 0 })
  t.strictSame((await blame(t, server, [String(edit_id)], { at: edit_id })).shown, ['one @0', 'two @0', 'three @0'])
})

t.test('reaches back no further than what is known', async t => {
  const big = 'a line\n'.repeat(200_000)
  const server = await startServer(t, { files: { 'a.txt': big } })
  const path = join(server.root, 'a.txt')
  const first = await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'x\n' },
    200,
    {}
  )
  writeFileSync(path, big)
  const at = String(first.body.edit_id)
  await check(t, server, '/blame', { path: 'a.txt', at }, 410, {
    code: 'HISTORY_GONE',
    detail:
      `Who wrote the lines, as they were after edit ${at}, can't be told: the file was changed since by another ` +
      'program, or by a server without a history, and it is not known how.'
  })
  const second = await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'y\n' },
    200,
    {}
  )
  await check(t, server, '/blame', { path: 'a.txt', at }, 410, { code: 'HISTORY_GONE' })
  const { body, shown } = await blame(t, server, [String(second.body.edit_id)], { limit: 2 })
  t.strictSame(shown, ['y @0', 'a line'])
  t.match(body, { incomplete: true, reaches_back_to: second.body.edit_id })
})

t.test('says of which lines another program wrote bytes', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  await edit(t, server, 'two', 'TWO')
  await new Promise(resolve => setTimeout(resolve, 300))
  writeFileSync(join(server.root, 'a.txt'), TEXT.replace('two', 'TWO').replace('three', 'three by hand'))
  const { body } = await blame(t, server, [])
  t.match(body.lines, [{ outside: undefined }, { edit_ids: [String] }, { edit_ids: [], outside: true }])
})
