// Outlines of documents and sources, made by parsers in a worker thread, one file after the other. Knows no grammar and no request.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Outline } from './engine/outline/outline.ts'
import { fail, ok, type Result } from './result.ts'

/** Bytes of a file that is parsed; a syntax tree takes many times as much memory. */
export const PARSED_SIZE = 8 * 1024 * 1024
/** Milliseconds that a file may take; then its thread is ended. */
export const PARSING_TIME = 10_000
/** Files that may wait. */
const WAITING = 16
/** Milliseconds after which a thread without work is ended: grammars and the memory that trees took go with it. */
const IDLE = 60_000

export interface Job { bytes: Uint8Array, language: string }

/** Why there is no outline. `limit` and `actual` in bytes, of `too_slow` in milliseconds. */
export type Unparsed =
  | { reason: 'too_large', limit: number, actual: number }
  | { reason: 'too_slow', limit: number }
  | { reason: 'parser_failed' }

/** A thread that parses. It is started when first needed, and doesn't keep the process alive. */
export class Outliner {
  readonly #url: URL
  readonly #options: { time: number, size: number, idle: number }
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #rest: NodeJS.Timeout | undefined

  constructor (options: { time?: number, size?: number, idle?: number } = {}) {
    // The same file is .ts where tests load it, .js where it was built.
    this.#url = new URL(import.meta.url.replace(/parsing(\.[jt]s)/, 'parsing-worker$1'))
    this.#options = { time: PARSING_TIME, size: PARSED_SIZE, idle: IDLE, ...options }
  }

  /** Whether so many files wait that another one should not be read for. */
  get full (): boolean {
    return this.#waiting >= WAITING
  }

  /** The outline of a text without NUL in one of the languages of `OUTLINED`; `bytes` stay as they are. */
  async outline (bytes: Buffer, language: string): Promise<Result<Outline, Unparsed>> {
    if (bytes.length > this.#options.size) return fail({ reason: 'too_large', limit: this.#options.size, actual: bytes.length })
    this.#waiting++
    const result = this.#last.then(() => this.#run({ bytes, language })).finally(() => { this.#waiting-- })
    this.#last = result
    return result
  }

  async close (): Promise<void> {
    await this.#last
    await this.#end()
  }

  async #run (job: Job): Promise<Result<Outline, Unparsed>> {
    clearTimeout(this.#rest)
    const worker = this.#worker ??= await this.#start()
    const limit = this.#options.time
    return new Promise(resolve => {
      const done = (result: Result<Outline, Unparsed>, ended: boolean) => {
        clearTimeout(timer)
        // Each by name: without the thread's own listeners no further message would arrive.
        worker.off('message', answered).off('error', failed)
        if (ended) this.#worker = null
        else {
          worker.unref()
          this.#rest = setTimeout(() => { this.#end() }, this.#options.idle).unref()
        }
        resolve(result)
      }
      const timer = setTimeout(() => {
        worker.terminate().then(() => done(fail({ reason: 'too_slow', limit }), true))
      }, limit)
      const answered = (outline: Outline) => done(ok(outline), false)
      const failed = () => done(fail({ reason: 'parser_failed' }), true)
      worker.ref()
      worker.once('message', answered).once('error', failed)
      worker.postMessage(job)
    })
  }

  /** A thread that says it is ready: what it takes to start isn't the file's fault. */
  async #start (): Promise<Worker> {
    const worker = new Worker(this.#url)
    await once(worker, 'message')
    return worker
  }

  async #end (): Promise<void> {
    clearTimeout(this.#rest)
    const worker = this.#worker
    this.#worker = null
    if (worker === null) return
    worker.ref()
    worker.postMessage(null)
    await once(worker, 'exit')
  }
}
