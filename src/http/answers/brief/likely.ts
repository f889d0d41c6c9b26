// The calls for several places that may equally well have been meant. Does not know why the text wasn't found.
import type { LineRange } from '../../../engine/edit/request.ts'
import type { EditPosition, Fix } from '../../../engine/failure.ts'
import { listed, quote, span } from '../phrases.ts'
import { CALLS_LENGTH, type ReadyFix, type FailedCall, fixed, inspect, oneOf, pathOf, toRead } from './call.ts'

/** Lines to read above and below a place. */
const AROUND = 5
/** Most lines to read with one call for several places. Chosen, not measured. */
const MOST_LINES = 100
/** About the most UTF-16 units to show of a line that tells a place from another. */
const LINE_LENGTH = 50

/**
 * For each place, in their order: the call that edits it, as long as they are short together, with what tells
 * the place from the others; for the rest, how to read them. If there is a call for all, how to read them comes last.
 */
export function eachLikely(
  places: readonly LineRange[],
  ready: readonly ReadyFix[],
  total_lines: number,
  failure: EditPosition,
  call: FailedCall
): string[] {
  const names = places.map(({ start_line, end_line }) => span([start_line, end_line]))
  const next: string[] = []
  const unread: number[] = []
  const left = [...ready]
  let length = 0
  for (const [i, { start_line, end_line }] of places.entries()) {
    const at = left.findIndex(({ lines }) => lines?.[0] === start_line && lines[1] === end_line)
    const [fix] = at === -1 ? [] : left.splice(at, 1)
    const when = fix && `For ${oneOf(names, i)}${apartBy(fix)}`
    const lines = fix === undefined ? [] : fixed(fix, when!, failure, call, CALLS_LENGTH / places.length)
    length += lines.join('\n').length
    if (lines.length > 0 && (length <= CALLS_LENGTH || next.length === 0)) next.push(...lines)
    else unread.push(i)
  }
  const reads = readsOf(unread.length > 0 ? unread.map(i => places[i]!) : places, total_lines, call)
  if (unread.length === 0) return [...next, ...(reads.length === 1 ? toRead(call, UNSURE, reads[0]!) : [`${UNSURE}.`])]
  const [old_text, which] = [
    call.naming.field('old_text'),
    listed(
      unread.map(i => names[i]!),
      'or'
    )
  ]
  const why = `For ${which}, read around there and make ${old_text} longer, until it fits only one place`
  const calls = reads.flatMap(args => inspect(call, args))
  return [...next, `${why}${calls.length === 0 ? '.' : ':'}`, ...calls]
}

const UNSURE = 'If you are not sure which, read around them first'

/** `, below "def read(path):"`: the lines that tell a place from the others. */
function apartBy({ context = {} }: Pick<Fix, 'context'>): string {
  const { above, below } = context
  const parts = [
    ...(above === undefined ? [] : [`below ${quote(above, LINE_LENGTH)}`]),
    ...(below === undefined ? [] : [`above ${quote(below, LINE_LENGTH)}`])
  ]
  return parts.length === 0 ? '' : `, ${listed(parts)}`
}

/** What to read to see these places: one range if they are near each other, else one for each. */
function readsOf(places: readonly LineRange[], total_lines: number, call: FailedCall): object[] {
  const around = (first: LineRange, last: LineRange) => ({
    path: pathOf(call),
    start_line: Math.max(1, first.start_line - AROUND),
    end_line: Math.min(total_lines, last.end_line + AROUND)
  })
  const inOrder = places.toSorted((a, b) => a.start_line - b.start_line)
  const all = around(inOrder[0]!, inOrder.at(-1)!)
  return all.end_line - all.start_line < MOST_LINES ? [all] : places.map(place => around(place, place))
}
