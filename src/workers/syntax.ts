// Checks of syntax, made by parsers in a worker thread, one after the other. Does not know grammars or requests.
import type { SyntaxCheck } from '../engine/syntax/new-fault.ts'
import { CHECKED_SIZE } from '../engine/syntax/languages.ts'
import { CHECKING_MEMORY, isOutOfMemory, parseThread } from './parse-memory.ts'
import { type CrashReport, TIMED_OUT, Threads } from './threads.ts'

/** How long a check may take, in ms, including the first one, which loads its grammar; then its thread is ended. */
const CHECKING_TIME = 10_000
/** How many checks may wait: each edit keeps its file locked until its check is done. */
const WAITING = 8

export interface SyntaxJob {
  type: 'syntax'
  after: Uint8Array
  before: Uint8Array | null
  language: string
}

/** Why a file was not checked. */
export type Unchecked = 'too_large' | 'too_slow' | 'too_much_memory' | 'busy' | 'parser_failed'

export class SyntaxChecker {
  readonly #threads: Threads<SyntaxJob, { syntax: SyntaxCheck }>
  readonly #time: number
  readonly #onCrash: CrashReport | undefined

  constructor(options: { time?: number; onCrash?: CrashReport } = {}) {
    this.#threads = new Threads('parse-worker', parseThread(CHECKING_MEMORY))
    this.#time = options.time ?? CHECKING_TIME
    this.#onCrash = options.onCrash
  }

  /**
   * Finds a syntax fault that the text didn't have before; `before`: null for a new file. Both texts have no NUL and
   * are not changed; the language is one of `SYNTAX_LANGUAGES`.
   */
  async check(after: Buffer, before: Buffer | null, language: string): Promise<SyntaxCheck | { found: Unchecked }> {
    if (Math.max(after.length, before?.length ?? 0) > CHECKED_SIZE) return { found: 'too_large' }
    if (this.#threads.jobs >= WAITING) return { found: 'busy' }
    // Copies, since sending a view sends its whole buffer.
    const job = { after: Uint8Array.from(after), before: before && Uint8Array.from(before), language }
    try {
      const transfer = [job.after, ...(job.before === null ? [] : [job.before])].map(({ buffer }) => buffer)
      const checked = await this.#threads.run({ type: 'syntax', ...job }, { transfer, time: this.#time })
      return checked === TIMED_OUT ? { found: 'too_slow' } : checked
    } catch (error) {
      if (isOutOfMemory(error)) return { found: 'too_much_memory' }
      this.#onCrash?.(error)
      return { found: 'parser_failed' }
    }
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
