// What /undo says of a change by another program that nobody has recorded, over HTTP, on real files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, check, startServer } from './test-server.ts'

t.test('names no edit that nobody can ask for', async t => {
  const server = await startServer(t, { files: { 'o.json': '{\n  "v": "1"\n}\n' } })
  const made = await check(t, server, '/edit', { path: 'o.json', old_text: '"1"', new_text: '"2"' }, 200, {})
  const { edit_id } = made.body
  writeFileSync(join(server.root, 'o.json'), '{\n  "v": "3"\n}\n')
  for (const dry_run of [true, false]) {
    const { body } = await check(t, server, '/undo', { path: 'o.json', dry_run }, 409, {
      code: 'UNDO_CONFLICT',
      detail: /another program changed the same text since \(line 2\b/,
      conflicts: [
        { edit_id, by: undefined, kind: 'outside', current_text: '  "v": "3"\n', would_restore: '  "v": "1"\n' }
      ]
    })
    const ids = [...JSON.stringify(body).matchAll(/\b01[0-9A-HJKMNP-TV-Z]{24}\b/g)].map(([id]) => id)
    t.strictSame([...new Set(ids)], [edit_id], 'no id but that of the edit')
  }
  // What is recorded of it, with an edit that follows, can be named.
  await check(t, server, '/edit', { path: 'o.json', old_text: '"v"', new_text: '"w"' }, 200, {})
  const { body } = await check(t, server, '/undo', { edit_id }, 409, { conflicts: [{ by: /^01/ }, {}] })
  const [fix] = (body.suggested_fixes as { call?: { arguments: object } }[]).filter(({ call }) => call !== undefined)
  await check(t, server, '/undo', fix!.call!.arguments, 200, {})
  t.equal(bytesOf(server, 'o.json'), '{\n  "v": "1"\n}\n')
})
