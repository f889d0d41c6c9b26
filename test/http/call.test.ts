// Calls whose body another part of the service has put into our names: problems speak in the names that were sent.
import t from 'tap'
import { BY_TEXT_EDITOR } from '../../src/http/adapters/text-editor-names.ts'
import { caller } from '../../src/http/call.ts'
import { makeOperations } from '../../src/operations.ts'
import { startServer } from './test-server.ts'

t.test('points at fields as they were sent, without a warning', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const { edit } = makeOperations(server.workspace, { max_edits: 10, max_file_size: 1000 })
  const sentNames = new Map([
    ['/old_text', '/old_str'],
    ['/new_text', '/new_str']
  ])
  const call = (body: object) =>
    caller(edit)({ body, headers: {}, instance: '/', request_id: 'r', naming: BY_TEXT_EDITOR, sentNames })
  const path = 'a.txt'
  for (const [body, answer] of [
    [
      { path, old_text: 1, new_text: '' },
      { errors: [{ pointer: '/old_str', message: 'must be a string, not a whole number' }] }
    ],
    [
      { path, old_text: 'one', new_text: '\ud83d' },
      { code: 'INVALID_UNICODE', errors: [{ pointer: '/new_str' }] }
    ],
    [{ path, old_text: '', new_text: '' }, { detail: /^old_str is empty/ }],
    [
      { path, old_text: 'nowhere', new_text: '' },
      { code: 'NO_MATCH', detail: /^old_str was not found in a\.txt/ }
    ],
    [
      { path, old_text: 'one', new_text: 'two' },
      { changed: true, warnings: [] }
    ]
  ] as const) {
    t.match((await call(body)).body, answer, JSON.stringify(body))
  }
})
