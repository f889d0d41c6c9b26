// Tells clients where to get a token for this server: OAuth Protected Resource Metadata (RFC 9728). Does not know how a
// token is checked.
import type { OAuthProtectedResourceMetadata } from '@modelcontextprotocol/server'
import type { Issuer } from './issuer.ts'

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'

export interface Resource {
  /** The URL of the metadata; a proxy has to forward it to this server. */
  readonly url: string
  readonly metadata: OAuthProtectedResourceMetadata
}

/**
 * The resource for a client with this Host header: the audience on that host, else the first one, since a proxy may
 * change the header. Only an audience says what this server's URL is, never the request. Null: there are no issuers.
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
      // Clients ask for all of these, even if a challenge asks for fewer.
      ...(scopes_supported.length > 0 && { scopes_supported }),
      bearer_methods_supported: ['header'],
      resource_name: 'editd'
    }
  }
}
