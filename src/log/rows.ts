// Finds records in the indexes of their segments. Does not read lines.
import { setImmediate } from 'node:timers/promises'
import type { RecordQuery } from './api.ts'
import type { Settlement } from './record.ts'
import { keyOf, type Overview, type Row } from './segment-index.ts'
import type { ReadSegment, Segment } from './segment.ts'
import type { Segments } from './segments.ts'

/** A record and its place. */
export interface FoundRow extends Row {
  segment: Segment
  row: number
}

interface RowsOptions {
  segments: Segments
  /** What this server has settled, though it may not be written yet. */
  settlementOf(edit_id: string): Settlement | null
}

type Index = NonNullable<Awaited<ReturnType<Segments['index']>>>

/** How many rows are examined before other work gets a turn. */
const TURN = 20_000
/** How many rows are fully decoded (5 µs each) before other work gets a turn. */
const READ_TURN = 2000

export class Rows {
  readonly #options: RowsOptions

  constructor(options: RowsOptions) {
    this.#options = options
  }

  get #newestFirst(): ReadSegment[] {
    return this.#options.segments.newestFirst()
  }

  /** The records of a path in all segments, each edit once; oldest first. */
  ofPath(path: Buffer): Promise<FoundRow[]> {
    const key = keyOf(path)
    return this.#search(
      ({ overview }) => overview.mayHavePath(key),
      index => index.ofPath(key)
    )
  }

  withId(edit_id: string): Promise<FoundRow[]> {
    return this.#search(
      segment => mayHaveId(segment, edit_id),
      index => {
        const row = index.rowOf(edit_id)
        return row === null ? [] : [row]
      }
    )
  }

  /** Unsettled records of servers that are gone; oldest first. */
  unsettled(): Promise<FoundRow[]> {
    return this.#open(nonce => this.#options.segments.isGone(nonce))
  }

  /** Unsettled records of all servers but this one; oldest first. */
  openElsewhere(mine: string): Promise<FoundRow[]> {
    return this.#open(nonce => nonce !== mine)
  }

  async #open(isOfServer: (nonce: string) => boolean): Promise<FoundRow[]> {
    const found = await this.#search(
      ({ nonce, overview }) => overview.unsettled > 0 && isOfServer(nonce),
      index => index.open()
    )
    return found.filter(({ settled }) => settled === null)
  }

  /** The newest `most` records that match a query, newest first. */
  async matching(query: RecordQuery, most: number): Promise<FoundRow[]> {
    const path = query.path && keyOf(query.path)
    const { before, edit_ids, batch_id } = query
    let found: FoundRow[] = []
    for (const segment of this.#newestFirst) {
      // All records of the remaining segments are older.
      if (found.length >= most && segment.overview.highest < found[most - 1]!.edit_id) break
      if (before !== undefined && segment.overview.lowest >= before) continue
      if (batch_id !== undefined && segment.overview.highest < batch_id) continue
      if (edit_ids !== undefined && !edit_ids.some(id => mayHaveId(segment, id))) continue
      if (path !== undefined && !segment.overview.mayHavePath(path)) continue
      found = newestFirst([...found, ...(await this.#matchingIn(segment, query, most))]).slice(0, most)
    }
    return found
  }

  /** Yields matching rows that aren't void from each segment, newest first. Stops at rows older than `than()`. */
  async *newest(
    where: (overview: Overview) => boolean,
    rows: (index: Index) => Iterable<number>,
    than: () => string | undefined
  ): AsyncGenerator<FoundRow> {
    for (const segment of this.#newestFirst) {
      if (segment.overview.highest < (than() ?? '')) return
      if (!where(segment.overview)) continue
      for (const found of newestFirst(await this.#rowsIn(segment, rows))) {
        if (found.edit_id < (than() ?? '')) break
        if (found.settled !== 'void') yield found
      }
    }
  }

  /** Yields changes of a path in all segments that aren't void, newest first. */
  async *downFromNewest(path: Buffer): AsyncGenerator<FoundRow> {
    const key = keyOf(path)
    const segments = this.#newestFirst.filter(({ overview }) => overview.mayHavePath(key))
    let found: FoundRow[] = []
    for (const [i, segment] of segments.entries()) {
      found = newestFirst([...found, ...(await this.#rowsIn(segment, index => index.ofPath(key, false)))])
      // The next segment may have records that belong between these.
      const next = segments[i + 1]?.overview.highest ?? ''
      while (found.length > 0 && found[0]!.edit_id > next) {
        const row = found.shift()!
        if (row.settled !== 'void') yield row
      }
    }
  }

  async #matchingIn(segment: Segment, query: RecordQuery, most: number): Promise<FoundRow[]> {
    const index = await this.#options.segments.index(segment)
    const { before, edit_ids } = query
    const wanted = edit_ids && new Set(edit_ids)
    const rows: { row: number; edit_id: string }[] = []
    let count = 0
    for (const row of index?.matching(namesIn(query)) ?? []) {
      if (++count % TURN === 0) await setImmediate()
      const edit_id = index!.idOf(row)
      if (before !== undefined && edit_id >= before) continue
      if (wanted?.has(edit_id) !== false) rows.push({ row, edit_id })
    }
    // In the order of writing, nearly all are sorted already.
    rows.reverse().sort(byId)
    const found: FoundRow[] = []
    let read = 0
    for (const { row, edit_id } of rows) {
      if (found.length === most) break
      if (found.at(-1)?.edit_id === edit_id) continue
      // Yield to other work, as it may be that none matches.
      if (++read % READ_TURN === 0) await setImmediate()
      const here = this.#found(segment, row, index!.row(row))
      if (matches(here, query)) found.push(here)
    }
    return found
  }

  /** Oldest first, each edit once. */
  async #search(
    where: (segment: ReadSegment) => boolean,
    rows: (index: Index) => Iterable<number>
  ): Promise<FoundRow[]> {
    const found: FoundRow[] = []
    for (const segment of this.#newestFirst) {
      if (where(segment)) for (const one of await this.#rowsIn(segment, rows)) found.push(one)
    }
    return newestFirst(found).reverse()
  }

  async #rowsIn(segment: Segment, rows: (index: Index) => Iterable<number>): Promise<FoundRow[]> {
    const index = await this.#options.segments.index(segment)
    return index === null ? [] : Array.from(rows(index), row => this.#found(segment, row, index.row(row)))
  }

  #found(segment: Segment, row: number, facts: Row): FoundRow {
    const { edit_id } = facts
    const { settlementOf, segments } = this.#options
    const settled = settlementOf(edit_id) ?? facts.settled ?? segments.loose(edit_id)
    // A verdict is done once it is written.
    return { ...facts, settled: settled ?? (facts.isReview ? 'done' : null), segment, row }
  }
}

const byId = (a: { edit_id: string }, b: { edit_id: string }): number =>
  a.edit_id === b.edit_id ? 0 : a.edit_id < b.edit_id ? 1 : -1

/** Each edit once: a record was written twice if its server gave a segment up. */
function newestFirst(found: readonly FoundRow[]): FoundRow[] {
  const sorted = [...found].sort(byId)
  return sorted.filter(({ edit_id }, i) => edit_id !== sorted[i - 1]?.edit_id)
}

const mayHaveId = ({ overview }: ReadSegment, edit_id: string): boolean =>
  overview.lowest <= edit_id && edit_id <= overview.highest

const namesIn = ({ path, under, batch_id, token, agent, session }: RecordQuery) => ({
  ...(path && { path: keyOf(path) }),
  ...(under && { under: keyOf(under) }),
  ...(batch_id !== undefined && { batch: keyOf(Buffer.from(batch_id)) }),
  ...(token !== undefined && { token: keyOf(Buffer.from(token)) }),
  ...(typeof agent === 'string' && { agent: keyOf(Buffer.from(agent)) }),
  ...(typeof session === 'string' && { session: keyOf(Buffer.from(session)) })
})

/** Tests what isn't searched by names or ids. */
const matches = (row: Row, { agent, session, since, until, reviews }: RecordQuery): boolean =>
  (agent !== null || row.agent === null) &&
  (session !== null || row.session === null) &&
  (since === undefined || row.at >= since) &&
  (until === undefined || row.at <= until) &&
  (reviews === undefined || row.isReview === reviews)
