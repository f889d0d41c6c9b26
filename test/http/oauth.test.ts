// MCP's authorization with parts that others made: the official client, through 401 and the resource metadata, gets its
// token from a real authorization server (oidc-provider), and calls tools with it.
import { existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exportJWK } from 'jose'
import t, { type Test } from 'tap'
import type { Issuer } from '../../src/http/access/issuer.ts'
import { resourceFor } from '../../src/http/access/resource.ts'
import { startAccessServer, type AccessServer } from './access/access-server.ts'
import { makeKey } from './access/issuer.ts'

const PROVIDER = new URL('../clients/node_modules/oidc-provider/lib/index.js', import.meta.url)
const skip = existsSync(PROVIDER) ? false : 'needs npm ci --prefix test/clients'

interface ClientOfIssuer {
  scope: string
  workspace?: string
}
const CLIENTS: Record<string, ClientOfIssuer> = {
  editor: { scope: 'read edit', workspace: 'acme' },
  reader: { scope: 'read', workspace: 'acme' },
  beta: { scope: 'read edit review', workspace: 'beta' },
  stranger: { scope: 'read edit', workspace: 'none' },
  nowhere: { scope: 'read edit' }
}
const secretOf = (id: string) => `${id}-secret`

/** Starts an authorization server that gives JWTs for any resource; resolves with its issuer. */
async function startProvider(t: Test): Promise<string> {
  const { Provider } = (await import(PROVIDER.href)) as {
    Provider: new (issuer: string, configuration: object) => { callback(): RequestListener }
  }
  let handle: RequestListener = () => {}
  const server = createServer((request, response) => handle(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await makeKey('ES256', 'one')
  const provider = new Provider(issuer, {
    clients: Object.entries(CLIENTS).map(([client_id, { scope }]) => ({
      client_id,
      client_secret: secretOf(client_id),
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
      scope
    })),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', alg: 'ES256', use: 'sig' }] },
    scopes: ['read', 'edit', 'review'],
    ttl: { ClientCredentials: 600 },
    extraTokenClaims: (_context: unknown, token: { clientId: string }) => {
      const { workspace } = CLIENTS[token.clientId] ?? {}
      return workspace === undefined ? {} : { workspace }
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          audience: resource,
          scope: 'read edit review',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } }
        })
      }
    }
  })
  handle = provider.callback()
  return issuer
}

/** A server whose tokens come from an authorization server, for the URL at this path. */
async function setUp(t: Test, path = '/mcp', more: object = {}) {
  const issuer = await startProvider(t)
  const tokens = [{ name: 'ci', sha256: '0'.repeat(64), workspace: 'acme', scope: 'read' }]
  const server = await startAccessServer(t, { tokens })
  const audience = `${server.url}${path}`
  await server.take({ tokens, issuers: [{ issuer, audience, algorithms: ['ES256'], ...more }] })
  return { issuer, server, audience }
}

/** What the client asks of the server and is answered, as lines. */
async function connect(
  t: Test,
  { server, issuer }: { server: AccessServer; issuer: string },
  id: string,
  { scope, path = '/mcp' }: { scope?: string; path?: string } = {}
) {
  const seen: string[] = []
  const authProvider = new ClientCredentialsProvider({
    clientId: id,
    clientSecret: secretOf(id),
    expectedIssuer: issuer,
    ...(scope !== undefined && { scope })
  })
  const transport = new StreamableHTTPClientTransport(new URL(server.url + path), {
    authProvider,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      seen.push(`${response.status} ${new URL(String(url)).pathname}`)
      return response
    }
  })
  const client = new Client({ name: 'test', version: '0' })
  t.teardown(() => client.close())
  await client.connect(transport)
  return { client, seen }
}

const edit = (new_text: string) => ({
  name: 'edit_file',
  arguments: { path: 'a.txt', old_text: 'end', new_text }
})

t.test('lets the official client in: 401, metadata, issuer, token, 200', { skip }, async t => {
  for (const path of ['/mcp', '/w/acme/mcp']) {
    const set = await setUp(t, path)
    const { server } = set
    const { client, seen } = await connect(t, set, 'editor', { path })
    t.equal(seen[0], `401 ${path}`)
    t.equal(seen[1], `200 /.well-known/oauth-protected-resource${path}`)
    t.ok(seen.includes('200 /token'), seen.join())
    const { tools } = await client.listTools()
    t.ok(tools.some(({ name }) => name === 'edit_file'))
    t.match(await client.callTool(edit('changed end')), { content: [{ text: /a\.txt/ }] })
    t.equal(server.read('acme/a.txt'), 'changed end\n')
    t.equal(server.read('beta/a.txt'), 'end\n')
    const other = await connect(t, set, 'beta', { path: '/mcp' }).catch((error: unknown) => String(error))
    if (path === '/w/acme/mcp') t.type(other, 'string', 'a token for /w/acme/mcp only is for no URL beside it')
    else if (typeof other !== 'string') {
      await other.client.callTool(edit('other end'))
      t.equal(server.read('beta/a.txt'), 'other end\n')
      t.match(server.log.at(-1), { operation: 'edit_file', status: 200 })
    }
  }
})

t.test('has a client that may do more get a token that reaches further', { skip }, async t => {
  const set = await setUp(t, '/mcp', { scopes: [] })
  const { client, seen } = await connect(t, set, 'editor', { scope: 'read' })
  const { tools } = await client.listTools()
  t.notOk(tools.some(({ name }) => name === 'edit_file'))
  await client.callTool(edit('more end'))
  t.equal(set.server.read('acme/a.txt'), 'more end\n')
  t.ok(seen.includes('403 /mcp'), seen.join())
  const reader = await connect(t, set, 'reader', { scope: 'read' })
  await t.rejects(reader.client.callTool(edit('no')))
  t.equal(set.server.read('acme/a.txt'), 'more end\n')
})

t.test('refuses a token that is for no workspace', { skip }, async t => {
  const set = await setUp(t)
  for (const id of ['stranger', 'nowhere']) await t.rejects(connect(t, set, id), /names no workspace of this server/)
})

t.test('tells where a token is to be had, to whoever asks', async t => {
  const algorithms = ['ES256']
  const issuers: Issuer[] = [
    { issuer: 'https://id.example', audience: 'https://editd.example/mcp', algorithms, scopes: ['review'] },
    { issuer: 'https://in.example', audience: 'https://localhost:8443/', algorithms, scopes: [] }
  ]
  const server = await startAccessServer(t, { issuers }, '--allow-host', 'editd.example')
  const first = {
    resource: 'https://editd.example/mcp',
    authorization_servers: ['https://id.example'],
    scopes_supported: ['review'],
    bearer_methods_supported: ['header'],
    resource_name: 'editd'
  }
  const at = '/.well-known/oauth-protected-resource'
  for (const path of [at, `${at}/mcp`, `${at}/w/acme/mcp`, `${at}/w/none/mcp`, `/w/acme${at}`]) {
    const { status, body } = await server.send('none', path)
    t.strictSame([status, body], [200, first], path)
  }
  t.equal((await server.send('none', at, {})).status, 405)
  const missing = await fetch(`${server.url}/mcp`, { method: 'POST' })
  const url = 'https://editd.example/.well-known/oauth-protected-resource/mcp'
  t.equal(missing.headers.get('www-authenticate'), `Bearer resource_metadata="${url}"`)
  const wrong = await server.send('wrong', '/edit', {})
  t.equal(wrong.headers.get('www-authenticate'), `Bearer error="invalid_token", resource_metadata="${url}"`)
  t.match(resourceFor(issuers, 'LOCALHOST:8443'), {
    url: 'https://localhost:8443/.well-known/oauth-protected-resource',
    metadata: {
      resource: 'https://localhost:8443/',
      authorization_servers: ['https://in.example'],
      scopes_supported: undefined
    }
  })
  t.equal(resourceFor([]), null)

  const tokens = [{ name: 'ci', sha256: '0'.repeat(64), workspace: 'acme', scope: 'read' }]
  await server.take({ tokens })
  t.match(await server.send('none', at), { status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
  t.equal((await server.send('wrong', '/edit', {})).headers.get('www-authenticate'), 'Bearer error="invalid_token"')
})
