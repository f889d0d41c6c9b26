// The edits that a request means, read from the history: by their ids, whose they are, or the caller's last. Does not
// know what is done with them.
import { fail, ok, type Result } from '../result.ts'
import type { Author, EditRecord, HistoryQuery, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'

/**
 * Edits that are asked for at a time where one is looked for: first of all, and then four times as many, up to the most.
 * Where all are meant, they are asked for at once: what became of an edit depends on all later ones of its file, which each
 * page has to read. By pages of a thousand, /review of 10,000 edits of 50 files took five times as long.
 */
const FIRST_PAGE = 10
const PAGE = 1000

/** What was found, newest first. `oldest_kept_at` in ms since 1970. */
export interface FoundEdits {
  edits: PastEdit[]
  oldest_kept_at?: number
  /** Those of the ids that were asked for whose edits aren't kept any more. */
  swept?: readonly string[]
}

/**
 * The edits of all pages of a query for which `wanted` holds, at most `most`; pages are read only until there are so
 * many.
 */
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

/** The edits with these ids; and the ids of edits that aren't kept any more (`swept`), or never were there (`unknown`). */
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

/** Whether it is one that a caller asked for, and no undo, redo or change by others. */
export const isOrdinary = ({ operation }: EditRecord): boolean => !['undo', 'redo', 'outside'].includes(operation)

export const stands = ({ state }: PastEdit): boolean => state === 'applied' || state === 'partly_undone'

/** Whether a record is the caller's own, as `ownQuery` has it. */
export function isOwn(record: Author, caller: Author): boolean {
  const own = Object.entries(ownQuery(caller)) as [keyof Author, string | null][]
  return own.every(([name, value]) => (record[name] ?? null) === value)
}

/**
 * The part of a query that holds for all edits of the caller's own, and for no others: of the same agent and, where the
 * caller's session is known, of it. Callers who don't say who they are count as one, but for those with a token: theirs
 * is what was made with it, also where that was said to be by agents.
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

/** Half of a move, as the history has it. */
type Half = EditRecord & Required<Pick<EditRecord, 'moved' | 'batch_id'>>

export const isHalf = (record: EditRecord): record is Half =>
  record.moved !== undefined && record.batch_id !== undefined

/** The other half of a move; undefined: the caller may not see it, it isn't kept any more, or the record is of no move. */
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
