// The published documents and the files of /docs as they are sent: sent again only if they are others, compressed, and
// right below another path.
import { get as httpGet } from 'node:http'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import t from 'tap'
import { strippingProxy } from './stripping-proxy.ts'
import { startServer, type TestServer } from './test-server.ts'

/** Documents by their paths, each with its type and how its text begins. */
const DOCUMENTS = {
  '/openapi.json': ['application/json; charset=utf-8', /^\{"openapi":"3\.1\.0"/],
  '/openapi.yaml': ['application/yaml', /^openapi: 3\.1\.0\n/],
  '/openapi.tools.json': ['application/json; charset=utf-8', /^\{"openapi":"3\.1\.0"/],
  '/docs': ['text/html; charset=utf-8', /^<!doctype html>/],
  '/docs/static/docs.js': ['text/javascript; charset=utf-8', /SwaggerUIBundle/],
  '/docs/static/swagger-ui.css': ['text/css; charset=utf-8', /\.swagger-ui/],
  '/docs/static/swagger-ui-bundle.js': ['text/javascript; charset=utf-8', /SwaggerUIBundle/],
  '/docs/static/favicon-32x32.png': ['image/png', /PNG/]
} as const

/** The body as it was sent, uncompressed here: fetch would ask for it compressed, and not tell. */
const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    httpGet(url, { headers, agent: false }, resolve).on('error', reject)
  })
  const isPacked = answer.headers['content-encoding'] === 'gzip'
  const body = await text(isPacked ? answer.pipe(createGunzip()) : answer)
  return { status: answer.statusCode, headers: answer.headers, isPacked, body }
}

t.test('sends a document again only if it is another one', async t => {
  const server = await startServer(t)
  for (const [path, [type, beginning]] of Object.entries(DOCUMENTS)) {
    const { status, headers, body } = await get(server.url + path)
    t.strictSame([status, headers['content-type'], headers['cache-control']], [200, type, 'no-cache'], path)
    t.match(body, beginning)
    const etag = headers.etag ?? ''
    t.match(etag, /^"[0-9a-f]{32}"$/)
    const again = await get(server.url + path, { 'if-none-match': etag })
    t.strictSame([again.status, again.body, again.headers.etag], [304, '', etag], path)
    t.equal((await get(server.url + path, { 'if-none-match': '"other"' })).body, body)
  }
})

t.test('compresses a document for clients that take that', async t => {
  const server = await startServer(t)
  for (const path of Object.keys(DOCUMENTS)) {
    const plain = await get(server.url + path)
    t.notOk(plain.isPacked)
    const packed = await get(server.url + path, { 'accept-encoding': 'gzip, br' })
    t.ok(packed.isPacked, path)
    t.equal(packed.body, plain.body)
    for (const { headers } of [plain, packed]) t.match(headers.vary, /(^|, )accept-encoding$/)
  }
  const { headers } = await get(`${server.url}/openapi.json`, { 'accept-encoding': 'gzip' })
  t.ok(Number(headers['content-length']) < 100_000, `${headers['content-length']} bytes`)
})

t.test('says what else an answer depends on', async t => {
  const origin = 'https://app.example'
  const server = await startServer(t, { settings: { allowOrigins: [origin] } })
  const { headers } = await get(`${server.url}/openapi.json`, { origin })
  t.strictSame([headers['access-control-allow-origin'], headers.vary], [origin, 'Origin, accept-encoding'])
  t.equal(
    (await get(`${server.url}/openapi.tools.json`)).headers.vary,
    'Origin, host, x-forwarded-proto, x-forwarded-prefix, accept-encoding'
  )
})

t.test('has no other files of /docs than those of its page', async t => {
  const server = await startServer(t)
  for (const name of ['none.js', 'docs.html', 'index.html', 'swagger-ui.js', '..%2fdocs.css', '', 'constructor']) {
    t.match((await server.call('GET', `/docs/static/${name}`)).body, { code: 'ROUTE_NOT_FOUND' }, name)
  }
})

t.test('finds its routes and files below the path of a proxy', async t => {
  const server = await startServer(t)
  const url = await strippingProxy(t, server.url, '/tools/editd')
  const at = (path: string, from: string) => new URL(path, from).href
  for (const name of ['openapi.json', 'openapi.yaml']) {
    const { body } = await get(`${url}/${name}`)
    const [, said] = (name === 'openapi.json'
      ? /"servers":\[\{"url":"(.*?)"/
      : /servers:\n {2}- url: "?(.*?)"?\n/
    ).exec(body) as unknown as [string, string]
    t.equal(at(said, `${url}/${name}`), `${url}/`, `${name}: relative to the document (OpenAPI 3.1, Server Object)`)
  }
  const { body } = await get(`${url}/docs`)
  const links = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => at(link!, `${url}/docs`))
  t.ok(links.length >= 6)
  // At /, only browsers get the page.
  for (const link of links) t.equal((await get(link, { accept: 'text/html' })).status, 200, link)
  const { status, headers } = await get(`${url}/docs/`)
  t.strictSame([status, at(headers.location!, `${url}/docs/`)], [302, `${url}/docs`])
})

t.test('tells tool hosts the address as the client knows it', async t => {
  const server = await startServer(t)
  const addressOf = async (of: TestServer | string, headers: Record<string, string> = {}) => {
    const { body } = await get(`${typeof of === 'string' ? of : of.url}/openapi.tools.json`, headers)
    return (JSON.parse(body) as { servers: { url: string }[] }).servers
  }
  const forwarded = (prefix: string) => ({ 'x-forwarded-prefix': prefix })
  for (const prefix of ['/editd', '/tools/editd.v1']) {
    const url = await strippingProxy(t, server.url, prefix, forwarded(prefix))
    t.strictSame(await addressOf(url), [{ url }])
    const secure = await addressOf(url, { 'x-forwarded-proto': 'https' })
    t.strictSame(secure, [{ url: url.replace('http:', 'https:') }])
  }
  t.strictSame(await addressOf(server, forwarded('/editd/')), [{ url: `${server.url}/editd` }])
  for (const prefix of ['', '/', 'editd', '//evil.example', '/a b', '/a?b', '/"x"', '/a, /b', '/a/../"']) {
    t.strictSame(await addressOf(server, forwarded(prefix)), [{ url: server.url }], `not ${prefix}`)
  }
})
