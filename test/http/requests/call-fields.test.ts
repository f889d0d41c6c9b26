// Who sends a request, why and under which key, by fields and by headers.
import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { CALL_FIELDS, type CallField } from '../../../schemas/change-fields.ts'
import { readCall, type CalledOperation } from '../../../src/http/requests/call-fields.ts'

const keyed: NonNullable<CalledOperation['keyed']> = async () => ({
  ok: false,
  failure: { code: 'REQUEST_IN_FLIGHT', retry_after: 1 }
})
const EDIT: CalledOperation = { effect: 'changes', call_fields: CALL_FIELDS, keyed }
const PREVIEW: CalledOperation = { effect: 'computes', call_fields: CALL_FIELDS }
const INSPECT: CalledOperation = { effect: 'looks' }
/** Its own fields `agent` and `session` say what it is about. */
const UNDO: CalledOperation = { effect: 'changes', call_fields: ['idempotency_key'], keyed }

type Sent = { path: string; dry_run?: boolean } & Partial<Record<CallField, string>>

/** What is read; or, where it is refused, the message. */
function read(headers: IncomingHttpHeaders, sent: Omit<Sent, 'path'>, operation = EDIT) {
  const result = readCall<Sent>(headers, { path: 'a', ...sent }, operation)
  if (result.ok) return result.value
  return 'errors' in result.failure ? result.failure.errors.map(({ message }) => message).join() : result.failure
}
const request = { path: 'a' }

t.test('takes who calls, why and the key out of the request', t => {
  const sent = { agent: 'a', session: 's', reason: 'r' }
  t.strictSame(read({}, {}), { request, caller: {} })
  t.strictSame(read({}, sent), { request, caller: sent })
  t.strictSame(read({}, { ...sent, idempotency_key: 'k' }), { request, caller: sent, key: 'k' })
  t.strictSame(read({}, { agent: 'a', dry_run: true }, PREVIEW), {
    request: { path: 'a', dry_run: true },
    caller: { agent: 'a' }
  })
  t.end()
})

t.test('takes headers for fields', t => {
  const headers = { 'editd-agent': 'a', 'editd-session': 's', 'idempotency-key': 'k', 'editd-reason': 'r' }
  t.strictSame(read(headers, {}), { request, caller: { agent: 'a', session: 's' }, key: 'k' })
  t.strictSame(read(headers, { agent: 'a', session: 's', reason: 'r', idempotency_key: 'k' }), {
    request,
    caller: { agent: 'a', session: 's', reason: 'r' },
    key: 'k'
  })
  t.strictSame(read({ 'editd-agent': Buffer.from('José').toString('latin1') }, {}), {
    request,
    caller: { agent: 'José' }
  })
  t.strictSame(read({ 'editd-agent': 'Jos\xe9' }, {}), { request, caller: { agent: 'Jos\xe9' } })
  t.strictSame(read({ 'editd-agent': '\u00e9'.repeat(200) }, {}), { request, caller: { agent: 'é'.repeat(200) } })
  t.end()
})

t.test('leaves fields alone that are of the operation itself', t => {
  const sent = { agent: 'whose', session: 'which' }
  t.strictSame(read({ 'editd-agent': 'me', 'idempotency-key': 'k' }, { ...sent, idempotency_key: 'k' }, UNDO), {
    request: { ...request, ...sent },
    caller: { agent: 'me' },
    key: 'k'
  })
  t.end()
})

t.test('takes a key plain or as a quoted string', t => {
  const keys: [string, string][] = [
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ["!#$%&'*+-./:;<=>?@[\\]^_`{|}~", "!#$%&'*+-./:;<=>?@[\\]^_`{|}~"],
    ['"a, b"', 'a, b'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['"' + 'k'.repeat(255) + '"', 'k'.repeat(255)]
  ]
  for (const [header, key] of keys) {
    t.strictSame(read({ 'idempotency-key': header }, {}), { request, caller: {}, key }, header)
    t.strictSame(read({ 'idempotency-key': header }, { idempotency_key: key }), { request, caller: {}, key }, header)
  }
  t.end()
})

t.test('refuses what is malformed, given twice or of no use', t => {
  const malformed =
    'the header Idempotency-Key must be one key of visible ASCII characters, or a quoted string such as "8e03978e-40d5"'
  const unused = 'is not used in a dry run, which writes nothing; leave it out'
  for (const [headers, sent, message, operation = EDIT] of [
    ...['a b', 'a, b', 'a,b', '"a', 'a"', '"a", "b"', '"a";x=1', '"a\\n"', 'caf\xe9', '"caf\xe9"', 'a\tb'].map(
      key => [{ 'idempotency-key': key }, {}, malformed] as const
    ),
    [{ 'idempotency-key': '' }, {}, 'the header Idempotency-Key must not be empty'],
    [{ 'idempotency-key': '""' }, {}, 'the header Idempotency-Key must not be empty'],
    [{ 'idempotency-key': 'k'.repeat(256) }, {}, 'the header Idempotency-Key must have at most 255 characters'],
    [{ 'editd-agent': '' }, {}, 'the header Editd-Agent must not be empty'],
    [{ 'editd-session': 's'.repeat(201) }, {}, 'the header Editd-Session must have at most 200 characters'],
    [
      { 'idempotency-key': '"k"' },
      { idempotency_key: '"k"' },
      'the header Idempotency-Key and the field idempotency_key differ; send one of them'
    ],
    [{ 'editd-agent': 'a' }, { agent: 'b' }, 'the header Editd-Agent and the field agent differ; send one of them'],
    [{}, { idempotency_key: 'k', dry_run: true }, unused],
    [{ 'idempotency-key': 'k' }, { dry_run: true }, `the header Idempotency-Key ${unused}`],
    [{}, { idempotency_key: 'k' }, unused, PREVIEW]
  ] as [IncomingHttpHeaders, Omit<Sent, 'path'>, string, CalledOperation?][]) {
    t.equal(read(headers, sent, operation), message, JSON.stringify([headers, sent]).slice(0, 80))
  }
  t.end()
})

t.test('passes over what an operation has no use for', t => {
  const headers = { 'idempotency-key': 'a b', 'editd-agent': 'a' }
  t.strictSame(read(headers, {}, PREVIEW), { request, caller: { agent: 'a' } })
  t.strictSame(read({ ...headers, 'editd-session': '' }, {}, INSPECT), { request, caller: { agent: 'a' } })
  t.end()
})
