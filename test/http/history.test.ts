// What /history says of texts that it can't show and of edits in part, and which edits count as the caller's, over HTTP,
// on real files.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { ONLY_CI } from '../often.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'
const NAMELESS = {}
const as = (agent: string, session?: string): Record<string, string> => ({
  'editd-agent': agent,
  ...(session !== undefined && { 'editd-session': session })
})

async function edit(server: TestServer, path: string, old_text: string, new_text: string, headers = as('ann')) {
  const reply = await server.call('POST', '/edit', { body: { path, old_text, new_text }, headers })
  if (reply.status !== 200) throw new Error(reply.text)
  return String(reply.body.edit_id)
}

type Listed = Record<string, any>
const editsIn = ({ body }: Reply): Listed[] => body.edits as Listed[]

/** A folder for the state that the test can look into. */
function stateFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'editd-history-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

t.test('refuses to go on from what no page has named', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const ids = [await edit(server, 'a.txt', 'one', '1'), await edit(server, 'a.txt', 'two', '2')]
  for (const before of ['nonsense!', 'zzz', ids[0]!.toLowerCase(), ids[0]!.slice(1), `${ids[0]}0`, '']) {
    for (const route of ['/history', '/tools/edit_history']) {
      const reply = await server.call('POST', route, { body: { before }, headers: { accept: 'application/json' } })
      t.equal(reply.status, 400, before)
      t.strictSame(reply.body.errors, [
        { pointer: '/before', message: 'must be the next_before of an answer, unchanged' }
      ])
    }
  }
  const page = await check(t, server, '/history', { limit: 1 }, 200, { next_before: ids[1]! })
  const next = await check(t, server, '/history', { before: page.body.next_before }, 200, { next_before: undefined })
  t.strictSame(
    editsIn(next).map(({ edit_id }) => edit_id),
    [ids[0]]
  )
})

t.test('lists edits by globs of their paths, and by words', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT, src: { 'b.ts': TEXT, Deep: { 'c.ts': TEXT } } } })
  const [a, b, c] = [
    await edit(server, 'a.txt', 'one', '1', as('bob', 'run-7')),
    await edit(server, 'src/b.ts', 'one', '1'),
    await edit(server, 'src/Deep/c.ts', 'one', '1')
  ]
  const reason = { path: 'a.txt', old_text: 'two', new_text: '2', reason: 'Fix the Port' }
  const { edit_id: d } = (await check(t, server, '/edit', reason, 200, {})).body
  const cases: [query: object, found: unknown[]][] = [
    [{ include: '*.ts' }, [c, b]],
    [{ include: ['/src/*', '*.txt'] }, [d, b, a]],
    [{ include: 'src/**', words: 'deep ANN' }, [c]],
    [{ words: 'port' }, [d]],
    [{ words: ' RUN-7 ' }, [a]],
    [{ words: 'bob ann' }, []],
    [{ include: '*.md' }, []],
    [{ include: '*.ts', limit: 1 }, [c]]
  ]
  for (const [query, found] of cases) {
    const listed = await check(t, server, '/history', query, 200, {})
    t.strictSame(
      editsIn(listed).map(({ edit_id }) => edit_id),
      found,
      JSON.stringify(query)
    )
  }
  await check(t, server, '/history', { include: ['*.ts', '{'] }, 400, {
    errors: [{ pointer: '/include/1', message: /\{ without a \}/ }]
  })
})

t.test('shows no more than 8 MiB of texts at once, and says how to get the others', { skip: ONLY_CI }, async t => {
  const server = await startServer(t)
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    const content = `${i}${'x'.repeat(70)}\n`.repeat(45_000)
    const made = await check(t, server, '/create', { path: `${i}.txt`, content }, 200, {})
    ids.unshift(String(made.body.edit_id))
  }
  const listed = editsIn(await check(t, server, '/history', { show_diff: true }, 200, {}))
  t.strictSame(
    listed.map(({ edit_id, changes }) => [edit_id, changes.length]),
    ids.map((id, i) => [id, i < 3 ? 1 : 0])
  )
  t.match(listed[2], { diff: /^diff --git|^---/, changes_truncated: undefined })
  t.match(listed[3], {
    diff: undefined,
    diff_unavailable: /8 MiB.*To get this diff, send only this edit_id, with show_diff\./,
    changes_truncated: true,
    metadata_only: undefined,
    texts_lost: undefined
  })
  const alone = editsIn(await check(t, server, '/history', { edit_id: ids[3], show_diff: true }, 200, {}))
  t.match(alone, [{ edit_id: ids[3], diff: String, diff_unavailable: undefined, changes: [{ start_line: 1 }] }])
})

t.test('tells texts that are lost from those that were never kept', async t => {
  const stateDir = stateFolder(t)
  const server = await startServer(t, { settings: { stateDir }, files: { '.env': 'A=1\n' } })
  const made = await check(t, server, '/create', { path: 'a.txt', content: 'x'.repeat(100_000) }, 200, {})
  await edit(server, '.env', 'A=1', 'A=2')
  const blobs = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter(name => /blobs\/./.test(name))
  for (const name of blobs) rmSync(join(stateDir, name))
  const reply = await check(t, server, '/history', { show_diff: true }, 200, {
    edits: [
      { path: '.env', metadata_only: true, texts_lost: undefined },
      { path: 'a.txt', metadata_only: undefined, texts_lost: true, changes: [] }
    ]
  })
  t.equal(editsIn(reply).length, 2)
  const { text } = await server.call('POST', '/tools/edit_history', { body: {}, headers: { accept: '*/*' } })
  t.match(text, /damaged or missing: can't be undone/)
  await check(t, server, '/undo', { edit_id: made.body.edit_id }, 410, { code: 'HISTORY_GONE' })
})

t.test('knows an edit whose parts were taken back one by one and made again at once', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const edits = [
    { old_text: 'one', new_text: 'ONE' },
    { old_text: 'four', new_text: 'FOUR' }
  ]
  const { body } = await check(t, server, '/edit', { path: 'a.txt', edits }, 200, {}, as('ann'))
  const edit_id = String(body.edit_id)
  const state = async (wanted: object) => {
    const [found] = editsIn(await check(t, server, '/history', { edit_id }, 200, {}))
    t.match(found, wanted)
  }
  await check(t, server, '/undo', { edit_id, change_indexes: [0] }, 200, {}, as('ann'))
  await state({ state: 'partly_undone' })
  await check(t, server, '/undo', { edit_id, change_indexes: [1] }, 200, {}, as('ann'))
  await state({ state: 'undone' })
  await check(t, server, '/redo', { edit_id }, 200, {}, as('ann'))
  await state({ state: 'applied', undone_by: undefined })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('one', 'ONE').replace('four', 'FOUR'))
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, as('ann'))
})

t.test('makes an undo again of which only a part was made again or taken back since', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const edits = [
    { old_text: 'one', new_text: 'ONE' },
    { old_text: 'four', new_text: 'FOUR' }
  ]
  const { body } = await check(t, server, '/edit', { path: 'a.txt', edits }, 200, {}, as('ann'))
  const edit_id = String(body.edit_id)
  await check(t, server, '/undo', { edit_id, change_indexes: [0] }, 200, {}, as('ann'))
  await check(t, server, '/undo', { edit_id, change_indexes: [1] }, 200, {}, as('ann'))
  await check(t, server, '/redo', {}, 200, { redone: [edit_id] }, as('ann'))
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('four', 'FOUR'))
  await check(t, server, '/redo', {}, 200, { redone: [edit_id] }, as('ann'))
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('one', 'ONE').replace('four', 'FOUR'))
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, as('ann'))
})

t.test('takes the last edit of callers without a name for that of one of them', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const own = await edit(server, 'a.txt', 'one', 'ONE', NAMELESS)
  for (let i = 0; i < 12; i++) await edit(server, 'a.txt', i % 2 === 0 ? 'six' : 'SIX', i % 2 === 0 ? 'SIX' : 'six')
  await edit(server, 'a.txt', 'two', 'TWO', { 'editd-session': 's1' })
  await check(t, server, '/undo', {}, 200, { undone: [own] }, NAMELESS)
  await check(t, server, '/undo', {}, 422, { code: 'NOTHING_TO_UNDO' }, NAMELESS)
  await check(t, server, '/redo', {}, 200, { redone: [own] }, NAMELESS)
  await check(t, server, '/redo', {}, 422, { code: 'NOTHING_TO_UNDO' }, NAMELESS)
})

t.test('asks for what was taken back only when the file is free again, and without its texts', async t => {
  const used: { server?: TestServer; held?: boolean } = {}
  const server = await startServer(t, {
    files: { 'a.txt': TEXT },
    replace: {
      edit: async (target, options, plan) => {
        used.held = true
        try {
          return await used.server!.opened.edit(target, options, (original, file) =>
            plan(original, { ...file, history: () => Promise.reject(new Error('read under the lock')) })
          )
        } finally {
          used.held = false
        }
      },
      history: query => {
        t.notOk(used.held, 'the file is free')
        t.notOk(query.texts)
        return used.server!.opened.history(query)
      }
    }
  })
  used.server = server
  await edit(server, 'a.txt', 'one', 'ONE')
  const missed = { path: 'a.txt', old_text: 'nowhere', new_text: 'x' }
  await check(t, server, '/edit', missed, 422, { code: 'NO_MATCH', taken_back: undefined }, as('ann'))
})
