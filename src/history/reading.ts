// Answers questions about records. Does not know how they were written.
import { setImmediate } from 'node:timers/promises'
import { codeOf } from '../error-code.ts'
import type { Blobs } from './blobs.ts'
import type { Gap, HistoryOptions, Latest, PathHistory, RecordPage, RecordQuery } from './api.ts'
import { isMissing } from './files.ts'
import { isReplacedSave, type LatestOfPaths } from './latest.ts'
import { decodeFacts, decodeRecord, type Facts } from './record-json.ts'
import type { EditRecord, Settlement, Stored, TextsState } from './record.ts'
import { readLines } from './segment-lines.ts'
import { keyOf, type Row } from './segment-index.ts'
import type { Segment, Segments } from './segments.ts'
import { decodeTexts, type Texts } from './texts-json.ts'

export interface RecordReaderOptions {
  segments: Segments
  blobs: Blobs
  latest: LatestOfPaths
  /** In bytes: see HistoryLimits. */
  mostTexts: number
  /** What this server has settled, and may not have written yet. */
  said(edit_id: string): Settlement | null
  report: HistoryOptions['report']
}

/** A record, and where it is. */
export interface FoundRow extends Row {
  segment: Segment
  row: number
}

interface Decoded {
  facts: Facts
  texts: unknown
  outcome: unknown
}

interface Read extends Decoded {
  found: FoundRow
}

/** Of a record whose texts and answer nobody asked for: all of them together may be more than the memory holds. */
function factsOnly(json: Buffer): Decoded | null {
  const said = decodeFacts(json)
  return said !== null && 'facts' in said ? { facts: said.facts, texts: null, outcome: null } : null
}

/** How many rows are looked at before something else has its turn. */
const TURN = 20_000

export class RecordReader {
  readonly #options: RecordReaderOptions

  constructor(options: RecordReaderOptions) {
    this.#options = options
  }

  async #look(): Promise<void> {
    await this.#options.segments.update()
    await this.#options.segments.load()
  }

  async ofPath(path: Buffer): Promise<PathHistory> {
    await this.#look()
    const found = await this.rowsOf(path)
    const { read, bad } = await this.#read(found, decodeRecord)
    const records = await this.#stored(
      read.filter(({ facts }) => facts.path.equals(path)),
      true
    )
    const first = records[0]?.record.edit_id
    const gaps = [...bad, ...this.#gaps()].filter(
      ({ before }) => first !== undefined && (before === null || before > first)
    )
    return { records, gaps }
  }

  /** The rows of a path in all segments, each edit once. */
  async rowsOf(path: Buffer): Promise<FoundRow[]> {
    const key = keyOf(path)
    return this.#search(
      ({ overview }) => overview!.mayHavePath(key),
      index => index.ofPath(key)
    )
  }

  /** Of what has been read so far: call `refresh` before it. */
  async lastOf(path: Buffer): Promise<Latest | null> {
    const key = keyOf(path)
    await this.#options.segments.load()
    const known = this.#options.latest.get(key)
    if (known !== undefined) return known
    const stands = await this.#newest(
      ({ overview }) => overview.mayHavePath(key),
      index => index.ofPath(key),
      ({ facts, found }) => facts.path.equals(path) && !isReplacedSave(facts.operation, found.settled)
    )
    const latest = stands && { ...latestOf(stands.facts), settled: stands.found.settled }
    this.#options.latest.put(key, latest)
    return latest
  }

  async byKey(digest: string): Promise<Stored | null> {
    await this.#look()
    const newest = await this.#newest(
      ({ overview }) => overview.keyedAt !== null && overview.mayHaveKey(digest),
      index => index.ofKey(digest),
      ({ facts }) => facts.key?.digest === digest
    )
    const { read } = await this.#read(newest === null ? [] : [newest.found], decodeRecord)
    return (await this.#stored(read, false))[0] ?? null
  }

  async byId(edit_id: string): Promise<Stored | null> {
    await this.#look()
    const { read } = await this.#read(await this.#withId(edit_id), decodeRecord)
    return (await this.#stored(read, true))[0] ?? null
  }

  async list(query: RecordQuery, limit: number): Promise<RecordPage> {
    await this.#look()
    const most = limit + 1
    let found: FoundRow[] = []
    const all = this.#options.segments.newestFirst()
    for (const segment of all) {
      // All that the others have is older.
      if (found.length >= most && segment.overview.highest < found[most - 1]!.edit_id) break
      const { before, edit_ids } = query
      if (before !== undefined && segment.overview.lowest >= before) continue
      if (edit_ids !== undefined && !edit_ids.some(id => mayHaveId(segment, id))) continue
      found = newestFirst([...found, ...(await this.#matching(segment, query))]).slice(0, most)
    }
    const { read } = await this.#read(found.slice(0, limit), query.texts === true ? decodeRecord : factsOnly)
    const records = (await this.#stored(read.toReversed(), query.texts === true)).reverse()
    const oldest = all.flatMap(({ overview }) => overview.oldestAt ?? [])
    return {
      records,
      next_before: found.length > limit ? found[limit - 1]!.edit_id : null,
      oldest_kept_at: oldest.length > 0 ? Math.min(...oldest) : null
    }
  }

  /** Of servers that are gone. */
  async unsettled(): Promise<Stored[]> {
    const { segments } = this.#options
    await this.#look()
    await segments.askWhoIsGone()
    const loose = segments.allLoose()
    const found = await this.#search(
      ({ nonce, overview }) => segments.isGone(nonce) && overview!.unsettled > 0,
      index => [...index.open()].filter(row => !loose.has(index.idOf(row)))
    )
    const { read } = await this.#read(found.filter(({ settled }) => settled === null))
    return this.#stored(read, false)
  }

  async #withId(edit_id: string): Promise<FoundRow[]> {
    return this.#search(
      segment => mayHaveId(segment, edit_id),
      index => {
        const row = index.rowOf(edit_id)
        return row === null ? [] : [row]
      }
    )
  }

  async #matching(segment: Segment, query: RecordQuery): Promise<FoundRow[]> {
    const index = await this.#options.segments.index(segment)
    const found: FoundRow[] = []
    let count = 0
    for (const row of index?.matching(wanted(query)) ?? []) {
      if (++count % TURN === 0) await setImmediate()
      const here = this.#found(segment, row, index!.row(row))
      if (matches(here, query)) found.push(here)
    }
    return found
  }

  /** Oldest first, each edit once. */
  async #search(
    where: (segment: Segment) => boolean,
    rows: (index: NonNullable<Awaited<ReturnType<Segments['index']>>>) => Iterable<number>
  ): Promise<FoundRow[]> {
    const found: FoundRow[] = []
    for (const segment of this.#options.segments.newestFirst()) {
      if (!where(segment)) continue
      const index = await this.#options.segments.index(segment)
      if (index !== null) for (const row of rows(index)) found.push(this.#found(segment, row, index.row(row)))
    }
    return newestFirst(found).reverse()
  }

  /** The newest that isn't void, of which the line says that it is one. */
  async #newest(
    where: (segment: ReturnType<Segments['newestFirst']>[number]) => boolean,
    rows: (index: NonNullable<Awaited<ReturnType<Segments['index']>>>) => Iterable<number>,
    is: (read: Read) => boolean
  ): Promise<Read | null> {
    let best: Read | null = null
    for (const segment of this.#options.segments.newestFirst()) {
      if (best !== null && segment.overview.highest < best.facts.edit_id) break
      if (!where(segment)) continue
      const index = await this.#options.segments.index(segment)
      const here = Array.from(index === null ? [] : rows(index), row => this.#found(segment, row, index!.row(row)))
      for (const found of newestFirst(here)) {
        if (best !== null && found.edit_id < best.facts.edit_id) break
        if (found.settled === 'void') continue
        const [read] = (await this.#read([found])).read
        if (read === undefined || !is(read)) continue
        best = read
        break
      }
    }
    return best
  }

  #found(segment: Segment, row: number, facts: Row): FoundRow {
    const { edit_id } = facts
    const { said, segments } = this.#options
    return { ...facts, settled: said(edit_id) ?? facts.settled ?? segments.loose(edit_id), segment, row }
  }

  /** The lines of these rows, in their order. What isn't there any more is left out, what is damaged is a gap. */
  async #read(found: readonly FoundRow[], decode = factsOnly): Promise<{ read: Read[]; bad: Gap[] }> {
    const lines = new Map<FoundRow, Decoded | null>()
    for (const segment of new Set(found.map(({ segment }) => segment))) {
      const here = found.filter(one => one.segment === segment)
      try {
        const read = await readLines(this.#options.segments.folder, segment.name, here, decode)
        for (const [i, one] of here.entries()) lines.set(one, read[i] ?? null)
      } catch (error) {
        if (isMissing(error)) continue
        const { name } = segment
        this.#options.report({ event: 'history_segment_unreadable', segment: name, code: codeOf(error) })
        for (const one of here) lines.set(one, null)
      }
    }
    const [read, bad]: [Read[], Gap[]] = [[], []]
    for (const one of found) {
      const record = lines.get(one)
      if (record?.facts.edit_id === one.edit_id) read.push({ found: one, ...record })
      else if (record !== undefined) bad.push(this.#damaged(one))
    }
    return { read, bad }
  }

  #damaged({ segment, offset, length, edit_id }: FoundRow): Gap {
    this.#options.report({ event: 'history_line_damaged', segment: segment.name, offset })
    this.#options.segments.invalidate(segment)
    return { segment: segment.name, offset, length, after: null, before: edit_id }
  }

  /** In their order, which is oldest first. Texts of the newest are read first, as far as they are allowed together. */
  async #stored(read: readonly Read[], withTexts: boolean): Promise<Stored[]> {
    const stored: Stored[] = []
    let size = 0
    for (const one of read.toReversed()) {
      const { splices, places, texts } = await this.#texts(one, withTexts && size < this.#options.mostTexts)
      size += sizeOf({ splices, places })
      const { hasTexts: _has, blobs: _blobs, seen: _seen, key, ...facts } = one.facts
      const record: EditRecord = { ...facts, splices, places, ...(key && { key: { ...key, outcome: one.outcome } }) }
      stored.push({ record, texts, nonce: one.found.segment.nonce, settled: one.found.settled })
    }
    return stored.reverse()
  }

  async #texts({ facts, texts }: Read, wanted: boolean): Promise<Texts & { texts: TextsState }> {
    if (!facts.hasTexts) return { splices: null, places: null, texts: 'none' }
    if (!wanted) return { splices: null, places: null, texts: 'unread' }
    const decoded = await decodeTexts(texts, name => this.#options.blobs.read(name))
    return decoded === null ? { splices: null, places: null, texts: 'lost' } : { ...decoded, texts: 'kept' }
  }

  #gaps(): Gap[] {
    return this.#options.segments
      .newestFirst()
      .flatMap(({ name, overview }) => overview.gaps.map(gap => ({ segment: name, ...gap })))
  }
}

const latestOf = ({ edit_id, operation, at, hash_after, size_after }: Facts): Omit<Latest, 'settled'> => ({
  edit_id,
  operation,
  at,
  hash_after,
  size_after
})

const mayHaveId = ({ overview }: Segment, edit_id: string): boolean =>
  overview !== null && overview.lowest <= edit_id && edit_id <= overview.highest

/** Each edit once: it was written twice where its server gave a segment up. */
function newestFirst(found: readonly FoundRow[]): FoundRow[] {
  const sorted = [...found].sort((a, b) => (a.edit_id < b.edit_id ? 1 : -1))
  return sorted.filter(({ edit_id }, i) => edit_id !== sorted[i - 1]?.edit_id)
}

const wanted = ({ path, under, agent, session }: RecordQuery) => ({
  ...(path && { path: keyOf(path) }),
  ...(under && { under: keyOf(under) }),
  ...(agent !== undefined && { agent: keyOf(Buffer.from(agent)) }),
  ...(session !== undefined && { session: keyOf(Buffer.from(session)) })
})

const matches = ({ edit_id, at }: Row, { before, edit_ids, since, until }: RecordQuery): boolean =>
  (before === undefined || edit_id < before) &&
  (edit_ids === undefined || edit_ids.includes(edit_id)) &&
  (since === undefined || at >= since) &&
  (until === undefined || at <= until)

const sizeOf = ({ splices, places }: Texts): number =>
  (splices ?? []).reduce((sum, { old, insert }) => sum + old.length + insert.length, 0) +
  (places ?? []).reduce((sum, { before, after }) => sum + before.length + after.length, 0)
