// Whether there is a text at all: the changes that made or removed it, and the units of a set that depend on that. Does not
// know bytes.
import type { RecordedChange } from './change.ts'
import type { BlockedUnit } from './judge.ts'
import type { ToggleSet } from './touched-lines.ts'
import type { Units } from './units.ts'

/** A change after which there was a text where none had been, or none where one had been. */
interface Transition {
  at: number
  existence: 'made' | 'removed'
  /** Absent where it toggled a change that did so. */
  unit?: number
}

/** A transition that can be toggled. */
type OwnTransition = Required<Transition>

/** A set of units that rises when it is read. */
type Selected = ToggleSet & Iterable<number>

export class Existence {
  readonly #standing: Units
  readonly #newest: number
  /** All transitions, oldest first. */
  readonly #transitions: readonly Transition[]
  readonly #own: readonly OwnTransition[]
  readonly #ownAt: ReadonlySet<number>

  /** Of a text with these changes, after all of which `standing` stands. */
  constructor(changes: readonly RecordedChange[], standing: Units) {
    this.#standing = standing
    this.#newest = changes.length - 1
    this.#transitions = changes.flatMap(({ existence, toggles }, at): Transition[] => {
      if (existence === undefined) return []
      return [{ at, existence, ...(toggles === undefined && { unit: standing.of(at)[0] }) }]
    })
    this.#own = this.#transitions.filter((transition): transition is OwnTransition => transition.unit !== undefined)
    this.#ownAt = new Set(this.#own.map(({ at }) => at))
  }

  /** The units that made or removed the text by themselves, rising. */
  get units(): number[] {
    return this.#own.map(({ unit }) => unit)
  }

  /** Whether a change made or removed the text by itself. */
  isTransition(at: number): boolean {
    return this.#ownAt.has(at)
  }

  /** Whether there is a text now or, with a set, once that is toggled. */
  isThere(set?: ToggleSet): boolean {
    const last = this.#own.findLast(transition => this.#willStand(transition, set))
    return last === undefined ? this.#own[0]?.existence !== 'made' : last.existence === 'made'
  }

  /**
   * The units of a set that are of an earlier text: another was made in its place, and that stays, or the removal between
   * them does. In their way is the last removal that isn't in the set; where there is none since, the making.
   */
  *ofEarlierTexts(set: Selected): Generator<BlockedUnit> {
    let isMadeInSet = false
    const last = this.#own.findLast(({ unit, existence }) => {
      if (set.has(unit)) isMadeInSet ||= existence === 'made'
      else if (this.#standing.stands(unit)) return isMadeInSet || existence === 'made'
      return false
    })
    if (last === undefined) return
    const removal = this.#transitions.findLast(
      ({ at, existence, unit }) => existence === 'removed' && at <= last.at && (unit === undefined || !set.has(unit))
    )
    for (const unit of set) {
      const at = this.#standing.changeOf[unit]!
      if (at < last.at) yield { unit, by: removal !== undefined && removal.at > at ? removal.at : last.at }
    }
  }

  /**
   * Where there is no text, and will be none: the units of a set that have to stay as they are. What removed their text
   * isn't in the set, or what made it won't stand where the unit would.
   */
  *withoutText(set: Selected): Generator<BlockedUnit> {
    if (this.isThere() || this.isThere(set)) return
    const stays = this.#own.findLast(({ unit }) => this.#standing.stands(unit) && !set.has(unit))?.at ?? -1
    const last = this.#transitions.findLast(({ existence }) => existence === 'removed')?.at ?? this.#newest
    const makings = this.#own.filter(({ existence }) => existence === 'made')
    for (const unit of set) {
      const at = this.#standing.changeOf[unit]!
      // What had made the text that it is of.
      const made = makings.findLast(making => making.at <= at && this.#standing.stoodAfter(making.unit, at))
      const isMade = made === undefined || this.#willStand(made, set)
      if (at < stays) yield { unit, by: stays }
      else if (!this.#standing.stands(unit) && !isMade) yield { unit, by: last }
    }
  }

  #willStand({ unit }: OwnTransition, set?: ToggleSet): boolean {
    return this.#standing.stands(unit) !== (set?.has(unit) === true)
  }
}
