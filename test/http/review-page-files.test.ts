// The files of the review page as they are served: to whom, with which headers, and how much they are.
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { launchFor, skip } from './browser.ts'
import { startServer, TOKEN, type TestServer } from './test-server.ts'

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

/** The bytes as they were sent: fetch would uncompress them. */
async function get({ raw }: TestServer, path: string, headers: string[] = [], method = 'GET') {
  const answer = await raw(
    [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close', '', ''].join('\r\n')
  )
  const end = answer.indexOf('\r\n\r\n')
  const [line = '', ...lines] = answer.slice(0, end).split('\r\n')
  const fields = lines.map(line => line.split(/: (.*)/) as [string, string])
  const body = answer.slice(end + 4)
  return {
    status: Number(line.split(' ')[1]),
    headers: new Map(fields.map(([name, value]) => [name.toLowerCase(), value])),
    body
  }
}

t.test('serves the page and its files to everybody, and nothing else', async t => {
  const server = await startServer(t)
  for (const [path, type] of [
    ['/review', 'text/html; charset=utf-8'],
    ['/page/main.js', 'text/javascript; charset=utf-8'],
    ['/page/page.css', 'text/css; charset=utf-8'],
    ['/page/icon.svg', 'image/svg+xml']
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await get(server, path, [], method)
      t.equal(status, 200, `${method} ${path}`)
      t.equal(headers.get('content-type'), type)
      t.equal(headers.get('content-security-policy'), CSP)
      t.equal(headers.get('x-content-type-options'), 'nosniff')
      t.equal(headers.get('referrer-policy'), 'no-referrer')
      t.equal(headers.get('cache-control'), 'no-cache')
      t.equal(headers.get('vary'), 'accept-encoding')
      t.equal(body === '', method === 'HEAD')
      t.match(server.log.at(-1), { method, route: path.replace(/page\/.+/, 'page/*'), status: 200, code: undefined })
    }
  }
  for (const path of [
    '/page/none.js',
    '/page/index.html',
    '/page/wire.ts',
    '/page/tsconfig.json',
    '/page/..%2fdocs.css',
    '/page/',
    '/page/constructor'
  ]) {
    const { status, body } = await get(server, path)
    t.equal(status, 404, path)
    t.match(body, '"code":"ROUTE_NOT_FOUND"')
  }
  t.equal((await get(server, '/page/../package.json')).status, 404)
  t.equal((await get(server, '/page')).status, 401, 'without a token nothing is said of other paths')
  t.match((await server.call('PUT', '/page/main.js')).body, { code: 'METHOD_NOT_ALLOWED' })
})

t.test('sends a file again only if it is another one', async t => {
  const server = await startServer(t)
  const { headers } = await get(server, '/page/main.js')
  const etag = headers.get('etag') ?? ''
  t.match(etag, /^"[0-9a-f]{32}"$/)
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await get(server, '/page/main.js', [`If-None-Match: ${tag}`])
    t.strictSame([again.status, again.body, again.headers.get('etag')], [304, '', etag])
    t.match(server.log.at(-1), { route: '/page/*', status: 304, code: undefined })
  }
  t.equal((await get(server, '/page/main.js', ['If-None-Match: "other"'])).status, 200)
})

t.test('compresses what it sends to whom takes that', async t => {
  const server = await startServer(t)
  const fetched = async (encoding: string) => {
    const answer = await fetch(`${server.url}/review`, { headers: { 'accept-encoding': encoding } })
    return { encoding: answer.headers.get('content-encoding'), text: await answer.text() }
  }
  const { text } = await fetched('identity')
  t.match(text, '<title>editd</title>')
  for (const encoding of ['gzip', 'br, gzip;q=0.5', 'GZIP , br', 'gzip;q=1.0, identity']) {
    t.strictSame(await fetched(encoding), { encoding: 'gzip', text }, encoding)
  }
  for (const encoding of ['br', 'gzip;q=0', 'x-gzip', 'gzip;q=0.000, br']) {
    t.strictSame(await fetched(encoding), { encoding: null, text }, encoding)
  }
})

t.test('is at most 60 KB, compressed, in a few files', async t => {
  const server = await startServer(t)
  const sizes = new Map<string, number>()
  const load = async (path: string): Promise<void> => {
    if (sizes.has(path)) return
    sizes.set(path, 0)
    const { default: http } = await import('node:http')
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const parts: Buffer[] = []
      const asked = http.get(server.url + path, { headers: { 'accept-encoding': 'gzip' } }, answer => {
        answer.on('data', part => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)))
      })
      asked.on('error', reject)
    })
    sizes.set(path, bytes.length)
    const text = gunzipSync(bytes).toString()
    for (const [, name] of text.matchAll(/(?:src|href)="(page\/[^"]+)"/g)) await load(`/${name}`)
    for (const [, name] of text.matchAll(/from ["']\.\/([^"']+)["']/g)) await load(`/page/${name}`)
  }
  await load('/review')
  const total = [...sizes.values()].reduce((sum, size) => sum + size)
  t.strictSame([...sizes.keys()].sort(), ['/page/icon.svg', '/page/main.js', '/page/page.css', '/review'])
  t.ok(total <= 60_000, `${total} bytes`)
  t.comment(`${sizes.size} files, ${total} bytes compressed`)
})

t.test('is not there where the documents are switched off', async t => {
  const html = ['Accept: text/html']
  const hidden = await startServer(t, { settings: { docs: false } })
  t.equal((await get(hidden, '/page/main.js')).status, 404)
  t.equal((await get(hidden, '/', html)).status, 401)
})

t.test('says that there is no history where it is switched off', { skip }, async t => {
  const server = await startServer(t, { settings: { history: 'off' } })
  const browser = await launchFor(t)
  const page = await browser.newPage({})
  await page.goto(`${server.url}/#token=${TOKEN}`)
  await page.locator('p', { hasText: 'keeps no history' }).first().waitFor()
})
