// What tokens may do to files and to one another's changes: with real workspaces, called as routes and tools call.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { ONLY_CI } from '../often.ts'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { caller } from '../../src/http/call.ts'
import { makeOperations, type Operations } from '../../src/operations.ts'
import type { Subject } from '../../src/operations/operation.ts'
import type { WorkspaceOptions } from '../../src/workspace/api.ts'
import { makeFolders, open, removeFolders } from '../folder/support/open.ts'

type Body = Record<string, any>
type Files = Record<string, string>

const token = (name: string, scope: Subject['scope']): Subject => ({ name, workspace: 'w', scope })
const ANN = token('ann', 'edit')
const BOB = token('bob', 'edit')
const EVE = token('eve', 'review')
const READER = token('reader', 'read')
const OTHERS = { code: 'FORBIDDEN_SCOPE', status: 403, detail: /others/ }
const DELETE = { code: 'FORBIDDEN_SCOPE', status: 403, detail: /a can't be deleted or moved/ }
const FILES = { a: '1\n2\n3\n4\n' }

/** A workspace with these files, whose operations are called with a token, or without. */
async function serve(t: Test, files: Files = FILES, options: Partial<WorkspaceOptions> = {}) {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folders.root, path, '..'), { recursive: true })
    writeFileSync(join(folders.root, path), text)
  }
  const workspace = await open(folders, { history: 'full', ...options })
  t.teardown(() => workspace.close())
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  const made = async (subject: Subject | undefined, name: keyof Operations, body: Body = {}, headers = {}) => {
    const call = caller(operations[name] as never)
    const answer = await call({
      body,
      headers,
      instance: `/${name}`,
      request_id: 'r',
      ...(subject !== undefined && { subject })
    })
    return answer
  }
  const send = async (...call: Parameters<typeof made>): Promise<Body> => (await made(...call)).body
  const brief = async (...call: Parameters<typeof made>): Promise<string> => (await made(...call)).text()
  /** Line `n` becomes `text`. */
  const line = (subject: Subject | undefined, n: number, text: string, headers = {}, path = 'a') =>
    send(subject, 'edit_lines', { path, start_line: n, end_line: n, new_text: text }, headers)
  const text = (path = 'a') => readFileSync(join(folders.root, path), 'utf8')
  return { root: folders.root, send, brief, line, text }
}

type Server = Awaited<ReturnType<typeof serve>>

/** Sends a request, and sees the answer and what is in the file `a` then; null: it isn't there. */
async function check(
  t: Test,
  server: Server,
  [subject, name, body, headers]: [Subject | undefined, keyof Operations, Body?, object?],
  answer: object,
  after?: string | null
): Promise<Body> {
  const got = await server.send(subject, name, body, headers)
  const what = `${subject?.name ?? 'nobody'} ${name} ${JSON.stringify(body ?? {})}`
  t.match(got, answer, what)
  if (after === null) t.notOk(existsSync(join(server.root, 'a')), what)
  else if (after !== undefined) t.equal(server.text(), after, what)
  return got
}

t.test('refuses what the scope of the token does not reach, before anything is looked up', async t => {
  const server = await serve(t)
  const edit = { path: 'a', old_text: '1', new_text: 'x' }
  const refused = (needs: string, has: string) => ({
    code: 'FORBIDDEN_SCOPE',
    status: 403,
    retry: 'change_request',
    detail: new RegExp(`^This request needs a token with the scope ${needs}\\. This token has the scope ${has}:`)
  })
  const one = { operations: [{ operation: 'edit', ...edit }] }
  for (const [subject, name, body, answer] of [
    [READER, 'inspect', { path: 'a' }, { code: undefined }],
    [READER, 'history', {}, { code: undefined }],
    [READER, 'preview', { operation: 'edit', ...edit }, { code: undefined, dry_run: true }],
    [READER, 'edit', { ...edit, dry_run: true }, { dry_run: true }],
    [READER, 'batch', { ...one, dry_run: true }, { dry_run: true }],
    [READER, 'edit', edit, refused('edit', 'read')],
    [READER, 'edit', { ...edit, path: 'nowhere' }, refused('edit', 'read')],
    [READER, 'create', { path: 'b', content: '' }, refused('edit', 'read')],
    [READER, 'batch', one, refused('edit', 'read')],
    [READER, 'undo', {}, refused('edit', 'read')],
    [READER, 'redo', {}, refused('edit', 'read')],
    [READER, 'review', { verdict: 'keep', path: 'a' }, refused('review', 'read')],
    [ANN, 'review', { verdict: 'keep', path: 'a' }, refused('review', 'edit')],
    [READER, 'edit', { path: 1 }, { code: 'INVALID_REQUEST' }]
  ] as const) {
    await check(t, server, [subject, name, body], answer, FILES.a)
  }
  await check(t, server, [ANN, 'edit', edit], { changed: true }, 'x\n2\n3\n4\n')
  await check(t, server, [EVE, 'review', { verdict: 'keep', path: 'a' }], { kept: { length: 1 } })
  await check(t, server, [undefined, 'review', { verdict: 'pending', path: 'a' }], { pending: { length: 1 } })
})

t.test('proposes to take back the later edits too only to those who may', async t => {
  const server = await serve(t)
  const { edit_id } = await server.line(ANN, 1, 'A')
  const mine = await server.line(ANN, 1, 'AA')
  const types = async (subject: Subject): Promise<unknown> => {
    const { suggested_fixes } = await check(t, server, [subject, 'undo', { edit_id }], { code: 'UNDO_CONFLICT' })
    return suggested_fixes.map(({ type }: Body) => type)
  }
  t.strictSame(await types(ANN), ['UNDO_LATER_TOO', 'RESTORE_TEXT'])
  const his = await server.line(BOB, 1, 'AAB')
  t.strictSame(await types(ANN), ['RESTORE_TEXT'])
  t.strictSame(await types(EVE), ['UNDO_LATER_TOO', 'RESTORE_TEXT'])
  const edit_ids = [edit_id, mine.edit_id, his.edit_id]
  await check(t, server, [EVE, 'undo', { edit_ids }], { undone: { length: 3 } }, FILES.a)
})

t.test('says whose token each change came with, beside what the caller says', async t => {
  const server = await serve(t)
  const { next_after } = await server.send(READER, 'changes')
  const { edit_id } = await server.line(ANN, 1, 'A', { 'editd-agent': 'bot' })
  await server.line(undefined, 2, 'N')
  await server.send(EVE, 'review', { verdict: 'keep', edit_id })
  const ann = { edit_id, token: 'ann', agent: 'bot' }
  const nobody = { token: undefined, agent: undefined }
  await check(t, server, [READER, 'history'], { edits: [nobody, ann] })
  await check(t, server, [READER, 'history', { token: 'ann' }], { edits: [ann] })
  t.equal((await server.send(READER, 'history', { token: 'ann' })).edits.length, 1)
  t.equal((await server.send(READER, 'history', { token: 'bob' })).edits.length, 0)
  await check(t, server, [READER, 'changes', { after: next_after }], {
    changes: [ann, nobody, { type: 'review', token: 'eve' }]
  })
  await check(t, server, [READER, 'blame', { path: 'a' }], { edits: [nobody, ann] })
  await server.send(EVE, 'review', { verdict: 'pending', edit_id })
  await check(t, server, [READER, 'pending', { path: 'a' }], { edits: [nobody, ann] })
  t.match(await server.brief(READER, 'history', { token: 'ann' }), / {2}token "ann" {2}by "bot"/)
  const forged = { path: 'a', old_text: '3', new_text: 'x', token: 'ann' }
  await check(t, server, [BOB, 'edit', forged], { code: 'INVALID_REQUEST', detail: /unknown field/ })
})

t.test('takes back and makes again only what was made with the token, with the scope edit', async t => {
  const server = await serve(t)
  const first = await server.line(ANN, 1, 'A', { 'editd-agent': 'bot', 'editd-session': 's' })
  const second = await server.line(BOB, 2, 'B', { 'editd-agent': 'bot', 'editd-session': 's' })
  const old = await server.line(undefined, 3, 'N', { 'editd-agent': 'bot', 'editd-session': 's' })
  const all = 'A\nB\nN\n4\n'
  for (const selector of [
    { edit_id: second.edit_id },
    { edit_ids: [first.edit_id, second.edit_id] },
    { changes: [{ edit_id: second.edit_id, change_indexes: [0] }] },
    { edit_id: old.edit_id },
    { path: 'a' },
    { path: 'a', to: first.edit_id }
  ]) {
    await check(t, server, [ANN, 'undo', selector], OTHERS, all)
    await check(t, server, [ANN, 'undo', { ...selector, dry_run: true }], OTHERS, all)
  }
  await check(t, server, [ANN, 'undo', { session: 's' }], { undone: [first.edit_id] }, '1\nB\nN\n4\n')
  await check(t, server, [BOB, 'redo', { edit_id: first.edit_id }], OTHERS, '1\nB\nN\n4\n')
  await check(t, server, [BOB, 'redo'], { code: 'NOTHING_TO_UNDO', detail: /"bob"/ })
  await check(t, server, [ANN, 'redo'], { redone: [first.edit_id] }, all)
  await check(t, server, [ANN, 'undo', { agent: 'bot' }], { undone: [first.edit_id] }, '1\nB\nN\n4\n')
  await check(t, server, [ANN, 'undo'], { code: 'NOTHING_TO_UNDO', detail: /"ann"/ })
  await check(t, server, [BOB, 'undo'], { undone: [second.edit_id] }, '1\n2\nN\n4\n')
  await check(t, server, [EVE, 'undo', { session: 's' }], { undone: [old.edit_id] }, FILES.a)
  await check(t, server, [EVE, 'redo', { edit_id: first.edit_id }], { redone: [first.edit_id] }, 'A\n2\n3\n4\n')
})

t.test('goes back to a state where only changes of the token lie between', async t => {
  const server = await serve(t)
  const { edit_id: other } = await server.line(BOB, 1, 'B')
  await server.line(ANN, 2, 'A')
  await server.line(ANN, 3, 'A')
  await check(t, server, [BOB, 'undo', { path: 'a', to: other }], OTHERS, 'B\nA\nA\n4\n')
  await check(t, server, [ANN, 'undo', { path: 'a', to: other }], { code: undefined }, 'B\n2\n3\n4\n')
})

t.test('counts what another program saved as of others', async t => {
  const server = await serve(t)
  const { edit_id } = await server.line(ANN, 1, 'A')
  writeFileSync(join(server.root, 'a'), 'A\nsaved\n3\n4\n')
  await check(t, server, [ANN, 'undo', { path: 'a', to: edit_id }], OTHERS, 'A\nsaved\n3\n4\n')
  await server.line(ANN, 4, 'A')
  const { edits } = await server.send(ANN, 'history')
  const outside = edits.find(({ operation }: Body) => operation === 'outside')
  await check(t, server, [ANN, 'undo', { edit_id: outside.edit_id }], OTHERS, 'A\nsaved\n3\nA\n')
  await check(t, server, [EVE, 'undo', { edit_id: outside.edit_id }], { undone: [outside.edit_id] }, 'A\n2\n3\nA\n')
})

t.test('refuses a batch of others as a whole and in part', async t => {
  const server = await serve(t, { ...FILES, b: '1\n' })
  const { batch_id, results } = await server.send(BOB, 'batch', {
    operations: ['a', 'b'].map(path => ({ operation: 'edit', path, old_text: '1', new_text: 'B' }))
  })
  await check(t, server, [ANN, 'undo', { batch_id }], OTHERS)
  await check(t, server, [ANN, 'undo', { edit_id: results[1].edit_id }], OTHERS)
  await check(t, server, [ANN, 'redo', { batch_id }], OTHERS)
  t.equal(server.text() + server.text('b'), 'B\n2\n3\n4\nB\n')
  await check(t, server, [BOB, 'undo'], { undone: { length: 2 } }, FILES.a)
  await check(t, server, [BOB, 'redo'], { redone: { length: 2 } }, 'B\n2\n3\n4\n')
})

t.test('does not make again what others took back', async t => {
  const server = await serve(t, { a: '1\n2\n3\n' })
  const two = [1, 3].map(n => ({ start_line: n, end_line: n, new_text: 'A' }))
  const { edit_id } = await server.send(ANN, 'edit_lines', { path: 'a', edits: two })
  await check(t, server, [EVE, 'undo', { edit_id, change_indexes: [0] }], { code: undefined }, '1\n2\nA\n')
  await check(t, server, [ANN, 'undo', { edit_id, change_indexes: [1] }], { code: undefined }, '1\n2\n3\n')
  await check(t, server, [ANN, 'redo', { edit_id }], OTHERS, '1\n2\n3\n')
  const part = (index: number) => ({ changes: [{ edit_id, change_indexes: [index] }] })
  await check(t, server, [ANN, 'redo', part(0)], OTHERS, '1\n2\n3\n')
  await check(t, server, [ANN, 'redo', part(1)], { code: undefined }, '1\n2\nA\n')
  await check(t, server, [EVE, 'redo', part(0)], { code: undefined }, 'A\n2\nA\n')
  await check(t, server, [ANN, 'undo', { edit_id }], { code: undefined }, '1\n2\n3\n')
  await check(t, server, [ANN, 'redo'], { code: undefined }, 'A\n2\nA\n')
  await check(t, server, [EVE, 'undo', { edit_id }], { code: undefined }, '1\n2\n3\n')
  await check(t, server, [ANN, 'redo', { edit_id }], OTHERS, '1\n2\n3\n')
})

t.test('deletes and moves files with the scope review, whatever the setting', async t => {
  for (const allowDelete of [false, true]) {
    const server = await serve(t, { ...FILES, b: 'b\n' }, { allowDelete })
    const remove = { files: [{ operation: 'delete', path: 'a' }] }
    const move = {
      files: [
        { operation: 'create', path: 'n', content: '' },
        { operation: 'update', path: 'a', move_to: 'c' }
      ]
    }
    await check(t, server, [ANN, 'apply_patch', remove], DELETE, FILES.a)
    await check(t, server, [ANN, 'apply_patch', { ...remove, dry_run: true }], DELETE, FILES.a)
    await check(t, server, [ANN, 'apply_patch', move], { ...DELETE, operation_index: 1 }, FILES.a)
    t.notOk(existsSync(join(server.root, 'n')))
    const { results } = await check(t, server, [EVE, 'apply_patch', remove], { code: undefined }, null)
    const { edit_id } = results[0]
    await check(t, server, [ANN, 'undo', { edit_id }], OTHERS, null)
    await check(t, server, [EVE, 'undo', { edit_id }], { code: undefined }, FILES.a)
    await check(t, server, [token('eve', 'edit'), 'redo'], DELETE, FILES.a)
    await check(t, server, [EVE, 'redo'], { code: undefined }, null)
    for (const [name, body] of [
      ['delete', { path: 'b' }],
      ['move', { path: 'b', to: 'c' }]
    ] as const) {
      const scope = { code: 'FORBIDDEN_SCOPE', detail: /scope review/ }
      await check(t, server, [ANN, name, body], scope)
      const refused = { code: 'FORBIDDEN_SCOPE', detail: /b can't be deleted or moved/ }
      await check(t, server, [ANN, name, { ...body, dry_run: true }], refused)
      await check(t, server, [ANN, 'batch', { operations: [{ operation: name, ...body }] }], refused)
    }
    const back = await check(t, server, [EVE, 'move', { path: 'b', to: 'c' }], { code: undefined })
    await check(t, server, [EVE, 'undo', { batch_id: back.batch_id }], { code: undefined })
    const alone = { files: [{ operation: 'delete', path: 'b' }] }
    const answer = allowDelete ? { code: undefined } : { code: 'DELETE_NOT_ALLOWED' }
    await check(t, server, [undefined, 'apply_patch', alone], answer)
  }
})

t.test('removes a file by an undo of its creation, if the token made it', async t => {
  const server = await serve(t, {})
  const { edit_id } = await server.send(ANN, 'create', { path: 'a', content: 'x\n' })
  await check(t, server, [BOB, 'undo', { edit_id }], OTHERS, 'x\n')
  await check(t, server, [ANN, 'undo'], { undone: [edit_id] }, null)
  await check(t, server, [ANN, 'redo'], { redone: [edit_id] }, 'x\n')
})

t.test('keeps the idempotency keys of tokens apart', async t => {
  const server = await serve(t)
  const edit = (n: string) => ({ path: 'a', old_text: n, new_text: `${n}!`, idempotency_key: 'k' })
  const first = await check(t, server, [ANN, 'edit', edit('1')], { changed: true })
  await check(t, server, [BOB, 'edit', edit('2')], { changed: true })
  await check(t, server, [undefined, 'edit', edit('3')], { changed: true }, '1!\n2!\n3!\n4\n')
  await check(t, server, [ANN, 'edit', edit('1')], { edit_id: first.edit_id }, '1!\n2!\n3!\n4\n')
  await check(t, server, [ANN, 'edit', edit('2')], { code: 'IDEMPOTENCY_KEY_REUSED' })
  await check(
    t,
    server,
    [ANN, 'edit_lines', { path: 'a', start_line: 4, end_line: 4, new_text: '5', idempotency_key: 'k' }],
    {
      changed: true
    }
  )
  await check(t, server, [token('ann', 'read'), 'edit', edit('1')], { code: 'FORBIDDEN_SCOPE' })
})

t.test('says after a miss that an edit of the token was taken back', async t => {
  const server = await serve(t)
  const { edit_id } = await server.line(ANN, 1, 'A')
  await server.send(EVE, 'undo', { edit_id, note: 'not that' })
  const miss = { path: 'a', old_text: 'A', new_text: 'AA' }
  await check(t, server, [ANN, 'edit', miss], { code: 'NO_MATCH', taken_back: { edit_id, note: 'not that' } })
  t.equal((await server.send(BOB, 'edit', miss)).taken_back, undefined)
})

/** Numbers below a bound, the same for each seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

t.test('never takes back a line of the other token, whatever is undone and redone', { skip: ONLY_CI }, async t => {
  let taken = 0
  let refused = 0
  for (let seed = 1; seed <= 15; seed++) {
    const random = randomOf(seed)
    const lines = Array.from({ length: 8 }, (_, i) => `${i}`)
    const server = await serve(t, { a: `${lines.join('\n')}\n` })
    const now = () => server.text().split('\n').slice(0, -1)
    /** Whose each line of the file is, by what is in it. */
    const linesOf = (name: string) => now().flatMap((line, i) => (line.startsWith(name) ? [`${i} ${line}`] : []))
    const ids: string[] = []
    for (let step = 0; step < 30; step++) {
      const [subject, other] = random(2) === 0 ? [ANN, BOB] : [BOB, ANN]
      const before = linesOf(other.name)
      const own = linesOf(subject.name)
      const kind = random(5)
      const edit_id = ids[random(ids.length)]
      if (kind < 2 || edit_id === undefined) {
        // A token edits only lines that aren't the other's.
        const free = now().flatMap((line, i) => (line.startsWith(other.name) ? [] : [i + 1]))
        const n = free[random(free.length)]
        if (n === undefined) continue
        ids.push((await server.line(subject, n, `${subject.name} ${step}`)).edit_id)
      } else {
        const selectors = [{}, { edit_id }, { path: 'a' }, { path: 'a', to: edit_id }, { edit_ids: ids.slice(-2) }]
        const isRedo = kind === 4
        const selector = isRedo ? selectors[random(2)]! : selectors[random(5)]!
        const answer = await server.send(subject, isRedo ? 'redo' : 'undo', selector)
        if (answer.code === undefined) taken++
        if (answer.code === 'FORBIDDEN_SCOPE') refused++
        if (answer.code !== undefined) t.strictSame(linesOf(subject.name), own, `seed ${seed} step ${step}`)
      }
      t.strictSame(linesOf(other.name), before, `seed ${seed} step ${step}`)
    }
  }
  t.ok(taken > 50, `${taken} taken back or made again`)
  t.ok(refused > 50, `${refused} refused`)
})
