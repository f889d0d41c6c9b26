// What the tests of find share: queries, and results in short.
import type {
  FailedAccess,
  FindFailure,
  FindQuery,
  FoundFiles,
  FoundUse,
  TextRange,
  Workspace
} from '../../../src/workspace/api.ts'
import { Finder } from '../../../src/folder/find/finder.ts'
import type { FindPlace } from '../../../src/folder/find/list-names.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { limitPolicy, makePolicy, type Policy } from '../../../src/workspace/policy.ts'
import type { FileFailure } from '../../../src/workspace/failure.ts'

/** A query for all files, with these fields. */
export const queryOf = (fields: Partial<FindQuery>): FindQuery => ({
  path: '.',
  include: [],
  exclude: [],
  ignored: false,
  sort: 'path',
  max_files: 1000,
  ...fields
})

type Wanted = NonNullable<FindQuery['text']>

export const textOf = (pattern: string, fields: Partial<Wanted> = {}): Wanted => ({
  pattern,
  regex: false,
  ignore_case: false,
  whole_word: false,
  ...fields
})

/** What was matched in a file, and where. */
export interface Match extends TextRange {
  matched: string
}

export const MATCHES: FoundUse<Match[]> = {
  cut: (text, matches) =>
    matches.map(({ start, end }) => ({ start, end, matched: text.subarray(start, end).toString() }))
}

/** What finds: a workspace, or a root. */
type Finds = Pick<Workspace, 'find'>

/** Finds in a root, for as long as it takes, also for callers limited to some paths. To be closed. */
export function seeker(folder: string, options: Partial<FindPlace & { confinement: 'proc' | 'portable' }> = {}) {
  const root = openRoot(folder, options.confinement)
  const stateDir = Buffer.from('/nowhere')
  const policy = makePolicy({ protect: [], readProtect: [], allowExtensions: null, stateDir })
  const closing = new AbortController()
  const place = { policy, readProtect: [], stateDir, maxFileSize: 2e6, hasEndings: false, closing: closing.signal }
  const finder = new Finder({ time: PATIENCE, soon: PATIENCE })
  /** As that policy, at the path of the query. */
  const of = (policy: Policy): Finds => ({
    async find(query, use) {
      const pinned = root.pin(Buffer.from(query.path === '.' ? '' : query.path))
      if (!pinned.ok) throw new Error(`no ${query.path}`)
      try {
        const result = await finder.find({ root, ...place, ...options, policy, pin: pinned.value }, query, use)
        return result.ok ? { ok: true, value: { path: query.path, ...result.value } } : { ...result, path: query.path }
      } finally {
        pinned.value.close()
      }
    }
  })
  return {
    ...of(options.policy ?? policy),
    limitedTo: (paths: readonly string[]) => of(limitPolicy(options.policy ?? policy, paths)),
    close: () => root.close()
  }
}

/** In ms: longer than any test takes, also on a busy machine. */
const PATIENCE = 600_000

export type FindResult<R> = { ok: true; value: FoundFiles<R> } | FailedAccess<FileFailure | FindFailure>

export const find = (workspace: Finds, fields: Partial<FindQuery>): Promise<FindResult<Match[]>> =>
  workspace.find(queryOf(fields), MATCHES)

/** Throws where it failed. */
export async function found(workspace: Finds, fields: Partial<FindQuery>): Promise<FoundFiles<Match[]>> {
  const result = await find(workspace, fields)
  if (!result.ok) throw new Error(JSON.stringify(result.failure))
  return result.value
}

/** The paths found. */
export const pathsIn = async (workspace: Finds, fields: Partial<FindQuery>): Promise<string[]> =>
  (await found(workspace, fields)).files.map(({ path }) => path)
