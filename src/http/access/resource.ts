// What this server tells clients of where to get a token for it: OAuth Protected Resource Metadata (RFC 9728). Does not
// know how a token is checked.
import type { OAuthProtectedResourceMetadata } from '@modelcontextprotocol/server'
import type { Issuer } from './issuer.ts'

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'

/** One resource. */
export interface Resource {
  /** Where clients find the metadata, which a proxy has to pass on to this server. */
  readonly url: string
  readonly metadata: OAuthProtectedResourceMetadata
}

/**
 * The resource that a client with this Host header means: an audience on that host, otherwise the first one, since a
 * proxy may change the header. The audience says what the URL of this server is; nothing of a request does. Null: there
 * are no issuers.
 */
export function resourceFor(issuers: readonly Issuer[], host = ''): Resource | null {
  const [first, ...others] = issuers
  if (first === undefined) return null
  const { audience } = [first, ...others].find(issuer => new URL(issuer.audience).host === host.toLowerCase()) ?? first
  const own = issuers.filter(one => one.audience === audience)
  const scopes_supported = [...new Set(own.flatMap(({ scopes }) => scopes))]
  const { origin, pathname } = new URL(audience)
  return {
    url: `${origin}${RESOURCE_METADATA_PATH}${pathname === '/' ? '' : pathname}`,
    metadata: {
      resource: audience,
      authorization_servers: own.map(({ issuer }) => issuer),
      // A client asks for all of them, even if it was told to ask for less.
      ...(scopes_supported.length > 0 && { scopes_supported }),
      bearer_methods_supported: ['header'],
      resource_name: 'editd'
    }
  }
}
