// Which changes stand in the way of a set of units. The rule: what stands afterwards must stand on exactly the changes
// that it was made on, or on what it stood on at some moment since. Does not know texts or lines.
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
 * default all. About O(n log n) for n units, what comes out, and the pairs that only a later moment makes good.
 */
export function* conflictsAmong(
  among: readonly number[],
  set: ToggleSet,
  units: Units,
  judged: (unit: number) => boolean = unit => set.has(unit)
): Generator<BlockedUnit> {
  const standing = among.filter(unit => units.stands(unit) !== set.has(unit)).sort((a, b) => a - b)
  const others = standing.filter(unit => !set.has(unit))
  const own = standing.filter(unit => set.has(unit) && judged(unit))
  const madeIn = (list: readonly number[], from: number, to: number): Generator<number> =>
    between(list, from, to, unit => units.changeOf[unit]!)
  for (const unit of among) {
    const isJudged = set.has(unit) && judged(unit)
    if (!isJudged && own.length === 0) continue
    const after = units.stands(unit) !== set.has(unit)
    for (const [from, to] of missing(unit, after, units)) {
      let last = -1
      for (const made of isJudged ? madeIn(others, from, to) : []) {
        const by = units.changeOf[made]!
        if (by === last || stoodWith(made, unit, after, units)) continue
        yield { unit, by }
        last = by
      }
      for (const made of madeIn(own, from, to)) {
        if (!stoodWith(made, unit, after, units)) yield { unit: made, by: units.changeOf[unit]! }
      }
    }
  }
}

/** When, in indexes of changes, a unit stood, if it won't afterwards; or didn't, if it will. */
function* missing(unit: number, after: boolean, units: Units): Generator<[from: number, to: number]> {
  let stood = true
  let from = units.changeOf[unit]! + 1
  for (const toggled of units.toggledAt(unit)) {
    if (stood !== after) yield [from, toggled]
    stood = !stood
    from = toggled + 1
  }
  if (stood !== after) yield [from, Infinity]
}

/**
 * Whether `made` ever stood while `unit`, which is older, was in the state `after`. What was so once was right then,
 * and can be so again: else an undo couldn't be made undone where lines have been joined or parted since.
 */
function stoodWith(made: number, unit: number, after: boolean, units: Units): boolean {
  const from = units.changeOf[made]!
  const [ofMade, ofUnit] = [units.toggledAt(made), units.toggledAt(unit)]
  let [madeStands, unitStands] = [true, units.stoodAfter(unit, from)]
  let i = 0
  let j = firstIndex(ofUnit.length, j => ofUnit[j]! > from)
  while (!madeStands || unitStands !== after) {
    const next = Math.min(ofMade[i] ?? Infinity, ofUnit[j] ?? Infinity)
    if (next === Infinity) return false
    if (ofMade[i] === next) {
      madeStands = !madeStands
      i++
    }
    if (ofUnit[j] === next) {
      unitStands = !unitStands
      j++
    }
  }
  return true
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
