// The text that a model gets for an undo or redo that conflicts with later changes, on real files.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, startServer, type TestServer } from '../../test-server.ts'

const TEXT = 'one\ntwo\nthree\nfour\n'
const files = { 'a.txt': TEXT, 'b.txt': TEXT }

/** A call of a tool, and its text. */
const ask = async (server: TestServer, tool: string, body: object) =>
  (await server.call('POST', `/tools/${tool}`, { body, headers: { accept: '*/*' } })).text

async function edit(server: TestServer, path: string, old_text: string, new_text: string) {
  const { status, text, body } = await server.call('POST', '/edit', { body: { path, old_text, new_text } })
  if (status !== 200) throw new Error(text)
  return String(body.edit_id)
}

t.test('proposes the edit that puts in what a redo would, over the later edit', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'TWO')
  await ask(server, 'undo_edit', { edit_ids: [id] })
  const later = await edit(server, 'a.txt', 'two', 'two and more')
  const text = await ask(server, 'redo_edit', { edit_id: id })
  const call = '{"name":"edit_file","arguments":{"path":"a.txt","old_text":"two and more\\n","new_text":"TWO\\n"}}'
  t.match(text.split('\n'), [
    `Edit ${id} can't be made again: the later edit ${later} changed the same line (line 2 of a.txt). [UNDO_CONFLICT]`,
    'To put in only the text, over the later edit, send:',
    call,
    /^file_hash: \w+$/
  ])
  const { name, arguments: args } = JSON.parse(call) as { name: string; arguments: object }
  await ask(server, name, args)
  t.equal(bytesOf(server, 'a.txt'), TEXT.replace('two', 'TWO'), 'and it works')
})

t.test('proposes to take back several later edits, and at most two edits of texts', async t => {
  const server = await startServer(t, { files })
  const { body } = await server.call('POST', '/edit', {
    body: {
      path: 'a.txt',
      edits: ['one', 'three', 'four'].map(word => ({ old_text: word, new_text: word.toUpperCase() }))
    }
  })
  const id = String(body.edit_id)
  const later: string[] = []
  for (const word of ['ONE', 'THREE', 'FOUR']) later.push(await edit(server, 'a.txt', word, `${word} and more`))
  const lines = (await ask(server, 'undo_edit', { edit_ids: [id] })).split('\n')
  t.match(lines[0], /There are 3 conflicts in all\. \[UNDO_CONFLICT\]$/)
  t.equal(lines[1], 'To take back the later edits too, send:')
  t.strictSame(JSON.parse(lines[2]!), { edit_ids: [id, ...later] })
  t.equal(lines.filter(line => line.startsWith('To put back only the text')).length, 2)
  await ask(server, 'undo_edit', JSON.parse(lines[2]!) as object)
  t.equal(bytesOf(server, 'a.txt'), TEXT, 'and it works')
})

t.test('proposes all that has to be taken back together, of a batch and of parts of edits', async t => {
  const server = await startServer(t, { files })
  const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'two', new_text: 'TWO' }))
  const { body } = await server.call('POST', '/batch', { body: { operations } })
  const made = (body.results as { edit_id: string }[]).map(({ edit_id }) => edit_id)
  const later = await edit(server, 'a.txt', 'one\nTWO', 'ONE\nTWO!')
  const last = await edit(server, 'a.txt', 'ONE', 'One')
  const ofBatch = (await ask(server, 'undo_edit', { batch_id: body.batch_id })).split('\n')
  t.equal(ofBatch[1], 'To take back the later edits too, send:')
  t.strictSame(JSON.parse(ofBatch[2]!), { edit_ids: [made[1], made[0], later, last] })
  const ofPart = (await ask(server, 'undo_edit', { edit_id: made[0], change_indexes: [0] })).split('\n')
  const changes = [{ edit_id: made[0], change_indexes: [0] }, { edit_id: later }, { edit_id: last }]
  t.strictSame(JSON.parse(ofPart[2]!), { changes })
  await ask(server, 'undo_edit', JSON.parse(ofBatch[2]!) as object)
  for (const path of ['a.txt', 'b.txt']) t.equal(bytesOf(server, path), TEXT, 'and it works')
})

t.test('proposes to read the lines where a call that puts the text in would be long', async t => {
  const server = await startServer(t, { files })
  const id = await edit(server, 'a.txt', 'two', 'x'.repeat(2000))
  await ask(server, 'undo_edit', { edit_ids: [id] })
  await edit(server, 'a.txt', 'two', 'two and more')
  const lines = (await ask(server, 'redo_edit', { edit_id: id })).split('\n')
  t.strictSame(lines.slice(1, 3), [
    'Read the lines in question, then edit them:',
    '{"name":"inspect_file","arguments":{"path":"a.txt","start_line":2,"end_line":2}}'
  ])
})

t.test('says how a file that is gone comes back', async t => {
  const server = await startServer(t, { files })
  const gone = await edit(server, 'b.txt', 'two', 'TWO')
  rmSync(join(server.root, 'b.txt'))
  t.match(
    await ask(server, 'undo_edit', { edit_ids: [gone] }),
    /b\.txt is gone\. \[UNDO_CONFLICT\] Nothing was written\. If the file should be there, make it again with create_file\./
  )
})
