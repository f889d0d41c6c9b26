// Requests for outlines of documents and sources, which parsers make in a worker thread, one file after the other. Does
// not know grammars or requests of callers.
import { PARSED_SIZE } from '../engine/outline/outlined.ts'
import type { symbolOn } from '../engine/outline/target.ts'
import type { OutlineEntry } from '../engine/failure.ts'
import type { SectionRequest, PlannedSection, planSection, SectionPlanFailure } from '../engine/plan/plan-section.ts'
import { fail, ok, type Result } from '../result.ts'
import { isOutOfMemory, parseThread, PARSING_MEMORY } from './parse-memory.ts'
import { type CrashReport, TIMED_OUT, Threads } from './threads.ts'

/** How long parsing a text may take, in ms; then its thread is ended. */
const PARSING_TIME = 10_000
/** How many files may wait. */
const WAITING = 16

/** The items from index `start` to before index `end`. */
export interface ItemsJob {
  type: 'items'
  bytes: Uint8Array
  language: string
  start: number
  end: number
}
/** The symbols that a name or path means. */
export interface DefinitionsJob {
  type: 'definitions'
  bytes: Uint8Array
  language: string
  symbol: string
}
export interface SymbolJob {
  type: 'symbol'
  bytes: Uint8Array
  language: string
  lines: readonly [number, number]
}
/** `limit`: bytes of the text that the edit produces. */
export interface SectionJob {
  type: 'section'
  bytes: Uint8Array
  language: string
  request: SectionRequest
  limit: number
}
export type OutlineJob = ItemsJob | DefinitionsJob | SymbolJob | SectionJob

/** The result of each type of job. */
export interface OutlineResults {
  items: { items: OutlineEntry[]; total: number; syntax_error_lines: number[] }
  definitions: OutlineEntry[]
  symbol: ReturnType<typeof symbolOn>
  section: Awaited<ReturnType<typeof planSection<Unparsed>>>
}

/**
 * Why there is no outline. `limit` and `actual`: bytes of the file or of the parser's memory; for `too_slow`,
 * milliseconds.
 */
export type Unparsed =
  | { reason: 'too_large'; limit: number; actual: number }
  | { reason: 'too_slow' | 'too_much_memory'; limit: number }
  | { reason: 'parser_failed' }

export class Outliner {
  readonly #threads: Threads<OutlineJob, OutlineResults>
  readonly #time: number
  readonly #size: number
  readonly #onCrash: CrashReport | undefined

  constructor(options: { time?: number; size?: number; onCrash?: CrashReport } = {}) {
    this.#threads = new Threads('parse-worker', parseThread(PARSING_MEMORY))
    this.#time = options.time ?? PARSING_TIME
    this.#size = options.size ?? PARSED_SIZE
    this.#onCrash = options.onCrash
  }

  /** Whether so many files wait that no other one should be read. */
  get full(): boolean {
    return this.#threads.jobs >= WAITING
  }

  /**
   * The items of an outline from index `start` to before `end`, and how many there are. In all methods here, the text
   * has no NUL and is in one of the languages of `OUTLINED`, and `bytes` are not changed.
   */
  items(
    bytes: Buffer,
    language: string,
    shown: { start: number; end: number }
  ): Promise<Result<OutlineResults['items'], Unparsed>> {
    return this.#run({ type: 'items', bytes, language, ...shown })
  }

  /** The symbols whose path is `symbol`, or ends with it. */
  definitions(
    bytes: Buffer,
    language: string,
    symbol: string
  ): Promise<Result<OutlineResults['definitions'], Unparsed>> {
    return this.#run({ type: 'definitions', bytes, language, symbol })
  }

  /** The name of the symbol on exactly these lines; null if there is none. */
  symbolOn(
    bytes: Buffer,
    language: string,
    lines: readonly [number, number]
  ): Promise<Result<OutlineResults['symbol'], Unparsed>> {
    return this.#run({ type: 'symbol', bytes, language, lines })
  }

  /** The line edit that /edit-section asks for, or why there is none. */
  async section(
    bytes: Buffer,
    language: string,
    request: SectionRequest
  ): Promise<Result<Result<PlannedSection, SectionPlanFailure>, Unparsed>> {
    const done = await this.#run({ type: 'section', bytes, language, request, limit: this.#size })
    if (!done.ok) return done
    const planned = done.value
    if (planned.ok) return ok(planned)
    const { failure } = planned
    return 'code' in failure ? ok(fail(failure)) : fail(failure)
  }

  async #run<J extends OutlineJob>(job: J): Promise<Result<OutlineResults[J['type']], Unparsed>> {
    const { length } = job.bytes
    if (length > this.#size) return fail({ reason: 'too_large', limit: this.#size, actual: length })
    try {
      const found = await this.#threads.run(job, { transfer: [], time: this.#time })
      return found === TIMED_OUT ? fail({ reason: 'too_slow', limit: this.#time }) : ok(found)
    } catch (error) {
      if (isOutOfMemory(error)) return fail({ reason: 'too_much_memory', limit: PARSING_MEMORY })
      this.#onCrash?.(error)
      return fail({ reason: 'parser_failed' })
    }
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
