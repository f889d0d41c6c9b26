// What /history and /blame say of files that were moved: they go on at the paths that the files had before. Called as
// tools and adapters call them, on real files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { forgetTexts } from '../../src/folder/forget-files.ts'
import { BY_ROUTE } from '../../src/http/answers/call-names.ts'
import { caller } from '../../src/http/call.ts'
import { makeOperations } from '../../src/operations.ts'
import type { WorkspaceOptions } from '../../src/workspace/api.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { ALLOWED, openWith, type Files } from './support/patched.ts'

type Body = Record<string, any>
type Call = 'apply_patch' | 'undo' | 'redo' | 'history' | 'edit' | 'edit_lines' | 'blame' | 'pending' | 'review'

const TEXT = 'one\ntwo\nthree\n'

/** A workspace with these files. `call` takes the agent as whom it calls. */
async function serve(t: Test, files: Files = { 'a.txt': TEXT }, options = ALLOWED) {
  const { root, state, workspace, texts } = await openWith(t, files, options)
  const callIn = (view: typeof workspace) => {
    const operations = makeOperations(view, { max_edits: 1000, max_file_size: 1e7 })
    return async (name: Call, body: Body, agent = 'ann'): Promise<Body> => {
      const headers = { 'editd-agent': agent }
      const request = { body, headers, instance: '/x', request_id: 'r', naming: BY_ROUTE }
      return (await caller(operations[name] as never)(request)).body as Body
    }
  }
  const call = callIn(workspace)
  /** Moves a file, and edits it if there is a diff. Returns the id of the edit at the new path. */
  const move = async (path: string, move_to: string, agent = 'mov', diff?: string): Promise<string> => {
    const files = [{ operation: 'update', path, move_to, ...(diff !== undefined && { diff }) }]
    const { batch_id, detail } = await call('apply_patch', { files }, agent)
    const { edits } = await call('history', { batch_id })
    t.equal(edits?.length, 2, detail)
    return String(edits.find(({ moved_from }: Body) => moved_from === path).edit_id)
  }
  const edit = async (path: string, old_text: string, new_text: string, agent = 'ann'): Promise<string> => {
    const { edit_id, detail } = await call('edit', { path, old_text, new_text }, agent)
    t.type(edit_id, 'string', detail)
    return String(edit_id)
  }
  return { root, state, workspace, callIn, call, move, edit, texts }
}

/** Agents and paths of a list of edits. */
const listed = ({ edits }: Body): string[] => edits.map(({ agent, path }: Body) => `${agent} ${path}`)

/** The agents who wrote each line. */
function writers({ lines, edits }: Body): string[] {
  const agents = new Map<string, string>(edits.map(({ edit_id, agent }: Body) => [edit_id, agent]))
  return lines.map(({ text, edit_ids }: Body) => [text, ...edit_ids.map((id: string) => agents.get(id))].join(' '))
}

t.test('goes on at the path where the file was before', async t => {
  const { call, move, edit } = await serve(t)
  const ann = await edit('a.txt', 'one', 'ONE', 'ann')
  const moved = await move('a.txt', 'd/b.txt', 'mov')
  await edit('d/b.txt', 'two', 'TWO', 'bob')
  const all = await call('history', { path: 'd/b.txt' })
  t.strictSame(listed(all), ['bob d/b.txt', 'mov d/b.txt', 'ann a.txt'])
  t.match(all.edits[1], { edit_id: moved, moved_from: 'a.txt', moved_to: undefined })
  const old = await call('history', { path: 'a.txt' })
  t.strictSame(listed(old), ['mov a.txt', 'ann a.txt'])
  t.match(old.edits[0], { moved_to: 'd/b.txt', moved_from: undefined })
  const blame = await call('blame', { path: 'd/b.txt' })
  t.strictSame(writers(blame), ['ONE ann', 'TWO bob', 'three'])
  t.match(blame, { incomplete: undefined, edits: [{ agent: 'bob' }, { edit_id: ann, state: 'applied' }] })
  t.strictSame(writers(await call('blame', { path: 'd/b.txt', at: ann })), ['ONE ann', 'two', 'three'])
  t.strictSame(writers(await call('blame', { path: 'd/b.txt', at: moved })), ['ONE ann', 'two', 'three'])
})

t.test('goes on over several moves, and back to a path where the file was before', async t => {
  const { call, move, edit } = await serve(t)
  await edit('a.txt', 'one', 'ONE', 'e1')
  await move('a.txt', 'b.txt', 'm1')
  await edit('b.txt', 'two', 'TWO', 'e2')
  await move('b.txt', 'a.txt', 'm2')
  await edit('a.txt', 'three', 'THREE', 'e3')
  await move('a.txt', 'c.txt', 'm3', '@@\n+zero\n ONE\n')
  const whole = ['m3 c.txt', 'e3 a.txt', 'm2 a.txt', 'm1 a.txt', 'e2 b.txt', 'm1 b.txt', 'e1 a.txt']
  const found = listed(await call('history', { path: 'c.txt' }))
  t.strictSame([...found].sort(), [...whole].sort())
  const blame = await call('blame', { path: 'c.txt' })
  t.strictSame(writers(blame), ['zero m3', 'ONE e1', 'TWO e2', 'THREE e3'])
  t.equal(new Set(blame.edits.map(({ edit_id }: Body) => edit_id)).size, 4)
  t.strictSame(listed(await call('history', { path: 'c.txt', agent: 'e1' })), ['e1 a.txt'], 'filters hold')
  t.strictSame(listed(await call('history', { path: 'c.txt', state: 'undone' })), [])
  t.strictSame(listed(await call('history', { path: 'c.txt', until: '2020-01-01T00:00:00Z' })), [])
  t.strictSame(listed(await call('history', { under: '.', agent: 'm3' })).sort(), ['m3 a.txt', 'm3 c.txt'])
})

t.test('follows the last ten moves of a file, and names the path to go on with', async t => {
  const { call, move, edit } = await serve(t, { p0: TEXT })
  await edit('p0', 'one', 'ONE', 'ann')
  for (let i = 0; i < 12; i++) {
    await move(`p${i}`, `p${i + 1}`, `m${i}`)
    t.match(await call('blame', { path: `p${i + 1}` }), { incomplete: i < 10 ? undefined : true })
  }
  const { edits } = await call('history', { path: 'p12' })
  const arrivals = edits.filter(({ moved_from }: Body) => moved_from !== undefined)
  t.strictSame(
    arrivals.map(({ path }: Body) => path),
    Array.from({ length: 11 }, (_, i) => `p${12 - i}`)
  )
  const { edit_id, moved_from } = arrivals.at(-1)
  t.equal(moved_from, 'p1')
  t.strictSame(listed(await call('history', { path: 'p1' })), ['m1 p1', 'm0 p1', 'ann p0'])
  const blame = await call('blame', { path: 'p12' })
  t.strictSame(writers(blame), ['ONE m1', 'two m1', 'three m1'])
  t.match(blame, { incomplete: true, reaches_back_to: edit_id })
})

t.test('tells nothing of a path that the caller may not see', async t => {
  const { workspace, callIn, call, move, edit } = await serve(t, { 'docs/a.txt': TEXT })
  await edit('docs/a.txt', 'one', 'ONE', 'ann')
  await move('docs/a.txt', 'secret.txt', 'm1')
  const hidden = await edit('secret.txt', 'two', 'TWO', 'eve')
  await move('secret.txt', 'docs/b.txt', 'm2')
  await edit('docs/b.txt', 'three', 'THREE', 'bob')
  const limited = callIn(workspace.limitedTo(['docs/**']))
  const found = await limited('history', { path: 'docs/b.txt' })
  t.strictSame(listed(found), ['bob docs/b.txt', 'm2 docs/b.txt'])
  const blame = await limited('blame', { path: 'docs/b.txt' })
  t.strictSame(writers(blame), ['ONE m2', 'TWO m2', 'THREE m2 bob'])
  const all = [found, blame, await limited('history', {}), await limited('blame', { path: 'docs/b.txt', at: hidden })]
  t.notMatch(JSON.stringify(all), /secret|eve/)
  t.strictSame(writers(await call('blame', { path: 'docs/b.txt' })), ['ONE ann', 'TWO eve', 'THREE bob'])
})

t.test('says that what was before a move is unknown where the texts of the old path are not kept', async t => {
  for (const text of [TEXT, TEXT.repeat(20_000)]) {
    const { root, state, call, move, edit } = await serve(t, { 'a.txt': `zero\n${text}` })
    await edit('a.txt', 'zero', 'ZERO', 'ann')
    const moved = await move('a.txt', 'b.txt', 'mov')
    await edit('b.txt', 'ZERO\n', 'ZERO\nhalf\n', 'bob')
    await forgetTexts({ root, stateDir: state }, 'a.txt')
    const blame = await call('blame', { path: 'b.txt', limit: 3 })
    t.strictSame(writers(blame), ['ZERO mov', 'half bob', 'one mov'])
    t.match(blame, { incomplete: true, reaches_back_to: moved })
    t.match(blame.message, `What was changed before edit ${moved} is unknown or no longer kept.`)
    t.strictSame(listed(await call('history', { path: 'b.txt' })), ['bob b.txt', 'mov b.txt', 'ann a.txt'])
  }
})

t.test('reads long files in a thread, and those that are not UTF-8', async t => {
  const long = 'a line\n'.repeat(100_000)
  const { root, call, move, edit } = await serve(t, { 'a.txt': `one\n${long}` })
  await edit('a.txt', 'one', 'ONE', 'ann')
  await move('a.txt', 'b.txt', 'mov')
  await edit('b.txt', 'ONE\n', 'ONE\ntwo\n', 'bob')
  t.strictSame(writers(await call('blame', { path: 'b.txt', limit: 3 })), ['ONE ann', 'two bob', 'a line'])
  writeFileSync(join(root, 'l.txt'), Buffer.from('d\xe9j\xe0 vu\nune ann\xe9e\n\xe9t\xe9\n', 'latin1'))
  await edit('l.txt', 'déjà', 'dès', 'ann')
  await move('l.txt', 'm.txt', 'mov')
  await edit('m.txt', 'été', 'hiver à', 'bob')
  t.strictSame(writers(await call('blame', { path: 'm.txt' })), ['dès vu ann', 'une année', 'hiver à bob'])
})

t.test('says of an edit before moves where the file is, and takes it back when they are taken back', async t => {
  const { call, move, edit, texts } = await serve(t)
  const ann = await edit('a.txt', 'one', 'ONE', 'ann')
  await move('a.txt', 'b.txt', 'm1')
  await move('b.txt', 'c.txt', 'm2')
  const refused = await call('undo', { edit_id: ann })
  t.match(refused, {
    code: 'UNDO_CONFLICT',
    detail:
      /^Edit \S+ can't be taken back: a\.txt is gone: edit \S+ moved it to b\.txt and edit \S+ moved it to c\.txt\. /,
    suggested_fixes: [{ type: 'USE_UNDO', call: { name: '/undo', arguments: { edit_ids: [/./, /./] } } }]
  })
  t.match(refused.detail, / Or change c\.txt with \/edit\.$/)
  const back = refused.suggested_fixes[0].call.arguments
  t.match(await call('undo', back), { undone: Array })
  t.strictSame(texts(), { 'a.txt': TEXT.replace('one', 'ONE') })
  t.match(await call('undo', { edit_id: ann }), { undone: [ann] })
  t.strictSame(texts(), { 'a.txt': TEXT })
})

t.test('says the same of a file that was moved as of one that was not', async t => {
  const random = new Random(SEED)
  for (let round = 0; round < often(100, 6, 2); round++) await sameAsUnmoved(t, random, round)
})

const FAST: Partial<WorkspaceOptions> = { ...ALLOWED, durability: 'fast' }

/** Makes the same random edits of a file that is moved in between and of one that isn't. */
async function sameAsUnmoved(t: Test, random: Random, round: number): Promise<void> {
  const lines = (count: number) => Array.from({ length: count }, () => `${random.int(1000)}\n`).join('')
  const text = lines(random.int(6)) + random.pick(['', 'end'])
  const moved = await serve(t, { p0: text }, FAST)
  const fixed = await serve(t, { p0: text }, FAST)
  let path = 'p0'
  const made: string[] = []
  for (let step = 0; step < 4 + random.int(14); step++) {
    const agent = `s${step}`
    const [what, name] = [random.int(100), `${random.pick(['', 'd/'])}p${random.int(4)}`]
    if (what < 45 || name === path) {
      const total = (await fixed.call('blame', { path: 'p0' })).total_lines
      const start_line = 1 + random.int(total + 1)
      const end_line = Math.min(total, start_line - 1 + random.int(3))
      const body = { start_line, end_line, new_text: random.chance(15) ? '' : lines(1 + random.int(2)) }
      const [a, b] = [
        await moved.call('edit_lines', { path, ...body }, agent),
        await fixed.call('edit_lines', { path: 'p0', ...body }, agent)
      ]
      t.equal(a.file_hash, b.file_hash, a.detail ?? b.detail)
      if (a.edit_id !== undefined) made.unshift(`${agent} ${path}`)
    } else if (what < 85) {
      const [line] = random.pick([...writers(await fixed.call('blame', { path: 'p0' })), 'none']).split(' ')
      const diff = `@@\n-${line}\n+${random.int(1000)}\n`
      const files = [{ operation: 'update', path: 'p0', diff }]
      const isEdited = random.chance(50) && (await fixed.call('apply_patch', { files }, agent)).code === undefined
      await moved.move(path, name, agent, isEdited ? diff : undefined)
      path = name
      made.unshift(`${agent} ${path}`)
    } else {
      // A move back and forth again leaves nothing.
      const before = moved.texts()
      const [last] = (await moved.call('history', { path, limit: 1 })).edits
      if (last?.moved_from === undefined) continue
      const { edit_id } = last
      t.match(await moved.call('undo', { edit_id }, 'u'), { undone: Array })
      t.match(await moved.call('redo', { edit_id }, 'u'), { redone: Array })
      t.strictSame(moved.texts(), before)
    }
    const about = `round ${round}, seed ${SEED}, step ${step}`
    const [here, there] = [await moved.call('blame', { path }), await fixed.call('blame', { path: 'p0' })]
    t.strictSame(writers(here), writers(there), about)
    if (!t.passing) return
    const pages: string[] = []
    const ids: string[] = []
    for (let before: string | undefined; ;) {
      const page: Body = await moved.call('history', { path, limit: 1 + random.int(4), before })
      pages.push(...listed(page))
      ids.push(...page.edits.map(({ edit_id }: Body) => edit_id))
      before = page.next_before
      if (before === undefined) break
    }
    t.strictSame(
      pages.filter(edit => !edit.startsWith('u ')).filter(edit => made.includes(edit)),
      made,
      about
    )
    t.strictSame(ids, [...new Set(ids)].sort().reverse(), about)
    const whole = await moved.call('history', { path, limit: 200 })
    t.strictSame(
      whole.edits.map(({ edit_id }: Body) => edit_id),
      ids,
      about
    )
    if (!t.passing) return
  }
}
