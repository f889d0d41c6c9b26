// What is answered where requests are too many: of a token, of an address, wrong tokens of an address.
import t, { type Test } from 'tap'
import { startServer, type TestServer } from './test-server.ts'

const WRONG = { authorization: 'Bearer wrong' }

/** So many requests in turn are answered with this status. */
async function checkMany(t: Test, server: TestServer, count: number, status: number, headers = {}) {
  for (let i = 0; i < count; i++) {
    const reply = await server.call('GET', '/capabilities', { headers })
    if (reply.status !== status) t.fail(`request ${i + 1} of ${count}: ${reply.status}, not ${status}: ${reply.text}`)
  }
  t.pass(`${count} × ${status}`)
}

t.test('refuses what is over the rate of a token, says when to send it again, and takes it then', async t => {
  const server = await startServer(t, { settings: { rate: { requests: 3, per: 'h' } }, files: { 'a.txt': 'one\n' } })
  await checkMany(t, server, 3, 200)
  const edit = { path: 'a.txt', old_text: 'one', new_text: 'two' }
  const reply = await server.call('POST', '/edit', { body: edit })
  t.match(reply, {
    status: 429,
    body: {
      code: 'RATE_LIMITED',
      retry: 'after_delay',
      detail:
        /^This token may send 3 requests an hour, and this is one too many\. Nothing was written\. Send the request again in 1\d{3} seconds\./
    }
  })
  t.match(reply.headers.get('retry-after'), /^1[01]\d\d$|^1200$/)
  t.match(await server.call('POST', '/tools/edit_file', { body: edit, headers: { accept: 'text/plain' } }), {
    status: 429,
    text: /RATE_LIMITED.*Send the request again in 1\d{3} seconds/s
  })
  const soon = await startServer(t, { settings: { rate: { requests: 1, per: 's' } } })
  let again = await soon.call('GET', '/capabilities')
  while (again.status === 200) again = await soon.call('GET', '/capabilities')
  await new Promise(resolve => setTimeout(resolve, 1000 * Number(again.headers.get('retry-after'))))
  await checkMany(t, soon, 1, 200)
})

t.test('counts neither health, pages and documents, nor preflights, nor what is refused', async t => {
  const origin = 'https://app.example'
  const server = await startServer(t, {
    settings: { rate: { requests: 2, per: 'h' }, allowOrigins: [origin] },
    files: { 'a.txt': 'one\n' }
  })
  for (let i = 0; i < 5; i++) {
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/review']) {
      t.equal((await server.call('GET', path)).status, 200, path)
    }
    const asks = { origin, 'access-control-request-method': 'POST' }
    t.equal((await server.call('OPTIONS', '/edit', { headers: asks })).status, 204)
  }
  await checkMany(t, server, 5, 401, WRONG)
  await checkMany(t, server, 2, 200)
  await checkMany(t, server, 5, 429)
  t.equal((await server.call('GET', '/healthz')).status, 200)
  t.equal((await server.call('GET', '/nothing')).status, 429, 'an unknown route counts as any other')
})

t.test('counts a stream of events once', async t => {
  const server = await startServer(t, {
    settings: { rate: { requests: 2, per: 'h' } },
    timeouts: { request: 30_000, headers: 10_000, check: 1_000, heartbeat: 5 }
  })
  const stop = new AbortController()
  const stream = await fetch(`${server.url}/events`, {
    headers: { authorization: 'Bearer test-token' },
    signal: stop.signal
  })
  t.equal(stream.status, 200)
  const reader = stream.body!.getReader()
  for (let i = 0; i < 3; i++) await reader.read()
  stop.abort()
  await checkMany(t, server, 1, 200)
  await checkMany(t, server, 1, 429)
})

t.test('counts by address where no token is asked for', async t => {
  const server = await startServer(t, { settings: { rate: { requests: 2, per: 'h' }, token: null } })
  await checkMany(t, server, 2, 200)
  const reply = await server.call('GET', '/capabilities')
  t.match(reply, {
    status: 429,
    body: { detail: /^Without a token, an address may send 2 requests an hour, and this is one too many\./ }
  })
  t.match(reply.headers.get('retry-after'), /^1[78]\d\d$/)
})

t.test('refuses more than 60 wrong tokens a minute of an address, and always takes a right one', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const start = performance.now()
  let refused = 0
  let reply
  do reply = await server.call('GET', '/capabilities', { headers: { authorization: `Bearer wrong-${refused++}` } })
  while (reply.status === 401)
  // One more comes free each second.
  const most = 61 + (performance.now() - start) / 1000
  t.ok(refused > 60 && refused <= most + 1, `${refused - 1} × 401`)
  t.match(reply, {
    status: 429,
    body: {
      code: 'RATE_LIMITED',
      detail: /^The token is wrong, .* more than 60 wrong ones in a minute\. Do not send it/
    }
  })
  t.equal(reply.headers.get('retry-after'), '1')
  t.equal(reply.headers.get('www-authenticate'), null)
  // A URL that isn't valid is refused before there is a route.
  const wrong = 'GET /%zz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer no\r\n\r\n'
  t.match(await server.raw(wrong.repeat(5), 300), / 429 /)
  await checkMany(t, server, 80, 200)
  t.equal((await fetch(`${server.url}/capabilities`)).status, 401, 'without a token nothing is counted')
})
