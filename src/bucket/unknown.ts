// Changes whose outcome this server doesn't know, as no answer came: checks again until it knows, and reports to the
// audit. Does not know how they were made.
import type { AuditedChange } from '../audit/audit.ts'
import { codeOf } from '../error-code.ts'
import type { History } from '../log/api.ts'
import type { Settlement } from '../log/record.ts'
import { settlementOf } from '../recording/chain.ts'
import { mayBeUnderWay, type PresentFile, type Settler } from './log/settle.ts'

interface UnknownChange {
  path: Buffer
  /** The attempt id of the write; for a change with a record, its edit_id. */
  attempt: string
  isRecorded: boolean
  /** SHA-256, 64 hex digits; null: there was no file. */
  hash_before: string | null
  hash_after: string
  size_after: number
  audited: AuditedChange | undefined
}

interface UnknownChangesOptions {
  /** Reads the file as it is now. */
  present(path: Buffer): Promise<PresentFile>
  /** Null: no history is kept. */
  settling: { history: Pick<History, 'byId'>; settler: Pick<Settler, 'settle'> } | null
  /** Whether the store answered the last request. */
  answers(): boolean
  report(event: { event: string; [key: string]: unknown }): void
  /** For tests: replaces `mayBeUnderWay`. */
  underWay?(size: number): number
}

/** In ms, between two checks. Chosen, not measured. */
const LOOK = 5000

export class UnknownChanges {
  readonly #options: UnknownChangesOptions
  /** The changes, each with the time it was added. */
  readonly #changes = new Map<UnknownChange, number>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null

  constructor(options: UnknownChangesOptions) {
    this.#options = options
  }

  add(change: UnknownChange): void {
    change.audited?.uncertain(change.isRecorded ? change.attempt : undefined)
    this.#changes.set(change, performance.now())
    this.#timer ??= setInterval(() => this.#look(), LOOK).unref()
  }

  /** Checks a last time. The audit has already reported as uncertain whatever is still unknown. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#look()
  }

  /** Joins a check that is still running. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookAtAll(): Promise<void> {
    if (!this.#options.answers()) return
    for (const [change, since] of [...this.#changes]) {
      try {
        if (await this.#isKnown(change, since)) this.#changes.delete(change)
      } catch (error) {
        this.#options.report({ event: 'settle_failed', path: change.path.toString(), reason: codeOf(error) })
      }
    }
    if (this.#changes.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #isKnown(change: UnknownChange, since: number): Promise<boolean> {
    const { settling } = this.#options
    let isKnown = false
    const found = (settlement: Settlement): void => {
      isKnown = true
      tell(change, settlement)
    }
    const stored = change.isRecorded ? await settling?.history.byId(change.attempt) : null
    if (stored == null) await this.#find(change, since, found)
    else if (stored.settled !== null) found(stored.settled)
    else await settling?.settler.settle(stored, found)
    return isKnown
  }

  /** Finds the outcome of a change without a record. */
  async #find(
    { path, attempt, hash_before, hash_after, size_after }: UnknownChange,
    since: number,
    found: (settlement: Settlement) => void
  ): Promise<void> {
    const { present, underWay = mayBeUnderWay } = this.#options
    const isOver = performance.now() - since >= underWay(size_after)
    const file = await present(path)
    if (file.attempts.includes(attempt)) found('done')
    else if (isOver) found(settlementOf({ hash_before, hash_after }, file.hash))
  }
}

/** 'uncertain' isn't reported again: `add` did so. */
function tell({ audited, attempt, isRecorded }: UnknownChange, found: Settlement): void {
  if (found === 'done') audited?.done(isRecorded ? attempt : undefined)
  else if (found === 'void') audited?.notDone()
}
