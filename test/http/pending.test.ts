// POST /pending, over HTTP, on real files: what of a file nobody has kept, in hunks, each with whose changes it is due to.
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { bytesOf, check, startServer, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'
const as = (agent: string): Record<string, string> => ({ 'editd-agent': agent })

type Hunk = {
  start_line: number
  end_line: number
  lines: Record<string, unknown>[]
  changes: { edit_id: string; change_indexes?: number[] }[]
  undone?: object[]
  truncated?: true
}
type Test = Parameters<typeof startServer>[0]

async function edit(
  t: Test,
  server: TestServer,
  path: string,
  pairs: [string, string][],
  agent = 'ann'
): Promise<string> {
  const edits = pairs.map(([old_text, new_text]) => ({ old_text, new_text }))
  const { body } = await check(t, server, '/edit', { path, edits }, 200, {}, as(agent))
  return String(body.edit_id)
}

/** What is pending, each hunk as its lines: `-two TWO` with whose they are, as numbers of `ids`. */
async function pending(t: Test, server: TestServer, path: string, ids: readonly string[], more: object = {}) {
  const { body } = await check(t, server, '/pending', { path, context_lines: 0, ...more }, 200, {})
  const hunks = body.hunks as Hunk[]
  const signs: Record<string, string> = { added: '+', removed: '-', same: ' ' }
  const shown = hunks.map(({ lines }) =>
    lines.map(({ kind, text, edit_ids = [] }) => {
      const whose = (edit_ids as string[]).map(id => ids.indexOf(id)).join(',')
      return `${signs[String(kind)]}${String(text)}${whose === '' ? '' : ` @${whose}`}`
    })
  )
  return { body, hunks, shown }
}

t.test('shows what all agents did together, and whose each line is', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const ann = await edit(t, server, 'a.txt', [
    ['two', 'TWO'],
    ['nine', 'NINE']
  ])
  const ben = await edit(t, server, 'a.txt', [['three', 'THREE']], 'ben')
  const cyd = await edit(t, server, 'a.txt', [['TWO\n', 'TWO!\nand more\n']], 'cyd')
  const { body, hunks, shown } = await pending(t, server, 'a.txt', [ann, ben, cyd])
  t.strictSame(shown, [
    ['-two @0', '-three @1', '+TWO! @0,2', '+and more @2', '+THREE @1'],
    ['-nine @0', '+NINE @0']
  ])
  t.match(hunks, [
    {
      start_line: 2,
      end_line: 4,
      base_start_line: 2,
      base_end_line: 3,
      changes: [{ edit_id: ann, change_indexes: [0] }, { edit_id: ben, change_indexes: undefined }, { edit_id: cyd }]
    },
    {
      start_line: 10,
      end_line: 10,
      base_start_line: 9,
      base_end_line: 9,
      changes: [{ edit_id: ann, change_indexes: [1] }]
    }
  ])
  t.match(body, {
    message: '2 hunks of a.txt are pending.',
    path: 'a.txt',
    exists: true,
    total_hunks: 2,
    unseen: [],
    edits: [
      { edit_id: cyd, agent: 'cyd', operation: 'edit', state: 'applied', review: 'pending' },
      { edit_id: ben },
      { edit_id: ann }
    ],
    incomplete: undefined,
    truncated: undefined
  })
  const { body: looked } = await check(t, server, '/inspect', { path: 'a.txt', facts: true }, 200, {})
  t.equal(body.file_hash, looked.file_hash)
  const around = await pending(t, server, 'a.txt', [], { context_lines: 3 })
  t.strictSame(
    around.hunks.map(({ lines }) =>
      lines.filter(({ kind }) => kind === 'same').map(({ text, line, base_line }) => [text, line, base_line])
    ),
    [
      [
        ['one', 1, 1],
        ['four', 5, 4],
        ['five', 6, 5],
        ['six', 7, 6]
      ],
      [
        ['seven', 8, 7],
        ['eight', 9, 8],
        ['ten', 11, 10]
      ]
    ]
  )
})

t.test('shows no more of what was kept, and what was undone since as removed', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const first = await edit(t, server, 'a.txt', [
    ['two', 'TWO'],
    ['nine', 'NINE']
  ])
  const { hunks } = await pending(t, server, 'a.txt', [first])
  await check(t, server, '/review', { verdict: 'keep', changes: hunks[0]!.changes }, 200, { kept: [first] })
  const half = await pending(t, server, 'a.txt', [first])
  t.strictSame(half.shown, [['-nine @0', '+NINE @0']])
  await check(t, server, '/undo', { changes: half.hunks[0]!.changes }, 200, { undone: [first] })
  t.match((await pending(t, server, 'a.txt', [first])).body, {
    hunks: [],
    message: 'No line of a.txt is pending.',
    edits: []
  })
  await check(t, server, '/undo', { changes: hunks[0]!.changes }, 200, { undone: [first] })
  const undone = await pending(t, server, 'a.txt', [first])
  t.strictSame(undone.shown, [['-TWO @0', '+two @0']])
  t.strictSame(undone.hunks[0]!.undone, [{ edit_id: first, change_indexes: [0] }])
  t.match(undone.body.edits, [{ edit_id: first, state: 'undone', review: 'pending' }])
  await check(t, server, '/redo', { changes: undone.hunks[0]!.undone }, 200, { redone: [first] })
  t.match((await pending(t, server, 'a.txt', [first])).body, { hunks: [], unseen: [] })
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'))
})

t.test('names changes that are no longer visible', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const made = await edit(t, server, 'a.txt', [['four\n', 'four\nnew\n']])
  const gone = await edit(t, server, 'a.txt', [['new\n', '']], 'ben')
  const there = await edit(t, server, 'a.txt', [['nine', 'NINE']])
  const back = await edit(t, server, 'a.txt', [['NINE', 'nine']])
  const empty = await check(t, server, '/create', { path: 'empty.txt', content: '' }, 200, {})
  const { body } = await pending(t, server, 'a.txt', [])
  t.match(body, {
    message: 'No line of a.txt is pending. Pending changes of 4 edits are no longer visible.',
    hunks: [],
    unseen: [made, gone, there, back].map(edit_id => ({ edit_id })),
    edits: [{ edit_id: back }, { edit_id: there }, { edit_id: gone }, { edit_id: made }]
  })
  await check(t, server, '/review', { verdict: 'keep', changes: body.unseen }, 200, {})
  t.match((await pending(t, server, 'a.txt', [])).body, { unseen: [] })
  t.match((await pending(t, server, 'empty.txt', [])).body, { hunks: [], unseen: [{ edit_id: empty.body.edit_id }] })
})

t.test('keeps \\r\\n whole, and says how lines end', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'a\r\nb\rc\nd' } })
  await edit(t, server, 'a.txt', [['a\r\nb', 'A\r\nB']])
  await edit(t, server, 'a.txt', [['d', 'D']])
  const { hunks } = await pending(t, server, 'a.txt', [])
  t.match(hunks, [
    {
      lines: [
        { kind: 'removed', text: 'a', line_ending: 'crlf', base_line: 1 },
        { kind: 'removed', text: 'b', line_ending: 'cr', base_line: 2 },
        { kind: 'added', text: 'A', line_ending: 'crlf', line: 1 },
        { kind: 'added', text: 'B', line_ending: 'cr', line: 2 }
      ]
    },
    {
      lines: [
        { text: 'd', no_break: true },
        { text: 'D', no_break: true, line_ending: undefined }
      ]
    }
  ])
})

t.test('shows bytes that are not UTF-8 as U+FFFD, and cuts long lines', async t => {
  // Mostly UTF-8, so that no encoding is likely.
  const bytes = Buffer.concat([
    Buffer.from('\xff\xc3\xa9\xc3\xa9\n', 'latin1'),
    Buffer.from(`${'x'.repeat(3_000_000)}y\n${'c'.repeat(3000)}\n`)
  ])
  const server = await startServer(t)
  writeFileSync(join(server.root, 'a.txt'), bytes)
  await check(t, server, '/edit-lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'ok\n' }, 200, {})
  await edit(t, server, 'a.txt', [['xy', 'z']])
  const { hunks } = await pending(t, server, 'a.txt', [], { context_lines: 1 })
  const [removed, ...others] = hunks[0]!.lines
  t.match(removed, { kind: 'removed', text: '\ufffdéé', lossy: true, cut: undefined })
  t.match(others[0], { kind: 'removed', cut: true })
  t.equal(others[0]!.text, `${'x'.repeat(500_000)}…[2000001 characters left out]…${'x'.repeat(499_999)}y`)
  t.match(others[2], { kind: 'added', cut: true, text: /xz$/ })
  t.match(others[3], { kind: 'same', cut: true, text: /^c{1000}…\[1000 characters left out\]…c{1000}$/ })
})

t.test('shows a file that was created, and one that was removed', async t => {
  const server = await startServer(t)
  const made = await check(
    t,
    server,
    '/create',
    { path: 'new/a.txt', content: '1\n2\n', create_parents: true },
    200,
    {}
  )
  const { edit_id } = made.body
  const created = await pending(t, server, 'new/a.txt', [String(edit_id)])
  t.strictSame(created.shown, [['+1 @0', '+2 @0']])
  t.match(created.hunks, [{ start_line: 1, end_line: 2, base_start_line: 1, base_end_line: 0, changes: [{ edit_id }] }])
  await check(t, server, '/review', { verdict: 'keep', path: 'new/a.txt' }, 200, {})
  await check(t, server, '/undo', { edit_id }, 200, { results: [{ removed: true }] })
  const removed = await pending(t, server, 'new/a.txt', [String(edit_id)])
  t.strictSame(removed.shown, [['-1 @0', '-2 @0']])
  t.match(removed.body, {
    exists: false,
    file_hash: undefined,
    message: '1 hunk of new/a.txt, which was removed, is pending.',
    hunks: [{ start_line: 1, end_line: 0, undone: [{ edit_id }] }]
  })
  await check(t, server, '/redo', { changes: removed.hunks[0]!.undone }, 200, {})
  t.match((await pending(t, server, 'new/a.txt', [])).body, { exists: true, hunks: [] })
})

t.test('shows what another program did, before and after there is an edit of it', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT } })
  const own = await edit(t, server, 'a.txt', [['two', 'TWO']])
  const wait = () => new Promise(resolve => setTimeout(resolve, 300))
  await wait()
  writeFileSync(join(server.root, 'a.txt'), TEXT.replace('two', 'TWO').replace('nine', 'nine by hand'))
  const before = await pending(t, server, 'a.txt', [own])
  t.strictSame(before.shown, [
    ['-two @0', '+TWO @0'],
    ['-nine', '+nine by hand']
  ])
  t.match(before.hunks[1], {
    changes: [],
    lines: [
      { edit_ids: [], outside: true },
      { edit_ids: [], outside: true }
    ]
  })
  t.match(before.body.incomplete, undefined)
  await edit(t, server, 'a.txt', [['four', 'FOUR']])
  const after = await pending(t, server, 'a.txt', [own])
  t.match(after.body.edits, [{ operation: 'edit' }, { operation: 'outside', review: 'pending' }, { operation: 'edit' }])
  t.match(after.hunks[2]!.lines, [{ edit_ids: [String], outside: undefined }, {}])
  await wait()
  unlinkSync(join(server.root, 'a.txt'))
  const gone = await pending(t, server, 'a.txt', [own])
  t.match(gone.body, { exists: false, file_hash: undefined })
  t.strictSame([gone.hunks.length, gone.shown[0]!.length], [1, 10])
})

t.test('reaches back no further than what is known, and says so', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'a line\n'.repeat(200_000), '.env': 'A=1\n' } })
  const path = join(server.root, 'a.txt')
  const change = (new_text: string) => ({ path: 'a.txt', start_line: 1, end_line: 1, new_text })
  await check(t, server, '/edit-lines', change('first\n'), 200, {})
  // Of a file so large there is no copy.
  writeFileSync(path, 'another line\n'.repeat(200_000))
  t.match((await pending(t, server, 'a.txt', [])).body, {
    message: 'No line of a.txt is pending. What was changed is unknown or no longer kept.',
    hunks: [],
    incomplete: true,
    reaches_back_to: undefined
  })
  const later = await check(t, server, '/edit-lines', change('later\n'), 200, {})
  const { body, shown } = await pending(t, server, 'a.txt', [String(later.body.edit_id)])
  t.strictSame(shown, [['-another line @0', '+later @0']])
  t.match(body, { incomplete: true, reaches_back_to: later.body.edit_id })
  await edit(t, server, '.env', [['A=1', 'A=2']])
  t.match((await pending(t, server, '.env', [])).body, { hunks: [], incomplete: true })
})

t.test('lists as many lines as are asked for, and how many hunks there are', { skip: ONLY_CI }, async t => {
  const server = await startServer(t, { files: { 'a.txt': 'same\nold\n'.repeat(10_000) } })
  const all = { path: 'a.txt', old_text: 'old', new_text: 'new', replace_all: true }
  await check(t, server, '/edit', all, 200, { total_replacements: 10_000 })
  const few = await pending(t, server, 'a.txt', [], { max_lines: 101 })
  t.match(few.body, {
    total_hunks: 10_000,
    truncated: true,
    message: /are pending\. Only the first 51 are listed\. Not all/
  })
  t.strictSame([few.hunks.length, few.hunks[50]!.lines.length, few.hunks[50]!.truncated], [51, 1, true])
  const many = await pending(t, server, 'a.txt', [], { max_lines: 20_000 })
  t.match(many.body, { total_hunks: 10_000, truncated: undefined })
  t.equal(many.hunks.length, 10_000)
  await check(t, server, '/pending', { path: 'a.txt', max_lines: 20_001 }, 400, { code: 'INVALID_REQUEST' })
})

t.test('shows no more than 4,000,000 characters', { skip: ONLY_CI }, async t => {
  const server = await startServer(t, { files: { 'a.txt': `${'x'.repeat(1999)}\n`.repeat(2500) } })
  const all = { path: 'a.txt', old_text: 'x\n', new_text: 'y\n', replace_all: true }
  await check(t, server, '/edit', all, 200, {})
  const { body, hunks } = await pending(t, server, 'a.txt', [], { max_lines: 20_000 })
  t.match(body, { truncated: true, total_hunks: 1 })
  t.equal(hunks[0]!.lines.length, 2002)
})

t.test('follows links, and shows nothing of what may not be read', async t => {
  const server = await startServer(t, { files: { 'a.txt': TEXT, dir: {}, '.git': { config: 'x\n' } } })
  symlinkSync('a.txt', join(server.root, 'link.txt'))
  symlinkSync('/etc/passwd', join(server.root, 'out.txt'))
  const own = await edit(t, server, 'link.txt', [['two', 'TWO']])
  const { body, shown } = await pending(t, server, 'link.txt', [own])
  t.strictSame(shown, [['-two @0', '+TWO @0']])
  t.match(body, { path: 'link.txt', resolved_path: 'a.txt' })
  for (const [path, status, code] of [
    ['out.txt', 403, 'PATH_NOT_ALLOWED'],
    ['../a.txt', 403, 'PATH_NOT_ALLOWED'],
    ['dir', 422, 'NOT_A_FILE'],
    ['a.txt/', 422, 'NOT_A_FILE'],
    ['gone.txt', 404, 'FILE_NOT_FOUND'],
    ['<script>\u202e\n.txt', 404, 'FILE_NOT_FOUND'],
    ['a\0.txt', 400, 'INVALID_PATH']
  ] as const) {
    await check(t, server, '/pending', { path }, status, { code })
    await check(t, server, '/blame', { path }, status, { code })
  }
  rmSync(join(server.root, 'a.txt'))
  await check(t, server, '/pending', { path: 'a.txt/' }, 404, { code: 'FILE_NOT_FOUND' })
  t.match((await pending(t, server, 'a.txt', [])).body, { exists: false })
})

t.test('shows nothing of a protected file that was removed', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-pending-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, { settings: { stateDir }, files: { 'a.txt': TEXT } })
  await edit(t, server, 'a.txt', [['two', 'TWO']])
  rmSync(join(server.root, 'a.txt'))
  await check(t, server, '/pending', { path: 'a.txt' }, 200, { exists: false })
  await server.opened.close()
  const later = await startServer(t, { settings: { stateDir, readProtect: ['a.txt'], protect: ['a.txt'] } })
  await check(t, later, '/pending', { path: 'a.txt' }, 403, { code: 'PROTECTED_PATH' })
  await check(t, later, '/blame', { path: 'a.txt' }, 403, { code: 'PROTECTED_PATH' })
})

t.test('says so where no history is kept, or it does not fit the file', async t => {
  const off = await startServer(t, { settings: { history: 'off' }, files: { 'a.txt': TEXT } })
  await check(t, off, '/pending', { path: 'a.txt' }, 410, { code: 'HISTORY_GONE' })
  await check(t, off, '/blame', { path: 'a.txt' }, 410, { code: 'HISTORY_GONE' })
  const used: { server?: TestServer } = {}
  const misfit = [{ start: 0, old: Buffer.alloc(0), insert: Buffer.from('else') }]
  const server = await startServer(t, {
    files: { 'a.txt': TEXT },
    replace: {
      recall: (target, work) =>
        used.server!.opened.recall(target, file =>
          work({ ...file, changes: file.changes.map(change => ({ ...change, splices: misfit })) })
        )
    }
  })
  used.server = server
  const own = await edit(t, server, 'a.txt', [['two', 'TWO']])
  await check(t, server, '/pending', { path: 'a.txt' }, 410, {
    detail: `What is pending can't be shown line by line: what is recorded of edit ${own} does not fit the file as it is.`
  })
  await check(t, server, '/blame', { path: 'a.txt' }, 410, {
    detail: `Who wrote the lines can't be told: what is recorded of edit ${own} does not fit the file as it is.`
  })
})
