// The text of a section, code block or symbol that was not found, or of which there are several. Does not know other
// failures.
import type { AmbiguousTarget, TargetNotFound } from '../../../engine/failure.ts'
import { listed, quote, span } from '../phrases.ts'
import { entryNamed, targetNamed } from '../section-failure.ts'
import { again, type Brief, type FailedCall } from './call.ts'
import { below, outlineLines } from './text.ts'

/** Items of an outline that are shown. */
const MOST_ITEMS = 30

/** Where it is instead, or what is there; undefined where the file has no outline. */
export function targetNotFound(failure: TargetNotFound, call: FailedCall): Brief | undefined {
  const { target, at_line, elsewhere, nearest, outline, total } = failure
  const what = `The ${targetNamed(target)} was not found`
  const [near] = nearest
  if (elsewhere.length > 0) {
    return {
      what: `${what} at line ${at_line} in ${call.shown}; it is elsewhere`,
      next: again(call, { at_line: elsewhere[0]!.start_line }),
      lines: elsewhere.length > 1 ? outlineLines(elsewhere) : ''
    }
  }
  if (near !== undefined && target.code_block === undefined) {
    const names = listed(
      nearest.map(name => quote(name)),
      'or'
    )
    return {
      what: `${what} in ${call.shown}; did you mean ${names}?`,
      next: again(call, target.heading === undefined ? { symbol: near } : { heading: near })
    }
  }
  if (total === 0) return undefined
  return { what: `${what} in ${call.shown}`, next: ['It has:'], lines: itemsOf(outline, total) }
}

/** The first items of an outline, and how many more there are. */
const itemsOf = (outline: TargetNotFound['outline'], total: number): string => {
  const first = outline.slice(0, MOST_ITEMS)
  return below(outlineLines(first), total > first.length ? `and ${total - first.length} more` : '')
}

/** The places, and the same call with the line of the first. */
export function ambiguousTarget({ target, targets, fitting }: AmbiguousTarget, call: FailedCall): Brief {
  const [first] = targets
  const what = `The ${targetNamed(target)} matches ${fitting} places in ${call.shown}`
  if (first === undefined) return { what, next: [] }
  const entry = `${entryNamed(first)} at ${span([first.start_line, first.end_line])}`
  return {
    what: `${what}; at_line says which`,
    next: [`Do you mean ${entry}?`, ...again(call, { at_line: first.start_line })],
    lines: outlineLines(targets.slice(0, MOST_ITEMS))
  }
}
