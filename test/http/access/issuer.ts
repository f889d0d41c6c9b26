// An issuer of JWTs for tests: serves its metadata and keys over HTTP on loopback, and signs tokens.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import type { Test } from 'tap'

export interface KeyPair {
  alg: string
  kid: string
  privateKey: CryptoKey
  jwk: JWK
}

export async function makeKey(alg: string, kid: string): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** `answers`: replaces the answer at a path; `requests`: the requested paths in order. */
export interface TestIssuer {
  url: string
  keys: JWK[]
  answers: Map<string, { status?: number; body?: unknown; location?: string }>
  requests: string[]
  /** Stops listening. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts an issuer whose URL has this path. */
export async function startIssuer(t: Test, path = ''): Promise<TestIssuer> {
  const keys: JWK[] = []
  const answers: TestIssuer['answers'] = new Map()
  const requests: string[] = []
  let server: Server
  let port = 0
  const listen = () =>
    new Promise<void>(resolve => {
      server = createServer((request, response) => {
        const { url = '' } = request
        requests.push(url)
        const known: Record<string, unknown> = {
          [`/.well-known/oauth-authorization-server${path}`]: { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` },
          [`${path}/jwks`]: { keys }
        }
        const { status = url in known ? 200 : 404, body = known[url], location } = answers.get(url) ?? {}
        response.writeHead(status, { 'content-type': 'application/json', ...(location !== undefined && { location }) })
        response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
      })
      server.listen(port, '127.0.0.1', resolve)
    })
  const stop = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const issuer: TestIssuer = { url: '', keys, answers, requests, stop, start: listen }
  await listen()
  port = (server!.address() as AddressInfo).port
  issuer.url = `http://127.0.0.1:${port}${path}`
  t.teardown(stop)
  return issuer
}

export const now = () => Math.floor(Date.now() / 1000)

/** A token with these claims, signed by a key; `header` is added to its own. */
export const sign = ({ alg, kid, privateKey }: KeyPair, claims: object, header: object = {}): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey)
