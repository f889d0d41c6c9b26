// Outlines of documents and sources, made by parsers in a worker thread, one file after the other. Does not know
// grammars or requests.
import { PARSED_SIZE } from '../engine/outline/outlined.ts'
import type { Lines, Outline } from '../engine/outline/outline.ts'
import { fail, ok, type Result } from '../result.ts'
import { type CrashReport, TIMED_OUT, Threads } from './threads.ts'

/** Milliseconds that a file may take; then its thread is ended. */
const PARSING_TIME = 10_000
/** Files that may wait. */
const WAITING = 16
/** Milliseconds after which a thread without work is ended: that frees the grammars and the memory of the trees. */
const IDLE = 60_000

export interface OutlineJob {
  type: 'outline'
  bytes: Uint8Array
  language: string
  /** Of code: the lines of which it is asked whether they begin inside a string. */
  strings_in?: Lines
}

/** Why there is no outline. `limit` and `actual` in bytes, of `too_slow` in milliseconds. */
export type Unparsed =
  | { reason: 'too_large'; limit: number; actual: number }
  | { reason: 'too_slow'; limit: number }
  | { reason: 'parser_failed' }

export class Outliner {
  readonly #threads: Threads<OutlineJob, { outline: Outline }>
  readonly #time: number
  readonly #size: number
  readonly #onCrash: CrashReport | undefined

  constructor(options: { time?: number; size?: number; idle?: number; onCrash?: CrashReport } = {}) {
    this.#threads = new Threads('parse-worker', { size: 1, idle: options.idle ?? IDLE })
    this.#time = options.time ?? PARSING_TIME
    this.#size = options.size ?? PARSED_SIZE
    this.#onCrash = options.onCrash
  }

  /** Whether so many files wait that another one should not be read for. */
  get full(): boolean {
    return this.#threads.jobs >= WAITING
  }

  /** The outline of a text without NUL in one of the languages of `OUTLINED`; `bytes` stay as they are. */
  async outline(bytes: Buffer, language: string, strings_in?: Lines): Promise<Result<Outline, Unparsed>> {
    if (bytes.length > this.#size) return fail({ reason: 'too_large', limit: this.#size, actual: bytes.length })
    try {
      const job: OutlineJob = { type: 'outline', bytes, language, ...(strings_in !== undefined && { strings_in }) }
      const outline = await this.#threads.run(job, { transfer: [], time: this.#time })
      return outline === TIMED_OUT ? fail({ reason: 'too_slow', limit: this.#time }) : ok(outline)
    } catch (error) {
      this.#onCrash?.(error)
      return fail({ reason: 'parser_failed' })
    }
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
