// What becomes of answers that a gateway doesn't give: a real HTTP server that answers each request with what the test
// says.
import { once } from 'node:events'
import { ONLY_CI } from '../often.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { S3Requests } from '../../src/object-store/s3-requests.ts'

interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: string
  /** It ends in the middle. */
  isCut?: true
  /** In ms, before each character of the body. */
  pause?: number
}

/** Requests to a server that gives this answer. */
async function answering(
  t: Test,
  { status = 200, headers = {}, body = '', isCut, pause }: Answer
): Promise<S3Requests> {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const server = createServer((request, response) => {
    request.resume().on('end', async () => {
      response.writeHead(status, headers)
      if (pause !== undefined) {
        response.flushHeaders()
        for (const character of body) {
          await sleep(pause)
          response.write(character)
        }
        response.end()
      } else if (isCut === true) response.write(body, () => request.socket.destroy())
      else response.end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const requests = await S3Requests.open({ bucket: 'docs', endpoint, region: null })
  t.teardown(() => {
    requests.close()
    server.closeAllConnections()
    server.close()
  })
  return requests
}

const put = (requests: S3Requests, condition: 'absent' | null = 'absent') =>
  requests.put('a', Buffer.from('x'), condition)
const failure = (code: string, message = 'no') => ({
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
})

t.test('says what came of a write by its answer', async t => {
  const outcomes: [Answer, object][] = [
    [{ headers: { etag: '"v1"' } }, { outcome: 'written', version: 'v1' }],
    [{ headers: { etag: 'W/"v1"' } }, { outcome: 'written', version: 'v1' }],
    [{ status: 412, ...failure('PreconditionFailed') }, { outcome: 'failed' }],
    [{ status: 404, ...failure('NoSuchKey') }, { outcome: 'failed' }],
    [{ status: 409, ...failure('ConditionalRequestConflict') }, { outcome: 'unknown' }],
    [{ status: 429, ...failure('SlowDown') }, { outcome: 'unknown' }],
    [{ status: 400, ...failure('RequestTimeout') }, { outcome: 'unknown' }],
    [{ status: 503, ...failure('SlowDown') }, { outcome: 'unknown' }],
    [{ status: 403, ...failure('RequestTimeTooSkewed') }, { outcome: 'unsent' }]
  ]
  for (const [answer, outcome] of outcomes) {
    t.match(await put(await answering(t, answer)), outcome, JSON.stringify(answer))
  }
  const refusals: [Answer, object][] = [
    [{}, { reason: 'no ETag' }],
    [
      { status: 403, ...failure('AccessDenied') },
      { reason: 'AccessDenied', message: 'no' }
    ],
    [
      { status: 403, ...failure('AccessDenied', '') },
      { reason: 'AccessDenied', message: 'AccessDenied 403' }
    ],
    [{ status: 404, ...failure('NoSuchBucket') }, { reason: 'NoSuchBucket' }],
    [{ status: 501, ...failure('NotImplemented') }, { reason: 'NotImplemented' }]
  ]
  for (const [answer, error] of refusals) {
    const requests = await answering(t, answer)
    await t.rejects(put(requests), { code: 'STORE_REFUSED', ...error }, JSON.stringify(answer))
  }
  const without = await answering(t, { status: 404, ...failure('NoSuchKey') })
  await t.rejects(
    put(without, null),
    { code: 'STORE_REFUSED' },
    'a write without a condition needs nothing that is there'
  )
})

t.test('takes no object of which the version is not known', async t => {
  const requests = await answering(t, { body: 'x' })
  await t.rejects(requests.head('a'), { code: 'STORE_REFUSED', reason: 'no ETag' })
  await t.rejects(requests.open('a'), { code: 'STORE_REFUSED', reason: 'no ETag' })
})

t.test('takes a look that is forbidden for a lack of rights, as its answer has no body that could say so', async t => {
  const requests = await answering(t, { status: 403 })
  await t.rejects(requests.head('a'), { code: 'STORE_REFUSED', reason: 'AccessDenied', message: 'AccessDenied 403' })
})

t.test('says of an object that was cut off while it was read', async t => {
  const headers = { etag: '"v1"', 'content-length': '10' }
  const requests = await answering(t, { headers, body: 'x', isCut: true })
  const opened = await requests.open('a')
  if (typeof opened === 'symbol') return t.fail('it is there')
  t.match(opened, { version: 'v1', size: 10 })
  const read = async () => {
    for await (const chunk of opened.chunks) t.equal(chunk.toString(), 'x')
  }
  await t.rejects(read(), { code: 'STORE_UNAVAILABLE', unknown: false })
})

t.test('reads an object to its end, however long that takes', { skip: ONLY_CI }, async t => {
  const headers = { etag: '"v1"', 'content-length': '5' }
  const opened = await (await answering(t, { headers, body: 'slow!', pause: 2200 })).open('a')
  if (typeof opened === 'symbol') return t.fail('it is there')
  let read = ''
  for await (const chunk of opened.chunks) read += chunk.toString()
  t.equal(read, 'slow!')
})

t.test('leaves out of a list what is no UTF-8, or has no version', async t => {
  const entry = (key: string, more: string) =>
    `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified>${more}</Contents>`
  const version = '<ETag>"v1"</ETag>'
  const entries = [entry('a+b%20c', version), entry('%FF', version), entry('none', '')].join('')
  const prefixes = ['d%2F', '%FF%2F'].map(name => `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`).join('')
  const body =
    '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>' +
    `${entries}${prefixes}</ListBucketResult>`
  const requests = await answering(t, { headers: { 'content-type': 'application/xml' }, body })
  t.strictSame(await requests.list('', null, 1000, true), {
    keys: [{ key: 'a b c', version: 'v1', size: 1, modified_at: new Date('2026-01-02T03:04:05.678Z') }],
    prefixes: ['d/'],
    next_after: null
  })
})

t.test('takes the keys of a list as they are where the store has not encoded them', async t => {
  const key = 'a+b %20 100%.txt'
  const entry =
    `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified>` +
    '<ETag>"v1"</ETag></Contents><CommonPrefixes><Prefix>c++/</Prefix></CommonPrefixes>'
  const body = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${entry}</ListBucketResult>`
  const requests = await answering(t, { headers: { 'content-type': 'application/xml' }, body })
  t.match(await requests.list('', null, 1000, true), { keys: [{ key }], prefixes: ['c++/'] })
})

t.test('has the time of the store, also by an answer that refuses', async t => {
  const date = 'Sat, 29 Nov 2036 12:00:00 GMT'
  for (const [answer, isStores] of [
    [{ headers: { etag: '"v1"', date } }, true],
    [{ status: 412, ...failure('PreconditionFailed'), headers: { date } }, true],
    [{ headers: { etag: '"v1"', date: 'no date' } }, false]
  ] as const) {
    const requests = await answering(t, answer)
    t.ok(Math.abs(requests.now() - Date.now()) < 60_000, 'before, that of this machine')
    await put(requests)
    t.ok(Math.abs(requests.now() - (isStores ? Date.parse(date) : Date.now())) < 60_000, JSON.stringify(answer))
  }
})
