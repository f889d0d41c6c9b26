// The workspaces that a server serves, and who may use them; with an access file, both can be replaced while it runs.
// Does not know routes, or what can be done with a workspace.
import { isDeepStrictEqual } from 'node:util'
import type { Audit } from './audit/audit.ts'
import type { Access, AccessWorkspace } from './config/access-file.ts'
import type { Config } from './config/config.ts'
import { makeDrain } from './http/drain.ts'
import type { Grant, Identify } from './http/access/grant.ts'
import type { Jwts } from './http/access/jwts.ts'
import { resourceFor, type Resource } from './http/access/resource.ts'
import { identifyBy, namedTokens, oneToken } from './http/access/tokens.ts'
import type { FileFailure } from './workspace/failure.ts'
import type { Workspace } from './workspace/api.ts'

/** A workspace, opened with these settings. */
export interface Space {
  readonly config: Config
  readonly workspace: Workspace
  /** Counts a request as running; the workspace stays open until the returned function is called. */
  enter(): () => void
}

/** Who may call from now on: an access file's content, or the one token. */
export type Credentials = Access | string

export interface Spaces {
  /** Finds who a token belongs to; null: no token is needed. */
  readonly identify: Identify | null
  /** Where clients get a token, for the Host header of a request; null: there are no issuers. */
  resource(host: string | undefined): Resource | null
  /** Settings that all workspaces share. */
  readonly config: Config
  /** What is served, for a person: `root=PATH`, or `workspaces=NAME,NAME`. */
  readonly served: string
  /** The workspace of a grant, or the only one; undefined if it is gone. */
  of(grant: Grant | null): Space | undefined
  /** Any workspace, for what is the same in all. */
  any(): Space
  /** `failure`: why none of them can be used now, or null. `isPartial`: some can't be used. */
  ready(): Promise<{ failure: FileFailure | null; isPartial: boolean }>
  degraded(): boolean
  /** The one audit file of all workspaces; null: there is none. */
  readonly audit: Pick<Audit, 'failing'> | null
  /** Ends all waiting for changes. */
  endFollowing(): void
  /**
   * Serves these from now on; a workspace that is no longer among them is closed once nothing runs in it. If it throws,
   * nothing has changed. Only one call at a time.
   */
  replace(credentials: Credentials): Promise<void>
  /** Waits for running requests. */
  close(): Promise<void>
}

type Report = (event: object) => void

const makeSpace = (config: Config, workspace: Workspace, report: Report) => {
  const drain = makeDrain()
  /** Why it wasn't ready at the last check. */
  let hindrance: string | null = null
  return {
    config,
    workspace,
    async ready(): Promise<FileFailure | null> {
      const failure = await workspace.ready()
      const before = hindrance
      hindrance = failure === null ? null : 'reason' in failure ? failure.reason : failure.code
      if (hindrance === before) return failure
      report(failure === null ? { event: 'ready_again' } : { event: 'not_ready', reason: hindrance })
      return failure
    },
    enter: () => drain.enter(),
    async retire() {
      workspace.endFollowing()
      await drain.close()
      await workspace.close()
    }
  }
}
type OpenSpace = ReturnType<typeof makeSpace>

/**
 * The one space of a server without an access file; its credentials are a token. `report` receives `not_ready` events.
 */
export function oneSpace(config: Config, workspace: Workspace, report: Report): Spaces {
  const space = makeSpace(config, workspace, report)
  let identify = config.token === null ? null : oneToken(config.token)
  return {
    // Looked up at each request, since the token may be replaced.
    identify: identify && (token => identify!(token)),
    async replace(token: string) {
      identify = oneToken(token)
    },
    resource: () => null,
    config,
    served: `root=${workspace.root}`,
    of: () => space,
    any: () => space,
    ready: async () => ({ failure: await space.ready(), isPartial: false }),
    degraded: () => workspace.degraded(),
    audit: workspace.audit,
    endFollowing: () => workspace.endFollowing(),
    close: () => workspace.close()
  }
}

/** A workspace can't be opened with these settings; `cause` says why. */
export class CantOpen extends Error {
  readonly config: Config

  constructor(config: Config, cause: unknown) {
    super('a workspace can not be opened', { cause })
    this.config = config
  }
}

interface Opened {
  spaces: ReadonlyMap<string, { declared: AccessWorkspace; space: OpenSpace }>
  identify: Identify
  issuers: Access['issuers']
  jwts: Jwts | undefined
}

/** The spaces of an access file; none before the first `replace`. */
export class AccessSpaces implements Spaces {
  readonly config: Config
  readonly #open: (config: Config, name: string) => Promise<Workspace>
  readonly #retiring = new Set<Promise<void>>()
  #opened: Opened = { spaces: new Map(), identify: namedTokens([]), issuers: [], jwts: undefined }
  readonly #report: Report

  /** `report` receives events about issuers whose keys can't be fetched and workspaces that aren't ready. */
  constructor(config: Config, open: (config: Config, name: string) => Promise<Workspace>, report: Report) {
    this.config = config
    this.#open = open
    this.#report = report
  }

  /**
   * Opens a whole new set, besides the one that is served; unchanged workspaces stay open. If one can't be opened, it
   * closes what it opened, and throws.
   */
  async replace({ workspaces, tokens, issuers }: Access): Promise<void> {
    const before = this.#opened.spaces
    const spaces = new Map<string, { declared: AccessWorkspace; space: OpenSpace }>()
    const added: OpenSpace[] = []
    let jwts: Jwts | undefined
    try {
      for (const declared of workspaces) {
        const kept = before.get(declared.name)
        if (kept !== undefined && isDeepStrictEqual(kept.declared, declared)) {
          spaces.set(declared.name, kept)
          continue
        }
        const config = { ...this.config, ...declared.settings }
        const workspace = await this.#open(config, declared.name)
        const space = makeSpace(config, workspace, event => this.#report({ ...event, workspace: declared.name }))
        added.push(space)
        spaces.set(declared.name, { declared, space })
      }
      jwts = await this.#jwtsOf(issuers, new Set(spaces.keys()))
    } catch (error) {
      await Promise.all(added.map(space => space.retire()))
      throw error
    }
    this.#opened = { spaces, identify: identifyBy(namedTokens(tokens), jwts), issuers, jwts }
    for (const [name, { space }] of before) {
      if (spaces.get(name)?.space !== space) this.#retire(space)
    }
  }

  /** Loaded before it is served: an import that fails once fails until the process ends. */
  async #jwtsOf(issuers: Access['issuers'], names: ReadonlySet<string>): Promise<Jwts | undefined> {
    if (issuers.length === 0) return undefined
    const { makeJwts } = await import('./http/access/jwts.ts')
    return makeJwts(issuers, names, { report: this.#report }, this.#opened.jwts)
  }

  #retire(space: OpenSpace): void {
    const retired = space.retire().finally(() => {
      this.#retiring.delete(retired)
    })
    this.#retiring.add(retired)
  }

  readonly identify: Identify = token => {
    const opened = this.#opened
    const identified = opened.identify(token)
    if (!(identified instanceof Promise)) return identified
    // A caller found by a file that isn't served any more may be unknown to the new one.
    return identified.then(found => (this.#opened === opened ? found : this.identify(token)))
  }

  resource(host: string | undefined): Resource | null {
    return resourceFor(this.#opened.issuers, host)
  }

  of(grant: Grant | null): Space | undefined {
    return grant === null ? undefined : this.#opened.spaces.get(grant.workspace)?.space
  }

  get served(): string {
    return `workspaces=${[...this.#opened.spaces.keys()].join(',')}`
  }

  #all(): OpenSpace[] {
    return [...this.#opened.spaces.values()].map(({ space }) => space)
  }

  any(): Space {
    return this.#all()[0]!
  }

  async ready(): Promise<{ failure: FileFailure | null; isPartial: boolean }> {
    const all = await Promise.all(this.#all().map(space => space.ready()))
    const failures = all.filter(failure => failure !== null)
    const isPartial = failures.length < all.length
    return isPartial ? { failure: null, isPartial: failures.length > 0 } : { failure: failures[0]!, isPartial }
  }

  degraded(): boolean {
    return this.#all().some(({ workspace }) => workspace.degraded())
  }

  get audit(): Pick<Audit, 'failing'> | null {
    return this.any().workspace.audit
  }

  endFollowing(): void {
    for (const { workspace } of this.#all()) workspace.endFollowing()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#retiring, ...this.#all().map(({ workspace }) => workspace.close())])
  }
}
