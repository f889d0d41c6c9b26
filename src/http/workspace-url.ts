// The URL of a request that names its workspace: /w/NAME before the path of any route. Does not know workspaces.

const PREFIX = /^\/w\/([^/?#]+)(?=[/?]|$)/

/** The name in a URL; null where there is none. */
export const workspaceIn = (url: string): string | null => PREFIX.exec(url)?.[1] ?? null

/** What stands before the path of a route. */
export const baseOf = (url: string): string => PREFIX.exec(url)?.[0] ?? ''

/** The URL without it. */
export function withoutWorkspace(url: string): string {
  const rest = url.slice(baseOf(url).length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
