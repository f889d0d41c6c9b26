// JWTs of the issuers in an access file: which we accept, and what their claims grant. Loaded only if there are
// issuers. Does not know headers, and knows workspaces only by name.
import { errors, jwtVerify, type JWTPayload } from 'jose'
import { SCOPES, type Scope } from '../../../schemas/access.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { JwtFault, RequestFailure } from '../request-failure.ts'
import { parseStrictJson } from '../requests/json.ts'
import type { Identified } from './grant.ts'
import type { Issuer } from './issuer.ts'
import { IssuerKeys, type KeyOptions } from './issuer-keys.ts'

/** The longest token, in characters. Chosen, not measured: the tokens of common issuers have up to about 4,000. */
const JWT_MAX = 8_192
/** Tolerated clock difference, in seconds. */
const TOLERANCE = 30
/** The longest name in the history, in characters: the limit that a request has too. */
const NAME_MAX = 200
const KEY_ID_MAX = 256
/** Where most issuers put scopes: RFC 8693 and 9068; Entra ID and Okta; Entra ID for applications. */
const SCOPE_CLAIMS = ['scope', 'scp', 'roles']
const WORKSPACE_CLAIM = 'workspace'

/** The types that access tokens have now (RFC 9068) or had before; tokens of other types serve other purposes. */
const TYPES = ['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt']

/**
 * Header fields that no issuer needs: critical extensions, unencoded payloads, and keys that the token brings along or
 * points to.
 */
const REFUSED_FIELDS = ['crit', 'b64', 'jwk', 'jku', 'x5u']

export interface Jwts {
  identify(token: string): Promise<Identified>
  /** By issuer. */
  readonly keys: ReadonlyMap<string, IssuerKeys>
}

/** `before`: the JWTs of the previous access file; keys of issuers in both are reused. */
export function makeJwts(
  issuers: readonly Issuer[],
  workspaces: ReadonlySet<string>,
  options: KeyOptions,
  before?: Jwts
): Jwts {
  const keys = new Map(
    issuers.map(({ issuer }) => [issuer, before?.keys.get(issuer) ?? new IssuerKeys(issuer, options)])
  )
  const byName = new Map(issuers.map(issuer => [issuer.issuer, issuer]))
  return {
    keys,
    async identify(token) {
      const read = readJwt(token)
      if (!read.ok) return read
      const { header, iss } = read.value
      const trusted = byName.get(iss)
      if (trusted === undefined) return refused('issuer')
      const fault = headerFault(header, trusted)
      if (fault !== null) return refused(fault)
      const found = await keys.get(iss)!.keyFor(header)
      if ('unreachable' in found) {
        return fail({ code: 'NOT_READY', reason: 'issuer_unreachable', retry_after: found.retry_after })
      }
      if (found.key === null) return refused('key')
      const { issuer, audience, aud = audience, algorithms } = trusted
      try {
        const { payload } = await jwtVerify(token, found.key, {
          issuer,
          audience: aud,
          algorithms: [...algorithms],
          clockTolerance: TOLERANCE,
          requiredClaims: ['exp', 'iat', 'sub']
        })
        return grantOf(payload, trusted, workspaces)
      } catch (error) {
        return refusalOf(error)
      }
    }
  }
}

const refused = (fault: JwtFault) => fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'jwt', fault })
const refusedFor = (claim: string) =>
  fail<RequestFailure>({ code: 'UNAUTHORIZED', reason: 'jwt', fault: 'claims', claim })

interface Header extends Record<string, unknown> {
  alg: string
  kid?: string
}

/** Reads the header and issuer of an unverified token. */
function readJwt(token: string): Result<{ header: Header; iss: string }, RequestFailure> {
  if (token.length > JWT_MAX) return refused('length')
  const [header, claims] = token.split('.', 2).map(part => parseStrictJson(Buffer.from(part, 'base64url')))
  if (!header?.ok || !claims?.ok || !isObject(header.value) || !isObject(claims.value)) return refused('form')
  const { iss } = claims.value
  const { alg, kid } = header.value
  const isKeyId = kid === undefined || (typeof kid === 'string' && kid.length <= KEY_ID_MAX)
  if (typeof alg !== 'string' || !isKeyId) return refused('form')
  if (typeof iss !== 'string') return refused('issuer')
  return ok({ header: header.value as Header, iss })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function headerFault(header: Header, { algorithms }: Issuer): JwtFault | null {
  if (!algorithms.includes(header.alg)) return 'algorithm'
  if (REFUSED_FIELDS.some(field => Object.hasOwn(header, field))) return 'form'
  const { typ } = header
  return typ === undefined || (typeof typ === 'string' && TYPES.includes(typ.toLowerCase())) ? null : 'type'
}

function refusalOf(error: unknown): Identified {
  if (error instanceof errors.JWTExpired) return refused('expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error
    if (claim === 'aud') return refused('audience')
    return claim === 'nbf' && error.reason === 'check_failed' ? refused('time') : refusedFor(claim)
  }
  if (error instanceof errors.JOSEError || error instanceof DOMException || error instanceof TypeError) {
    return refused('key')
  }
  /* c8 ignore next 2 -- what else is thrown is a bug of ours or of jose's, and told as one */
  throw error
}

/** What verified claims grant, if they are valid now. */
function grantOf(payload: JWTPayload, trusted: Issuer, workspaces: ReadonlySet<string>): Identified {
  const { sub, exp = NaN, iat = NaN, cnf } = payload
  const { issuer, scopeValues, workspaceValues } = trusted
  if (iat > Date.now() / 1000 + TOLERANCE) return refused('time')
  // The token is bound to a key that the caller would have to prove it holds, which this server doesn't support.
  if (cnf !== undefined) return refused('bound')
  // May have any type: jose checks only some claims.
  const isSubject = typeof (sub as unknown) === 'string' && /^[\x21-\x7e]+$/.test(sub ?? '')
  const name = `${issuer}#${sub}`
  if (!Number.isFinite(exp)) return refusedFor('exp')
  if (!isSubject || name.length > NAME_MAX) return refusedFor('sub')
  const { scopeClaims = SCOPE_CLAIMS, workspaceClaim = WORKSPACE_CLAIM } = trusted
  const scopes = scopeClaims.map(claim => textsIn(payload, claim)?.flatMap(text => text.split(' ')))
  const named = trusted.workspace === undefined ? textsIn(payload, workspaceClaim) : [trusted.workspace]
  if (named === undefined) return refusedFor(workspaceClaim)
  const odd = scopes.indexOf(undefined)
  if (odd !== -1) return refusedFor(scopeClaims[odd]!)
  const words = scopes.flatMap(some => some ?? [])
  const granted = highest(scopeValues === undefined ? words : words.map(word => scopeValues.get(word)))
  const names =
    workspaceValues === undefined || trusted.workspace !== undefined
      ? named
      : named.map(name => workspaceValues.get(name))
  const [own, other] = new Set(names.filter(name => name !== undefined && workspaces.has(name)))
  const byIssuer = wordsOf(scopeValues)
  if (granted === undefined) return fail({ code: 'FORBIDDEN_SCOPE', lacks: 'scope', ask: byIssuer.read })
  if (own === undefined || other !== undefined) return fail({ code: 'FORBIDDEN_SCOPE', lacks: 'workspace' })
  return ok({
    name,
    workspace: own,
    scope: granted,
    paths: null,
    memoryRoot: null,
    expires: (exp + TOLERANCE) * 1000,
    byIssuer
  })
}

/** The highest of our scopes among a token's words; other words may be meant for other services. */
const highest = (words: readonly (string | undefined)[]): Scope | undefined =>
  SCOPES.findLast(one => words.includes(one))

/** The issuer's word for each of our scopes; the first one if it has several. */
function wordsOf(values: Issuer['scopeValues']): Record<Scope, string> {
  const word = (scope: Scope): string => [...(values ?? [])].find(([, one]) => one === scope)?.[0] ?? scope
  return { read: word('read'), edit: word('edit'), review: word('review') }
}

/**
 * The texts in a claim, [] if it is missing; undefined: it holds something else. A dot in the name leads into an
 * object.
 */
function textsIn(payload: JWTPayload, claim: string): string[] | undefined {
  const value = Object.hasOwn(payload, claim)
    ? payload[claim]
    : claim
        .split('.')
        .reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), payload)
  const texts = Array.isArray(value) ? value : value === undefined ? [] : [value]
  return texts.every(text => typeof text === 'string') ? texts : undefined
}
