// A body is read once, into one value: what was sent is not changed, and the first fault in the order of the checks is
// the one that is reported.
import t from 'tap'
import { requestReader } from '../../../src/http/requests/request-reader.ts'
import { makeOperations } from '../../../src/operations.ts'
import { startServer } from '../test-server.ts'

/** Frozen all the way down: changing any of it would throw. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

const server = await startServer(t)
const operations = makeOperations(server.workspace, { max_edits: 3, max_file_size: 1000 })
const readers = { edit: requestReader(operations.edit), preview: requestReader(operations.preview) }

t.test('reads a body into a request of its own, and leaves the body as it was', async t => {
  const cases: [reader: keyof typeof readers, body: object, expected: object][] = [
    ['edit', { path: 'a', old_text: 'x', new_text: 'y' }, { request: { path: 'a', old_text: 'x', new_text: 'y' } }],
    [
      'edit',
      { file_path: 'a', edits: [{ old_str: 'x', new_text: 'y', occurrence: '2', replace_all: null }], dry_run: null },
      {
        request: { path: 'a', edits: [{ old_text: 'x', new_text: 'y', occurrence: 2 }] },
        warnings: [
          'file_path was read as path.',
          'old_str was read as old_text.',
          'occurrence "2" was read as the number 2.'
        ],
        sentNames: new Map([
          ['/path', '/file_path'],
          ['/edits/0/old_text', '/edits/0/old_str']
        ])
      }
    ],
    [
      'preview',
      {
        operation: 'edit_section',
        path: 'a',
        action: 'delete',
        code_block: { index: 1, language: null },
        edits: null,
        content: null
      },
      {
        request: { operation: 'edit_section', path: 'a', action: 'delete', code_block: { index: 1 } },
        target: { within: 'edit_section', expects_none: false }
      }
    ],
    [
      'preview',
      { operation: 'create', path: 'a', content: '', overwrite: null, edits: null },
      { request: { operation: 'create', path: 'a', content: '' }, target: { within: 'create', expects_none: true } }
    ]
  ]
  for (const [reader, body, expected] of cases) {
    const read = readers[reader](frozen(body))
    t.match(read, { ok: true, value: expected }, JSON.stringify(body))
    const { request } = expected as { request: object }
    t.strictSame(read.ok && read.value.request, request, 'nothing is left of what was translated')
  }
})

t.test('reports the first fault: texts, names, lists, length, schema', async t => {
  const item = { old_text: 'x', new_text: 'y' }
  const faults: [extra: object, failure: object, path?: string][] = [
    [{ old_text: '\ud800' }, { code: 'INVALID_UNICODE' }],
    [{ edits: '[' }, { code: 'INVALID_REQUEST', errors: [{ pointer: '/edits' }] }, 'a'],
    [{ path: 'a' }, { code: 'INVALID_REQUEST', errors: [{ pointer: '/file_path' }] }, 'a'],
    [{ edits: [item, item, item, item] }, { code: 'TOO_MANY_EDITS', limit: 3, actual: 4 }, 'a'],
    [{ dry_run: 1 }, { code: 'INVALID_REQUEST', errors: [{ pointer: '/preview' }] }, 'a']
  ]
  for (let first = 0; first < faults.length; first++) {
    const extras = faults.slice(first).map(([extra]) => extra)
    const { dry_run, ...body } = Object.assign({ file_path: 'a' }, ...extras.reverse()) as Record<string, unknown>
    const read = readers.edit(frozen({ ...body, preview: dry_run }))
    const [, failure, path] = faults[first]!
    t.match(read, { ok: false, failure: { failure, path } }, JSON.stringify(body))
  }
})
