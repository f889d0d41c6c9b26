// Past edits, for callers that may read their files now: selects them, and finds the state of each. Does not know
// requests or sentences.
import { keptOf, reviewOf, type Verdict } from '../engine/undo/baseline.ts'
import type { RecordedChange, Selection } from '../engine/undo/change.ts'
import { IndexSet } from '../engine/undo/index-set.ts'
import { undoStates } from '../engine/undo/units.ts'
import type { History, RecordPage, RecordQuery } from '../log/api.ts'
import { isId } from '../log/ids.ts'
import type { Settlement, Stored } from '../log/record.ts'
import type { ChangeRecord, HistoryPage, HistoryQuery, PastEdit } from '../workspace/api.ts'
import { changeOf, isChange } from './chain.ts'
import { isArrival, listAcrossMoves, type Arrival } from './moved-files.ts'
import { verdictsOf } from './verdicts.ts'

interface Past {
  history: History
  /** Whether the file at this real path below the root may be read, whether it exists or not. */
  mayRead(path: Buffer): boolean
  /** Settles a change that its server has left open, under its file's lock. */
  settle(stored: Stored): Promise<Settlement | 'under_way'>
}

/** Selects edits; `path` and `under` are real paths below the root, '' the root itself. */
type PastQuery = RecordQuery & Pick<HistoryQuery, 'state' | 'review' | 'matches' | 'limit' | 'follow_moves'>

/**
 * The most records examined for one page, unless its limit of edits is higher. When they are used up, the page is
 * shorter and has `next_before`.
 */
const LOOKED_AT = 5000
/** Records read at a time. */
const READ_AT_ONCE = 1000
/**
 * The most changes settled for one page: recent ones, or those of servers that were killed. When they are used up, the
 * page is shorter and has `next_before`.
 */
const SETTLED = 10

/** Records of a path in the first read; each further read takes three times as many. */
const READ_ON = 10

/** Returns a page of edits, newest first. */
export async function pastEdits(past: Past, { texts = false, ...query }: PastQuery): Promise<HistoryPage> {
  await past.history.refresh()
  const page = await pageOf(past, query)
  const swept = await sweptOf(past.history, query, page)
  return {
    ...page,
    ...(swept.length > 0 && { swept }),
    ...(texts && { edits: await withTexts(past.history, page.edits) })
  }
}

/** The requested ids that a sweep removed. Empty if the page is not the whole answer. */
async function sweptOf(
  history: History,
  { edit_ids = [], before }: PastQuery,
  { edits, next_before }: HistoryPage
): Promise<string[]> {
  if (before !== undefined || next_before !== undefined) return []
  const found = new Set(edits.map(({ record }) => record.edit_id))
  const missing = edit_ids.filter(id => isId(id) && !found.has(id))
  if (missing.length === 0) return []
  const end = await history.sweptTo()
  return missing.filter(id => id <= end)
}

async function pageOf(
  { history, mayRead, settle }: Past,
  { limit, state: wanted, review, matches, under, before: first, follow_moves = false, ...others }: PastQuery
): Promise<HistoryPage> {
  const filter = { ...others, reviews: false, ...(under !== undefined && under.length > 0 && { under }) }
  const states = new StatesByPath({ history, settle })
  const arrivals = (path: Buffer, after: string) => states.arrivalsAt(path, after)
  const list = follow_moves ? listAcrossMoves({ history, mayRead, arrivals }) : history.list.bind(history)
  const edits: PastEdit[] = []
  let before = first
  let last = first
  let looked = 0
  let settled = 0
  let page: RecordPage
  do {
    const count = Math.min(Math.max(limit, 50), READ_AT_ONCE)
    page = await list({ ...filter, ...(before !== undefined && { before }) }, count)
    for (const [index, stored] of page.records.entries()) {
      const { record } = stored
      const isShown =
        stored.settled !== 'void' && isChange(record) && mayRead(record.path) && matches?.(record) !== false
      if (isShown && stored.settled === null && settled++ === SETTLED) {
        return { edits, next_before: last!, ...oldest(page) }
      }
      looked++
      last = record.edit_id
      if (!isShown) continue
      // A server settles its changes within 50 ms, unless it was killed.
      const became = stored.settled ?? (await settle(stored))
      const isOpen = stored.settled === null && became !== 'done'
      // An edit that is open is shown only to callers that ask for it by id: as uncertain.
      if (became === 'void' || (isOpen && others.edit_ids === undefined)) continue
      const edit = await states.of({ ...stored, record, ...(isOpen && { settled: 'uncertain' as const }) })
      if (edit === null) continue
      if (wanted !== undefined && edit.state !== wanted) continue
      if (review !== undefined && edit.review !== review) continue
      const { moved } = record
      edits.push({ ...edit, ...(moved !== undefined && mayRead(moved) && { other_path: moved }) })
      if (edits.length < limit) continue
      const isLast = index === page.records.length - 1 && page.next_before === null
      return { edits, ...(isLast ? {} : { next_before: record.edit_id }), ...oldest(page) }
    }
    before = page.next_before ?? undefined
  } while (before !== undefined && looked < Math.max(LOOKED_AT, limit))
  return { edits, ...(before !== undefined && { next_before: before }), ...oldest(page) }
}

const oldest = ({ oldest_kept_at }: RecordPage) => (oldest_kept_at === null ? {} : { oldest_kept_at })

/** Adds the texts to the edits; for the newest ones, as far as one page may hold them. */
async function withTexts(history: History, edits: readonly PastEdit[]): Promise<PastEdit[]> {
  const edit_ids = edits.map(({ record }) => record.edit_id)
  if (edit_ids.length === 0) return []
  const { records } = await history.list({ edit_ids, texts: true }, edit_ids.length)
  const read = new Map(records.map(stored => [stored.record.edit_id, stored]))
  return edits.map(edit => {
    const { record, texts } = read.get(edit.record.edit_id) ?? edit
    return isChange(record) ? { ...edit, record, texts } : edit
  })
}

/** Finds the states of edits; for each path, reads back no further than the oldest edit asked for. */
class StatesByPath {
  readonly #past: SettledPast
  readonly #paths = new Map<string, StatesOfPath>()

  constructor(past: SettledPast) {
    this.#past = past
  }

  /** Null: the record was removed meanwhile. */
  async of({ record, texts, settled }: Stored & { record: ChangeRecord }): Promise<PastEdit | null> {
    if (settled === 'uncertain') return { record, texts, state: 'uncertain' }
    const state = await this.#at(record.path).of(record.edit_id)
    return state && { record, texts, ...state }
  }

  /** The moves that brought a file to this path in records later than `after`; '': in all. */
  arrivalsAt(path: Buffer, after: string): Promise<readonly Arrival[]> {
    return this.#at(path).arrivals(after)
  }

  #at(path: Buffer): StatesOfPath {
    const key = path.toString('latin1')
    const known = this.#paths.get(key) ?? new StatesOfPath(this.#past, path)
    this.#paths.set(key, known)
    return known
  }
}

type SettledPast = Pick<Past, 'history' | 'settle'>
type StateOf = Omit<PastEdit, 'record' | 'texts' | 'other_path'>

/** The states of edits of one path. */
class StatesOfPath {
  readonly #past: SettledPast
  readonly #path: Buffer
  /** Ids of all records read so far. */
  readonly #read = new Set<string>()
  /** Changes that happened, newest first. */
  readonly #changes: RecordedChange[] = []
  /** Newest first: verdicts on an edit are later than the edit. */
  readonly #verdicts: Verdict[] = []
  #states = new Map<string, StateOf>()
  /** What later undos and redos toggle, as keys made by `part`. */
  readonly #toggled = new Set<string>()
  readonly #superseded = new Set<string>()
  /** Newest first. */
  readonly #arrivals: Arrival[] = []
  #before: string | undefined
  #isWhole = false
  #count = READ_ON

  constructor(past: SettledPast, path: Buffer) {
    this.#past = past
    this.#path = path
  }

  /**
   * Null: the record no longer exists. The state of the edit is unknown then, even if the record of an undo is kept.
   */
  async of(edit_id: string): Promise<StateOf | null> {
    await this.#readTo(edit_id)
    if (!this.#read.has(edit_id)) return null
    const state = this.#states.get(edit_id) ?? { state: 'applied' as const }
    return this.#superseded.has(edit_id) ? { ...state, superseded: true } : state
  }

  async arrivals(after: string): Promise<readonly Arrival[]> {
    await this.#readTo(after)
    return this.#arrivals.filter(({ edit_id }) => edit_id > after)
  }

  async #readTo(edit_id: string): Promise<void> {
    while (!this.#isWhole && (this.#before === undefined || this.#before > edit_id)) await this.#readOn()
  }

  /** Reads older records and recomputes the states: the state of an edit depends on later changes only. */
  async #readOn(): Promise<void> {
    const query = { path: this.#path, ...(this.#before !== undefined && { before: this.#before }) }
    const { history, settle } = this.#past
    const { records, next_before } = await history.list(query, this.#count)
    this.#count *= 3
    this.#before = next_before ?? undefined
    this.#isWhole = next_before === null
    for (const stored of records) {
      const { record, settled } = stored
      this.#read.add(record.edit_id)
      if (record.operation === 'review') continue
      // A client may know of an undo or a move at another server before that server's log settles it here.
      const isOpen = settled === null && (record.toggles !== undefined || isArrival(record))
      if ((isOpen ? await settle(stored) : settled) !== 'done') continue
      this.#take(changeOf(record))
      if (isArrival(record)) this.#arrivals.push(record)
    }
    this.#verdicts.push(...verdictsOf(records))
    const ofFile = undoStates(this.#changes.toReversed())
    const keptOfEdits = keptOf(this.#verdicts.toReversed())
    this.#states = new Map(
      Array.from(ofFile, ([edit_id, { state, by, undone, count }]) => {
        const kept = keptOfEdits.get(edit_id) ?? new IndexSet()
        const review = reviewOf(undone, kept, count)
        return [
          edit_id,
          {
            state,
            ...(state !== 'applied' && by !== undefined && { undone_by: by }),
            ...(review !== undefined && { review }),
            units: { count, undone, kept }
          }
        ]
      })
    )
  }

  #take(change: RecordedChange): void {
    this.#changes.push(change)
    const { edit_id, toggles } = change
    if (toggles === undefined) return
    const isOver = ({ edit_id: id, change_indexes }: Selection): boolean =>
      this.#toggled.has(part(id)) || change_indexes?.every(index => this.#toggled.has(part(id, index))) === true
    if (toggles.every(isOver)) this.#superseded.add(edit_id)
    for (const { edit_id: id, change_indexes } of toggles) {
      for (const index of change_indexes ?? [undefined]) this.#toggled.add(part(id, index))
    }
  }
}

const part = (edit_id: string, index?: number): string => (index === undefined ? edit_id : `${edit_id} ${index}`)
