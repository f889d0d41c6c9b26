// What a call that meets no file says where the history knows how that went: where it was moved, or who deleted it and
// how it comes back. Each call that is answered is sent back as it is, on real files.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { caller } from '../../src/http/call.ts'
import { BY_ROUTE, BY_TOOL, type CallSyntax } from '../../src/http/answers/call-names.ts'
import { makeOperations, type Operations } from '../../src/operations.ts'
import type { Subject } from '../../src/operations/operation.ts'
import { forgetTexts } from '../../src/folder/forget-files.ts'
import type { WorkspaceOptions } from '../../src/workspace/api.ts'
import { makeFolders, open, removeFolders, type Folders } from '../folder/support/open.ts'

type Body = Record<string, any>

interface Serving {
  options?: Partial<WorkspaceOptions>
  /** On which folder; default: a new one, with a.txt and ab.txt. */
  folders?: Folders
  /** The paths that may be used; default: all. */
  paths?: string[]
  subject?: Subject
}

async function serve(t: Test, { options = {}, folders: given, paths, subject }: Serving = {}) {
  const folders = given ?? makeFolders()
  if (given === undefined) {
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a.txt'), 'one\ntwo\n')
  }
  const whole = await open(folders, { history: 'full', allowDelete: true, ...options })
  t.teardown(() => whole.close())
  const workspace = paths === undefined ? whole : whole.limitedTo(paths)
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  const answer = (name: keyof Operations, body: Body, naming: CallSyntax) =>
    caller(operations[name] as never)({
      body,
      headers: {},
      instance: `/${name}`,
      request_id: 'r',
      naming,
      ...(subject !== undefined && { subject })
    })
  const send = async (name: keyof Operations, body: Body): Promise<Body> => (await answer(name, body, BY_ROUTE)).body
  const brief = async (name: keyof Operations, body: Body): Promise<string[]> =>
    (await answer(name, body, BY_TOOL)).text().split('\n')
  const patch = async (file: Body): Promise<string> => {
    const { results, detail } = await send('apply_patch', { files: [file] })
    t.ok(results, detail)
    return results[0].edit_id as string
  }
  const path = (name: string) => join(folders.root, name)
  return {
    folders,
    send,
    brief,
    close: () => whole.close(),
    text: (name: string) => readFileSync(path(name), 'utf8'),
    write(name: string, text: string) {
      mkdirSync(join(path(name), '..'), { recursive: true })
      writeFileSync(path(name), text)
    },
    path,
    remove: (name: string) => patch({ operation: 'delete', path: name }),
    /** Returns the edit that removed the file from where it was. */
    async move(from: string, move_to: string): Promise<string> {
      await patch({ operation: 'update', path: from, move_to })
      const { edits } = await send('history', { path: from, limit: 1 })
      return edits[0].edit_id as string
    }
  }
}

type Server = Awaited<ReturnType<typeof serve>>

const EDIT = { path: 'a.txt', old_text: 'one', new_text: '1' }

const GONE = 'a.txt was not found'

/** The edit is refused so, as JSON and as text. */
async function refused(t: Test, { send, brief }: Server, how: string, way: string, lines: string[], body: Body = EDIT) {
  const problem = await send('edit', body)
  t.match(problem, { code: 'FILE_NOT_FOUND', path: 'a.txt' })
  t.equal(problem.detail, `${GONE}: ${how}.${way === '' ? '' : ` ${way}`}`)
  t.strictSame(await brief('edit', body), [`${GONE}: ${how}. [FILE_NOT_FOUND]`, ...lines])
  return problem
}

t.test('says where a file was moved, with the call for its new path', async t => {
  const server = await serve(t)
  // Its name is like that of the missing one.
  server.write('ab.txt', 'one\n')
  const by = await server.move('a.txt', 'src/b.txt')
  const call = { ...EDIT, path: 'src/b.txt' }
  const how = `edit ${by} moved it to src/b.txt`
  const problem = await refused(t, server, how, 'Use the path that it has now.', [
    'To use it there, send:',
    JSON.stringify(call)
  ])
  t.strictSame(problem.did_you_mean, ['src/b.txt'])
  t.match(problem.suggested_fixes, [{ type: 'FIX_PATH', example: 'POST /inspect {"path":"src/b.txt"}' }])
  t.strictSame(await server.brief('inspect', { path: 'a.txt' }), [
    `${GONE}: ${how}. [FILE_NOT_FOUND]`,
    'To use it there, send:',
    '{"path":"src/b.txt"}'
  ])
  for (const [name, body] of [
    ['edit_lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: '1' }],
    ['edit_section', { path: 'a.txt', action: 'delete', heading: 'x' }],
    ['preview', { operation: 'edit', ...EDIT }],
    ['batch', { operations: [{ operation: 'edit', ...EDIT }] }],
    ['apply_patch', { files: [{ operation: 'delete', path: 'a.txt' }] }]
  ] as const) {
    t.match(await server.send(name, body), { did_you_mean: ['src/b.txt'], detail: new RegExp(how) }, name)
  }
  await server.send('edit', call)
  t.equal(server.text('src/b.txt'), '1\ntwo\n')
})

t.test('says it to who expected the file to be there', async t => {
  const server = await serve(t)
  const body = { path: 'a.txt', content: 'x', overwrite: true, expected_hash: 'c3f9c8c283a2b1f2' }
  const by = await server.move('a.txt', 'b.txt')
  const although = 'a.txt was not found, although expected_hash says that it exists'
  t.equal(
    (await server.send('create', body)).detail,
    `${although}: edit ${by} moved it to b.txt. Nothing was written. Use the path that it has now. ` +
      'To create it again, leave expected_hash out.'
  )
})

t.test('follows a file that was moved several times', async t => {
  const server = await serve(t)
  const first = await server.move('a.txt', 'b.txt')
  const second = await server.move('b.txt', 'c.txt')
  const moved = `edit ${first} moved it to b.txt`
  const call = JSON.stringify({ ...EDIT, path: 'c.txt' })
  const both = `${moved} and edit ${second} moved it to c.txt`
  const problem = await refused(t, server, both, 'Use the path that it has now.', ['To use it there, send:', call])
  t.strictSame(problem.did_you_mean, ['c.txt'])

  await t.test('and then taken back', async t => {
    await server.send('undo', { edit_id: second })
    const back = JSON.stringify({ ...EDIT, path: 'b.txt' })
    await refused(t, server, moved, 'Use the path that it has now.', ['To use it there, send:', back])
    const [undo] = (await server.send('history', { path: 'c.txt', limit: 1 })).edits
    t.equal(
      (await server.send('inspect', { path: 'c.txt' })).detail,
      `c.txt was not found: undo ${undo.edit_id} moved it back to b.txt. Use the path that it has now.`
    )
    await server.send('redo', { edit_id: second })
  })

  await t.test('and then deleted', async t => {
    const third = await server.remove('c.txt')
    const undo = { edit_ids: [third] }
    const { edits } = await server.send('history', { path: 'b.txt', limit: 1 })
    const deleted = await refused(
      t,
      server,
      `${moved}, redo ${edits[0].edit_id} moved it to c.txt again and edit ${third} deleted it`,
      `To bring it back, call /undo with ${JSON.stringify(undo)}.`,
      ['To bring it back, send:', JSON.stringify({ name: 'undo_edit', arguments: undo })]
    )
    t.match(deleted.suggested_fixes, [{ type: 'USE_UNDO', call: { name: '/undo', arguments: undo } }])
  })
})

t.test('says what deleted a file, and which call brings it back', async t => {
  const server = await serve(t)
  const by = await server.remove('a.txt')
  const undo = { edit_ids: [by] }
  const how = `edit ${by} deleted it`
  const way = `To bring it back, call /undo with ${JSON.stringify(undo)}.`
  const lines = ['To bring it back, send:', JSON.stringify({ name: 'undo_edit', arguments: undo })]
  const problem = await refused(t, server, how, way, lines)
  t.match(problem.suggested_fixes, [{ type: 'USE_UNDO', call: { name: '/undo', arguments: undo } }])
  t.notOk(problem.did_you_mean)
  // Who looks may not be able to take it back.
  t.strictSame(await server.brief('inspect', { path: 'a.txt' }), [
    `${GONE}: ${how}. [FILE_NOT_FOUND]`,
    'This lists what is there:',
    '{"path":"."}'
  ])
  // A file that was there isn't a typo of another one.
  server.write('ab.txt', 'one\n')
  mkdirSync(server.path('old'))
  server.write('old/a.txt', 'one\n')
  t.notOk((await refused(t, server, how, way, lines)).did_you_mean)
  await server.send('undo', undo)
  t.match(await server.send('edit', EDIT), { changed: true })
})

t.test('offers nothing against an undo that removed a file', async t => {
  const server = await serve(t)
  const { edit_id } = await server.send('create', { path: 'new.txt', content: 'x' })
  await server.send('undo', { edit_id })
  const [undo] = (await server.send('history', { path: 'new.txt', limit: 1 })).edits
  const problem = await server.send('edit', { ...EDIT, path: 'new.txt' })
  t.equal(problem.detail, `new.txt was not found: undo ${undo.edit_id} removed it.`)
  t.notOk(problem.suggested_fixes)
})

t.test('says nothing of a file that came back, or was removed by somebody else', async t => {
  const server = await serve(t)
  const lists =
    'Check the path: it is relative to the workspace root, and case matters. POST /inspect {"path":"."} lists what is there.'
  const by = await server.remove('a.txt')
  await server.send('undo', { edit_id: by })
  rmSync(server.path('a.txt'))
  t.equal((await server.send('edit', EDIT)).detail, `${GONE}. ${lists}`)
  t.equal((await server.send('edit', { ...EDIT, path: 'zzzzzzz' })).detail, `zzzzzzz was not found. ${lists}`)
})

t.test('takes no file that was edited for a typo of another one, and names one of its name elsewhere', async t => {
  const server = await serve(t)
  await server.send('edit', EDIT)
  server.write('ab.txt', 'one\n')
  rmSync(server.path('a.txt'))
  const undo = (body: Body) => server.brief('undo', body)
  const lists = ['This lists what is there:', '{"name":"inspect_file","arguments":{"path":"."}}']
  t.strictSame(await undo({ path: 'a.txt' }), [`${GONE}. [FILE_NOT_FOUND]`, ...lists])
  t.strictSame(await server.brief('edit', EDIT), [`${GONE}. [FILE_NOT_FOUND]`, ...lists])
  rmSync(server.path('ab.txt'))
  // Another program may have moved it there.
  mkdirSync(server.path('src'))
  writeFileSync(server.path('src/a.txt'), '1\ntwo\n')
  t.strictSame(await server.brief('edit', EDIT), [
    `${GONE}; did you mean src/a.txt? [FILE_NOT_FOUND]`,
    'If so, send:',
    JSON.stringify({ ...EDIT, path: 'src/a.txt' })
  ])
  // What would be taken back there isn't known, so no call is offered.
  t.strictSame(await undo({ path: 'a.txt' }), [`${GONE}; did you mean src/a.txt? [FILE_NOT_FOUND]`])
  server.write('abc.md', 'one\n')
  t.strictSame(await undo({ path: 'abc.m' }), ['abc.m was not found; did you mean abc.md? [FILE_NOT_FOUND]'])
})

t.test('offers no path at which the file is not any more', async t => {
  const server = await serve(t)
  const by = await server.move('a.txt', 'b/c.txt')
  const way = ['This lists what is there:', '{"name":"inspect_file","arguments":{"path":"."}}']
  const how = `edit ${by} moved it to b/c.txt, where it is not any more`
  renameSync(server.path('b/c.txt'), server.path('elsewhere'))
  await refused(t, server, how, '', way)
  mkdirSync(server.path('b/c.txt'))
  const problem = await refused(t, server, how, '', way)
  t.notOk(problem.did_you_mean)
})

t.test('says nothing of what a caller may not see', async t => {
  const whole = await serve(t)
  await whole.move('a.txt', 'secret/b.txt')
  await whole.close()
  const { folders } = whole
  for (const hidden of [
    { paths: ['a.txt', 'b.txt'] },
    { options: { readProtect: ['secret/**'], protect: ['secret/**'] } }
  ]) {
    const server = await serve(t, { folders, ...hidden })
    const problem = await server.send('edit', EDIT)
    t.equal(problem.code, 'FILE_NOT_FOUND')
    t.notMatch(JSON.stringify(problem), /secret|moved|edit [0-9A-Z]/)
    await server.close()
  }
  // What is at the end of a chain may be hidden too.
  const owner = await serve(t, { folders })
  const back = await owner.move('secret/b.txt', 'a.txt')
  t.ok(back)
  const first = await owner.move('a.txt', 'b.txt')
  await owner.move('b.txt', 'secret/b.txt')
  await owner.close()
  const server = await serve(t, { folders, paths: ['a.txt', 'b.txt'] })
  const problem = await server.send('edit', EDIT)
  t.match(problem.detail, `${GONE}: edit ${first} moved it to b.txt, where it is not any more.`)
  t.notMatch(JSON.stringify(problem), /secret/)
})

t.test('offers an undo only to who can send it', async t => {
  const whole = await serve(t)
  const by = await whole.remove('a.txt')
  await whole.close()
  const { folders } = whole
  const detail = `${GONE}: edit ${by} deleted it.`
  const token = (scope: Subject['scope']): Subject => ({ name: scope, workspace: 'w', scope })
  for (const [scope, body, may] of [
    ['read', { ...EDIT, dry_run: true }, false],
    ['edit', EDIT, false],
    ['review', EDIT, true]
  ] as const) {
    const server = await serve(t, { folders, subject: token(scope) })
    const problem = await server.send('edit', body)
    t.ok(problem.detail.startsWith(detail))
    t.equal(/\/undo/.test(JSON.stringify(problem)), may, scope)
    const { dry_run = false, ...edit } = body as Body
    const batch = await server.send('batch', { operations: [{ operation: 'edit', ...edit }], dry_run })
    t.equal(/\/undo/.test(JSON.stringify(batch)), may, scope)
    await server.close()
  }
  const off = await serve(t, { folders, options: { history: 'off' } })
  t.match((await off.send('edit', EDIT)).detail, /^a\.txt was not found\. Check the path/)
  await off.close()
  // Whose texts are forgotten can't come back.
  t.match(await forgetTexts({ root: folders.root, stateDir: folders.state }, 'a.txt'), { ok: true, value: 1 })
  const server = await serve(t, { folders })
  t.equal((await server.send('edit', EDIT)).detail, detail)
})

t.test('does not try what is for the file that was moved', async t => {
  const server = await serve(t)
  server.write('quite-other.md', 'one\n')
  const by = await server.move('a.txt', 'far/b.txt')
  const problem = await server.send('batch', {
    operations: [
      { operation: 'edit', ...EDIT },
      { operation: 'edit', path: 'far/b.txt', old_text: '1', new_text: '2' },
      { operation: 'edit', path: 'quite-other.md', old_text: 'nothing like it', new_text: '2' }
    ]
  })
  t.match(problem, { operation_index: 0, did_you_mean: ['far/b.txt'], other_failures: [{ operation_index: 2 }] })
  t.equal(problem.other_failures.length, 1)
  t.match(problem.detail, `operations[0] (edit of a.txt): ${GONE}: edit ${by} moved it to far/b.txt.`)
  t.match(problem.detail, /operations\[1\] \(edit of far\/b\.txt\) was not tried\.$/)
})
