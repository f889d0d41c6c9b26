// Decides whether a recorded change of an object happened. Does not know how files are read.
import type { Audit } from '../../audit/audit.ts'
import type { History } from '../../log/api.ts'
import type { Settlement, Stored } from '../../log/record.ts'
import { codeOf } from '../../error-code.ts'
import { writeDeadline } from '../../object-store/store.ts'
import { chainOf, isNote, isTraceless } from '../../recording/chain.ts'
import { UnchangedSince } from './unchanged-since.ts'

/** A file as it is now. */
export interface PresentFile {
  /** SHA-256, 64 hex digits; null: there is no file. */
  hash: string | null
  /** Attempt ids of the writes that the object comes from, as far as they are known. */
  attempts: readonly string[]
}

interface SettlerOptions {
  history: History
  /** Reads the file at this real path below the root. */
  present(path: Buffer): Promise<PresentFile>
  /** Receives what `settleAll` settles. */
  audit?: Audit | undefined
  report(event: { event: string; [key: string]: unknown }): void
  /** For tests: replaces `mayBeUnderWay`. */
  underWay?(size: number): number
}

/** In ms, added to the deadline of a write: for the time between the record and the first request. */
const MORE = 60_000
/** In ms: how long the write of a file of this size may be under way after its record was seen. */
export const mayBeUnderWay = (size: number): number => writeDeadline(size) + MORE

export class Settler {
  readonly #options: SettlerOptions
  /** When each open record was first seen by this process. */
  readonly #since = new UnchangedSince()

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /**
   * Settles a change, and records that for all servers. under_way: its write may still happen. uncertain, and not
   * recorded, if the file can't be read. `onFound` receives what will be recorded, before it is.
   */
  async settle(
    { record }: Stored,
    onFound: (settlement: Settlement) => void = () => {}
  ): Promise<Settlement | 'under_way'> {
    const { history, present, report } = this.#options
    const { edit_id, path } = record
    if (isNote(record)) return this.#say(edit_id, 'done')
    const isOver = this.#isOver(record)
    try {
      await history.refresh()
      // Read the file before the records: what they don't mention happened after it.
      const file = await present(path)
      const { records } = await history.ofPath(path)
      const found = records.find(stored => stored.record.edit_id === edit_id)
      if (found === undefined) return 'uncertain'
      if (found.settled !== null) return found.settled
      if (file.attempts.includes(edit_id)) return this.#say(edit_id, 'done', onFound)
      // Two changes may have the same result, so the hashes only tell which of them may have made it.
      if (!isOver) return 'under_way'
      // An undo that changes no byte has equal hashes, which tell nothing.
      if (isTraceless(record)) return this.#say(edit_id, 'uncertain', onFound)
      const judged = chainOf(records, file.hash).settled.find(one => one.edit_id === edit_id)
      return judged === undefined ? 'uncertain' : this.#say(edit_id, judged.settlement, onFound)
    } catch (error) {
      // One unreadable file must not delay the others, or the start of a server.
      report({ event: 'settle_failed', path: path.toString(), reason: codeOf(error) })
    }
    return 'uncertain'
  }

  /**
   * Settles all changes of servers that are gone. Those whose write may still be under way are left for the next call.
   */
  async settleAll(): Promise<void> {
    const { history, audit } = this.#options
    for (const stored of await history.unsettled()) {
      await this.settle(stored, settlement => audit?.settled(stored.record, settlement))
    }
  }

  #say(edit_id: string, settlement: Settlement, onFound: (settlement: Settlement) => void = () => {}): Settlement {
    onFound(settlement)
    this.#options.history.settle(edit_id, settlement)
    this.#since.forget(edit_id)
    return settlement
  }

  /** Whether its write can no longer be under way. */
  #isOver({ edit_id, size_after }: Stored['record']): boolean {
    const { underWay = mayBeUnderWay } = this.#options
    return this.#since.age(edit_id) >= underWay(size_after)
  }
}
