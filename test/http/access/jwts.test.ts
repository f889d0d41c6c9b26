// JWTs: what they grant, where the keys come from, and how often these are asked for.
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import type { Grant } from '../../../src/http/access/grant.ts'
import { IssuerKeys } from '../../../src/http/access/issuer-keys.ts'
import { makeJwts } from '../../../src/http/access/jwts.ts'
import { startAccessServer } from './access-server.ts'
import { makeKey, now, sign, startIssuer, type KeyPair, type TestIssuer } from './issuer.ts'

const AUDIENCE = 'https://editd.example/mcp'
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA']

/** An issuer with a key, and what takes its tokens. `clock.at`: what the keys' age is counted by. */
async function setUp(t: Test, path = '') {
  const issuer = await startIssuer(t, path)
  const key = await makeKey('ES256', 'one')
  issuer.keys.push(key.jwk)
  const events: object[] = []
  const clock = { at: 0 }
  const declared = { issuer: issuer.url, audience: AUDIENCE, algorithms: ALGORITHMS, scopes: [] }
  const options = { report: (event: object) => events.push(event), now: () => clock.at }
  const jwts = makeJwts([declared], new Set(['acme']), options)
  const claimsOf = (more: object = {}) => ({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'ann',
    iat: now(),
    exp: now() + 300,
    scope: 'edit',
    workspace: 'acme',
    ...more
  })
  const token = (more: object = {}, by: KeyPair = key, header: object = {}) => sign(by, claimsOf(more), header)
  const requests = (what: string) => issuer.requests.filter(url => url.endsWith(what)).length
  return { issuer, key, events, clock, declared, options, jwts, token, requests }
}

/** The token is taken, and grants this. */
async function check(
  t: Test,
  { jwts }: Pick<Awaited<ReturnType<typeof setUp>>, 'jwts'>,
  token: string,
  grant: Partial<Grant>
) {
  const identified = await jwts.identify(token)
  t.match(identified, { ok: true, value: grant }, JSON.stringify(identified))
}

t.test('grants what the claims say, under the name of issuer and subject', async t => {
  const set = await setUp(t)
  const { issuer, token } = set
  const exp = now() + 100
  await check(t, set, await token({ exp }), {
    name: `${issuer.url}#ann`,
    workspace: 'acme',
    scope: 'edit',
    paths: null,
    memoryRoot: null,
    expires: (exp + 30) * 1000,
    byIssuer: { read: 'read', edit: 'edit', review: 'review' }
  })
  for (const [scope, granted] of [
    ['read', 'read'],
    ['openid read profile edit', 'edit'],
    ['review read', 'review'],
    [' edit  read ', 'edit']
  ] as const) {
    await check(t, set, await token({ scope }), { scope: granted })
  }
  await check(t, set, await token({ aud: ['https://x.example', AUDIENCE] }), {})
  await check(t, set, await token({ nbf: now() + 20, iat: now() + 20 }), {})
  await check(t, set, await token({ exp: now() - 20 }), {})
  for (const typ of ['JWT', 'jwt', 'application/at+JWT', undefined]) {
    await check(t, set, await token({}, set.key, { typ }), {})
  }
  await check(t, set, await token({}, set.key, { kid: undefined }), {})
})

t.test('reads claims as issuers have them, and as the access file says', async t => {
  const { declared, options, token } = await setUp(t)
  const none = { scope: undefined, workspace: undefined }
  const lacks = (lacks: string, ask?: string) => ({ ok: false, failure: { code: 'FORBIDDEN_SCOPE', lacks, ask } })
  const edit = { ok: true, value: { workspace: 'acme', scope: 'edit' } }
  const values = new Map([
    ['Files.Read', 'read'],
    ['Files.Write', 'edit']
  ] as const)
  const tenants = new Map([['t1', 'acme']])
  for (const [more, claims, expected] of [
    [{}, { scope: undefined, scp: 'read edit' }, edit],
    [{}, { scope: undefined, scp: ['edit', 'openid'] }, edit],
    [{}, { scope: undefined, roles: ['edit'] }, edit],
    [{}, { scope: 'read', scp: 'edit' }, edit],
    [{}, { scp: 5 }, { ok: false, failure: { reason: 'jwt', fault: 'claims', claim: 'scp' } }],
    [{}, { workspace: 5 }, { ok: false, failure: { reason: 'jwt', fault: 'claims', claim: 'workspace' } }],
    [{}, { workspace: ['beta', 'acme'] }, lacks('workspace')],
    [{}, { workspace: ['acme', 'acme', 'other'] }, edit],
    [{ scopeClaims: ['permissions'] }, { permissions: ['edit'], scope: undefined }, edit],
    [{ scopeClaims: ['permissions'] }, {}, lacks('scope', 'read')],
    [{ scopeClaims: ['realm_access.roles'] }, { realm_access: { roles: ['edit'] } }, edit],
    [{ scopeClaims: ['https://x.example/roles'] }, { 'https://x.example/roles': ['edit'] }, edit],
    [{ scopeClaims: ['constructor.name'] }, {}, lacks('scope', 'read')],
    [{ scopeValues: values }, { scope: 'Files.Write Files.Read' }, edit],
    [{ scopeValues: values }, {}, lacks('scope', 'Files.Read')],
    [{ workspace: 'acme' }, { workspace: undefined }, edit],
    [{ workspace: 'acme' }, { workspace: 'beta' }, edit],
    [{ workspaceClaim: 'groups' }, { ...none, scope: 'edit', groups: ['x', 'acme'] }, edit],
    [{ workspaceClaim: 'tid', workspaceValues: tenants }, { tid: 't1' }, edit],
    [{ workspaceClaim: 'tid', workspaceValues: tenants }, { tid: 'acme' }, lacks('workspace')],
    [{ aud: 'api://editd' }, { aud: 'api://editd' }, edit],
    [{ aud: 'api://editd' }, {}, { ok: false, failure: { reason: 'jwt', fault: 'audience' } }]
  ] as const) {
    const jwts = makeJwts([{ ...declared, ...more }], new Set(['acme', 'beta']), options)
    const identified = await jwts.identify(await token(claims))
    t.match(identified, expected, JSON.stringify([Object.keys(more), claims, identified]))
  }
})

t.test('says what is wrong with a token', async t => {
  const { jwts, token, key } = await setUp(t)
  const faults: [string, string][] = [
    ['form', 'a.b.c'],
    ['length', `a.b.${'c'.repeat(9000)}`],
    ['issuer', await token({ iss: 'https://other.example' })],
    ['type', await token({}, key, { typ: 'secevent+jwt' })],
    ['algorithm', await token({}, await makeKey('ES384', 'one'))],
    ['key', await token({}, await makeKey('ES256', 'one'))],
    ['audience', await token({ aud: 'https://other.example' })],
    ['time', await token({ nbf: now() + 100 })],
    ['time', await token({ iat: now() + 100 })],
    ['bound', await token({ cnf: {} })]
  ]
  for (const [fault, wrong] of faults) {
    t.match(await jwts.identify(wrong), { ok: false, failure: { code: 'UNAUTHORIZED', reason: 'jwt', fault } })
  }
  for (const [claim, value] of [
    ['sub', undefined],
    ['exp', undefined],
    ['iat', undefined],
    ['nbf', 'soon']
  ] as const) {
    t.match(await jwts.identify(await token({ [claim]: value })), { failure: { fault: 'claims', claim } })
  }
  t.match(await jwts.identify(await token({ exp: now() - 40 })), { failure: { reason: 'jwt', fault: 'expired' } })
  t.match(await jwts.identify(await token({ scope: 'openid' })), {
    failure: { code: 'FORBIDDEN_SCOPE', lacks: 'scope' }
  })
  t.match(await jwts.identify(await token({ workspace: 'beta' })), { failure: { lacks: 'workspace' } })
})

t.test('takes each algorithm that is named, and refuses a key that does not fit it', async t => {
  const set = await setUp(t)
  for (const alg of ['RS256', 'EdDSA']) {
    const key = await makeKey(alg, alg)
    set.issuer.keys.push(key.jwk)
    set.clock.at += 40_000
    await check(t, set, await set.token({}, key), {})
  }
  const weak = { ...set.issuer.keys[1]!, kid: 'weak', n: 'AQAB' }
  set.issuer.keys.push(weak, { ...set.key.jwk, kid: 'same' }, { ...set.key.jwk, kid: 'same' })
  set.clock.at += 40_000
  const rsa = await makeKey('RS256', 'weak')
  t.match(await set.jwts.identify(await set.token({}, rsa)), { failure: { fault: 'key' } })
  t.match(await set.jwts.identify(await set.token({}, { ...set.key, kid: 'same' })), { failure: { fault: 'key' } })
})

t.test('finds the keys by the metadata, as OAuth or OpenID Connect has them', async t => {
  for (const path of ['', '/realms/one']) {
    const set = await setUp(t, path)
    await check(t, set, await set.token(), {})
    t.strictSame(set.issuer.requests, [`/.well-known/oauth-authorization-server${path}`, `${path}/jwks`])
    const oidc = await setUp(t, path)
    const at = `${path}/.well-known/openid-configuration`
    const found = { issuer: oidc.issuer.url, jwks_uri: `${oidc.issuer.url}/jwks` }
    oidc.issuer.answers.set(`/.well-known/oauth-authorization-server${path}`, { status: 404 })
    oidc.issuer.answers.set(at, { status: 200, body: found })
    await check(t, oidc, await oidc.token(), {})
    t.strictSame(oidc.issuer.requests, [`/.well-known/oauth-authorization-server${path}`, at, `${path}/jwks`])
  }
})

t.test('does not follow metadata that are not the issuer’s, or lead elsewhere', async t => {
  const elsewhere = await startIssuer(t)
  const cases: [string, (issuer: TestIssuer) => { status?: number; body?: unknown; location?: string }, RegExp][] = [
    ['metadata', ({ url }) => ({ body: { issuer: `${url}/x`, jwks_uri: `${url}/jwks` } }), /not of this issuer/],
    ['metadata', ({ url }) => ({ body: { issuer: url, jwks_uri: 'http://10.0.0.1/jwks' } }), /no usable jwks_uri/],
    ['metadata', ({ url }) => ({ body: { issuer: url, jwks_uri: 'file:///etc/passwd' } }), /no usable jwks_uri/],
    ['metadata', ({ url }) => ({ body: { issuer: url, jwks_uri: 'x' } }), /no usable jwks_uri/],
    ['metadata', ({ url }) => ({ body: { issuer: url } }), /no usable jwks_uri/],
    ['metadata', () => ({ body: null }), /not of this issuer/],
    ['metadata', () => ({ body: '{' }), /JSON/],
    ['metadata', () => ({ status: 302, location: `${elsewhere.url}/x` }), /status 302/],
    ['jwks', () => ({ status: 307, location: `${elsewhere.url}/jwks` }), /status 307/],
    ['jwks', () => ({ body: `"${'x'.repeat(600_000)}"` }), /more than 524288 bytes/],
    ['jwks', () => ({ body: { keys: 1 } }), /malformed/],
    ['jwks', () => ({ body: { keys: [{ kty: 'oct', k: 'AAAA', kid: 'one' }] } }), /^$/]
  ]
  for (const [which, answer, reason] of cases) {
    const { issuer, jwts, token, events } = await setUp(t)
    issuer.answers.set(which === 'jwks' ? '/jwks' : '/.well-known/oauth-authorization-server', answer(issuer))
    const identified = await jwts.identify(await token())
    if (String(reason) === '/^$/') {
      t.match(identified, { failure: { code: 'UNAUTHORIZED', fault: 'key' } })
      continue
    }
    t.match(identified, { failure: { code: 'NOT_READY', reason: 'issuer_unreachable' } })
    t.match(events, [{ event: 'issuer_unreachable', issuer: issuer.url, reason }])
  }
  t.strictSame(elsewhere.requests, [])
})

t.test('asks for keys at most twice in 30 seconds, whatever 1,000 unknown kids come', async t => {
  const set = await setUp(t)
  const { jwts, token, requests, clock } = set
  const right = await token()
  const flood = await Promise.all(
    Array.from({ length: 1000 }, async (_, i) => token({}, set.key, { kid: `unknown-${i}` }))
  )
  const half = await Promise.all(flood.slice(0, 500).map(one => jwts.identify(one)))
  for (const one of flood.slice(500)) half.push(await jwts.identify(one))
  t.strictSame([...new Set(half.map(result => JSON.stringify(result)))].length, 1)
  t.match(half[0], { failure: { fault: 'key' } })
  t.equal(requests('/jwks'), 2)
  await check(t, set, right, {})
  clock.at += 29_000
  await jwts.identify(flood[0]!)
  t.equal(requests('/jwks'), 2)
  clock.at += 2_000
  // A new key is found as soon as it may be asked for.
  const next = await makeKey('ES256', 'two')
  set.issuer.keys.push(next.jwk)
  await check(t, set, await token({}, next), {})
  t.equal(requests('/jwks'), 3)
  t.equal(requests('/.well-known/oauth-authorization-server'), 1)
})

t.test('asks again for old keys while it uses them, and takes back those that are gone', async t => {
  const set = await setUp(t)
  const { issuer, key, clock, jwts, token, requests } = set
  await check(t, set, await token(), {})
  clock.at += 6 * 60_000
  issuer.keys.splice(0, 1, (await makeKey('ES256', 'other')).jwk)
  await check(t, set, await token(), {})
  while (requests('/jwks') < 2) await new Promise(resolve => setTimeout(resolve, 5))
  clock.at += 60_000
  const old = await token({}, key)
  let identified = await jwts.identify(old)
  // Until the answer with the new keys is read.
  while (identified.ok) {
    await new Promise(resolve => setTimeout(resolve, 5))
    identified = await jwts.identify(old)
  }
  t.match(identified, { failure: { fault: 'key' } })
})

t.test('uses keys of an issuer that is away until they are too old, then says so', async t => {
  const set = await setUp(t)
  const { issuer, clock, jwts, token, events } = set
  const unreachable = { failure: { code: 'NOT_READY', reason: 'issuer_unreachable' } }
  await issuer.stop()
  t.match(await jwts.identify(await token()), unreachable)
  t.match(await jwts.identify(await token()), { failure: { retry_after: 30 } })
  t.match(await jwts.identify(await token()), unreachable, 'it is not requests a third time')
  t.equal(events.length, 2)
  t.match(events[0], { reason: /ECONNREFUSED|ECONNRESET/ })
  await issuer.start()
  clock.at += 31_000
  await check(t, set, await token(), {})
  await issuer.stop()
  clock.at += 14 * 60_000
  await check(t, set, await token(), {})
  t.match(await jwts.identify(await token({}, set.key, { kid: 'new' })), unreachable, 'it may be a new key')
  clock.at += 2 * 60_000
  t.match(await jwts.identify(await token()), unreachable)
})

t.test('keeps the keys of an issuer that the next access file has too', async t => {
  const { declared, options, jwts, token, requests } = await setUp(t)
  await jwts.identify(await token())
  const next = makeJwts([declared], new Set(['beta']), options, jwts)
  t.match(await next.identify(await token({ workspace: 'beta' })), { ok: true })
  t.equal(requests('/jwks'), 1)
  t.ok(new IssuerKeys(declared.issuer, { report() {} }), 'by its own clock')
})

t.test('lets named tokens and JWTs in at one server, and changes issuers with the file', async t => {
  const issuer = await startIssuer(t)
  const key = await makeKey('ES256', 'one')
  issuer.keys.push(key.jwk)
  const declared = { issuer: issuer.url, audience: AUDIENCE, algorithms: ['ES256'] }
  const sha256 = createHash('sha256').update('na.me.d').digest('hex')
  const tokens = [{ name: 'ci', sha256, workspace: 'acme', scope: 'edit' }]
  const server = await startAccessServer(t, { tokens, issuers: [declared] })
  t.strictSame(issuer.requests, [], 'nobody is requests before a token comes')
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', iat: now(), exp: now() + 300 }
  const jwt = await sign(key, { ...claims, scope: 'edit', workspace: 'beta' })
  const reader = await sign(key, { ...claims, sub: 'bob', scope: 'read', workspace: 'beta' })
  const boss = await sign(key, { ...claims, sub: 'eve', scope: 'review', workspace: 'beta' })
  const edit = (new_text: string) => ({ path: 'a.txt', old_text: 'end', new_text })
  await issuer.stop()
  const away = await server.send(jwt, '/edit', edit('x'))
  t.match(away, { status: 503, body: { code: 'NOT_READY', detail: /keys of the token's issuer can't be fetched/ } })
  t.equal(away.headers.get('retry-after'), '5')
  t.match(server.log, [{ event: 'issuer_unreachable' }, {}])
  t.equal((await server.send('na.me.d', '/edit', edit('named end'))).status, 200, 'named tokens go on')
  await issuer.start()
  const made = await server.send(jwt, '/edit', edit('jwt end'))
  t.equal(made.status, 200, made.text)
  t.equal(server.read('beta/a.txt'), 'jwt end\n')
  t.equal(server.read('acme/a.txt'), 'named end\n')
  t.match((await server.send(jwt, '/w/acme/inspect', { path: '.' })).status, 404)
  t.match((await server.send(jwt, '/w/beta/capabilities')).body, { access: { workspace: 'beta', scope: 'edit' } })
  t.match((await server.send(reader, '/edit', edit('x'))).body, { code: 'FORBIDDEN_SCOPE' })
  const { edit_id } = made.body
  const name = `${issuer.url}#ann`
  t.match((await server.send(boss, '/history', { token: name })).body, { edits: [{ edit_id, token: name }] })
  const other = await sign(key, { ...claims, sub: 'zoe', scope: 'edit', workspace: 'beta' })
  t.equal((await server.send(other, '/undo', { edit_id })).status, 403, 'only its own changes')
  t.equal((await server.send(jwt, '/undo', { edit_id })).status, 200)
  await server.take({ tokens })
  t.equal((await server.send(jwt, '/inspect', { path: '.' })).status, 401)
  t.equal((await server.send('na.me.d', '/inspect', { path: '.' })).status, 200)
  await server.take({ tokens, issuers: [declared] })
  t.equal((await server.send(jwt, '/inspect', { path: '.' })).status, 200)
})

t.test('ends a stream of events when its token expires', async t => {
  const issuer = await startIssuer(t)
  const key = await makeKey('ES256', 'one')
  issuer.keys.push(key.jwk)
  const server = await startAccessServer(t, {
    issuers: [{ issuer: issuer.url, audience: AUDIENCE, algorithms: ['ES256'] }]
  })
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', iat: now(), scope: 'read', workspace: 'acme' }
  // The tolerance is 30 seconds.
  const token = await sign(key, { ...claims, exp: now() - 28 })
  const stream = await fetch(`${server.url}/events`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  })
  t.equal(stream.status, 200)
  t.match(await stream.text(), /event: ready/)
  t.equal((await server.send(token, '/inspect', { path: '.' })).status, 401)
})

t.test('does nothing for a client that has gone while its token was checked', async t => {
  const issuer = await startIssuer(t)
  const key = await makeKey('ES256', 'one')
  issuer.keys.push(key.jwk)
  const server = await startAccessServer(t, {
    issuers: [{ issuer: issuer.url, audience: AUDIENCE, algorithms: ['ES256'] }]
  })
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', iat: now(), exp: now() + 100 }
  const token = await sign(key, { ...claims, scope: 'edit', workspace: 'acme' })
  const sent = request(`${server.url}/inspect`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const closed = new Promise(resolve => sent.on('error', () => {}).once('close', resolve))
  sent.flushHeaders()
  while (issuer.requests.length === 0) await new Promise(resolve => setTimeout(resolve, 1))
  sent.destroy()
  await closed
  while (server.log.every(line => line.aborted !== true)) await new Promise(resolve => setTimeout(resolve, 5))
  t.equal((await server.send(token, '/inspect', { path: '.' })).status, 200)
  t.equal((await server.send(token, '/%zz')).status, 400, 'a malformed URL is told who may call')
  t.equal((await server.send('a.b.c', '/%zz')).status, 401)
})
