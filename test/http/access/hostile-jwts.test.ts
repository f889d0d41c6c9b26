// Hostile JWTs: each is refused, and touches nothing.
// runs in .ci/run
import { createHmac, createSign, KeyObject } from 'node:crypto'
import { connect } from 'node:net'
import { exportSPKI, importJWK, type CryptoKey } from 'jose'
import t from 'tap'
import { ONLY_CI } from '../../often.ts'
import { startAccessServer } from './access-server.ts'
import { makeKey, now, sign, startIssuer, type KeyPair } from './issuer.ts'

/** Wrong tokens; of more than 60 a minute, the others are answered otherwise. */
const AT_ONE_SERVER = 50
const AUDIENCE = 'https://editd.example/mcp'
const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)

t.test('takes none of them', { skip: ONLY_CI }, async t => {
  const issuer = await startIssuer(t)
  const other = await startIssuer(t)
  const [ec, rsa, strange] = await Promise.all([
    makeKey('ES256', 'ec'),
    makeKey('RS256', 'rsa'),
    makeKey('ES256', 'ec')
  ])
  issuer.keys.push(ec.jwk, rsa.jwk)
  other.keys.push(strange.jwk)
  const access = { issuers: [{ issuer: issuer.url, audience: AUDIENCE, algorithms: ['ES256', 'RS256'] }] }
  const claims = (changed: object = {}) => ({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'ann',
    iat: now(),
    nbf: now(),
    exp: now() + 300,
    scope: 'edit',
    workspace: 'acme',
    ...changed
  })
  const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name))
  const right = await sign(ec, claims())
  const [head = '', body = '', signature = ''] = right.split('.')
  /** Signed by Node itself, since jose signs nothing like these. */
  const raw = (header: string, payload: string, { privateKey }: KeyPair = ec) => {
    const key = KeyObject.from(privateKey as never)
    const bytes = createSign('sha256').update(`${part(header)}.${part(payload)}`)
    return `${part(header)}.${part(payload)}.${bytes.sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url')}`
  }
  const header = (changed: object = {}) => JSON.stringify({ alg: 'ES256', kid: 'ec', typ: 'at+jwt', ...changed })
  const json = JSON.stringify(claims())
  const hmac = (key: string | Buffer, changed: object = {}) => {
    const signed = `${part({ alg: 'HS256', kid: 'rsa', typ: 'at+jwt', ...changed })}.${part(claims())}`
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
  }
  const pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as CryptoKey)
  const rs512 = { ...(await makeKey('RS512', 'rsa')) }
  const unsigned = (changed: object) => `${part({ kid: 'ec', typ: 'at+jwt', ...changed })}.${body}.`

  const tokens: [string, string, status?: number][] = [
    ['none', unsigned({ alg: 'none' })],
    ['nOnE with the signature of another', `${part({ alg: 'nOnE', kid: 'ec' })}.${body}.${signature}`],
    ['no alg', unsigned({})],
    ['HS256 with the public key as PEM', hmac(pem)],
    ['HS256 with the public key as a JWK', hmac(JSON.stringify(rsa.jwk))],
    ['HS256 with an empty key', hmac('')],
    ['HS256 that says RS256', hmac(pem, { alg: 'RS256' })],
    ['expired', await sign(ec, claims({ exp: now() - 60 }))],
    ['not valid yet', await sign(ec, claims({ nbf: now() + 600 }))],
    ['issued in the future', await sign(ec, claims({ iat: now() + 600 }))],
    ['wrong audience', await sign(ec, claims({ aud: 'https://other.example' }))],
    ['a list of other audiences', await sign(ec, claims({ aud: ['https://a.example', `${AUDIENCE}/`] }))],
    ['no audience', await sign(ec, without('aud'))],
    ['issuer that is not known', await sign(strange, claims({ iss: other.url }))],
    ['issuer with a slash more', await sign(ec, claims({ iss: `${issuer.url}/` }))],
    ['issuer as a list', await sign(ec, claims({ iss: [issuer.url] }))],
    ['no issuer', await sign(ec, without('iss'))],
    ['unknown kid', await sign(ec, claims(), { kid: 'none-such' })],
    ['kid as a path', await sign(ec, claims(), { kid: '../../../../dev/null' })],
    ['kid as a URL', await sign(strange, claims(), { kid: `${other.url}/jwks` })],
    ['kid as a number', raw(header({ kid: 1 }), json)],
    ['a very long kid', await sign(ec, claims(), { kid: 'e'.repeat(300) })],
    ['jku elsewhere', await sign(strange, claims(), { jku: `${other.url}/jwks` })],
    ['jku elsewhere, signed right', await sign(ec, claims(), { jku: `${other.url}/jwks` })],
    ['x5u elsewhere', await sign(strange, claims(), { x5u: `${other.url}/cert` })],
    ['a key of its own', await sign(strange, claims(), { jwk: strange.jwk })],
    ['a key of its own, without kid', await sign(strange, claims(), { jwk: strange.jwk, kid: undefined })],
    ['crit that nobody knows', raw(header({ crit: ['x'], x: 1 }), json)],
    ['empty crit', raw(header({ crit: [] }), json)],
    ['payload that is not encoded (b64)', raw(header({ crit: ['b64'], b64: false }), json)],
    ['b64 without crit', raw(header({ b64: false }), json)],
    ['type of an ID for logging out', await sign(ec, claims(), { typ: 'logout+jwt' })],
    ['type of a DPoP proof', await sign(ec, claims(), { typ: 'dpop+jwt' })],
    ['type as a list', raw(header({ typ: ['at+jwt'] }), json)],
    ['bound to a key of its holder', await sign(ec, claims({ cnf: { jkt: 'x' } }))],
    ['a claim twice', raw(header(), json.replace('{', '{"scope":"read",'))],
    ['a header field twice', raw(header().replace('{', '{"alg":"none",'), json)],
    ['header that is no object', raw('["ES256"]', json)],
    ['claims that are no object', raw(header(), '"x"')],
    ['claims that are no JSON', raw(header(), '{')],
    ['claims that are not UTF-8', `${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${signature}`],
    ['signature cut', `${head}.${body}.${signature.slice(0, -4)}`],
    ['signature of another token', `${head}.${body}.${(await sign(ec, claims({ sub: 'bob' }))).split('.')[2]}`],
    ['signature changed', `${head}.${body}.${flip(signature)}`],
    ['no signature', `${head}.${body}.`],
    ['claims changed', `${head}.${part({ ...claims(), scope: 'review' })}.${signature}`],
    ['r and s zero', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['r and s zero, as DER', `${head}.${body}.${Buffer.from('3006020100020100', 'hex').toString('base64url')}`],
    ['RS512, which is not taken', await sign({ ...rs512, kid: 'rsa' }, claims())],
    ['another key of the same kid', await sign(strange, claims())],
    ['a key of another kind', await sign(ec, claims(), { kid: 'rsa' })],
    ['no exp', await sign(ec, without('exp'))],
    ['exp as a text', raw(header(), JSON.stringify(claims({ exp: String(now() + 300) })))],
    ['endless exp', raw(header(), json.replace(/"exp":\d+/, '"exp":1e999'))],
    ['no iat', await sign(ec, without('iat'))],
    ['no sub', await sign(ec, without('sub'))],
    ['sub as a number', raw(header(), JSON.stringify(claims({ sub: 1 })))],
    ['sub with a line break', await sign(ec, claims({ sub: 'ann\nbob' }))],
    ['sub with a space', await sign(ec, claims({ sub: 'ann bob' }))],
    ['empty sub', await sign(ec, claims({ sub: '' }))],
    ['endless sub', await sign(ec, claims({ sub: 'x'.repeat(300) }))],
    ['scope as a list in a list', await sign(ec, claims({ scope: [['review']] }))],
    ['scope as a list with a number', await sign(ec, claims({ scope: ['review', 2] }))],
    ['scope as a number', await sign(ec, claims({ scope: 2 }))],
    ['workspace as an object', await sign(ec, claims({ workspace: { 0: 'acme' } }))],
    ['workspace as two of a list', await sign(ec, claims({ workspace: ['acme', 'beta'] })), 403],
    ['five parts', `${right}.${body}.${signature}`],
    ['two parts', `${head}.${body}`],
    ['padded', `${head}=.${body}.${signature}`],
    ['a comma and another', `${right},${right}`],
    ['too long', await sign(ec, claims({ more: 'x'.repeat(8000) }))],
    // Valid, and grant nothing.
    ['no scope', await sign(ec, without('scope')), 403],
    ['scope of others', await sign(ec, claims({ scope: 'openid READ edit2 reviewer edit,review' })), 403],
    ['scopes apart by tabs', await sign(ec, claims({ scope: 'openid\tedit' })), 403],
    ['no workspace', await sign(ec, without('workspace')), 403],
    ['workspace that is not there', await sign(ec, claims({ workspace: 'none' })), 403],
    ['workspace as a path', await sign(ec, claims({ workspace: '../acme' })), 403],
    ['workspace in other case', await sign(ec, claims({ workspace: 'ACME' })), 403],
    ['workspace with a zero', await sign(ec, claims({ workspace: 'acme\0' })), 403],
    ['workspace of all objects', await sign(ec, claims({ workspace: '__proto__' })), 403]
  ]
  const edit = { path: 'a.txt', old_text: 'end', new_text: 'changed' }
  t.ok(tokens.length >= 30)
  for (let i = 0; i < tokens.length; i += AT_ONE_SERVER) {
    await t.test(`from number ${i} on`, async t => {
      const server = await startAccessServer(t, access)
      for (const [name, token, status = 401] of tokens.slice(i, i + AT_ONE_SERVER)) {
        const { text, headers, ...reply } = await server.send(token, '/edit', edit)
        t.equal(reply.status, status, `${name}: ${text.slice(0, 300)}`)
        t.match(headers.get('www-authenticate') ?? '', status === 401 ? /error="invalid_token"/ : /^$|insufficient/)
        t.notMatch(text, signature.slice(0, 20))
      }
      t.equal(server.read('acme/a.txt'), 'end\n', 'nothing was touched')
      t.notMatch(JSON.stringify(server.log), signature, 'no token is logged')
    })
  }

  const server = await startAccessServer(t, access)
  /** The status of a request with these lines. */
  const statusOf = async (...lines: string[]) => {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    const content = JSON.stringify(edit)
    const head = ['POST /edit HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...lines]
    const all = [...head, 'Connection: close', `Content-Length: ${content.length}`, '']
    socket.write(Buffer.from(`${all.join('\r\n')}\r\n${content}`, 'latin1'))
    let text = ''
    socket.setEncoding('latin1').on('data', chunk => (text += chunk))
    await new Promise(resolve => socket.once('close', resolve))
    return text.split('\r\n')[0] ?? ''
  }
  const heads: [string, ...string[]][] = [
    ['without Bearer', `Authorization: ${right}`],
    ['as Basic', `Authorization: Basic ${right}`],
    ['as JWT', `Authorization: JWT ${right}`],
    ['with a control character', `Authorization: Bearer ${right}\x01`],
    ['with a control character within', `Authorization: Bearer ${head}.\x7f${body}.${signature}`],
    ['after a wrong one', 'Authorization: Bearer wrong', `Authorization: Bearer ${right}`],
    ['with a space within', `Authorization: Bearer ${head}. ${body}.${signature}`],
    ['1 MB', `Authorization: Bearer ${right}${'A'.repeat(1_000_000)}`],
    ['in another header', `X-Authorization: Bearer ${right}`],
    ['in a cookie', `Cookie: access_token=${right}`]
  ]
  // The answer to a large head may be lost with the connection; a success never is.
  for (const [name, ...lines] of heads) t.match(await statusOf(...lines), /^$|^HTTP\/1\.1 4/, name)
  t.equal((await server.send('x', `/edit?access_token=${right}`, edit)).status, 401, 'in the URL')

  t.equal(server.read('acme/a.txt'), 'end\n', 'nothing was touched')
  t.strictSame(other.requests, [], 'nobody was asked whom a token names')
  t.notMatch(JSON.stringify(server.log), signature, 'no token is logged')
  t.equal((await server.send(right, '/edit', edit)).status, 200, 'the right one is taken')
  t.match(await statusOf(`authorization: bEaReR ${right}`), /422|200/, 'whatever the case of Bearer')
})
