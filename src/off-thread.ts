// Runs engine work that may take long in a worker thread, one job after the other. Knows what to run, not for whom.
import { Worker } from 'node:worker_threads'
import { searchText, type SearchRequest, type SearchResult } from './engine/search.ts'

/** Bytes up to which literal text is searched at once: it takes less time than the way to the worker and back. */
const AT_ONCE = 128 * 1024
/** Searches that may wait, each with its whole file. */
const WAITING = 16
/** Milliseconds that a search may take; then it says how far it came. */
export const SEARCH_TIME = 5_000
/** After so long without an answer, the worker is ended: a single line was too much for it. */
const GRACE = 5_000

export interface Job { bytes: Uint8Array, request: SearchRequest, time: number }

/** A thread that searches. It is started when first needed, and doesn't keep the process alive. */
export class Searcher {
  readonly #url: URL
  readonly #time: number
  readonly #grace: number
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor (options: { time?: number, grace?: number } = {}) {
    // The same file is .ts where tests load it, .js where it was built.
    this.#url = new URL(import.meta.url.replace(/off-thread(\.[jt]s)/, 'off-thread-worker$1'))
    this.#time = options.time ?? SEARCH_TIME
    this.#grace = options.grace ?? GRACE
  }

  /** Whether so many searches wait that another one should not be read for. */
  get full (): boolean {
    return this.#waiting >= WAITING
  }

  /** Searches a text; `bytes` must not be used afterwards. What takes too long is `stopped_at_line`; rejects where the worker fails. */
  search (bytes: Buffer, request: SearchRequest): Promise<SearchResult> {
    if (bytes.length <= AT_ONCE && !request.regex && !request.ignore_case) return Promise.resolve(searchText(bytes, request))
    this.#waiting++
    const result = this.#last.then(() => this.#run(bytes, request)).finally(() => { this.#waiting-- })
    this.#last = result.catch(() => {})
    return result
  }

  async close (): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
    this.#worker = null
  }

  #run (bytes: Buffer, request: SearchRequest): Promise<SearchResult> {
    const worker = this.#worker ??= this.#start()
    // A view into the pool is copied; a buffer of its own moves over.
    const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
    return new Promise((resolve, reject) => {
      const done = (result: SearchResult) => {
        clearTimeout(timer)
        worker.removeAllListeners()
        worker.unref()
        resolve(result)
      }
      const timer = setTimeout(() => {
        this.#worker = null
        worker.terminate().then(() => done({ matches: [], total_matches: 0, truncated: true, stopped_at_line: 1 }), reject)
      }, this.#time + this.#grace)
      worker.ref()
      worker.once('message', done)
      worker.once('error', error => {
        clearTimeout(timer)
        this.#worker = null
        reject(error)
      })
      worker.postMessage({ bytes: own, request, time: this.#time } satisfies Job, [own.buffer as ArrayBuffer])
    })
  }

  #start (): Worker {
    return new Worker(this.#url)
  }
}

/** Says when the time is over. */
export function within (time: number): () => boolean {
  const end = performance.now() + time
  return () => performance.now() > end
}
