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
  /** 1-based and inclusive. */
  start_line?: number
  end_line?: number
  /** How many lines to list at most. */
  limit: number
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
 * empty text exists and is empty). Linear in the text and in the record.
 */
export function blameOf(present: Buffer, task: BlameTask): Result<BlamedText, HistoryGone | LineOutOfRange> {
  const { changes, at: upTo, start_line = 1, end_line, limit } = task
  const units = new Units(changes)
  const since = knownSince(changes, units)
  const at = upTo === undefined ? changes.length - 1 : units.indexOf(upTo)
  if (at === undefined || at < since - 1) return fail(tooOld(changes, upTo!, at ?? since - 1, since))
  const weave = replay(present, changes, units, since)
  if (!weave.ok) return weave
  const written = textAfter(weave.value, at)
  const text = new Text(written.map(({ bytes }) => bytes))
  const { offsets, total: total_lines } = lineStarts(text, [start_line])
  if (start_line > Math.max(1, total_lines) || (end_line !== undefined && end_line < start_line)) {
    return fail({ code: 'LINE_OUT_OF_RANGE', total_lines, start_line, end_line })
  }
  const last = Math.min(end_line ?? total_lines, total_lines)
  const budget = new LineBudget(limit)
  const lines: BlamedLine[] = []
  let piece = 0
  for (let line = start_line, offset = offsets[0]!; line <= last && !budget.isSpent; line++) {
    const place = lineFrom(text, offset)
    offset = place.next
    while (text.startOf(piece + 1) <= place.start) piece++
    const ids = new Set<string>()
    const writers = new Set<number>()
    let behind: number | undefined
    for (let i = piece; i < written.length && text.startOf(i) < place.next; i++) {
      const { inserter, isFirst } = written[i]!
      if (inserter === BASE) continue
      const at = units.changeOf[inserter]!
      const isBehind = isFirst && text.startOf(i) === place.end && place.end > place.start
      // Another change may have split a CRLF since.
      if (behind === inserter && text.startOf(i) > place.end) continue
      if (isBehind && beginsLines(changes[at]!.splices![inserter - units.of(at)[0]]!)) {
        behind = inserter
        continue
      }
      writers.add(at)
    }
    for (const writer of [...writers].sort((a, b) => a - b)) ids.add(changes[writer]!.edit_id)
    const edit_ids = [...ids].filter(isRecordedId)
    lines.push({ line, ...budget.show(text, place), edit_ids, ...(edit_ids.length < ids.size && { outside: true }) })
  }
  const next_line = start_line + lines.length
  return ok({
    total_lines,
    start_line,
    lines,
    ...(next_line <= last && { truncated: true, next_line }),
    ...reachOf(changes, since)
  })
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
