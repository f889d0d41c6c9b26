// Blame: which edits wrote the lines of a text, now or in an earlier state. A plain-data task that can run in another
// thread.
import { fail, ok, type Result } from '../result.ts'
import type { HistoryGone, LineOutOfRange } from './failure.ts'
import { isRecordedId, type RecordedChange, type RecordedSplice } from './undo/change.ts'
import { knownSince, reachOf, type Reach } from './undo/known.ts'
import { LineBudget, type LineText } from './undo/shown-line.ts'
import { BASE } from './undo/spans.ts'
import { Units } from './undo/units.ts'
import { replay, textAfter } from './undo/weave.ts'
import { breakEndIn, isBreakByte, lineFrom, lineStarts } from './text/lines.ts'
import { Text } from './text/text.ts'

export interface BlameTask {
  /** All known changes of the text, oldest first. */
  changes: readonly RecordedChange[]
  /** Blame the text as it was right after this change; if absent, the present text. */
  at?: string
  /** What moves brought, for those changes that made the text by a move: their bytes have earlier writers. */
  moved?: readonly BroughtText[]
  /** 1-based and inclusive. */
  start_line?: number
  end_line?: number
  /** How many lines to list at most. */
  limit: number
}

/**
 * The text that a move brought. A change of it may itself be a move, with a text of its own in the task. If it isn't
 * what the change inserted, what was changed before the move is unknown.
 */
export interface BroughtText {
  /** The change that made the text at its new place. */
  edit_id: string
  bytes: Buffer
  /** Its changes at its earlier place, oldest first; the last is what the move changed in it, under the move's id. */
  changes: readonly RecordedChange[]
}

interface BlamedLine extends LineText {
  line: number
  /**
   * Edits that inserted bytes of the line (its break included), oldest first. Not edits that only deleted, nor one that
   * appended lines after a last line without a break and so had to add that break.
   */
  edit_ids: string[]
  /** Other programs wrote part of it, in a change that isn't recorded yet. */
  outside?: true
}

export interface BlamedText extends Reach {
  total_lines: number
  start_line: number
  lines: BlamedLine[]
  /** Some of the requested lines aren't listed: continue with `next_line`. */
  truncated?: true
  next_line?: number
}

/**
 * Blames lines of `present`, the text after all changes, or of an earlier state. Fails with HISTORY_GONE if the record
 * is inconsistent or doesn't reach back to `at`; with LINE_OUT_OF_RANGE if the text has no such lines (line 1 of an
 * empty text exists and is empty). Linear in the texts and in their records.
 */
export function blameOf(present: Buffer, task: BlameTask): Result<BlamedText, HistoryGone | LineOutOfRange> {
  const { changes, moved = [], start_line = 1, end_line, limit } = task
  const found = new Writers(moved).of(present, changes, task.at)
  if (!found.ok) return found
  const { stretches, ...reach } = found.value
  const text = new Text(stretches.map(({ bytes }) => bytes))
  const { offsets, total: total_lines } = lineStarts(text, [start_line])
  if (start_line > Math.max(1, total_lines) || (end_line !== undefined && end_line < start_line)) {
    return fail({ code: 'LINE_OUT_OF_RANGE', total_lines, start_line, end_line })
  }
  const last = Math.min(end_line ?? total_lines, total_lines)
  const budget = new LineBudget(limit)
  const lines: BlamedLine[] = []
  let first = 0
  for (let line = start_line, offset = offsets[0]!; line <= last && !budget.isSpent; line++) {
    const place = lineFrom(text, offset)
    offset = place.next
    while (text.startOf(first + 1) <= place.start) first++
    const writers = new Set<Writer>()
    let behind: RecordedSplice | undefined
    for (let i = first; i < stretches.length && text.startOf(i) < place.next; i++) {
      const { writer, isFirst } = stretches[i]!
      if (writer === null) continue
      const isBehind = isFirst && text.startOf(i) === place.end && place.end > place.start
      // Another change may have split a CRLF since.
      if (behind === writer.splice && text.startOf(i) > place.end) continue
      if (isBehind && beginsLines(writer.splice)) {
        behind = writer.splice
        continue
      }
      writers.add(writer)
    }
    const ids = new Set([...writers].sort(byAge).map(({ edit_id }) => edit_id))
    const edit_ids = [...ids].filter(isRecordedId)
    lines.push({ line, ...budget.show(text, place), edit_ids, ...(edit_ids.length < ids.size && { outside: true }) })
  }
  const next_line = start_line + lines.length
  return ok({
    total_lines,
    start_line,
    lines,
    ...(next_line <= last && { truncated: true, next_line }),
    ...reach
  })
}

/** A change that inserted bytes, and its splice. `moves`: how many moves there were since. */
interface Writer {
  edit_id: string
  splice: RecordedSplice
  moves: number
  /** The index of the change among those between the same moves. */
  at: number
}

const byAge = (a: Writer, b: Writer): number => b.moves - a.moves || a.at - b.at

/** Bytes of a text; `writer`: null: they are older than all changes. `isFirst` as in `EarlierSpan`. */
interface Stretch {
  bytes: Buffer
  writer: Writer | null
  isFirst: boolean
}

/** A text by its writers. */
interface Written extends Reach {
  stretches: Stretch[]
}

/** Finds the writers of texts, also of what moves brought. */
class Writers {
  readonly #moved: ReadonlyMap<string, BroughtText>

  constructor(moved: readonly BroughtText[]) {
    this.#moved = new Map(moved.map(text => [text.edit_id, text]))
  }

  /** The writers of the text right after the change `asked`; if that is absent, of `present`. */
  of(
    present: Buffer,
    changes: readonly RecordedChange[],
    asked: string | undefined,
    moves = 0
  ): Result<Written, HistoryGone> {
    const units = new Units(changes)
    const since = knownSince(changes, units)
    const at = asked === undefined ? changes.length - 1 : units.indexOf(asked)
    if (at === undefined || at < since - 1) return fail(tooOld(changes, asked!, at ?? since - 1, since))
    const weave = replay(present, changes, units, since)
    if (!weave.ok) return weave
    /** By their units. */
    const writers = new Map<number, Writer>()
    const brought = new Map<number, Parts | null>()
    const stretches = textAfter(weave.value, at).flatMap(({ bytes, inserter, inserted, from, isFirst }): Stretch[] => {
      if (inserter === BASE) return [{ bytes, writer: null, isFirst }]
      const at = units.changeOf[inserter]!
      const { edit_id, existence, splices } = changes[at]!
      const writer = writers.get(inserter) ?? { edit_id, splice: splices![inserter - units.of(at)[0]]!, moves, at }
      writers.set(inserter, writer)
      if (existence === 'made' && !brought.has(inserter)) brought.set(inserter, this.#brought(writer))
      const text = brought.get(inserter) ?? null
      // Another program may have given lines other breaks since.
      const isPart = text !== null && inserted === writer.splice.insert
      return isPart ? text.of(from, bytes) : [{ bytes, writer, isFirst }]
    })
    const reach = [reachOf(changes, since), ...[...brought.values()].flatMap(text => text?.written ?? [])].find(
      known => known.incomplete
    )
    return ok({ stretches, incomplete: reach?.incomplete, reaches_back_to: reach?.reaches_back_to })
  }

  /** The text that a change brought by a move, if the task has it. If it isn't consistent, the move is the writer. */
  #brought(writer: Writer): Parts | null {
    const { edit_id, splice, moves } = writer
    const text = this.#moved.get(edit_id)
    if (text === undefined) return null
    const found = text.bytes.equals(splice.insert) ? this.of(text.bytes, text.changes, undefined, moves + 1) : null
    if (found?.ok === true) return new Parts(found.value)
    const stretches = [{ bytes: splice.insert, writer, isFirst: true }]
    return new Parts({ stretches, incomplete: true, reaches_back_to: edit_id })
  }
}

/** A text by its writers, whose parts are asked for in order. */
class Parts {
  readonly written: Written
  #next = 0
  /** Where the next stretch begins. */
  #start = 0

  constructor(written: Written) {
    this.written = written
  }

  /** The stretches from the offset `from` on, as far as `bytes` reaches, which are the same there. */
  of(from: number, bytes: Buffer): Stretch[] {
    const part: Stretch[] = []
    const to = from + bytes.length
    for (const { stretches } = this.written; ; this.#next++) {
      const { bytes: own, writer, isFirst } = stretches[this.#next]!
      const end = this.#start + own.length
      const [first, last] = [Math.max(this.#start, from), Math.min(end, to)]
      if (first < last) {
        const isStart = isFirst && first === this.#start
        part.push({ bytes: bytes.subarray(first - from, last - from), writer, isFirst: isStart })
      }
      if (end >= to) return part
      this.#start = end
    }
  }
}

/** Whether the splice inserted a line break and more text after it. */
const beginsLines = ({ insert }: RecordedSplice): boolean =>
  isBreakByte(insert[0]!) && breakEndIn(insert, 0) < insert.length

/** The failure when changes that the state after `upTo` depends on are unknown. */
function tooOld(changes: readonly RecordedChange[], upTo: string, at: number, since: number): HistoryGone {
  const missing = changes.slice(at + 1, since).filter(({ splices }) => splices === null)
  const ids = missing.map(({ edit_id }) => edit_id).filter(isRecordedId)
  return {
    code: 'HISTORY_GONE',
    edit_ids: missing.length > 0 ? ids : [upTo],
    reason: 'not_kept',
    ...(ids.length < missing.length && { unrecorded: true })
  }
}
