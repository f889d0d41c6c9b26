// Edits of the past, for those who may read their files now: which are asked for, and what has become of each. Does not
// know requests or sentences.
import { standingOf } from '../../engine/history/units.ts'
import type { History, RecordPage, RecordQuery } from '../../history/api.ts'
import type { Settlement, Stored } from '../../history/record.ts'
import type { EditState, HistoryPage, HistoryQuery, PastEdit } from '../api.ts'
import { isNote } from './chain.ts'

export interface Past {
  history: History
  /** Whether the file at this real path below the root may be read, whether it is there or not. */
  mayRead(path: Buffer): boolean
  /** What became of a change about which its server hasn't said it: once that is known, under its file's lock. */
  settle(stored: Stored): Promise<Settlement>
}

/** Which edits are asked for; `path` and `under` are real paths below the root, '' the root itself. */
export type PastQuery = RecordQuery & Pick<HistoryQuery, 'state' | 'limit'>

/** Records that are looked at for one page. Where more had to be, the page is shorter, and has `next_before`. */
const LOOKED_AT = 5000
/** Changes that are settled for one page: those of the last instant, or of servers that were killed. */
const SETTLED = 10

/** A page of edits, newest first. */
export async function pastEdits({ history, mayRead, settle }: Past, query: PastQuery): Promise<HistoryPage> {
  await history.refresh()
  const { limit, state: wanted, under, before: first, ...others } = query
  const asked = { ...others, ...(under !== undefined && under.length > 0 && { under }) }
  const states = new StatesByPath(history)
  const edits: PastEdit[] = []
  let before = first
  let looked = 0
  let settled = 0
  let page: RecordPage
  do {
    page = await history.list({ ...asked, ...(before !== undefined && { before }) }, Math.max(limit, 50))
    for (const [index, stored] of page.records.entries()) {
      looked++
      if (stored.settled === 'void' || isNote(stored.record) || !mayRead(stored.record.path)) continue
      // Its server says it within 50 ms, unless it was killed.
      if (stored.settled === null && (settled++ === SETTLED || (await settle(stored)) !== 'done')) continue
      const edit = await states.of(stored)
      if (wanted !== undefined && edit.state !== wanted) continue
      edits.push(edit)
      if (edits.length < limit) continue
      const isLast = index === page.records.length - 1 && page.next_before === null
      return { edits, ...(isLast ? {} : { next_before: stored.record.edit_id }), ...oldest(page) }
    }
    before = page.next_before ?? undefined
  } while (before !== undefined && looked < LOOKED_AT)
  return { edits, ...(before !== undefined && { next_before: before }), ...oldest(page) }
}

const oldest = ({ oldest_kept_at }: RecordPage) => (oldest_kept_at === null ? {} : { oldest_kept_at })

/** What has become of edits; each path's records are looked at once. */
class StatesByPath {
  readonly #history: History
  readonly #known = new Map<string, Promise<Map<string, Omit<PastEdit, 'record'>>>>()

  constructor(history: History) {
    this.#history = history
  }

  async of({ record, settled }: Stored): Promise<PastEdit> {
    if (settled === 'uncertain') return { record, state: 'uncertain' }
    const key = record.path.toString('latin1')
    const known = this.#known.get(key) ?? this.#statesOf(record.path)
    this.#known.set(key, known)
    return { record, state: 'applied', ...(await known).get(record.edit_id) }
  }

  async #statesOf(path: Buffer): Promise<Map<string, Omit<PastEdit, 'record'>>> {
    const { records } = await this.#history.list({ path }, Infinity)
    const changes = records.toReversed().flatMap(({ record, settled }) => (settled === 'done' ? [record] : []))
    const standing = standingOf(changes)
    return new Map(
      changes.flatMap(({ edit_id }) => {
        const now = standing.get(edit_id)
        if (now === undefined || now.state === 'applied') return []
        const state: EditState = now.state
        return [[edit_id, { state, ...(now.by !== undefined && { undone_by: now.by }) }]]
      })
    )
  }
}
