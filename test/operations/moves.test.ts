// Undo and redo of files that were moved: always of the whole move, so that the content is never nowhere. Called as
// tools and adapters call them, on real files.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeOperations } from '../../src/operations.ts'
import { BY_ROUTE } from '../../src/http/answers/call-names.ts'
import { caller } from '../../src/http/call.ts'
import { forgetTexts } from '../../src/folder/forget-files.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { create, openWith, remove, type Files } from './support/patched.ts'

type Body = Record<string, any>
type Call = 'apply_patch' | 'undo' | 'redo' | 'history' | 'edit' | 'create'

const move = (path: string, move_to: string, diff?: string) => ({
  operation: 'update',
  path,
  move_to,
  ...(diff !== undefined && { diff })
})
const DIFF = '@@\n-two\n+TWO\n'
const ONE: Files = { z1: 'one\ntwo\n' }

/** A workspace with these files and its operations, called by name; `patch` returns what its files were given as ids. */
async function serve(t: Test, files: Files = ONE) {
  const { root, state, workspace, texts } = await openWith(t, files)
  const callIn = (view: typeof workspace) => {
    const operations = makeOperations(view, { max_edits: 1000, max_file_size: 1e6 })
    return async (name: Call, body: Body, headers: Record<string, string> = {}): Promise<Body> => {
      const request = { body, headers, instance: '/x', request_id: 'r', naming: BY_ROUTE }
      return (await caller(operations[name] as never)(request)).body as Body
    }
  }
  const call = callIn(workspace)
  const patch = async (...files: object[]) => {
    const body = await call('apply_patch', { files })
    t.equal(body.code, undefined, body.detail)
    return String(body.batch_id)
  }
  /** The halves of the move in the batch: where the file was, and where it is. */
  const halves = async (batch_id: string): Promise<[string, string]> => {
    const { edits } = await call('history', { batch_id })
    const of = (hash: string) => edits.find((edit: Body) => edit[hash] === undefined || edit[hash] === null).edit_id
    return [of('file_hash'), of('hash_before')]
  }
  return { root, state, workspace, callIn, call, patch, halves, texts }
}

t.test('takes back a whole move by either path, and makes it again', async t => {
  for (const path of ['z1', 'z2', './z2']) {
    for (const diff of [undefined, DIFF]) {
      const { call, patch, texts } = await serve(t)
      await patch(move('z1', 'z2', diff))
      const moved = texts()
      const dry = await call('undo', { path, dry_run: true })
      t.equal(dry.results?.length, 2, dry.detail)
      t.strictSame(texts(), moved)
      const done = await call('undo', { path })
      t.strictSame(texts(), ONE)
      t.match(done, { undone: [/./, /./], batch_id: /./ })
      t.match(await call('redo', {}), { redone: [/./, /./] })
      t.strictSame(texts(), moved)
    }
  }
})

t.test('takes a whole move for either half that is named, in undo and in redo', async t => {
  const { call, patch, halves, texts } = await serve(t)
  const ids = await halves(await patch(move('z1', 'z2')))
  const moved = texts()
  for (const edit_id of ids) {
    for (const named of [
      { edit_id },
      { edit_ids: [edit_id] },
      { edit_id, change_indexes: [0] },
      { changes: [{ edit_id, change_indexes: [0] }] },
      { edit_ids: [...ids] }
    ]) {
      const done = await call('undo', named)
      t.strictSame(new Set(done.undone), new Set(ids), done.detail)
      t.strictSame(texts(), ONE)
      // By half of the undo, and by half of what it took back.
      const again = await call('redo', 'edit_ids' in named ? { edit_id } : { edit_id: done.results[0].edit_id })
      t.strictSame(new Set(again.redone), new Set(ids), again.detail)
      t.strictSame(texts(), moved)
    }
  }
})

t.test('leaves the other files of the batch of a move, and its other moves', async t => {
  const files = { z1: '1\n', y1: 'y\n', a: 'a\n', gone: 'same\n' }
  const { call, patch, texts } = await serve(t, files)
  await patch(move('z1', 'z2'), move('y1', 'y2'), remove('gone'), create('new', 'same\n'))
  const { gone: _, ...rest } = files
  t.match(await call('undo', { path: 'z2' }), { undone: [/./, /./] })
  t.strictSame(texts(), { a: 'a\n', new: 'same\n', y2: 'y\n', z1: '1\n' })
  // A deletion and a creation are no move, even of the same text.
  t.match(await call('undo', { path: 'new' }), { undone: [/./], results: [{ removed: true }] })
  t.strictSame(texts(), { a: 'a\n', y2: 'y\n', z1: '1\n' })
  t.match(await call('undo', { path: 'y1' }), { undone: [/./, /./] })
  t.strictSame(texts(), rest)
})

t.test('goes back through moves and edits one by one, along the path of the file', async t => {
  const { call, patch, texts } = await serve(t)
  await call('edit', { path: 'z1', old_text: 'one', new_text: 'ONE' })
  await patch(move('z1', 'z2'))
  await call('edit', { path: 'z2', old_text: 'two', new_text: 'TWO' })
  await patch(move('z2', 'z3'))
  t.match(await call('undo', { path: 'z1' }), { code: 'UNDO_CONFLICT', conflicts: [{ path: 'z2', kind: 'removed' }] })
  for (const [path, after] of [
    ['z3', { z2: 'ONE\nTWO\n' }],
    ['z2', { z2: 'ONE\ntwo\n' }],
    ['z2', { z1: 'ONE\ntwo\n' }],
    ['z1', ONE]
  ] as const) {
    t.match(await call('undo', { path }), { undone: [/./] })
    t.strictSame(texts(), after)
  }
})

t.test('refuses a move on which a later edit stands, with a call that takes both back', async t => {
  for (const path of ['z1', 'z2']) {
    const { call, patch, texts, halves } = await serve(t)
    const ids = await halves(await patch(move('z1', 'z2')))
    const later = await call('edit', { path: 'z2', old_text: 'two', new_text: 'TWO' })
    const refused = await call('undo', path === 'z1' ? { path } : { edit_id: ids[1] })
    t.match(refused, { code: 'UNDO_CONFLICT', conflicts: [{ path: 'z2', by: later.edit_id }] })
    t.strictSame(texts(), { z2: 'one\nTWO\n' })
    const [{ call: fix }] = refused.suggested_fixes
    t.match(await call('undo', fix.arguments), { undone: Array })
    t.strictSame(texts(), ONE)
  }
})

t.test('leaves a move as a whole where one half is in conflict and conflicts are to be skipped', async t => {
  const skip = { agent: 'ann', on_conflict: 'skip' }
  const start = async (more: object[] = []) => {
    const served = await serve(t, { ...ONE, a: 'a\n' })
    const moved = await served.call('apply_patch', { files: [move('z1', 'z2'), ...more], agent: 'ann' })
    t.equal(moved.code, undefined, moved.detail)
    return served
  }
  // Of the new file.
  const one = await start([create('n', 'n\n')])
  await one.call('edit', { path: 'z2', old_text: 'two', new_text: 'TWO', agent: 'bob' })
  for (const dry_run of [true, false]) {
    t.match(await one.call('undo', { ...skip, dry_run }), { undone: { length: 1 }, skipped: { length: 2 } })
  }
  t.strictSame(one.texts(), { a: 'a\n', z2: 'one\nTWO\n' })
  t.match(await one.call('undo', skip), { code: 'NOTHING_TO_UNDO', conflicts: [{ path: 'z2' }] })
  // Of the old one, where somebody has made another: else the content would be nowhere.
  const two = await start([create('n', 'n\n')])
  await two.call('create', { path: 'z1', content: 'other\n', agent: 'bob' })
  t.match(await two.call('undo', skip), { undone: { length: 1 }, skipped: { length: 2 } })
  t.strictSame(two.texts(), { a: 'a\n', z1: 'other\n', z2: ONE.z1 })
  t.match(await two.call('undo', { path: 'z2' }), { code: 'UNDO_CONFLICT', detail: /another file has replaced since/ })
  t.match(await two.call('undo', { path: 'z2', on_conflict: 'skip' }), { code: 'NOTHING_TO_UNDO' })
  t.strictSame(two.texts(), { a: 'a\n', z1: 'other\n', z2: ONE.z1 })
})

t.test('compares expected_hash with the file that is named', async t => {
  const { call, patch, texts, halves } = await serve(t)
  const [, made] = await halves(await patch(move('z1', 'z2', DIFF)))
  const { edits } = await call('history', { path: 'z2' })
  const expected_hash = edits[0].file_hash
  for (const selector of [{ path: 'z2' }, { edit_id: made }]) {
    t.match(await call('undo', { ...selector, expected_hash: '0'.repeat(16) }), { code: 'STALE_FILE', path: 'z2' })
    t.match(await call('undo', { ...selector, expected_hash }), { undone: [/./, /./] })
    t.strictSame(texts(), ONE)
    t.match(await call('redo', {}), { redone: [/./, /./] })
  }
})

t.test('follows a link to a file that was moved', async t => {
  const { root, call, patch, texts } = await serve(t)
  await patch(move('z1', 'z2'))
  symlinkSync('z2', join(root, 'link'))
  t.match(await call('undo', { path: 'link' }), { undone: [/./, /./] })
  rmSync(join(root, 'link'))
  t.strictSame(texts(), ONE)
})

t.test('takes no half back for those who may not see the other, and tells them nothing of it', async t => {
  for (const [seen, unseen] of [
    ['in', 'out'],
    ['out', 'in']
  ] as const) {
    const { root, workspace, callIn, call, patch, texts } = await serve(t)
    for (const folder of ['in', 'out']) mkdirSync(join(root, folder))
    writeFileSync(join(root, 'in/a'), 'one\ntwo\n')
    const edit = await call('edit', { path: 'in/a', old_text: 'one', new_text: 'ONE' })
    const batch_id = await patch(move('in/a', 'out/b'))
    const before = texts()
    const limited = callIn(workspace.limitedTo([`${seen}/**`]))
    for (const selector of [{ path: seen === 'in' ? 'in/a' : 'out/b' }, { batch_id }]) {
      const refused = await limited('undo', selector)
      t.match(refused, { code: 'NOTHING_TO_UNDO', detail: /half of a move/ })
      t.notMatch(JSON.stringify(refused), `${unseen}/`)
    }
    if (seen === 'in') {
      const refused = await limited('undo', { edit_id: edit.edit_id })
      t.match(refused, { code: 'UNDO_CONFLICT', detail: /in\/a is gone/ })
      t.notMatch(JSON.stringify(refused), 'out/')
    }
    t.strictSame(texts(), before)
  }
})

t.test('leaves a move as a whole also where another edits the file between the plan and the lock', async t => {
  const { workspace, callIn, call, texts } = await serve(t)
  await call('apply_patch', { files: [move('z1', 'z2'), create('n', 'n\n'), create('m', 'm\n')], agent: 'ann' })
  let isDue = true
  const batch: typeof workspace.batch = async (steps, options) => {
    if (isDue) await call('edit', { path: 'z2', old_text: 'two', new_text: 'TWO', agent: 'bob' })
    isDue = false
    return workspace.batch(steps, options)
  }
  const later = new Proxy(workspace, {
    get: (of, name) => {
      const value: unknown = name === 'batch' ? batch : Reflect.get(of, name)
      return typeof value === 'function' ? (value as () => void).bind(of) : value
    }
  })
  const done = await callIn(later)('undo', { agent: 'ann', on_conflict: 'skip' })
  t.match(done, { undone: { length: 2 }, skipped: { length: 2 } })
  t.strictSame(texts(), { z2: 'one\nTWO\n' })
})

t.test('takes no half back of whose move the other half is forgotten', async t => {
  const { root, state, call, patch, texts } = await serve(t)
  await patch(move('z1', 'z2'))
  await forgetTexts({ root, stateDir: state }, 'z1')
  t.match(await call('undo', { path: 'z2' }), { code: 'HISTORY_GONE' })
  t.strictSame(texts(), { z2: ONE.z1 })
})

t.test('keeps one file with the content, whatever is undone and redone', async t => {
  const { call, texts } = await serve(t, { a0: 'x\n' })
  const random = new Random(SEED)
  const ids: string[] = []
  const note = (done: Body) => ids.push(...(done.results ?? []).flatMap(({ edit_id }: Body) => edit_id ?? []))
  for (let round = 0; round < often(400, 100, 40); round++) {
    const [path, to] = [random.int(3), random.int(3)].map(i => `a${i}`) as [string, string]
    const selector = random.int(2) === 0 ? { path } : { edit_id: ids[random.int(ids.length)] ?? '' }
    const kind = random.int(5)
    if (kind === 0) note(await call('apply_patch', { files: [move(path, to)] }))
    else if (kind === 1) note({ results: [await call('edit', { path, old_text: 'x\n', new_text: `x\n${round}\n` })] })
    else if (kind === 2) note(await call('redo', selector.path === undefined ? selector : {}))
    else note(await call('undo', { ...selector, on_conflict: kind === 3 ? 'refuse' : 'skip' }))
    const now = Object.values(texts())
    const isOne = now.length === 1 && now[0]!.startsWith('x\n')
    if (!isOne) t.fail(`round ${round} of seed ${SEED}: ${JSON.stringify(texts())}`)
  }
  t.ok(ids.length > often(20, 20, 5), `${ids.length} changes`)
})
