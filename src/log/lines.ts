// Reads found records from their lines and blobs. Does not know why they are wanted.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { codeOf } from '../error-code.ts'
import type { Gap, HistoryOptions } from './api.ts'
import { decodeFacts, decodeRecord, type Facts } from './record-json.ts'
import type { EditRecord, Stored, TextsState } from './record.ts'
import type { FoundRow } from './rows.ts'
import type { Segments } from './segments.ts'
import { decodeTexts, type ReadBlob, type Texts } from './texts-json.ts'
import { isPassing, unreadable } from './unreadable.ts'

/** How many splices are decoded in one turn of the event loop (at least one record): about 10 ms. */
const TURN = 2000

interface LinesOptions {
  segments: Segments
  blobs: { read: ReadBlob }
  report: HistoryOptions['report']
}

interface Decoded {
  facts: Facts
  texts: unknown
  outcome: unknown
}

/** A record as its line has it. */
export interface ReadRow extends Decoded {
  found: FoundRow
}

/** Drops texts and answers that no one needs: all of them together may exceed the memory. */
function factsOnly(json: Buffer): Decoded | null {
  const entry = decodeFacts(json)
  return entry !== null && 'facts' in entry ? { facts: entry.facts, texts: null, outcome: null } : null
}

export class RecordLines {
  readonly #options: LinesOptions

  constructor(options: LinesOptions) {
    this.#options = options
  }

  /**
   * Reads the lines of these rows, in their order; `whole`: with texts and answers. Leaves out what no longer exists;
   * damaged lines become gaps. Rejects with HistoryUnreadable.
   */
  async read(found: readonly FoundRow[], { whole }: { whole: boolean }): Promise<{ read: ReadRow[]; bad: Gap[] }> {
    const decode = whole ? decodeRecord : factsOnly
    const lines = new Map<FoundRow, Decoded | null>()
    for (const segment of new Set(found.map(({ segment }) => segment))) {
      const here = found.filter(one => one.segment === segment)
      try {
        const read = await this.#options.segments.lines(segment, here, decode, whole)
        if (read !== null) for (const [i, one] of here.entries()) lines.set(one, read[i] ?? null)
      } catch (error) {
        if (isPassing(error)) throw unreadable(error, this.#options)
        const { name } = segment
        this.#options.report({ event: 'history_segment_unreadable', segment: name, code: codeOf(error) })
        for (const one of here) lines.set(one, null)
      }
    }
    const [read, bad]: [ReadRow[], Gap[]] = [[], []]
    for (const one of found) {
      const record = lines.get(one)
      if (record?.facts.edit_id === one.edit_id) read.push({ found: one, ...record })
      else if (record !== undefined) bad.push(this.#damaged(one))
    }
    return { read, bad }
  }

  /**
   * Completes records, which are in order, oldest first. Texts of the newest are read first, up to `mostTexts` bytes;
   * the rest are `unread`.
   */
  async stored(read: readonly ReadRow[], mostTexts: number): Promise<Stored[]> {
    const stored: Stored[] = []
    let size = 0
    let since = 0
    for (const one of read.toReversed()) {
      const { splices, places, texts } = await this.#texts(one, size < mostTexts)
      size += sizeOf({ splices, places })
      since += splices?.length ?? 0
      if (since > TURN) {
        since = 0
        await yieldToOthers()
      }
      const { hasTexts: _has, blobs: _blobs, seen: _seen, key, change_count, ...facts } = one.facts
      const record: EditRecord = {
        ...facts,
        splices,
        places,
        ...(splices === null && change_count !== undefined && { change_count }),
        ...(key && { key: { ...key, outcome: one.outcome } })
      }
      stored.push({ record, texts, nonce: one.found.segment.nonce, settled: one.found.settled })
    }
    return stored.reverse()
  }

  #damaged({ segment, offset, length, edit_id }: FoundRow): Gap {
    this.#options.report({ event: 'history_line_damaged', segment: segment.name, offset })
    this.#options.segments.invalidate(segment)
    return { segment: segment.name, offset, length, after: null, before: edit_id }
  }

  async #texts({ facts, texts }: ReadRow, wanted: boolean): Promise<Texts & { texts: TextsState }> {
    if (!facts.hasTexts) return { splices: null, places: null, texts: 'none' }
    if (!wanted) return { splices: null, places: null, texts: 'unread' }
    const decoded = await decodeTexts(texts, name => this.#options.blobs.read(name))
    return decoded === null ? { splices: null, places: null, texts: 'lost' } : { ...decoded, texts: 'kept' }
  }
}

const sizeOf = ({ splices, places }: Texts): number =>
  (splices ?? []).reduce((sum, { old, insert }) => sum + old.length + insert.length, 0) +
  (places ?? []).reduce((sum, { before, after }) => sum + before.length + after.length, 0)
