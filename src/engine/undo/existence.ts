// Whether the text exists: the changes that created or removed it, and the units of a set that depend on that.
import type { RecordedChange } from './change.ts'
import type { BlockedUnit } from './judge.ts'
import type { ToggleSet } from './touched-lines.ts'
import type { Units } from './units.ts'

/** A change that created the text where there was none, or removed it. */
interface Transition {
  at: number
  existence: 'made' | 'removed'
  /** Absent if the change toggled one that did so. */
  unit?: number
}

/** A transition that can be toggled. */
type OwnTransition = Required<Transition>

/** A set of units that iterates in ascending order. */
type Selected = ToggleSet & Iterable<number>

export class Existence {
  readonly #units: Units
  readonly #newest: number
  /** All transitions, oldest first. */
  readonly #transitions: readonly Transition[]
  readonly #own: readonly OwnTransition[]
  readonly #ownAt: ReadonlySet<number>

  /** `units`: in their state after all these changes. */
  constructor(changes: readonly RecordedChange[], units: Units) {
    this.#units = units
    this.#newest = changes.length - 1
    this.#transitions = changes.flatMap(({ existence, toggles }, at): Transition[] => {
      if (existence === undefined) return []
      return [{ at, existence, ...(toggles === undefined && { unit: units.of(at)[0] }) }]
    })
    this.#own = this.#transitions.filter((transition): transition is OwnTransition => transition.unit !== undefined)
    this.#ownAt = new Set(this.#own.map(({ at }) => at))
  }

  /** The units that created or removed the text themselves, ascending. */
  get units(): number[] {
    return this.#own.map(({ unit }) => unit)
  }

  /** Whether a change created or removed the text itself. */
  isTransition(at: number): boolean {
    return this.#ownAt.has(at)
  }

  /** Whether the text exists now or, with a set, once the set is toggled. */
  isThere(set?: ToggleSet): boolean {
    const last = this.#own.findLast(transition => this.#willStand(transition, set))
    return last === undefined ? this.#own[0]?.existence !== 'made' : last.existence === 'made'
  }

  /**
   * The units of a set that belong to an earlier text, if that text was replaced and the new one, or the removal
   * between them, remains. They conflict with the last removal outside the set; if there is none since, with the
   * creation.
   */
  *ofEarlierTexts(set: Selected): Generator<BlockedUnit> {
    let isMadeInSet = false
    const last = this.#own.findLast(({ unit, existence }) => {
      if (set.has(unit)) isMadeInSet ||= existence === 'made'
      else if (this.#units.isApplied(unit)) return isMadeInSet || existence === 'made'
      return false
    })
    if (last === undefined) return
    const removal = this.#transitions.findLast(
      ({ at, existence, unit }) => existence === 'removed' && at <= last.at && (unit === undefined || !set.has(unit))
    )
    for (const unit of set) {
      const at = this.#units.changeOf[unit]!
      if (at < last.at) yield { unit, by: removal !== undefined && removal.at > at ? removal.at : last.at }
    }
  }

  /**
   * If the text doesn't exist and won't: the units of a set that can't be toggled, because the removal of their text
   * isn't in the set, or because the creation of their text won't be applied where the unit would be.
   */
  *withoutText(set: Selected): Generator<BlockedUnit> {
    if (this.isThere() || this.isThere(set)) return
    const stays = this.#own.findLast(({ unit }) => this.#units.isApplied(unit) && !set.has(unit))?.at ?? -1
    const last = this.#transitions.findLast(({ existence }) => existence === 'removed')?.at ?? this.#newest
    const makings = this.#own.filter(({ existence }) => existence === 'made')
    for (const unit of set) {
      const at = this.#units.changeOf[unit]!
      // The change that created the unit's text.
      const made = makings.findLast(making => making.at <= at && this.#units.wasAppliedAfter(making.unit, at))
      const isMade = made === undefined || this.#willStand(made, set)
      if (at < stays) yield { unit, by: stays }
      else if (!this.#units.isApplied(unit) && !isMade) yield { unit, by: last }
    }
  }

  #willStand({ unit }: OwnTransition, set?: ToggleSet): boolean {
    return this.#units.isApplied(unit) !== (set?.has(unit) === true)
  }
}
