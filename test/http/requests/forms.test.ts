// Values that are right but in another form: read where they have one meaning, and said so in warnings.
import t from 'tap'
import { requestReader } from '../../../src/http/requests/request-reader.ts'
import { makeOperations } from '../../../src/operations.ts'
import { check as checkReply, startServer } from '../test-server.ts'

const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
const operations = makeOperations(server.workspace, { max_edits: 3, max_file_size: 1000 })
const readers = Object.fromEntries(
  (['edit', 'edit_lines', 'find', 'undo', 'inspect'] as const).map(name => [
    name,
    requestReader(operations[name] as never)
  ])
)
type Name = 'edit' | 'edit_lines' | 'find' | 'undo' | 'inspect'

const EDIT = { path: 'a', old_text: 'x', new_text: 'y' }
const [ITEM, OTHER] = [
  { old_text: 'x', new_text: 'y' },
  { old_text: 'z', new_text: '' }
]

/** The body is read as this request, and this is said of it. */
function check(name: Name, body: object, request: object, warnings: string[], isTool = false) {
  t.test(`reads ${JSON.stringify(body).slice(0, 100)}`, async t => {
    const read = readers[name]!(body, isTool)
    t.match(read, { ok: true }, JSON.stringify(read))
    if (!read.ok) return
    t.strictSame(read.value.request, request)
    t.strictSame(read.value.warnings, warnings)
  })
}

/** The body is refused with this message about this field. */
function refuse(name: Name, body: object, pointer: string, message: string | RegExp, isTool = false) {
  t.test(`refuses ${JSON.stringify(body).slice(0, 100)}`, async t => {
    const read = readers[name]!(body, isTool)
    t.match(read, { ok: false, failure: { failure: { errors: [{ pointer, message }] } } }, JSON.stringify(read))
  })
}

check('edit', { ...EDIT, dry_run: 'True' }, { ...EDIT, dry_run: true }, ['dry_run "True" was read as true.'])
check('edit', { ...EDIT, occurrences: '2' }, { ...EDIT, occurrences: 2 }, ['occurrences "2" was read as the number 2.'])
check('edit', { ...EDIT, occurrence: 'last' }, { ...EDIT, occurrence: 'last' }, [])
check('edit', { ...EDIT, occurrence: '2' }, { ...EDIT, occurrence: 2 }, ['occurrence "2" was read as the number 2.'])
check('edit', { ...EDIT, old_text: '2', new_text: 'true' }, { ...EDIT, old_text: '2', new_text: 'true' }, [])
check('find', { include: '["a", "b"]' }, { include: '["a", "b"]' }, [])
check('inspect', { path: 'a', start_line: '3' }, { path: 'a', start_line: 3 }, [
  'start_line "3" was read as the number 3.'
])
const ID = '01M8PEQBNW00000000GVA1GW60'
check('undo', { edit_ids: ID }, { edit_ids: [ID] }, ['edit_ids was a string, and was read as a list.'])
check('undo', { edit_ids: `["${ID}"]` }, { edit_ids: [ID] }, ['edit_ids was a string, and was read as a list.'])
check('undo', { edit_id: ID, change_indexes: '[1, 2]' }, { edit_id: ID, change_indexes: [1, 2] }, [
  'change_indexes was a string, and was read as a list.'
])
const edits = (sent: unknown, read: object[], warning: string) =>
  check('edit', { path: 'a', edits: sent }, { path: 'a', edits: read }, [warning])
const IN_STRING = 'edits was a string, and was read as the JSON list in it.'
edits(ITEM, [ITEM], 'edits was one object, and was read as a list of it.')
edits(JSON.stringify(ITEM), [ITEM], IN_STRING)
edits(JSON.stringify(JSON.stringify([ITEM])), [ITEM], IN_STRING)
edits('[{"old_text":"x\ty\n","new_text":"\\"a\r\n\\"" }]', [{ old_text: 'x\ty\n', new_text: '"a\r\n"' }], IN_STRING)
edits(
  [JSON.stringify(ITEM), OTHER],
  [ITEM, OTHER],
  'edits had objects as strings, which were read as the JSON in them.'
)
check('edit', { ...EDIT, edits: [], expected_hash: '' }, EDIT, [
  'expected_hash was empty, and had no effect.',
  'edits was empty, and had no effect.'
])
const hosts = { sessionId: 's', action: 'sendMessage', chatInput: 'Hi', toolCallId: 'c', _meta: {} }
check(
  'inspect',
  { path: 'a', toolCallId: 'c' },
  { path: 'a' },
  ['toolCallId is no field of this call, and had no effect.'],
  true
)
check(
  'edit',
  { ...EDIT, ...hosts },
  { ...EDIT, session: 's' },
  [
    'sessionId was read as session.',
    'action, chatInput, toolCallId and _meta are no fields of this call, and had no effect.'
  ],
  true
)

refuse('edit', { ...EDIT, dry_run: 'maybe' }, '/dry_run', 'must be true or false, not a string')
refuse('edit', { ...EDIT, occurrences: '2.5' }, '/occurrences', 'must be a whole number, not a string')
refuse('undo', { edit_id: ID, change_indexes: '[1, ' }, '/change_indexes', 'must be a list, not a string')
refuse('undo', { edit_id: ID, change_indexes: 'all' }, '/change_indexes', 'must be a list, not a string')
refuse(
  'edit',
  { path: 'a', edits: '[{"old_text":"x","new_t' },
  '/edits',
  'was cut off after 23 characters: send less at once'
)
refuse('edit', { path: 'a', edits: ['x'] }, '/edits/0', /^is a string that is not a JSON list; /)
refuse('edit', { path: 'a', edits: '5' }, '/edits', 'is a string that is not a JSON list; send a list of objects')
refuse('edit', { ...EDIT, toolCallId: 'c' }, '/toolCallId', /^is an unknown field \(known fields: /)

t.test('lists the known fields once', async t => {
  const read = readers.edit!({ ...EDIT, qqqqqq: 1, zzzzzz: 2 })
  const { errors } = (read as unknown as { failure: { failure: { errors: { message: string }[] } } }).failure.failure
  t.match(errors[0]!.message, /^is an unknown field \(known fields: path, /)
  t.equal(errors[1]!.message, 'is an unknown field')
})

t.test('takes what hosts add to a tool call, and arguments as text with raw line breaks or encoded twice', async t => {
  const text = '{"path":"a.txt","old_text":"one\n","new_text":"1\n","dry_run":"true"}'
  for (const sent of [text, JSON.stringify(text)]) {
    await checkReply(t, server, '/tools/edit_file', { arguments: sent }, 200, {})
  }
  await checkReply(t, server, '/tools/edit_file', { arguments: text.slice(0, 40) }, 400, {
    errors: [{ pointer: '/arguments', message: 'was cut off after 40 characters: send less at once' }]
  })
})
