// Searches for /inspect: short ones on the event loop, others in a thread, one after the other; and for finding.
// Does not know who asks.
import {
  searchLiteral,
  type InvalidRegex,
  type SearchRequest,
  type SearchResult
} from '../engine/inspect/search-literal.ts'
import type { Result } from '../result.ts'
import type { RangesFound, RangesRequest } from '../engine/inspect/search-ranges.ts'
import { bufferOf, transferable } from './thread.ts'
import type { Job, Results } from './job.ts'
import { TIMED_OUT, Threads } from './threads.ts'

/**
 * The most bytes to search for literal text on the event loop: that takes less time than sending them to the worker and
 * back.
 */
const INLINE_SEARCH_BYTES = 128 * 1024
/** How many searches may wait, each with its whole file. */
const WAITING = 16
/** How long a search may take, in ms; then it returns what it has found so far. */
const SEARCH_TIME = 5_000
/** How much longer to wait, in ms, before the worker is ended: then a single line was too much for it. */
const GRACE = 5_000

export class Searcher {
  readonly #threads: Threads<Job, Results>
  readonly #time: number
  readonly #grace: number

  /** `size`: how many threads; `time` and `grace` in ms. */
  constructor(options: { size?: number; time?: number; grace?: number } = {}) {
    this.#threads = new Threads('worker', { size: options.size ?? 1 })
    this.#time = options.time ?? SEARCH_TIME
    this.#grace = options.grace ?? GRACE
  }

  /** Whether so many searches wait that no other file should be read. */
  get full(): boolean {
    return this.#threads.jobs >= WAITING
  }

  /**
   * Searches a text; `bytes` must not be used afterwards. If it takes too long, `stopped_at_line` says how far it got.
   * Rejects if the worker fails.
   */
  async search(bytes: Buffer, request: SearchRequest): Promise<SearchResult> {
    if (bytes.length <= INLINE_SEARCH_BYTES && !request.regex && !request.ignore_case) {
      return searchLiteral(bytes, request)
    }
    const own = transferable(bytes)
    const found = await this.#threads.run(
      { type: 'search', bytes: own, request, time: this.#time },
      { transfer: [own.buffer], time: this.#time + this.#grace }
    )
    return found === TIMED_OUT ? { matches: [], total_matches: 0, truncated: true, stopped_at_line: 1 } : found
  }

  /**
   * Where a text has what the request asks for, as far as `time` ms suffice; `bytes` must not be used afterwards: the
   * same bytes are returned. Null: the time was over long ago. Rejects if the worker fails.
   */
  async searchRanges(
    bytes: Buffer,
    request: RangesRequest,
    time: number
  ): Promise<({ text: Buffer } & RangesFound) | null> {
    const own = transferable(bytes)
    const searched = await this.#threads.run(
      { type: 'search_ranges', bytes: own, request, time },
      { transfer: [own.buffer], time: time + this.#grace }
    )
    return searched === TIMED_OUT ? null : { ...searched.found, text: bufferOf(searched.bytes) }
  }

  /**
   * Compiles a request's expression, which may take seconds; null if it takes too long. Returns what `checkSearch`
   * does.
   */
  async check(
    request: Pick<SearchRequest, 'text' | 'regex' | 'ignore_case'>
  ): Promise<Result<null, InvalidRegex> | null> {
    const checked = await this.#threads.run({ type: 'check_search', request }, { transfer: [], time: this.#time })
    return checked === TIMED_OUT ? null : checked
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
