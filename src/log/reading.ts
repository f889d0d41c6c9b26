// Answers queries about records. Does not know how they are written or found.
import type {
  Gap,
  HistoryLimits,
  HistoryOptions,
  Latest,
  PastFacts,
  PathHistory,
  RecordPage,
  RecordQuery
} from './api.ts'
import type { LatestOfPaths } from './latest.ts'
import { LINE_FEED } from './line.ts'
import { RecordLines, type ReadRow } from './lines.ts'
import type { Facts } from './record-json.ts'
import type { Settlement, Stored } from './record.ts'
import { type FoundRow, Rows } from './rows.ts'
import { keyOf } from './segment-index.ts'
import type { Segments } from './segments.ts'
import type { ReadBlob } from './texts-json.ts'

/**
 * Quarters of a key's digest: unless all four are damaged, one identifies the digest. Another digest has it only by
 * chance (2⁻⁶⁴).
 */
const KEY_PART = /.{16}/g
/** In bytes: how much of a damaged line is read at a time. */
const CHUNK = 256 * 1024

interface RecordReaderOptions {
  segments: Segments
  blobs: { read: ReadBlob }
  latest: LatestOfPaths
  limits: HistoryLimits
  /** What this server has settled, though it may not be written yet. */
  settlementOf(edit_id: string): Settlement | null
  report: HistoryOptions['report']
}

export class RecordReader {
  readonly #options: RecordReaderOptions
  readonly #rows: Rows
  readonly #lines: RecordLines

  constructor(options: RecordReaderOptions) {
    this.#options = options
    this.#rows = new Rows(options)
    this.#lines = new RecordLines(options)
  }

  async ofPath(path: Buffer): Promise<PathHistory> {
    await this.#options.segments.catchUp()
    const found = await this.rowsOf(path)
    const { read, bad } = await this.#lines.read(found, { whole: true })
    const own = read.filter(({ facts }) => facts.path.equals(path))
    const records = await this.#lines.stored(own, this.#options.limits.texts)
    const first = records[0]?.record.edit_id
    const gaps = first === undefined ? [] : [...bad, ...this.#gaps()].filter(mayBeAfter(first))
    return { records, gaps }
  }

  /** The rows of a path in all segments, each edit once. */
  rowsOf(path: Buffer): Promise<FoundRow[]> {
    return this.#rows.ofPath(path)
  }

  /** The last record among those read so far: call `refresh` first. Synchronous if it is known, as each edit asks. */
  lastOf(path: Buffer): Latest | null | Promise<Latest | null> {
    const { segments, latest } = this.#options
    const known = segments.isLoaded ? latest.get(keyOf(path)) : undefined
    return known === undefined ? this.#readLastOf(path) : known
  }

  async #readLastOf(path: Buffer): Promise<Latest | null> {
    const key = keyOf(path)
    await this.#options.segments.load()
    const known = this.#options.latest.get(key)
    if (known !== undefined) return known
    const newest = await this.#newest(
      overview => overview.mayHavePath(key),
      index => index.ofPath(key, false),
      ({ facts, found }) => facts.path.equals(path) && found.settled !== 'uncertain'
    )
    const latest = newest && { ...latestOf(newest.facts), settled: newest.found.settled }
    this.#options.latest.put(key, latest)
    return latest
  }

  async *newestOf(path: Buffer): AsyncGenerator<PastFacts> {
    await this.#options.segments.load()
    for await (const found of this.#rows.downFromNewest(path)) {
      const [read] = (await this.#lines.read([found], { whole: false })).read
      if (read?.facts.path.equals(path) === true) yield { facts: read.facts, settled: found.settled }
    }
  }

  async byKey(digest: string): Promise<Stored | null> {
    await this.#options.segments.catchUp()
    const newest = await this.#newest(
      overview => overview.keyedAt !== null && overview.mayHaveKey(digest),
      index => index.ofKey(digest),
      ({ facts }) => facts.key?.digest === digest
    )
    const { read } = await this.#lines.read(newest === null ? [] : [newest.found], { whole: true })
    return (await this.#lines.stored(read, 0))[0] ?? null
  }

  async mayHaveLostKey(digest: string, after: string): Promise<boolean> {
    const { segments } = this.#options
    // A segment just found damaged has no gap yet.
    if (!segments.isLoaded) await segments.catchUp()
    for (const gap of this.#gaps().filter(mayBeAfter(after))) if (await this.#hasKey(gap, digest)) return true
    return false
  }

  /** Whether a damaged line has part of this key digest; false for a line that was cut short. */
  async #hasKey({ segment: name, offset, length }: Gap, digest: string): Promise<boolean> {
    const { segments } = this.#options
    const segment = segments.get(name)
    if (segment === undefined) return false
    const parts = digest.match(KEY_PART) ?? []
    const bytes = (at: number, most: number) => segments.bytes(segment, offset + at, Math.min(most, length - at))
    const end = await bytes(length - 1, 1)
    if (end?.[0] !== LINE_FEED) return false
    for (let at = 0; at < length; at += CHUNK) {
      const found = await bytes(at, CHUNK + digest.length)
      if (parts.some(part => found?.includes(part))) return true
    }
    return false
  }

  async byId(edit_id: string): Promise<Stored | null> {
    await this.#options.segments.catchUp()
    const { read } = await this.#lines.read(await this.#rows.withId(edit_id), { whole: true })
    return (await this.#lines.stored(read, this.#options.limits.texts))[0] ?? null
  }

  async list(query: RecordQuery, limit: number): Promise<RecordPage> {
    await this.#options.segments.catchUp()
    const { texts: whole = false } = query
    const found = await this.#rows.matching(query, limit + 1)
    const { read } = await this.#lines.read(found.slice(0, limit), { whole })
    const records = await this.#lines.stored(read.toReversed(), whole ? this.#options.limits.pageTexts : 0)
    const oldest = this.#options.segments.newestFirst().flatMap(({ overview }) => overview.oldestAt ?? [])
    return {
      records: records.reverse(),
      next_before: found.length > limit ? found[limit - 1]!.edit_id : null,
      oldest_kept_at: oldest.length > 0 ? Math.min(...oldest) : null
    }
  }

  /** Unsettled records of servers that are gone. */
  async unsettled(): Promise<Stored[]> {
    await this.#options.segments.catchUp()
    await this.#options.segments.askWhoIsGone()
    const { read } = await this.#lines.read(await this.#rows.unsettled(), { whole: false })
    return this.#lines.stored(read, 0)
  }

  /** Unsettled records of all servers but this one. */
  async openElsewhere(nonce: string): Promise<Stored[]> {
    await this.#options.segments.catchUp()
    const { read } = await this.#lines.read(await this.#rows.openElsewhere(nonce), { whole: false })
    return this.#lines.stored(read, 0)
  }

  /** The newest record that isn't void and whose line matches. */
  async #newest(
    where: Parameters<Rows['newest']>[0],
    rows: Parameters<Rows['newest']>[1],
    is: (read: ReadRow) => boolean
  ): Promise<ReadRow | null> {
    let best: ReadRow | null = null
    for await (const found of this.#rows.newest(where, rows, () => best?.facts.edit_id)) {
      const [read] = (await this.#lines.read([found], { whole: false })).read
      if (read !== undefined && is(read)) best = read
    }
    return best
  }

  #gaps(): Gap[] {
    return this.#options.segments
      .newestFirst()
      .flatMap(({ name, overview }) => overview.gaps.map(gap => ({ segment: name, ...gap })))
  }
}

/** Whether a record lost in a gap may be later than the one with this id. */
const mayBeAfter =
  (edit_id: string) =>
  ({ before }: Gap): boolean =>
    before === null || before > edit_id

const latestOf = ({ edit_id, operation, at, hash_after, size_after }: Facts): Omit<Latest, 'settled'> => ({
  edit_id,
  operation,
  at,
  hash_after,
  size_after
})
