// Hunks as an answer lists them: their lines, with unchanged lines around them, and the changes that made them.
import { countBreaks, isBreakByte, lineFrom, markLength, startOfLineAround, type Line } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { isRecordedId, type RecordedChange } from './change.ts'
import { hasBytes, type Net, type NetHunk, type NetStretch } from './pending-diff.ts'
import type { LineBudget, LineText } from './shown-line.ts'
import type { ListedSelection, Units } from './units.ts'

export interface ListedLine extends LineText {
  kind: 'same' | 'added' | 'removed'
  /** Line number in the present text, and in the baseline; 1-based. */
  line?: number
  base_line?: number
  /** Edits that make the difference, oldest first; absent for an unchanged line. */
  edit_ids?: string[]
  /** Other programs make part of the difference, in a change that isn't recorded yet. */
  outside?: true
}

/** Lines are 1-based; if a side has no lines, its end is one less than its start. */
export interface ListedHunk {
  start_line: number
  end_line: number
  base_start_line: number
  base_end_line: number
  lines: ListedLine[]
  /** Some of its lines aren't listed. */
  truncated?: true
  /** The recorded changes that make up the hunk. */
  changes: ListedSelection[]
  /** Those of `changes` that were kept and are undone now; absent if none. */
  undone?: ListedSelection[]
}

interface ListingOptions {
  /** The units as they are after all `changes`. */
  units: Units
  changes: readonly RecordedChange[]
  /** Unchanged lines before and after each hunk; no line is listed twice. */
  context_lines: number
  budget: LineBudget
}

/** The hunks of a net difference, in order, as far as the budget allows. Linear in both texts. */
export function listHunks({ baseline, hunks }: Net, present: Buffer, options: ListingOptions): ListedHunk[] {
  const sides = { baseline: new Side(baseline), present: new Side(present) }
  const listed: ListedHunk[] = []
  for (const [i, hunk] of hunks.entries()) {
    if (options.budget.isSpent) break
    listed.push(listHunk(hunk, hunks[i + 1]?.otherFrom ?? present.length, sides, options))
  }
  return listed
}

/** One of the two texts, read once from start to end. */
class Side {
  readonly text: Text
  /** How many breaks end before this offset. */
  #counted = 0
  #breaks = 0
  /** The end of the lines listed so far. */
  listedTo: number

  constructor(bytes: Buffer) {
    this.text = new Text([bytes])
    this.listedTo = markLength(this.text)
  }

  /** The number of the line that begins at `from`, and the number of lines from there to `to`. */
  place(from: number, to: number): { first: number; count: number } {
    this.#breaks += countBreaks(this.text, this.#counted, from)
    this.#counted = from
    const isUnended = to > from && !isBreakByte(this.text.byteAt(to - 1))
    return { first: this.#breaks + 1, count: countBreaks(this.text, from, to) + (isUnended ? 1 : 0) }
  }

  *lines(from: number, to: number): Generator<Line> {
    for (let at = from; at < to;) {
      const line = lineFrom(this.text, at)
      yield line
      at = line.next
    }
  }

  /** The start of the line `count` lines before `from`, or of the first line that isn't listed yet. */
  before(from: number, count: number): { at: number; count: number } {
    let at = from
    let found = 0
    for (; found < count && at > this.listedTo; found++) at = startOfLineAround(this.text, at - 1)
    return { at, count: found }
  }
}

/** A line of the listing before it is shown. */
interface PlacedLine extends Pick<ListedLine, 'kind' | 'line' | 'base_line'> {
  text: Text
  at: Line
  units?: readonly number[]
}

function listHunk(
  hunk: NetHunk,
  end: number,
  sides: { baseline: Side; present: Side },
  { units, changes, context_lines, budget }: ListingOptions
): ListedHunk {
  const base = sides.baseline.place(hunk.from, hunk.to)
  const now = sides.present.place(hunk.otherFrom, hunk.otherTo)
  const ofSelection = (list: readonly number[]): ListedSelection[] =>
    units.selection(list, changes).filter(({ edit_id }) => isRecordedId(edit_id))
  const undone = ofSelection(hunk.units.filter(unit => !units.isApplied(unit)))
  const listed: ListedHunk = {
    start_line: now.first,
    end_line: now.first + now.count - 1,
    base_start_line: base.first,
    base_end_line: base.first + base.count - 1,
    lines: [],
    changes: ofSelection(hunk.units),
    ...(undone.length > 0 && { undone })
  }
  for (const { text, at, units: made, ...line } of linesAround(hunk, end, { sides, base, now, context_lines })) {
    if (budget.isSpent) {
      listed.truncated = true
      break
    }
    const shown = budget.show(text, at, line.kind === 'same')
    listed.lines.push({ ...line, ...shown, ...(made !== undefined && makersOf(made, units, changes)) })
  }
  return listed
}

interface Around {
  sides: { baseline: Side; present: Side }
  base: { first: number; count: number }
  now: { first: number; count: number }
  context_lines: number
}

/** The lines of a hunk, removed lines first, between unchanged lines, which reach to `end` at most. */
function* linesAround(hunk: NetHunk, end: number, { sides, base, now, context_lines }: Around): Generator<PlacedLine> {
  const { baseline, present } = sides
  const { from, to, otherFrom, otherTo, stretches } = hunk
  const start = present.before(otherFrom, context_lines)
  const same = function* (at: number, most: number, line: number, base_line: number): Generator<PlacedLine> {
    let count = 0
    for (const shown of present.lines(at, most)) {
      present.listedTo = shown.next
      yield { kind: 'same', text: present.text, at: shown, line: line + count, base_line: base_line + count }
      if (++count === context_lines) return
    }
  }
  if (start.count > 0) yield* same(start.at, otherFrom, now.first - start.count, base.first - start.count)
  const removed = new Makers(stretches, 'baseline')
  let base_line = base.first
  for (const at of baseline.lines(from, to)) {
    yield { kind: 'removed', text: baseline.text, at, base_line: base_line++, units: removed.of(at) }
  }
  const added = new Makers(stretches, 'present')
  let line = now.first
  for (const at of present.lines(otherFrom, otherTo)) {
    yield { kind: 'added', text: present.text, at, line: line++, units: added.of(at) }
  }
  present.listedTo = otherTo
  if (context_lines > 0) yield* same(otherTo, end, line, base_line)
}

/**
 * Which units make the difference on each line of one side of a hunk; ask for its lines in order. Linear in the lines
 * and stretches.
 */
class Makers {
  readonly #stretches: readonly NetStretch[]
  readonly #side: 'baseline' | 'present'
  #first = 0

  constructor(stretches: readonly NetStretch[], side: 'baseline' | 'present') {
    this.#stretches = stretches.filter(hasBytes)
    this.#side = side
  }

  /**
   * The units, ascending, that make bytes of the line exist on this side only; if both sides have all its bytes, those
   * that have bytes between them on the other side; otherwise those that change what is next to the line.
   */
  of({ start, next }: Pick<Line, 'start' | 'next'>): number[] {
    while (this.#first < this.#stretches.length && this.#rangeOf(this.#first)[1] < start) this.#first++
    const own = new Set<number>()
    const within = new Set<number>()
    const beside = new Set<number>()
    for (let i = this.#first; i < this.#stretches.length; i++) {
      const [from, to] = this.#rangeOf(i)
      if (from > next) break
      const touches = from === next || (to > from && to === start)
      const into = touches ? beside : to > from ? own : within
      for (const unit of this.#stretches[i]!.units) into.add(unit)
    }
    const made = [own, within].find(({ size }) => size > 0) ?? beside
    return [...made].sort((a, b) => a - b)
  }

  #rangeOf(index: number): [from: number, to: number] {
    const { from, to, otherFrom, otherTo } = this.#stretches[index]!
    return this.#side === 'baseline' ? [from, to] : [otherFrom, otherTo]
  }
}

function makersOf(
  made: readonly number[],
  units: Units,
  changes: readonly RecordedChange[]
): Pick<ListedLine, 'edit_ids' | 'outside'> {
  const ids = new Set(made.map(unit => changes[units.changeOf[unit]!]!.edit_id))
  const edit_ids = [...ids].filter(isRecordedId)
  return { edit_ids, ...(edit_ids.length < ids.size && { outside: true }) }
}
