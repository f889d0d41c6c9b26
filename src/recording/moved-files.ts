// Follows files over their moves, back to the paths that they had before. Does not know requests, or whose edits are
// looked for.
import { compared } from '../engine/decoded.ts'
import type { History, RecordPage, RecordQuery } from '../log/api.ts'
import type { EditRecord } from '../log/record.ts'
import { MOST_MOVES, type MovedText } from '../workspace/api.ts'
import { chainOf } from './chain.ts'
import { verdictsOf } from './verdicts.ts'

/** The half of a move that made the file at its new path. `moved`: the old path. */
export type Arrival = EditRecord & Required<Pick<EditRecord, 'moved' | 'batch_id'>>

export const isArrival = (record: EditRecord): record is Arrival =>
  record.moved !== undefined && record.batch_id !== undefined && record.hash_before === null

/** How files are followed. */
interface Following {
  history: History
  /** Whether the file at this real path below the root may be read, whether it exists or not. */
  mayRead(path: Buffer): boolean
  /** The moves that brought a file to this path, newest first, in records later than `after` ('': in all). */
  arrivals(path: Buffer, after: string): Promise<readonly Arrival[]>
}

/** A path whose records with lower ids than `before` are listed; without it, all of them. */
interface Place {
  path: Buffer
  before?: string
}

/**
 * Lists records of the path in a query, as `list` of the history, and those of the paths that a file was moved here
 * from: there only records from before the move. All are one list by their ids, so that `before` works over all paths.
 */
export function listAcrossMoves({ history, mayRead, arrivals }: Following): History['list'] {
  const places: Place[] = []
  /** The oldest move that was followed, or not because its old path may not be read or is among the places. */
  let followed: string | undefined
  /** Follows moves later than `after`, the latest first, so that each page follows the same ones. */
  const follow = async (after: string): Promise<boolean> => {
    const known = places.length
    while (places.length <= MOST_MOVES) {
      const found = await Promise.all(
        places.map(async ({ path, before }) =>
          (await arrivals(path, after)).find(({ edit_id }) => isBefore(edit_id, before) && isBefore(edit_id, followed))
        )
      )
      const [next] = found.flatMap(arrival => arrival ?? []).sort((a, b) => (a.edit_id < b.edit_id ? 1 : -1))
      if (next === undefined) break
      followed = next.edit_id
      const { moved } = next
      if (!mayRead(moved) || places.some(({ path }) => path.equals(moved))) continue
      const departure = await departureOf(history, next)
      if (departure !== undefined) places.push({ path: moved, before: departure.edit_id })
    }
    return places.length > known
  }
  return async (query, limit) => {
    if (places.length === 0) places.push({ path: query.path! })
    for (;;) {
      const page = await listAll(history, places, query, limit)
      if (!(await follow(page.next_before ?? ''))) return page
    }
  }
}

const isBefore = (edit_id: string, before: string | undefined): boolean => before === undefined || edit_id < before

/** The newest records of all these places. */
async function listAll(
  history: History,
  places: readonly Place[],
  query: RecordQuery,
  limit: number
): Promise<RecordPage> {
  const pages = await Promise.all(
    places.map(({ path, before }) => {
      const [earliest] = [query.before, before].filter(id => id !== undefined).sort()
      return history.list({ ...query, path, ...(earliest !== undefined && { before: earliest }) }, limit)
    })
  )
  const all = pages.flatMap(({ records }) => records)
  const records = all.sort((a, b) => (a.record.edit_id < b.record.edit_id ? 1 : -1)).slice(0, limit)
  const isLast = all.length === records.length && pages.every(({ next_before }) => next_before === null)
  return { ...pages[0]!, records, next_before: isLast ? null : records.at(-1)!.record.edit_id }
}

/** The other half of a move: the record that removed the file at its old path; undefined if it isn't kept any more. */
async function departureOf(history: History, { moved, path, batch_id }: Arrival): Promise<EditRecord | undefined> {
  const { records } = await history.list({ path: moved, batch_id }, 1)
  return records.map(({ record }) => record).find(record => record.moved?.equals(path) === true)
}

/** The text that a move brought to its new path. */
export async function readMovedText(history: History, arrival: Arrival): Promise<MovedText> {
  const { edit_id, batch_id, moved, path, splices } = arrival
  const { records: stored } = await history.ofPath(moved)
  const at = stored.findIndex(({ record }) => record.batch_id === batch_id && record.moved?.equals(path) === true)
  const departure = stored[at]?.record
  if (departure === undefined || departure.splices === null || splices === null) {
    return { edit_id, bytes: Buffer.alloc(0), changes: [], records: [], verdicts: [] }
  }
  const before = Buffer.concat(departure.splices.map(({ old }) => old))
  const bytes = Buffer.concat(splices.map(({ insert }) => insert))
  const { changes, records } = chainOf(stored.slice(0, at), departure.hash_before)
  return {
    edit_id,
    bytes,
    changes: [...changes, { edit_id, splices: compared(before, bytes).splices }],
    records,
    verdicts: verdictsOf(stored)
  }
}
