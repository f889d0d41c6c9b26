// The writing end of a server's log: writes lines in groups, one write for all that wait. Does not know where they are
// written, or what they say.
import type { HistoryOptions } from './api.ts'
import type { EncodedLine } from './record-json.ts'

/** A line that a caller awaits. */
export interface WaitingLine {
  line: EncodedLine
  durable: boolean
  resolve: () => void
  reject: (error: unknown) => void
}

/** Appends lines to segments of this server, one after the other. */
export interface Appender {
  /**
   * Writes the lines in order. They include those of `group`; some of these may be resolved early. If it rejects, the
   * group isn't written, as far as is known. `isNews`: report a failure, as it isn't known yet.
   */
  append(lines: readonly EncodedLine[], group: readonly WaitingLine[], isNews: boolean): Promise<void>
  /** Ends the segment if it was begun at least `age` ms ago. */
  rotate(age: number): Promise<void>
  /** Ends the segment. Nothing may be appended after it. */
  close(): Promise<void>
}

interface WriterOptions extends Pick<HistoryOptions, 'report'> {
  appender: Appender
  /** These lines, which no caller awaits, will never be written. */
  lost(lines: readonly EncodedLine[]): void
}

/** What is written at once. */
interface Group {
  group: WaitingLine[]
  later: EncodedLine[]
  onSent: (() => void)[]
}

/** In bytes: a group ends after the line that reaches it. */
const GROUP = 4 * 1024 * 1024
/** In ms: how long a line that no caller awaits may wait. */
const LATER = 50
/** In ms: the pause before such lines are tried again after a failure. */
const AGAIN = 1000
/** How many such lines are kept, some 100 bytes each; beyond that the oldest are lost. */
const MOST_LATER = 10_000

export class Writer {
  readonly #options: WriterOptions
  #queue: WaitingLine[] = []
  #later: EncodedLine[] = []
  #timer: NodeJS.Timeout | null = null
  /** The lines in `#later` have waited long enough. */
  #isTime = false
  /** The last group failed: lines in `#later` are written only with the next append, or after AGAIN. */
  #isFailing = false
  /** The failure was reported, and nothing has been written since. */
  #hasReported = false
  #running: Promise<void> | null = null
  /** Called after a try to write the lines in `#later`. */
  #onSent: (() => void)[] = []

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Resolves when the line is written and, if `durable`, on disk. Rejects with an error that has a code. */
  append(line: EncodedLine, durable: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ line, durable, resolve, reject })
      this.#start()
    })
  }

  /** Writes the line with the next one, or soon; a failure is reported, and the line is tried again. */
  add(line: EncodedLine): void {
    this.#later.push(line)
    this.#startIn(LATER)
  }

  /** Resolves when all lines passed to `add` are written, or failed and will be tried again. */
  async sent(): Promise<void> {
    if (this.#later.length === 0 && this.#running === null) return
    await new Promise<void>(resolve => {
      this.#onSent.push(resolve)
      this.#start()
    })
  }

  /** Resolves when nothing waits but lines of `add` that couldn't be written now either. */
  async flush(): Promise<void> {
    this.#isFailing = false
    while (this.#isDue() || this.#running !== null) {
      this.#start()
      await this.#running
    }
  }

  /** Ends the segment if it was begun at least `age` ms ago. */
  async rotate(age: number): Promise<void> {
    await this.flush()
    await this.#options.appender.rotate(age)
  }

  /** Writes what waits; lines that can't be written are lost. */
  async close(): Promise<void> {
    await this.flush()
    this.#lose(this.#later)
    this.#later = []
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#options.appender.close()
  }

  #isDue(): boolean {
    return this.#queue.length > 0 || (this.#later.length > 0 && !this.#isFailing)
  }

  /**
   * Keeps a timer that is already running, which ends sooner. A group that takes the waiting lines doesn't stop it: the
   * next lines need it.
   */
  #startIn(time: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#isFailing = false
      if (!this.#isDue()) return
      this.#isTime = true
      this.#start()
    }, time).unref()
  }

  #start(): void {
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      // Lines appended by several edits in one turn of the event loop go out together.
      await new Promise(resolve => setImmediate(resolve))
      // Lines of `add` that come meanwhile go out with the next append, or when their time is up.
      do await this.#send(this.#take())
      while (this.#queue.length > 0 || this.#onSent.length > 0 || (this.#isTime && this.#isDue()))
    } finally {
      this.#running = null
      if (this.#queue.length > 0 || this.#onSent.length > 0) this.#start()
    }
  }

  #take(): Group {
    const [later, onSent] = [this.#later, this.#onSent]
    this.#onSent = []
    this.#later = []
    this.#isTime = false
    let [count, size] = [0, 0]
    while (count < this.#queue.length && size < GROUP) size += this.#queue[count++]!.line.bytes.length
    return { group: this.#queue.splice(0, count), later, onSent }
  }

  async #send({ group, later, onSent }: Group): Promise<void> {
    const lines = [...later, ...group.map(({ line }) => line)]
    try {
      const isNews = group.length > 0 || !this.#hasReported
      if (lines.length > 0) await this.#options.appender.append(lines, group, isNews)
      this.#isFailing = false
      this.#hasReported = false
      for (const { resolve } of group) resolve()
    } catch (error) {
      this.#isFailing = true
      this.#putBack(later, error)
      for (const { reject } of group) reject(error)
    }
    for (const resolve of onSent) resolve()
  }

  #putBack(lines: readonly EncodedLine[], error: unknown): void {
    const all = [...lines, ...this.#later]
    if (all.length === 0) return
    this.#later = all.slice(-MOST_LATER)
    this.#lose(all.slice(0, -MOST_LATER))
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#startIn(AGAIN)
    if (this.#hasReported) return
    this.#hasReported = true
    this.#options.report({ event: 'history_settlements_late', count: this.#later.length, reason: String(error) })
  }

  #lose(lines: readonly EncodedLine[]): void {
    if (lines.length === 0) return
    this.#options.report({ event: 'history_settlements_lost', count: lines.length })
    this.#options.lost(lines)
  }
}
