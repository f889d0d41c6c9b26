// Reads from the history the edits that a request means: by id, by author, or the caller's last. Does not know what is
// done with them.
import { fail, ok, type Result } from '../result.ts'
import type { Author, EditRecord, HistoryQuery, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'

/**
 * The size of the first page when looking for one edit; each next page is four times as large, up to the maximum. When
 * all edits are wanted, the first page has the maximum: an edit's state depends on all later edits of its file, which
 * each page has to read. With pages of a thousand, /review of 10,000 edits of 50 files took five times as long.
 */
const FIRST_PAGE = 10
const PAGE = 1000

/** What was found, newest first. `oldest_kept_at` in ms since 1970. */
export interface FoundEdits {
  edits: PastEdit[]
  oldest_kept_at?: number
  /** The requested ids whose edits aren't kept any more. */
  swept?: readonly string[]
}

/** The edits of a query for which `wanted` holds, at most `most`; it reads pages only until it has that many. */
export async function findEdits(
  workspace: Workspace,
  query: Omit<HistoryQuery, 'limit' | 'before'>,
  wanted: (edit: PastEdit) => boolean | Promise<boolean> = () => true,
  most = Infinity
): Promise<Result<FoundEdits, FileFailure>> {
  const edits: PastEdit[] = []
  const isAll = most === Infinity
  let before: string | undefined
  for (let limit = isAll ? most : FIRST_PAGE; ; limit = isAll ? most : Math.min(PAGE, limit * 4)) {
    const page = await workspace.history({ ...query, limit, before })
    if (!page.ok) return fail(page.failure)
    const { edits: found, next_before, ...about } = page.value
    for (const edit of found) if (edits.length < most && (await wanted(edit))) edits.push(edit)
    if (next_before === undefined || edits.length >= most) return ok({ edits, ...about })
    before = next_before
  }
}

/** The edits with these ids; and the ids that aren't kept any more (`swept`), or never existed (`unknown`). */
export async function findByIds(
  workspace: Workspace,
  edit_ids: readonly string[]
): Promise<Result<Required<Pick<FoundEdits, 'swept'>> & FoundEdits & { unknown: string[] }, FileFailure>> {
  const ids = [...new Set(edit_ids)]
  const edits: PastEdit[] = []
  const swept: string[] = []
  let oldest: Pick<FoundEdits, 'oldest_kept_at'> = {}
  for (let i = 0; i < ids.length; i += PAGE) {
    const found = await findEdits(workspace, { edit_ids: ids.slice(i, i + PAGE) })
    if (!found.ok) return found
    const { edits: some, swept: gone = [], ...about } = found.value
    edits.push(...some)
    swept.push(...gone)
    oldest = about
  }
  const known = new Set([...edits.map(({ record }) => record.edit_id), ...swept])
  return ok({ edits, ...oldest, swept, unknown: ids.filter(id => !known.has(id)) })
}

/** Whether a caller asked for it as an edit: it isn't an undo, a redo or another program's change. */
export const isOrdinary = ({ operation }: EditRecord): boolean => !['undo', 'redo', 'outside'].includes(operation)

export const isApplied = ({ state }: PastEdit): boolean => state === 'applied' || state === 'partly_undone'

/** Whether a record is the caller's own, by the rules of `ownQuery`. */
export function isOwn(record: Author, caller: Author): boolean {
  const own = Object.entries(ownQuery(caller)) as [keyof Author, string | null][]
  return own.every(([name, value]) => (record[name] ?? null) === value)
}

/**
 * The part of a query that selects exactly the caller's own edits: those with the same agent and, if the caller's
 * session is known, the same session. Callers who give no name count as one caller; but with a token, all edits made
 * with the token are their own, including those that agents named themselves in.
 */
export function ownQuery({ token, agent, session }: Author): Pick<HistoryQuery, 'token' | 'agent' | 'session'> {
  if (token !== undefined) {
    return { token, ...(agent !== undefined && { agent }), ...(session !== undefined && { session }) }
  }
  return {
    agent: agent ?? null,
    ...((agent === undefined || session !== undefined) && { session: session ?? null })
  }
}

/** The path of a record as callers write it. */
export const pathOf = ({ path }: EditRecord): string => path.toString()

/** Half of a move, as the history records it. */
type Half = EditRecord & Required<Pick<EditRecord, 'moved' | 'batch_id'>>

export const isHalf = (record: EditRecord): record is Half =>
  record.moved !== undefined && record.batch_id !== undefined

/** The other half of a move; undefined if the caller may not see it, it isn't kept any more, or it isn't a move. */
export async function otherHalfOf(
  workspace: Workspace,
  record: EditRecord,
  batches = new Map<string, readonly EditRecord[]>()
): Promise<Result<EditRecord | undefined, FileFailure>> {
  if (!isHalf(record)) return ok(undefined)
  const { batch_id, path, moved } = record
  let records = batches.get(batch_id)
  if (records === undefined) {
    const found = await findEdits(workspace, { batch_id })
    if (!found.ok) return found
    records = found.value.edits.map(({ record }) => record)
    batches.set(batch_id, records)
  }
  return ok(records.find(other => other.path.equals(moved) && other.moved?.equals(path)))
}
