// The text of a section, code block or symbol that was not found, or of which there are several. Does not know other
// failures.
import type { AmbiguousTarget, OutlineEntry, TargetNotFound } from '../../../engine/failure.ts'
import { linesFrom } from '../../../engine/outline/target.ts'
import { quote } from '../phrases.ts'
import { entryAt, namesLikeIt, targetNamed } from '../problems/sections.ts'
import { again, type Brief, type FailedCall, takesAway } from './call.ts'
import { below, outlineLines } from './layout.ts'

/** Items of an outline that are shown. */
const MOST_ITEMS = 30
/** Above the lines of several items. */
const CHOOSE = 'Send at_line with a line of the one you mean, of these:'

/** Where it is instead, or what is there; undefined where the file has no outline. */
export function targetNotFound(failure: TargetNotFound, call: FailedCall): Brief | undefined {
  const { target, at_line, elsewhere, meant, outline, total } = failure
  const what = `The ${targetNamed(target)} was not found`
  if (at_line !== undefined && elsewhere.length > 0) {
    return notAtLine({ what: `${what} at line ${at_line} in ${call.shown}`, elsewhere, at_line }, call)
  }
  const whole = `${what} in ${call.shown}${meant === undefined ? namesLikeIt(failure) : `; did you mean ${quote(meant)}?`}`
  if (meant !== undefined && target.code_block === undefined && !takesAway(call)) {
    return { what: whole, next: again(call, target.heading === undefined ? { symbol: meant } : { heading: meant }) }
  }
  return total === 0 ? undefined : { what: whole, next: ['It has:'], lines: itemsOf(outline, total) }
}

/**
 * Where it is instead. A call is proposed for the nearest only where that is far nearer than the next one: the line may
 * be of an older version of the file. None is proposed that would delete it.
 */
function notAtLine(
  { what, elsewhere, at_line }: { what: string; elsewhere: readonly OutlineEntry[]; at_line: number },
  call: FailedCall
): Brief {
  const [first, second] = elsewhere as [OutlineEntry, OutlineEntry?]
  if (takesAway(call)) return { what, next: [CHOOSE], lines: outlineLines(elsewhere.slice(0, MOST_ITEMS)) }
  const lines = second === undefined ? '' : outlineLines(elsewhere.slice(0, MOST_ITEMS))
  return second === undefined || 2 * linesFrom(first, at_line) < linesFrom(second, at_line)
    ? { what: `${what}; did you mean ${entryAt(first)}?`, next: again(call, { at_line: first.start_line }), lines }
    : { what, next: [CHOOSE], lines }
}

/** The first items of an outline, and how many more there are. */
const itemsOf = (outline: TargetNotFound['outline'], total: number): string => {
  const first = outline.slice(0, MOST_ITEMS)
  return below(outlineLines(first), total > first.length ? `and ${total - first.length} more` : '')
}

/** The places. Which one was meant is left to the model: no line of the call says more for one than for another. */
export function ambiguousTarget({ target, targets, fitting }: AmbiguousTarget, call: FailedCall): Brief {
  const what = `The ${targetNamed(target)} matches ${fitting} places in ${call.shown}`
  if (targets.length === 0) return { what, next: [] }
  return { what, next: [CHOOSE], lines: outlineLines(targets.slice(0, MOST_ITEMS)) }
}
