import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { EditRecord } from '../../src/log/record.ts'
import { ok } from '../../src/result.ts'
import { thisOwner } from '../../src/folder/locks/owner.ts'
import type { FileHistory, HistoryPage, Planner, Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { breakFolder, FAST, openAs, recordOf } from '../log/support/history.ts'
import { append, become, DRY, makeFolders, open, REAL, removeFolders, type Folders } from '../folder/support/open.ts'

interface Fixture {
  folders: Folders
  workspace: Workspace
  events: { event: string }[]
  write(path: string, text: string): void
}

async function fresh(t: Test, options: Partial<WorkspaceOptions> = {}): Promise<Fixture> {
  const folders = makeFolders()
  const events: { event: string }[] = []
  const workspace = await open(folders, { history: 'full', report: event => events.push(event), ...options })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return { folders, workspace, events, write: (path, text) => writeFileSync(join(folders.root, path), text) }
}

/** The edits in the history, newest first, without what differs from run to run. */
async function edits(workspace: Workspace, query = {}): Promise<object[]> {
  const page = await workspace.history({ limit: 50, ...query })
  if (!page.ok) throw new Error(page.failure.code)
  return page.value.edits.map(({ record, state }) => ({
    operation: record.operation,
    path: record.path.toString(),
    lines: [record.lines_removed, record.lines_added],
    state
  }))
}

async function pageOf(workspace: Workspace, query = {}): Promise<HistoryPage> {
  const page = await workspace.history({ limit: 50, ...query })
  if (!page.ok) throw new Error(page.failure.code)
  return page.value
}

/** Writes nothing, and shows what is known of the file. */
const lookAtHistory =
  (seen: FileHistory[]): Planner<null, never> =>
  async (original, { history }) => {
    seen.push(await history())
    return ok({ pieces: [original], description: null })
  }

/** A planner that gives its splices too. */
const splice =
  ({ start, end, insert }: { start: number; end: number; insert: string }): Planner<null, never> =>
  original => {
    const splices = [{ start, old: Buffer.from(original.subarray(start, end)), insert: Buffer.from(insert) }]
    const pieces = [original.subarray(0, start), Buffer.from(insert), original.subarray(end)]
    return ok({ pieces, splices, description: null })
  }

t.test('records each change with who made it, and nothing else', async t => {
  const { workspace, write } = await fresh(t)
  write('a.txt', 'one\ntwo\n')
  const origin = { operation: 'edit_lines', agent: 'a1', session: 's1', reason: 'because' } as const
  const done = await workspace.edit(
    { path: 'a.txt' },
    { dry_run: false, origin },
    splice({ start: 0, end: 3, insert: 'ONE' })
  )
  if (!done.ok) throw new Error(done.failure.code)
  await workspace.edit({ path: 'a.txt' }, DRY, append('x'))
  await workspace.edit({ path: 'a.txt' }, REAL, append(''))
  const made = await workspace.create(
    { path: 'd/new.txt', overwrite: false, create_parents: true },
    REAL,
    become('new\n')
  )
  t.ok(made.ok)
  const { edits: found, oldest_kept_at } = await pageOf(workspace)
  t.equal(found.length, 2)
  const [creation, edit] = found
  t.match(creation, {
    state: 'applied',
    record: { operation: 'create', hash_before: null, made_folders: [Buffer.from('d')] }
  })
  t.match(edit, {
    state: 'applied',
    record: { ...origin, edit_id: done.value.edit_id, path: Buffer.from('a.txt'), size_before: 8, size_after: 8 }
  })
  t.equal(edit?.record.hash_after, done.value.file_hash)
  t.ok((oldest_kept_at ?? 0) > Date.now() - 60_000)
})

t.test('gives planners the changes of the file, up to the text that they have', async t => {
  const { workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  await workspace.edit({ path: 'a.txt' }, REAL, lookAtHistory(seen))
  for (const { changes } of seen) {
    t.strictSame(
      changes.map(({ splices }) => splices?.map(({ start, insert }) => [start, insert.toString()])),
      [[[4, 'two\n']], [[8, 'three\n']]]
    )
  }
  const of: FileHistory[] = []
  await workspace.create({ path: 'b.txt', overwrite: false, create_parents: true }, DRY, (original, file) =>
    lookAtHistory(of)(original, file)
  )
  t.strictSame(of, [{ records: [], changes: [] }])
})

t.test('records what others did to a file since, as one change', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  // The copy of what it wrote is kept in the background.
  await waitUntil(() => copiesIn(folders).length === 1)
  appendFileSync(join(folders.root, 'a.txt'), 'by hand\n')
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  t.match(seen[0]?.changes.at(-1), { outside: true, splices: [{ start: 8, insert: Buffer.from('by hand\n') }] })
  t.equal((await edits(workspace)).length, 1, 'a dry run records nothing')
  await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))
  t.strictSame(await edits(workspace), [
    { operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' },
    { operation: 'outside', path: 'a.txt', lines: [0, 1], state: 'applied' },
    { operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' }
  ])
})

t.test('knows that others changed, removed or made a file of which no copy is left', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  await waitUntil(() => copiesIn(folders).length === 1)
  for (const name of copiesIn(folders)) {
    rmSync(join(folders.state, 'history', 'copies', name))
  }
  write('a.txt', 'other\n')
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  t.match(seen[0]?.changes.at(-1), { outside: true, splices: null })
  rmSync(join(folders.root, 'a.txt'))
  const made = await workspace.create({ path: 'a.txt', overwrite: false, create_parents: true }, REAL, become('new\n'))
  t.ok(made.ok)
  t.match(await edits(workspace), [{ operation: 'create' }, { operation: 'outside' }, { operation: 'edit' }])
})

t.test('goes on without a record where none can be written, and says so', async t => {
  const { folders, workspace, write, events } = await fresh(t)
  write('a.txt', 'one\n')
  const unblock = blockHistory(folders)
  const done = await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  t.match(done, { ok: true, value: { warnings: ['unrecorded'] } })
  t.notOk(done.ok && done.value.edit_id)
  t.equal(workspace.degraded(), true)
  t.equal(await workspace.ready(), null)
  t.ok(events.some(({ event }) => event === 'unrecorded'))
  unblock()
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('three\n')), { ok: true, value: { warnings: [] } })
  t.equal(workspace.degraded(), false)
})

t.test('keeps what others did before an edit that can’t be recorded', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
  await waitUntil(() => copiesIn(folders).length === 1)
  appendFileSync(join(folders.root, 'a.txt'), 'by hand\n')
  // Where long texts are kept, is no room.
  const blobs = join(folders.state, 'history', 'blobs')
  writeFileSync(blobs, '')
  const long = await workspace.edit({ path: 'a.txt' }, REAL, append('x'.repeat(100_000)))
  t.match(long, { ok: true, value: { warnings: ['unrecorded'] } })
  rmSync(blobs)
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.match(await edits(workspace), [
    { operation: 'edit', state: 'applied' },
    { operation: 'outside', state: 'applied' },
    { operation: 'outside', lines: [0, 1], state: 'applied' },
    { operation: 'edit', state: 'applied' }
  ])
})

t.test('changes nothing without a record where one is required', async t => {
  const { folders, workspace, write } = await fresh(t, { history: 'required' })
  write('a.txt', 'one\n')
  blockHistory(folders)
  const unwritable = { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('two\n')), { ok: false, failure: unwritable })
  t.match(await workspace.create({ path: 'd/b.txt', overwrite: false, create_parents: true }, REAL, become('x')), {
    ok: false,
    failure: unwritable
  })
  t.strictSame(readdirSync(folders.root), ['a.txt'])
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
  t.strictSame(await workspace.ready(), unwritable)
})

t.test('gives no answer under a key that it can’t keep', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  for (const text of ['', 'two\n']) {
    let unblock = (): void => {}
    const answer = await workspace.keyed({ scope: '', key: 'k', fingerprint: text }, key => {
      // After it was read whether the key is known.
      unblock = blockHistory(folders)
      return workspace.edit({ path: 'a.txt' }, { dry_run: false, origin: { operation: 'edit', key } }, append(text))
    })
    unblock()
    t.match(answer, { ok: true, value: { done: { ok: false, failure: { code: 'NOT_READY' } } } })
  }
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
})

t.test('leaves a file alone that a dead server was about to remove', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  await workspace.close()
  const { dev, ino } = statSync(join(folders.root, 'a.txt'))
  const record = { path: 'a.txt', dev: String(dev), ino: String(ino), born: '0', old: 'x', new: 'x' }
  const base = join(folders.state, 'journal', '0'.repeat(24))
  writeFileSync(`${base}.old`, 'old bytes')
  writeFileSync(
    `${base}.json`,
    JSON.stringify({
      ...record,
      path: Buffer.from(record.path).toString('base64'),
      owner: { ...thisOwner(), pid: 2 ** 22 - 1, start_time: '1' }
    })
  )
  const next = await open(folders, { history: 'full' })
  await next.close()
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
  t.strictSame(readdirSync(join(folders.state, 'journal')), [])
})

t.test('keeps no history where it is off', async t => {
  const { folders, workspace, write } = await fresh(t, { history: 'off' })
  write('a.txt', 'one\n')
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  await workspace.edit({ path: 'a.txt' }, REAL, lookAtHistory(seen))
  t.strictSame(seen, [{ records: [], changes: [] }])
  const off = { ok: false, failure: { code: 'HISTORY_GONE', reason: 'off' } }
  t.strictSame(await workspace.history({ limit: 1 }), off)
  t.strictSame(await workspace.keyed({ scope: '', key: 'k', fingerprint: '' }, async () => 1), off)
  t.notOk(readdirSync(folders.state).includes('history'))
})

t.test('keeps no texts of private files', async t => {
  const { workspace, write } = await fresh(t, { historyPrivate: ['.env*'] })
  write('.env', 'A=1\n')
  await workspace.edit({ path: '.env' }, REAL, append('SECRET=2\n'))
  const { edits: found } = await pageOf(workspace)
  t.match(found, [{ record: { splices: null, lines_added: 1 } }])
})

t.test('shows no edits of files that may not be read, and pages through the others', async t => {
  const { workspace } = await fresh(t, { readProtect: ['secret'] })
  for (const path of ['a', 'secret/b', 'c', 'd']) {
    await workspace.create({ path, overwrite: false, create_parents: true }, REAL, become('x'))
  }
  const first = await pageOf(workspace, { limit: 2 })
  t.strictSame(
    first.edits.map(({ record }) => record.path.toString()),
    ['d', 'c']
  )
  const second = await pageOf(workspace, { limit: 2, before: first.next_before })
  t.strictSame(
    second.edits.map(({ record }) => record.path.toString()),
    ['a']
  )
  t.notOk(second.next_before)
  for (const query of [{ under: 'secret' }, { path: './secret/b' }]) {
    t.match(await workspace.history({ limit: 1, ...query }), { ok: false, failure: { code: 'PROTECTED_PATH' } })
  }
  t.match(await workspace.history({ limit: 1, path: '../x' }), { ok: false, failure: { code: 'PATH_NOT_ALLOWED' } })
  t.equal((await edits(workspace, { path: './d' })).length, 1)
  t.equal((await edits(workspace, { under: '.' })).length, 3)
  t.equal((await edits(workspace, { path: 'c' })).length, 1)
  t.strictSame(await edits(workspace, { path: 'c', state: 'undone' }), [])
})

/** The record of an edit of a.txt that appends "two" to "one"; `more` overrides members. */
const twoAppended = (edit_id: string, more: Partial<EditRecord> = {}): EditRecord => ({
  edit_id,
  operation: 'edit',
  at: Date.now(),
  path: Buffer.from('a.txt'),
  hash_before: hashOf('one\n'),
  hash_after: hashOf('one\ntwo\n'),
  size_before: 4,
  size_after: 8,
  lines_added: 1,
  lines_removed: 0,
  splices: [{ start: 4, old: Buffer.alloc(0), insert: Buffer.from('two\n') }],
  places: [],
  ...more
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Another server that runs, and has written these records of a.txt ("one"), but not what became of them. */
async function halfDone(
  t: Test,
  { folders, write }: Fixture,
  ...more: readonly Partial<EditRecord>[]
): Promise<EditRecord[]> {
  const other = await openAs('another', join(folders.state, 'history'))
  t.teardown(() => other.close())
  const records = more.map(each => twoAppended(other.nextId(), each))
  for (const record of records) await other.append(record, { durable: false })
  write('a.txt', 'one\n')
  return records
}

t.test('takes what another server has only just done for undone where the file is as it was', async t => {
  const fixture = await fresh(t)
  const { workspace } = fixture
  await halfDone(t, fixture, {})
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.strictSame(await edits(workspace), [{ operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' }])
})

t.test('a page settles no more than ten changes, and the next one goes on', async t => {
  const { folders, workspace, write } = await fresh(t)
  const killed = await openAs('killed', join(folders.state, 'history'))
  for (let i = 0; i < 25; i++) {
    write(`${i}.txt`, 'text')
    await killed.append(recordOf(killed, `${i}.txt`, 'text'), FAST)
  }
  await killed.close()
  for (const count of [10, 20, 25]) t.equal((await edits(workspace)).length, count)
})

t.test('says nothing of an edit that another server is making, where it only looks', async t => {
  const fixture = await fresh(t)
  const { workspace, write } = fixture
  const [{ edit_id } = { edit_id: '' }] = await halfDone(t, fixture, {})
  const seen: FileHistory[] = []
  for (let i = 0; i < 2; i++) await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  t.strictSame(seen, [
    { records: [], changes: [] },
    { records: [], changes: [] }
  ])
  // Its rename; that it is done is still to be written.
  write('a.txt', 'one\ntwo\n')
  await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  t.match(seen[2]?.records, [{ edit_id }])
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.strictSame(await edits(workspace), [
    { operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' },
    { operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' }
  ])
})

t.test('knows an edit of a killed server that has replaced a save', async t => {
  const fixture = await fresh(t)
  const { workspace, write } = fixture
  const save: Partial<EditRecord> = { operation: 'outside', hash_after: hashOf('saved\n'), size_after: 6 }
  const [edit] = await halfDone(t, fixture, {}, save)
  write('a.txt', 'one\ntwo\n')
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, DRY, lookAtHistory(seen))
  const done = await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))
  if (!done.ok) throw new Error(done.failure.code)
  t.match(await edits(workspace), [
    { operation: 'edit', state: 'applied' },
    { operation: 'outside', state: 'uncertain' },
    { operation: 'edit', state: 'applied' }
  ])
  await workspace.edit({ path: 'a.txt' }, REAL, lookAtHistory(seen))
  t.strictSame(
    seen.map(({ changes }) => changes.map(({ edit_id }) => edit_id)),
    [[edit?.edit_id], [edit?.edit_id, done.value.edit_id]]
  )
})

t.test('records the change by others that its plan was made with', async t => {
  const { workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  write('a.txt', 'other\n')
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, REAL, async (original, { history }) => {
    seen.push(await history())
    return ok({ pieces: [original, Buffer.from('three\n')], description: null })
  })
  const { edits: found } = await pageOf(workspace)
  t.strictSame(
    found.slice(1).map(({ record }) => record.edit_id),
    seen[0]?.records.toReversed().map(({ edit_id }) => edit_id)
  )
})

t.test('knows what another server did before it was alone again', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
  const other = await open(folders, { history: 'full' })
  t.ok((await other.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  await other.close()
  // Wait until it knows that the other server has gone: before that, an edit would read the other one's records.
  await new Promise(resolve => setTimeout(resolve, 500))
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('four\n'))).ok)
  t.strictSame(
    await edits(workspace, { path: 'a.txt' }),
    [1, 2, 3].map(() => ({ operation: 'edit', path: 'a.txt', lines: [0, 1], state: 'applied' }))
  )
})

t.test('shows at once what another server has done, and not what it is still doing', async t => {
  const { folders, workspace, write } = await fresh(t)
  const other = await open(folders, { history: 'full' })
  t.teardown(() => other.close())
  write('a.txt', 'one\n')
  for (let i = 0; i < 5; i++) {
    const done = await workspace.edit({ path: 'a.txt' }, REAL, append(`${i}\n`))
    if (!done.ok || done.value.edit_id === undefined) throw new Error('not done')
    const { edits: found } = await pageOf(other, { edit_ids: [done.value.edit_id] })
    t.match(found, [{ state: 'applied', record: { edit_id: done.value.edit_id } }])
  }
})

t.test('removes a file for a plan that says so, and folders that were made for it', async t => {
  const { folders, workspace } = await fresh(t, { durability: 'full' })
  await workspace.create({ path: 'd/e/new.txt', overwrite: false, create_parents: true }, REAL, become('new\n'))
  const removal: Planner<null, never> = original =>
    ok({
      pieces: [],
      splices: [{ start: 0, old: Buffer.from(original), insert: Buffer.alloc(0) }],
      removes: true,
      made_folders: [Buffer.from('d'), Buffer.from('d/e')],
      description: null
    })
  const removed = await workspace.edit({ path: 'd/e/new.txt' }, REAL, removal)
  t.match(removed, { ok: true, value: { changed: true, removed: true } })
  t.strictSame(readdirSync(folders.root), [])
  t.match((await pageOf(workspace)).edits[0], { record: { hash_after: null, size_after: 0 } })
  t.strictSame(readdirSync(join(folders.state, 'journal')), [])
  mkdirSync(join(folders.root, 'd'))
  writeFileSync(join(folders.root, 'd/other'), '')
})

t.test('carries nothing out under a key that another server has taken over', async t => {
  const { folders, workspace, write } = await fresh(t)
  write('a.txt', 'one\n')
  const key = { digest: 'd', fingerprint: 'f', held: () => false }
  const options = { dry_run: false, origin: { operation: 'edit', key } } as const
  for (const text of ['two\n', '']) {
    t.match(await workspace.edit({ path: 'a.txt' }, options, append(text)), { failure: { code: 'STALE_FILE' } })
  }
  const target = { path: 'd/new.txt', overwrite: false, create_parents: true }
  t.match(await workspace.create(target, options, become('x')), { failure: { code: 'STALE_FILE' } })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
  t.strictSame(readdirSync(folders.root), ['a.txt'])
  t.strictSame(await edits(workspace), [])
})

/** A file stands where the history's folder is, until the function that it returns is called. */
const blockHistory = ({ state }: Folders): (() => void) => breakFolder(join(state, 'history'))

function copiesIn({ state }: Folders): string[] {
  const copies = join(state, 'history', 'copies')
  return existsSync(copies) ? readdirSync(copies).filter(name => !name.endsWith('.tmp')) : []
}

async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error('waited in vain')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
