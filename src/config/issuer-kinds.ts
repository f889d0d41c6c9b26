// The values allowed in the issuers of an access file. Does not know tokens, or how a URL is fetched.
import { isIPv4 } from 'node:net'
import { kind, oneOf } from './value-kinds.ts'

/** Whether a URL points to this machine, so that nobody in between can change what is sent. */
const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  (isIPv4(hostname) && hostname.startsWith('127.'))

/** A URL without user, query and fragment, with https, or with http on this machine. */
function isSafeUrl(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || /[?#\\]/.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
  return isSafe && url.username === '' && url.password === '' && /^https?:\/\/[^/]/.test(text)
}

/** Its tokens are named by issuer and `sub`; this leaves a quarter of the name for `sub`. */
const ISSUER_MAX = 150

export const ISSUER = kind(
  `the URL of an issuer such as https://id.example, by https (http only on this machine), up to ${ISSUER_MAX} characters, ` +
    'without query and fragment',
  text => (text.length <= ISSUER_MAX && isSafeUrl(text) ? text : undefined)
)

export const AUDIENCE = kind(
  'the URL that clients have of this server such as https://editd.example/mcp, by https (http only on this machine), ' +
    'without query and fragment',
  text => (isSafeUrl(text) ? text : undefined)
)

/** A value that is allowed in `scope` (RFC 6749, 3.3), and in a quoted header value. */
export const SCOPE_TOKEN = kind(
  'a scope of an issuer, of visible ASCII without quotation marks and backslashes',
  text => (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text) ? text : undefined)
)

/** Signatures with a private key. With a shared secret, everyone who can check a token could make one. */
export const JWT_ALGORITHM = oneOf(
  ...(['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519'] as const)
)
