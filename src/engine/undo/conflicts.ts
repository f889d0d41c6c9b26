// Finds the conflicts of a set of units line by line, and lists them for an answer.
import { excerptOf } from '../text/encoding.ts'
import { lineNumbers, splitAtBreaks } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { UndoConflict } from '../failure.ts'
import { askableId, type RecordedChange } from './change.ts'
import { conflictsAmong, type BlockedUnit } from './judge.ts'
import { reindented } from './layout.ts'
import { type Part, type ToggleSet, type TouchedLine, visitLines } from './touched-lines.ts'
import { bytesOf, type Span } from './spans.ts'
import type { Units } from './units.ts'
import { isVisibleIf, type Weave } from './weave.ts'

/** How many conflicts of one text are listed. */
const MOST_SHOWN = 50
/** UTF-16 units shown of a text in a conflict; a longer text loses its middle. */
export const TEXT_LENGTH = 1000

/** One conflicting pair, and the text it concerns. */
interface Found extends BlockedUnit {
  /** The parts of each line. */
  parts: (readonly Part[])[]
  isOverlap: boolean
  /** The place in the present text. */
  from: number
  to: number
  replaced?: true
}

/**
 * The text that lines would have; `isPart`: that text is uncertain, or toggling it would undo only part of a change.
 */
interface Restored {
  text: Buffer
  isPart: boolean
}

/** Collects conflicts: keeps the first ones whole and only counts the rest. */
export class Conflicts {
  readonly #present: Buffer
  readonly #units: Units
  readonly #changes: readonly RecordedChange[]
  readonly #shown: Found[] = []
  /** The weave of the noted lines. */
  #weave: Weave | undefined
  readonly #inserted = new Map<number, Map<string, number>>()
  #total = 0

  constructor(present: Buffer, units: Units, changes: readonly RecordedChange[]) {
    this.#present = present
    this.#units = units
    this.#changes = changes
  }

  /** Notes the conflicts on a line, one by one. The same pair on consecutive lines is one conflict. */
  on({ parts }: TouchedLine, weave: Weave): (pair: BlockedUnit) => void {
    this.#weave = weave
    let extent: [from: number, to: number] | undefined
    return pair => this.#add(pair, parts, (extent ??= extentOf(parts)))
  }

  #add({ unit, by }: BlockedUnit, parts: readonly Part[], [from, to]: [from: number, to: number]): void {
    const last = this.#shown.findLast(found => found.unit === unit && found.by === by)
    const isMore = last?.to === from
    if (!isMore) this.#total++
    if (!isMore && this.#shown.length >= MOST_SHOWN) return
    const isOverlap = parts.some(({ span }) => {
      const ids = [span.inserter, ...span.deleters]
      return ids.includes(unit) && ids.some(id => id >= 0 && this.#units.changeOf[id] === by)
    })
    if (isMore) {
      last.parts.push(parts)
      last.to = to
      last.isOverlap ||= isOverlap
    } else this.#shown.push({ unit, by, parts: [parts], isOverlap, from, to })
  }

  /** Notes a conflict about the whole text; `replaced`: about another text that existed before it. */
  addWhole({ unit, by }: BlockedUnit, replaced?: 'replaced'): void {
    this.#total++
    if (this.#shown.length >= MOST_SHOWN) return
    const to = this.#present.length
    const whole = { unit, by, parts: [], isOverlap: true, from: 0, to }
    this.#shown.push({ ...whole, ...(replaced !== undefined && { replaced: true }) })
  }

  /** The conflicts as an answer lists them. */
  list(set: ToggleSet): { conflicts: UndoConflict[]; more_conflicts?: number } {
    const [present, units] = [this.#present, this.#units]
    const ends = this.#shown.flatMap(({ from, to }) => [from, Math.max(from, to - 1)])
    const { lines } = lineNumbers(new Text([present]), ends)
    // All conflicts on the same single line share one text.
    const known = new Map<readonly Part[], Restored>()
    const restore = (parts: Found['parts']): Restored => {
      const [line, ...others] = parts
      if (line === undefined || others.length > 0) return this.#restored(parts.flat(), set)
      if (!known.has(line)) known.set(line, this.#restored(line, set))
      return known.get(line)!
    }
    const conflicts = this.#shown.map(({ unit, by, parts, isOverlap, from, to, replaced }, i): UndoConflict => {
      const current = excerptOf(present.subarray(from, to), TEXT_LENGTH)
      const { text, isPart } = restore(parts)
      const restored = excerptOf(text, TEXT_LENGTH)
      const at = units.changeOf[unit]!
      const { existence, outside } = this.#changes[by]!
      const isRemoved = existence === 'removed' || replaced === true
      return {
        edit_id: this.#changes[at]!.edit_id,
        change_index: unit - units.of(at)[0],
        by: askableId(this.#changes[by]!),
        kind: isRemoved ? 'removed' : outside === true ? 'outside' : isOverlap ? 'overlap' : 'same_line',
        ...(replaced && { replaced }),
        start_line: lines[2 * i]!,
        end_line: lines[2 * i + 1]!,
        current_text: current.text,
        would_restore: restored.text,
        ...(isPart && { is_part: true as const }),
        ...((current.lossy ?? restored.lossy) && { lossy: true })
      }
    })
    const more = this.#total - conflicts.length
    return { conflicts, ...(more > 0 && { more_conflicts: more }) }
  }

  /**
   * The text that lines would have if all conflicting changes there were toggled with the set; where another program
   * reindented the lines, with that indentation.
   */
  #restored(parts: readonly Part[], set: ToggleSet): Restored {
    const [units, changes] = [this.#units, this.#changes]
    const ids = new Set(parts.flatMap(({ span }) => [span.inserter, ...span.deleters]).filter(id => id >= 0))
    const pairs = [...conflictsAmong([...ids], set, units)]
    const flipped = new Set(pairs.map(({ by }) => by))
    const isWithout = (unit: number): boolean => units.isApplied(unit) !== flipped.has(units.changeOf[unit]!)
    const isApplied = (unit: number): boolean => isWithout(unit) !== set.has(unit)
    const isToggled = (unit: number): boolean => ids.has(unit) && isApplied(unit) !== units.isApplied(unit)
    const text = this.#textOf(parts, isApplied)
    const [was, now] = [isWithout, (unit: number) => units.isApplied(unit)].map(is => this.#textOf(parts, is))
    const [lines, before, after] = [text, was!, now!].map(bytes => bytes.toString('latin1'))
    const isPart = this.#isPart(parts, isToggled) || this.#isElsewhere(`${lines}\n${before}`, parts, flipped)
    if (isPart || [...flipped].some(at => changes[at]!.outside !== true)) return { text, isPart }
    const indented = reindented(lines!, before!, after!)
    return indented === undefined ? { text, isPart: true } : { text: Buffer.from(indented, 'latin1'), isPart }
  }

  #textOf(parts: readonly Part[], isApplied: (unit: number) => boolean): Buffer {
    const shown = parts.filter(({ span }) => isVisibleIf(span, isApplied))
    return Buffer.concat(
      shown.map(({ span, from, to, now }) =>
        span.visible ? this.#present.subarray(now, now + to - from) : bytesOf(span).subarray(from, to)
      )
    )
  }

  /** Whether the changes inserted any of these lines elsewhere too, as happens when lines move. */
  #isElsewhere(lines: string, parts: readonly Part[], changes: ReadonlySet<number>): boolean {
    const own = new Map<string, number>()
    for (const { span, from, to } of parts) {
      if (span.visible && changes.has(this.#units.changeOf[span.inserter]!)) {
        countLines(bytesOf(span).subarray(from, to), own)
      }
    }
    return wordedLines(lines).some(line =>
      [...changes].some(at => (this.#linesOf(at).get(line) ?? 0) > (own.get(line) ?? 0))
    )
  }

  /** The lines that a change inserted and that still exist, with their counts. */
  #linesOf(at: number): Map<string, number> {
    let lines = this.#inserted.get(at)
    if (lines !== undefined) return lines
    this.#inserted.set(at, (lines = new Map()))
    for (const span of this.#weave?.spans ?? []) {
      if (span.visible && this.#units.changeOf[span.inserter] === at) countLines(bytesOf(span), lines)
    }
    return lines
  }

  /** Whether the toggled units inserted or deleted more than these parts. */
  #isPart(parts: readonly Part[], isToggled: (unit: number) => boolean): boolean {
    const isMeant = ({ inserter, deleters }: Span): boolean => isToggled(inserter) || deleters.some(isToggled)
    let left = 0
    for (const span of this.#weave?.spans ?? []) if (isMeant(span)) left += span.length
    for (const { span, from, to } of parts) if (isMeant(span)) left -= to - from
    return left > 0
  }
}

/** Lines of a Latin-1 text that hold more than punctuation, trimmed. */
const wordedLines = (text: string): string[] =>
  splitAtBreaks(text)
    .map(line => line.trim())
    .filter(line => /\w/.test(line))

function countLines(bytes: Buffer, lines: Map<string, number>): void {
  for (const line of wordedLines(bytes.toString('latin1'))) lines.set(line, (lines.get(line) ?? 0) + 1)
}

/** The place of the visible parts in the present text, or where they would be. */
function extentOf(parts: readonly Part[]): [from: number, to: number] {
  const visible = parts.filter(({ span }) => span.visible)
  const first = visible[0] ?? parts[0]!
  const last = visible.at(-1)
  return [first.now, last === undefined ? first.now : last.now + last.to - last.from]
}

/** Visits the conflicts on the lines that the set touches. */
export function visitConflicts(
  weave: Weave,
  set: ToggleSet,
  visit: (pairs: Iterable<BlockedUnit>, line: TouchedLine) => void
): void {
  const isRefused = (among: readonly number[]): boolean => conflictsAmong(among, set, weave.units).next().done !== true
  visitLines(weave, set, isRefused, line => visit(conflictsAmong(line.units, set, weave.units), line))
}
