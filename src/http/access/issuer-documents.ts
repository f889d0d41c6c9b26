// Fetches a token issuer's metadata (RFC 8414, OpenID Connect Discovery) and keys, each in one bounded request. Does
// not know tokens, or when to fetch.

/** In ms; chosen, not measured. */
const TIMEOUT = 5_000
/** In bytes: about a hundred keys with their certificates. Chosen, not measured. */
const LONGEST = 512 * 1024

/**
 * Fetches the JSON at a URL. Throws when that fails. Follows no redirect, which could lead to a host that nobody
 * configured.
 */
export async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
    headers: { accept: 'application/json, application/jwk-set+json' }
  })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new Error(`${url} answered with status ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.length
    if (length > LONGEST) throw new Error(`${url} has more than ${LONGEST} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** Where an issuer's metadata may be: the RFC 8414 URL, then the OpenID Connect URL. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`
  ]
}

/**
 * The URL of an issuer's keys, from its metadata. Throws when the metadata can't be fetched or belongs to another
 * issuer.
 */
export async function findKeys(issuer: string): Promise<string> {
  const refusals: string[] = []
  for (const url of metadataUrls(issuer)) {
    const read = await readJson(url).catch((error: unknown) => error)
    if (read instanceof Error) {
      refusals.push(reasonOf(read))
      continue
    }
    const { issuer: named, jwks_uri } = { ...(read as { issuer?: unknown; jwks_uri?: unknown } | null) }
    if (named !== issuer) refusals.push(`${url} is not of this issuer`)
    else if (typeof jwks_uri !== 'string' || !isAsSafe(jwks_uri, issuer)) refusals.push(`${url} has no usable jwks_uri`)
    else return jwks_uri
  }
  throw new Error(refusals.join('; '))
}

/** Whether a URL is https, or has the issuer's own scheme and host. An http issuer is on this machine. */
function isAsSafe(url: string, issuer: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const own = new URL(issuer)
  return protocol === 'https:' || (protocol === own.protocol && hostname === own.hostname)
}

/** Why a request failed, for a log line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause : null
  const code = cause !== null && 'code' in cause ? String(cause.code) : null
  return code === null ? error.message : `${error.message} (${code})`
}
