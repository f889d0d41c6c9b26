// Finds the changes that conflict with toggling a set of units. The rule: what is applied afterwards needs exactly the
// changes it was made on, or those it was applied with at some moment since.
import { firstIndex } from '../text/bisect.ts'
import type { ToggleSet } from './touched-lines.ts'
import type { Units } from './units.ts'

/** A unit of the set, and the index of the change that conflicts with it. */
export interface BlockedUnit {
  unit: number
  by: number
}

/**
 * The conflicting pairs among the units of one place. `judged`: the units of the set to check, by default all. About
 * O(n log n) for n units, plus the output and the pairs that only a later moment allows.
 */
export function* conflictsAmong(
  among: readonly number[],
  set: ToggleSet,
  units: Units,
  judged: (unit: number) => boolean = unit => set.has(unit)
): Generator<BlockedUnit> {
  const applied = among.filter(unit => units.isApplied(unit) !== set.has(unit)).sort((a, b) => a - b)
  const others = applied.filter(unit => !set.has(unit))
  const own = applied.filter(unit => set.has(unit) && judged(unit))
  for (const unit of among) {
    const isJudged = set.has(unit) && judged(unit)
    if (!isJudged && own.length === 0) continue
    const after = units.isApplied(unit) !== set.has(unit)
    for (const period of missing(unit, after, units)) {
      if (isJudged) for (const by of inTheWay(unit, after, others, units, period)) yield { unit, by }
    }
    yield* madeWithout(unit, own, after, units)
  }
}

/**
 * The conflicting pairs between each unit of the set, `own`, and a few units that concern all of them. Both lists are
 * ascending. About O(n log n), plus pairing the few with the units made while they were in the other state.
 */
export function* conflictsWith(
  few: readonly number[],
  own: readonly number[],
  set: ToggleSet,
  units: Units
): Generator<BlockedUnit> {
  const isApplied = (unit: number): boolean => units.isApplied(unit) !== set.has(unit)
  const others = few.filter(unit => !set.has(unit) && isApplied(unit))
  for (const unit of own) {
    const after = isApplied(unit)
    for (const period of missing(unit, after, units)) {
      for (const by of inTheWay(unit, after, others, units, period)) yield { unit, by }
    }
  }
  const applied = own.filter(isApplied)
  for (const one of few) yield* madeWithout(one, applied, isApplied(one), units)
}

/** The units of an ascending list that were never applied while `unit` was in the state `after`. */
function* madeWithout(unit: number, list: readonly number[], after: boolean, units: Units): Generator<BlockedUnit> {
  for (const [from, to] of missing(unit, after, units)) {
    for (let i = firstMade(list, from, units); i < list.length && units.changeOf[list[i]!]! < to; i++) {
      if (!wasAppliedWith(list[i]!, unit, after, units)) yield { unit: list[i]!, by: units.changeOf[unit]! }
    }
  }
}

/** The periods, in indexes of changes, in which a unit wasn't in its state `after`. */
function* missing(unit: number, after: boolean, units: Units): Generator<[from: number, to: number]> {
  let wasApplied = true
  let from = units.changeOf[unit]! + 1
  for (const toggled of units.toggledAt(unit)) {
    if (wasApplied !== after) yield [from, toggled]
    wasApplied = !wasApplied
    from = toggled + 1
  }
  if (wasApplied !== after) yield [from, Infinity]
}

/**
 * Whether `made` was ever applied while `unit`, which is older, was in the state `after`. A combination that existed
 * once was valid then and is valid again; otherwise an undo couldn't be redone after lines were joined or split.
 */
function wasAppliedWith(made: number, unit: number, after: boolean, units: Units): boolean {
  const from = units.changeOf[made]!
  const [ofMade, ofUnit] = [units.toggledAt(made), units.toggledAt(unit)]
  let [isMadeApplied, isUnitApplied] = [true, units.wasAppliedAfter(unit, from)]
  let i = 0
  let j = firstIndex(ofUnit.length, j => ofUnit[j]! > from)
  while (!isMadeApplied || isUnitApplied !== after) {
    const next = Math.min(ofMade[i] ?? Infinity, ofUnit[j] ?? Infinity)
    if (next === Infinity) return false
    if (ofMade[i] === next) {
      isMadeApplied = !isMadeApplied
      i++
    }
    if (ofUnit[j] === next) {
      isUnitApplied = !isUnitApplied
      j++
    }
  }
  return true
}

/**
 * The changes from `from` to `to` (exclusive) with units in the ascending list `others` that were never applied while
 * `unit` was in the state `after`.
 */
function* inTheWay(
  unit: number,
  after: boolean,
  others: readonly number[],
  units: Units,
  [from, to]: [from: number, to: number]
): Generator<number> {
  for (let i = firstMade(others, from, units); i < others.length;) {
    const by = units.changeOf[others[i]!]!
    if (by >= to) return
    if (wasAppliedWith(others[i]!, unit, after, units)) i++
    else {
      yield by
      i = firstMade(others, by + 1, units)
    }
  }
}

/** The index, in an ascending list, of the first unit of a change from `from` on. */
const firstMade = (list: readonly number[], from: number, units: Units): number =>
  firstIndex(list.length, i => units.changeOf[list[i]!]! >= from)
