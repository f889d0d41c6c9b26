// What is kept where another program saves a file while servers edit it: no change that nobody made, and no text missing.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { EditRecord } from '../../src/log/record.ts'
import { ok } from '../../src/result.ts'
import type { Origin, Planner, Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { hashOf, openAs } from '../log/support/history.ts'
import { append, become, makeFolders, open, REAL, remove, removeFolders, type Folders } from '../folder/support/open.ts'

const FIRST = 'one\n'

interface Fixture {
  folders: Folders
  /** Opens another server on the same root. */
  another(): Promise<Workspace>
  /** What another program does: it puts a file of its own in the place of a.txt. */
  save(text: string): void
  text(): string
}

function fresh(t: Test, options: Partial<WorkspaceOptions> = {}): Fixture {
  const folders = makeFolders()
  const opened: Workspace[] = []
  t.teardown(async () => {
    for (const workspace of opened) await workspace.close()
    removeFolders(folders)
  })
  const path = join(folders.root, 'a.txt')
  writeFileSync(path, FIRST)
  return {
    folders,
    another: async () => {
      const workspace = await open(folders, { history: 'full', ...options })
      opened.push(workspace)
      return workspace
    },
    save: text => {
      writeFileSync(`${path}~`, text)
      renameSync(`${path}~`, path)
    },
    text: () => readFileSync(path, 'utf8')
  }
}

/** The changes of a.txt that took place, oldest first, as `operation -removed +inserted`; null: its texts are missing. */
async function changesOf(t: Test, workspace: Workspace): Promise<(string | null)[]> {
  const page = await workspace.history({ limit: 50, path: 'a.txt', texts: true })
  if (!page.ok) throw new Error(page.failure.code)
  const records = page.value.edits.map(({ record }) => record).reverse()
  t.strictSame(
    records.slice(1).map(({ hash_before }) => hash_before),
    records.slice(0, -1).map(({ hash_after }) => hash_after),
    'each begins with what the one before it led to'
  )
  return records.map(({ operation, splices }) => {
    if (splices === null) return null
    const texts = splices.map(({ old, insert }) => `-${old.toString()} +${insert.toString()}`)
    return [operation, ...texts].join(' ').replaceAll('\n', '')
  })
}

/** A plan that appends `text`, while another program saves: the edit comes too late. */
const overtaken =
  (save: () => void, text: string): Planner<null, never> =>
  original => {
    save()
    return ok({ pieces: [original, Buffer.from(text)], description: null })
  }

/** Appends a line under one key, or does what `plan` does; the answer that is kept is 'answer'. */
const appendOnce = (workspace: Workspace, plan: Planner<null, never> = appendTwo) =>
  workspace.keyed({ scope: '', key: 'k', fingerprint: '' }, key =>
    workspace.edit(
      { path: 'a.txt' },
      { dry_run: false, origin: { operation: 'edit', key }, outcome: () => 'answer' },
      plan
    )
  )

const appendTwo: Planner<null, never> = original => ok({ pieces: [original, Buffer.from('two\n')], description: null })

const expected_hash = (text: string): string => hashOf(text).slice(0, 16)

/** Edits that are refused, as what they are made to changes under their hands. */
const LATE: Record<string, (workspace: Workspace, plan: Planner<null, never>, text: string) => Promise<unknown>> = {
  'an edit': (workspace, plan) => workspace.edit({ path: 'a.txt' }, REAL, plan),
  'a replacement': (workspace, plan, text) =>
    workspace.create(
      { path: 'a.txt', overwrite: true, create_parents: false, expected_hash: expected_hash(text) },
      REAL,
      plan
    ),
  'a batch': (workspace, plan) =>
    workspace.batch<null, never>([{ operation: 'edit', target: { path: 'a.txt' }, plan }], REAL)
}

for (const [what, late] of Object.entries(LATE)) {
  for (const servers of [1, 2]) {
    t.test(`keeps the texts of saves around ${what} that came too late (${servers} servers)`, async t => {
      const { another, save } = fresh(t)
      const first = await another()
      const other = servers === 1 ? first : await another()
      t.ok((await first.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
      save('one\ntwo\nsaved\n')
      const plan = overtaken(() => save('one\ntwo\nsaved\nagain\n'), 'late\n')
      t.match(await late(first, plan, 'one\ntwo\nsaved\n'), { ok: false, failure: { code: 'STALE_FILE' } })
      t.ok((await other.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
      t.strictSame(await changesOf(t, other), ['edit - +two', 'outside - +saved', 'outside - +again', 'edit - +three'])
    })
  }

  t.test(`says that ${what} did not take place before another server edits the file`, async t => {
    const { another, save } = fresh(t)
    const [first, other] = [await another(), await another()]
    for (let i = 0; i < 5; i++) {
      save(FIRST)
      const before = await other.edit({ path: 'a.txt' }, REAL, append(`before ${i}\n`))
      const saved = `one\nbefore ${i}\nsaved\n`
      let after: Promise<unknown> | undefined
      const plan = overtaken(() => {
        // It waits for the lock.
        after = other.edit({ path: 'a.txt' }, REAL, append('after\n'))
        save(saved)
      }, 'late\n')
      const refused = await late(first, plan, `one\nbefore ${i}\n`)
      t.match(
        [before, refused, await after],
        [{ ok: true }, { ok: false, failure: { code: 'STALE_FILE' } }, { ok: true }]
      )
      t.strictSame((await changesOf(t, other)).slice(-3), [`edit - +before ${i}`, 'outside - +saved', 'edit - +after'])
    }
  })
}

t.test('keeps the texts of a save that an undo without effect on the file has found', async t => {
  const { another, save } = fresh(t)
  const workspace = await another()
  const made = await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  const edit_id = made.ok ? made.value.edit_id! : ''
  save('saved\n')
  const nothing: Planner<null, never> = original =>
    ok({ pieces: [original], toggles: [{ edit_id }], description: null })
  const origin: Origin = { operation: 'undo' }
  t.ok((await workspace.edit({ path: 'a.txt' }, { dry_run: false, origin }, nothing)).ok)
  save('again\n')
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.strictSame(await changesOf(t, workspace), [
    'edit - +two',
    'outside -onetwo +saved',
    'undo',
    'outside -saved +again',
    'edit - +three'
  ])
})

t.test('carries a request out whose first try came too late, at whichever server', async t => {
  const { another, save, text } = fresh(t)
  const [first, other] = [await another(), await another()]
  const refused = await appendOnce(
    first,
    overtaken(() => save('saved\n'), 'two\n')
  )
  t.match(refused, { ok: true, value: { done: { ok: false, failure: { code: 'STALE_FILE' } } } })
  t.match(await appendOnce(other), { ok: true, value: { done: { ok: true } } })
  t.equal(text(), 'saved\ntwo\n')
})

/** An edit at one server is done, another program saves at once, and another server edits the file. */
function checkDone(
  name: string,
  saved: string,
  expected: readonly (string | null)[],
  options: Partial<WorkspaceOptions> = {}
): void {
  t.test(name, async t => {
    const { another, save } = fresh(t, options)
    const [first, other] = [await another(), await another()]
    t.match(await appendOnce(first), { ok: true, value: { done: { ok: true } } })
    save(saved)
    t.ok((await other.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
    t.match(await appendOnce(other), { ok: true, value: { replayed: 'answer' } })
    t.strictSame(await changesOf(t, other), expected)
  })
}

checkDone('knows what another server has just done, whatever a program has made of it', 'saved\n', [
  'edit - +two',
  'outside -onetwo +saved',
  'edit - +three'
])
checkDone('knows it where that is what was there before', FIRST, ['edit - +two', 'outside -two +', 'edit - +three'])
checkDone('knows it of a file whose texts are not kept', FIRST, [null, null, null], { historyPrivate: ['a.txt'] })

t.test('answers a key with what another server has just done, whatever a program has made of it', async t => {
  const { another, save, text } = fresh(t)
  const [first, other] = [await another(), await another()]
  t.match(await appendOnce(first), { ok: true, value: { done: { ok: true } } })
  save(FIRST)
  t.match(await appendOnce(other), { ok: true, value: { replayed: 'answer' } })
  t.equal(text(), FIRST)
})

t.test('knows that another server has just removed a file that a program has made again', async t => {
  const { another, save } = fresh(t)
  const [first, other] = [await another(), await another()]
  t.ok((await first.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
  t.ok((await first.edit({ path: 'a.txt' }, REAL, remove())).ok)
  save('saved\n')
  t.ok((await other.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.strictSame(await changesOf(t, other), ['edit - +two', 'edit -onetwo +', 'outside - +saved', 'edit - +three'])
})

t.test('leaves what it knows of a file to a server that comes', async t => {
  const { another, save } = fresh(t)
  const first = await another()
  t.ok((await first.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
  const other = await another()
  save('saved\n')
  t.ok((await other.edit({ path: 'a.txt' }, REAL, append('three\n'))).ok)
  t.strictSame(await changesOf(t, other), ['edit - +two', 'outside -onetwo +saved', 'edit - +three'])
})

t.test('takes a save after an edit of which nobody can tell for one after the edit before', async t => {
  const { folders, another, save } = fresh(t)
  const first = await another()
  t.ok((await first.edit({ path: 'a.txt' }, REAL, append('two\n'))).ok)
  await first.close()
  const killed = await openAs('killed', join(folders.state, 'history'))
  const record: EditRecord = {
    edit_id: killed.nextId(),
    operation: 'edit',
    at: Date.now(),
    path: Buffer.from('a.txt'),
    hash_before: hashOf('one\ntwo\n'),
    hash_after: hashOf('one\ntwo\nthree\n'),
    size_before: 8,
    size_after: 14,
    lines_added: 1,
    lines_removed: 0,
    splices: [{ start: 8, old: Buffer.alloc(0), insert: Buffer.from('three\n') }],
    places: []
  }
  await killed.append(record, { durable: false })
  await killed.close()
  save('one\ntwo\nsaved\n')
  const workspace = await another()
  t.ok((await workspace.edit({ path: 'a.txt' }, REAL, become('four\n'))).ok)
  const page = await workspace.history({ limit: 9, edit_ids: [record.edit_id] })
  t.match(page, { ok: true, value: { edits: [{ state: 'uncertain' }] } })
  const seen: unknown[] = []
  await workspace.edit({ path: 'a.txt' }, REAL, async (original, { history }) => {
    seen.push(...(await history()).changes.map(({ splices }) => splices?.map(({ insert }) => insert.toString())))
    return ok({ pieces: [original], description: null })
  })
  t.strictSame(seen, [['two\n'], ['saved\n'], ['four']])
})
