// Undo and redo beside others, and where no byte tells what they did: on real workspaces.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeOperations, type Operations } from '../../src/operations.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { hasLoop, loop } from '../folder/support/machine.ts'
import { append, makeFolders, open, REAL, removeFolders, type Folders } from '../folder/support/open.ts'

type Body = Record<string, any>

function callOf(workspace: Workspace) {
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  return async (name: keyof Operations, body: Body): Promise<Body> => {
    const called = await operations[name].call(body as never)
    return called.ok ? called.value.outcome : called.failure
  }
}

interface ServeOptions {
  /** Gets the workspace, and may return another. */
  instead?: (workspace: Workspace) => Workspace
  folders?: Folders
}

/** A workspace with files `a` and `b`, both of one line. */
async function serve(t: Test, { instead = workspace => workspace, folders = makeFolders() }: ServeOptions = {}) {
  t.teardown(() => removeFolders(folders))
  for (const name of ['a', 'b']) writeFileSync(join(folders.root, name), 'one\n')
  const workspace = await open(folders, { history: 'full' })
  t.teardown(() => workspace.close())
  const call = callOf(instead(workspace))
  const edit = async (path: string, old_text: string, new_text: string): Promise<string> =>
    (await call('edit', { path, old_text, new_text })).edit_id
  const text = (name: string): string => readFileSync(join(folders.root, name), 'utf8')
  const states = async (): Promise<string[]> =>
    (await call('history', {})).edits.map((edit: Body) => `${edit.operation} ${edit.state}`)
  return { folders, root: folders.root, call, edit, text, states }
}

t.test('remembers what it took back where no byte shows it', async t => {
  const { call, edit, text, states } = await serve(t)
  const made = await edit('a', 'one\n', 'one\ntwo\n')
  const gone = await edit('a', 'one\ntwo\n', 'one\n')
  const undone = await call('undo', { edit_ids: [made, gone] })
  t.match(undone, { results: [{ changed: false, edit_id: String }], toggled: [made, gone] })
  t.equal(text('a'), 'one\n')
  t.strictSame(await states(), ['undo applied', 'edit undone', 'edit undone'])
  t.match(await call('undo', { edit_ids: [made, gone] }), { code: 'NOTHING_TO_UNDO', reason: 'done_already' })
  t.match(await call('undo', {}), { code: 'NOTHING_TO_UNDO' })
  const [{ edit_id }] = undone.results
  t.match(await call('redo', { edit_id }), { results: [{ changed: false, edit_id: String }] })
  t.strictSame(await states(), ['redo applied', 'undo applied', 'edit applied', 'edit applied'])
  t.match(await call('undo', { edit_id: gone }), { results: [{ changed: true }] })
  t.equal(text('a'), 'one\ntwo\n')
})

t.test('remembers it in one file of several, and in all of several', async t => {
  const { call, edit, text, states } = await serve(t)
  const ids = [await edit('a', 'one\n', 'one\ntwo\n'), await edit('a', 'one\ntwo\n', 'one\n')]
  const others = [await edit('b', 'one\n', 'one\ntwo\n')]
  const undone = await call('undo', { edit_ids: [...ids, ...others] })
  t.match(undone, { batch_id: String, results: { length: 2 } })
  for (const { edit_id } of undone.results) t.type(edit_id, 'string')
  t.strictSame([text('a'), text('b')], ['one\n', 'one\n'])
  t.strictSame((await states()).slice(-3), ['edit undone', 'edit undone', 'edit undone'])
  t.match(await call('redo', { batch_id: undone.batch_id }), { batch_id: String, results: { length: 2 } })
  others.push(await edit('b', 'one\ntwo\n', 'one\n'))
  const all = await call('undo', { edit_ids: [...ids, ...others] })
  t.match(all, { batch_id: String, results: [{ changed: false }, { changed: false }] })
  t.ok((await states()).every(state => !state.startsWith('edit') || state === 'edit undone'))
  t.match(await call('undo', { edit_ids: [...ids, ...others] }), { code: 'NOTHING_TO_UNDO' })
})

/** A workspace in which another one's edit comes between reading the file a for a dry run and asking for its changes. */
const overtaken =
  (times: number) =>
  (workspace: Workspace): Workspace => {
    let left = times
    const edit: Workspace['edit'] = (target, options, plan) =>
      workspace.edit(target, options, (original, file) =>
        plan(original, {
          ...file,
          history: async () => {
            if (target.path === 'a' && options.dry_run && left-- > 0) {
              await workspace.edit(target, REAL, append('of others\n'))
            }
            return file.history()
          }
        })
      )
    return new Proxy(workspace, {
      get: (of, name) => {
        if (name === 'edit') return edit
        const value: unknown = Reflect.get(of, name)
        return typeof value === 'function' ? value.bind(of) : value
      }
    })
  }

t.test('plans once more where another change comes in between', async t => {
  for (const [times, expected] of [
    [1, { toggled: { length: 2 } }],
    [29, { toggled: { length: 2 } }],
    [30, { code: 'STALE_FILE', reason: 'changed_meanwhile' }]
  ] as const) {
    const { call, edit, text } = await serve(t, { instead: overtaken(times) })
    const ids = [await edit('a', 'one\n', 'ONE\n'), await edit('b', 'one\n', 'ONE\n')]
    t.match(await call('undo', { edit_ids: ids, dry_run: true }), expected)
    t.equal(text('a'), 'ONE\n' + 'of others\n'.repeat(times))
  }
  const { call, edit, text } = await serve(t, { instead: overtaken(1) })
  const ids = [await edit('a', 'one\n', 'ONE\n'), await edit('b', 'one\n', 'ONE\n')]
  t.match(await call('undo', { edit_ids: ids }), { toggled: { length: 2 } })
  t.strictSame([text('a'), text('b')], ['one\nof others\n', 'one\n'])
})

t.test('takes an edit back in a file that was replaced by the same bytes, or removed and made again', async t => {
  const { root, call, edit, text } = await serve(t)
  for (const name of ['a', 'b']) {
    const edit_id = await edit(name, 'one\n', 'ONE\n')
    if (name === 'b') rmSync(join(root, name))
    else writeFileSync(join(root, 'x'), 'ONE\n')
    if (name === 'b') writeFileSync(join(root, name), 'ONE\n')
    else renameSync(join(root, 'x'), join(root, name))
    t.match(await call('undo', { edit_id }), { toggled: [edit_id] })
    t.equal(text(name), 'one\n')
  }
})

t.test('keeps the mode that a file was given since, and the other names of it', async t => {
  const { root, call, edit, text } = await serve(t)
  const edit_id = await edit('a', 'one\n', 'ONE\n')
  chmodSync(join(root, 'a'), 0o751)
  linkSync(join(root, 'a'), join(root, 'other'))
  t.match(await call('undo', { edit_id }), { results: [{ warnings: ['links_left'] }] })
  t.equal(statSync(join(root, 'a')).mode & 0o777, 0o751)
  t.strictSame([text('a'), text('other')], ['one\n', 'ONE\n'])
})

t.test('carries one of two undos out that are asked for at once', async t => {
  const { call, edit, text, states } = await serve(t)
  const edit_id = await edit('a', 'one\n', 'ONE\n')
  const both = await Promise.all([call('undo', { edit_id }), call('undo', { edit_id })])
  t.strictSame(both.map(({ code = 'done' }) => code).toSorted(), ['NOTHING_TO_UNDO', 'done'])
  t.equal(text('a'), 'one\n')
  t.strictSame(await states(), ['undo applied', 'edit undone'])
})

t.test('takes edits back in files with any name', async t => {
  const { root, call, edit, text } = await serve(t)
  for (const name of ['a\nb', '<script>alert(1)<!--', '\u202ea', '\u200b', '\'"`$(x)']) {
    writeFileSync(join(root, name), 'one\n')
    const edit_id = await edit(name, 'one\n', 'ONE\n')
    t.match(await call('undo', { edit_id }), { toggled: [edit_id] }, JSON.stringify(name))
    t.equal(text(name), 'one\n')
  }
})

t.test('takes back the last edit, and lists it first, also where the clock was set back before it', async t => {
  const { call, edit, text, states } = await serve(t)
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const first = await edit('a', 'one\n', 'one\ntwo\n')
  Date.now = () => now() - 24 * 60 * 60 * 1000
  const last = await edit('a', 'two\n', 'two\nthree\n')
  const listed: Body[] = (await call('history', {})).edits
  t.strictSame(
    listed.map(edit => edit.edit_id),
    [last, first]
  )
  t.match(await call('undo', {}), { toggled: [last] })
  t.equal(text('a'), 'one\ntwo\n')
  t.match(await call('redo', {}), { toggled: [last] })
  t.strictSame(await states(), ['redo applied', 'undo applied', 'edit applied', 'edit applied'])
})

t.test('takes nothing back in files that are protected by now', async t => {
  const { folders, edit, text } = await serve(t)
  const edit_ids = [await edit('a', 'one\n', 'ONE\n'), await edit('b', 'one\n', 'ONE\n')]
  for (const [options, expected] of [
    [{ protect: ['b'] }, { code: 'PROTECTED_PATH' }],
    [{ readProtect: ['b'] }, { code: 'NOTHING_TO_UNDO' }],
    [{}, { toggled: edit_ids }]
  ] as const) {
    const workspace = await open(folders, { history: 'full', ...options })
    t.match(await callOf(workspace)('undo', { edit_ids }), expected)
    const texts = 'toggled' in expected ? 'one\n' : 'ONE\n'
    t.strictSame([text('a'), text('b')], [texts, texts])
    await workspace.close()
  }
})

/** Folders on a file system that gives the inodes of files that are gone to new ones. */
function foldersOnExt4(t: Test): Folders {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const base = join(loop(t, folders.base, 'ext4').mounted, 'base')
  mkdirSync(join(base, 'root'), { recursive: true })
  return { base, root: join(base, 'root'), state: join(base, 'state') }
}

t.test(
  'knows files by their names, also where a new one gets the inode of another',
  { skip: !hasLoop('ext4') && 'needs ext4, root and a loop device' },
  async t => {
    const { root, call, edit, text } = await serve(t, { folders: foldersOnExt4(t) })
    /** Another program removes the one, and makes the other with the same inode and times. */
    const replace = (gone: string, made: string, content: string): void => {
      const { ino, atime, mtime } = statSync(join(root, gone))
      rmSync(join(root, gone))
      const others = Array.from({ length: 100 }, (_, i) => join(root, `other${i}`))
      for (const other of others) writeFileSync(other, content)
      const same = others.find(other => statSync(other).ino === ino)
      if (same !== undefined) renameSync(same, join(root, made))
      for (const other of others) rmSync(other, { force: true })
      utimesSync(join(root, made), atime, mtime)
      t.equal(statSync(join(root, made)).ino, ino)
    }
    const made = await edit('a', 'one\n', 'ONE\n')
    replace('a', 'c', 'ONE\n')
    t.match(await call('undo', { edit_id: made }), { code: 'UNDO_CONFLICT', conflicts: [{ kind: 'removed' }] })
    t.match(await call('undo', { path: 'c' }), { code: 'NOTHING_TO_UNDO' })
    t.strictSame((await call('history', { path: 'c' })).edits, [])
    const other = await edit('c', 'ONE\n', 'ONE\ntwo\n')
    t.strictSame(
      (await call('history', { path: 'c' })).edits.map((edit: Body) => edit.edit_id),
      [other]
    )
    t.match(await call('undo', {}), { toggled: [other] })
    t.equal(text('c'), 'ONE\n')

    // The same in all but its text.
    const later = await edit('b', 'one\n', 'TWO\n')
    replace('b', 'b', 'two\n')
    t.match(await call('undo', { edit_id: later }), { code: 'UNDO_CONFLICT' })
    t.equal(text('b'), 'two\n')
    await edit('b', 'two\n', 'two\nthree\n')
    const listed: Body[] = (await call('history', { path: 'b' })).edits
    t.strictSame(
      listed.map(({ operation }) => operation),
      ['edit', 'outside', 'edit']
    )

    // Two files change places.
    const [first, second] = [await edit('c', 'ONE\n', 'c\n'), await edit('b', 'two\n', 'b\n')]
    for (const [from, to] of [
      ['b', 'x'],
      ['c', 'b'],
      ['x', 'c']
    ] as const) {
      renameSync(join(root, from), join(root, to))
    }
    const texts = [text('b'), text('c')]
    for (const selector of [{ edit_id: first }, { edit_id: second }, { edit_ids: [first, second] }]) {
      t.match(await call('undo', selector), { code: 'UNDO_CONFLICT' })
    }
    t.strictSame([text('b'), text('c')], texts)
  }
)
