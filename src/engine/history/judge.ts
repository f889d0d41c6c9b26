// Which changes stand in the way of a set of units. The rule: what stands afterwards must stand on exactly the changes
// that it was made on. Does not know texts or lines.
import { firstIndex } from '../text/bisect.ts'
import type { ToggleSet } from './lines.ts'
import type { Units } from './units.ts'

/** A unit of the set, and the change in its way, as its index. */
export interface BlockedUnit {
  unit: number
  by: number
}

/**
 * The pairs that are in conflict among units of one place. `judged`: the units of the set that are asked about, by
 * default all. About O(n log n) for n units, and what comes out.
 */
export function* conflictsAmong(
  among: readonly number[],
  set: ToggleSet,
  units: Units,
  judged: (unit: number) => boolean = unit => set.has(unit)
): Generator<BlockedUnit> {
  const standing = among.filter(unit => units.stands(unit) !== set.has(unit))
  const others = [...new Set(standing.filter(unit => !set.has(unit)).map(unit => units.changeOf[unit]!))]
  others.sort((a, b) => a - b)
  const own = standing.filter(unit => set.has(unit) && judged(unit)).sort((a, b) => a - b)
  for (const unit of among) {
    const isJudged = set.has(unit) && judged(unit)
    if (!isJudged && own.length === 0) continue
    for (const [from, to] of missing(unit, set, units)) {
      if (isJudged) for (const by of between(others, from, to, change => change)) yield { unit, by }
      for (const made of between(own, from, to, unit => units.changeOf[unit]!)) {
        yield { unit: made, by: units.changeOf[unit]! }
      }
    }
  }
}

/**
 * When, in indexes of changes, a unit was there and won't be, or wasn't and will be: what was made then can't stand
 * afterwards.
 */
function* missing(unit: number, set: ToggleSet, units: Units): Generator<[from: number, to: number]> {
  const after = units.stands(unit) !== set.has(unit)
  let stood = true
  let from = units.changeOf[unit]! + 1
  for (const toggled of units.toggledAt(unit)) {
    if (stood !== after) yield [from, toggled]
    stood = !stood
    from = toggled + 1
  }
  if (stood !== after) yield [from, Infinity]
}

/** Of a list that rises, those from `from` to `to` (exclusive). */
function* between(
  list: readonly number[],
  from: number,
  to: number,
  valueOf: (item: number) => number
): Generator<number> {
  for (let i = firstIndex(list.length, i => valueOf(list[i]!) >= from); i < list.length; i++) {
    if (valueOf(list[i]!) >= to) return
    yield list[i]!
  }
}
