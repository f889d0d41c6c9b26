// The conflicts of a set of units, line by line, and as an answer lists them. Does not know how the set was chosen.
import { excerptOf } from '../text/encoding.ts'
import { lineNumbers } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { UndoConflict } from '../failure.ts'
import { askableId, type RecordedChange } from './change.ts'
import { conflictsAmong, type BlockedUnit } from './judge.ts'
import { type Part, type ToggleSet, type TouchedLine, visitLines } from './lines.ts'
import { bytesOf } from './spans.ts'
import type { Units } from './units.ts'
import { stands, type Weave } from './weave.ts'

/** Conflicts of one text that are listed. */
const MOST_SHOWN = 50
/** UTF-16 units of a text in a conflict; of a longer one, what is in its middle is left out. */
export const TEXT_LENGTH = 1000

/** One pair in conflict, and the text that it is about. */
interface Found extends BlockedUnit {
  /** Of each line. */
  parts: (readonly Part[])[]
  isOverlap: boolean
  /** Where it is in the present text. */
  from: number
  to: number
  replaced?: true
}

/** Conflicts as they are found: the first ones whole, of the others the number. */
export class Conflicts {
  readonly #present: Buffer
  readonly #units: Units
  readonly #changes: readonly RecordedChange[]
  readonly #shown: Found[] = []
  #total = 0

  constructor(present: Buffer, units: Units, changes: readonly RecordedChange[]) {
    this.#present = present
    this.#units = units
    this.#changes = changes
  }

  /** Notes those on a line, one by one. Of lines that follow each other those of one pair are one conflict. */
  on({ parts }: TouchedLine): (pair: BlockedUnit) => void {
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

  /** Notes one that is about the whole text; `replaced`: about another one, that was there before it. */
  addWhole({ unit, by }: BlockedUnit, replaced?: 'replaced'): void {
    this.#total++
    if (this.#shown.length >= MOST_SHOWN) return
    const to = this.#present.length
    const whole = { unit, by, parts: [], isOverlap: true, from: 0, to }
    this.#shown.push({ ...whole, ...(replaced !== undefined && { replaced: true }) })
  }

  /** As an answer lists them. */
  list(set: ToggleSet): { conflicts: UndoConflict[]; more_conflicts?: number } {
    const [present, units] = [this.#present, this.#units]
    const ends = this.#shown.flatMap(({ from, to }) => [from, Math.max(from, to - 1)])
    const { lines } = lineNumbers(new Text([present]), ends)
    // All that are about one line only have the same text.
    const known = new Map<readonly Part[], Buffer>()
    const restore = (parts: Found['parts']): Buffer => {
      const [line, ...others] = parts
      if (line === undefined || others.length > 0) return this.#restored(parts.flat(), set)
      if (!known.has(line)) known.set(line, this.#restored(line, set))
      return known.get(line)!
    }
    const conflicts = this.#shown.map(({ unit, by, parts, isOverlap, from, to, replaced }, i): UndoConflict => {
      const current = excerptOf(present.subarray(from, to), TEXT_LENGTH)
      const restored = excerptOf(restore(parts), TEXT_LENGTH)
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
        ...((current.lossy ?? restored.lossy) && { lossy: true })
      }
    })
    const more = this.#total - conflicts.length
    return { conflicts, ...(more > 0 && { more_conflicts: more }) }
  }

  /** The text of a line if all that is in the way there were toggled with the set. */
  #restored(parts: readonly Part[], set: ToggleSet): Buffer {
    const [present, units] = [this.#present, this.#units]
    const ids = new Set(parts.flatMap(({ span }) => [span.inserter, ...span.deleters]).filter(id => id >= 0))
    const pairs = [...conflictsAmong([...ids], set, units)]
    const flipped = new Set(pairs.map(({ by }) => by))
    const isStanding = (unit: number): boolean =>
      (units.stands(unit) !== set.has(unit)) !== flipped.has(units.changeOf[unit]!)
    const shown = parts.filter(({ span }) => stands(span, isStanding))
    return Buffer.concat(
      shown.map(({ span, from, to, now }) =>
        span.visible ? present.subarray(now, now + to - from) : bytesOf(span).subarray(from, to)
      )
    )
  }
}

/** Where in the present text the visible parts are, or would be. */
function extentOf(parts: readonly Part[]): [from: number, to: number] {
  const visible = parts.filter(({ span }) => span.visible)
  const first = visible[0] ?? parts[0]!
  const last = visible.at(-1)
  return [first.now, last === undefined ? first.now : last.now + last.to - last.from]
}

/** Visits what is in conflict on the lines that the set touches. */
export function visitConflicts(
  weave: Weave,
  set: ToggleSet,
  visit: (pairs: Iterable<BlockedUnit>, line: TouchedLine) => void
): void {
  const isRefused = (among: readonly number[]): boolean => conflictsAmong(among, set, weave.units).next().done !== true
  visitLines(weave, set, isRefused, line => visit(conflictsAmong(line.units, set, weave.units), line))
}
