// Takes changes of a text back, or makes them again, while others stay: what that comes to as splices, or why it can't
// be done. Does not know files, or whose changes they are.
import { fail, ok, type Result } from '../../result.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import type { HistoryGone, NothingToUndo, TakeBackFailure, UndoConflict } from '../failure.ts'
import type { RecordedChange, Selection } from './change.ts'
import { Conflicts, visitConflicts } from './conflicts.ts'
import { conflictsAmong, type BlockedUnit } from './judge.ts'
import type { ToggleSet } from './lines.ts'
import { bytesOf } from './spans.ts'
import { Units } from './units.ts'
import { replay, stands, type Weave } from './weave.ts'

/** What an undo or redo comes to. */
export interface TakeBack {
  /** On the present text. */
  splices: Splices
  /** What is toggled: of the set, what wasn't in the wanted state. The record's `toggles`. */
  toggled: Selection[]
  /** With `skip`: what is in conflict, and why. */
  skipped: Selection[]
  conflicts: UndoConflict[]
  more_conflicts?: number
  /** The text is no more afterwards; or is made again. */
  removes?: true
  makes?: true
}

/**
 * Takes back (`undone`) or makes again (`standing`) what of a set isn't in that state yet. `changes`: all that is known
 * of the text, oldest first; they end in `present`, which has no bytes where the text is removed. Undos and redos in
 * the set count for nothing: name what they toggled. With `skip`, what is in conflict stays as it is.
 *
 * Fails with UNDO_CONFLICT; with NOTHING_TO_UNDO where all is in that state, or all that isn't was skipped; with
 * HISTORY_GONE where the set has a change that isn't known, or reaches to or before one whose splices aren't.
 */
export function takeBack(
  present: Buffer,
  changes: readonly RecordedChange[],
  set: readonly Selection[],
  to: 'undone' | 'standing',
  options: { skip?: boolean } = {}
): Result<TakeBack, TakeBackFailure> {
  const units = new Units(changes)
  const unknown = set.find(({ edit_id }) => units.indexOf(edit_id) === undefined)
  if (unknown !== undefined) return gone(unknown.edit_id)
  const standing = standingUnits(changes)
  const wanted = new UnitSet(units.count)
  for (const unit of units.selected(set)) if (standing.stands(unit) !== (to === 'standing')) wanted.add(unit)
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO' })

  const conflicts = new Conflicts(present, units, changes)
  const all = [...wanted]
  const earlier = ofEarlierTexts(changes, units, wanted)
  for (const pair of earlier) conflicts.addWhole(pair, 'replaced')
  if (earlier.length > 0 && options.skip !== true) return fail({ code: 'UNDO_CONFLICT', ...conflicts.list(wanted) })
  for (const { unit } of earlier) wanted.delete(unit)
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO', ...conflicts.list(wanted) })

  const weave = replayFor(present, changes, units, wanted)
  if (!weave.ok) return weave
  do {
    const found = conflictsOf(weave.value, changes, standing, wanted, conflicts)
    if (found.units.size === 0) break
    if (options.skip !== true) {
      const listed = conflicts.list(wanted)
      const together = to === 'undone' ? withLater(weave.value, changes, standing, { set, wanted, found }) : undefined
      return fail({ code: 'UNDO_CONFLICT', ...listed, ...(together !== undefined && { together }) })
    }
    for (const unit of found.units) wanted.delete(unit)
  } while (wanted.size > 0)
  const listed = conflicts.list(wanted)
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO', ...listed })
  const skipped = units.selection(
    all.filter(unit => !wanted.has(unit)),
    changes
  )
  return ok({ ...carriedOut(weave.value, changes, standing, wanted), skipped, ...listed })
}

/**
 * What gives the text back as it was after the change `edit_id`, which may be an undo or redo: later changes are taken
 * back, and what was undone later is made again. Fails with NOTHING_TO_UNDO where that is the state of the text, with
 * HISTORY_GONE as `takeBack` does; never for a conflict.
 */
export function stateAfter(
  present: Buffer,
  changes: readonly RecordedChange[],
  edit_id: string
): Result<TakeBack, NothingToUndo | HistoryGone> {
  const units = new Units(changes)
  const at = units.indexOf(edit_id)
  if (at === undefined) return gone(edit_id)
  const standing = standingUnits(changes)
  const wanted = new UnitSet(units.count)
  for (let unit = 0; unit < units.count; unit++) {
    const stood = units.changeOf[unit]! <= at && standing.stoodAfter(unit, at)
    if (standing.stands(unit) !== stood) wanted.add(unit)
  }
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO' })
  const weave = replayFor(present, changes, units, wanted)
  if (!weave.ok) return weave
  return ok({ ...carriedOut(weave.value, changes, standing, wanted), skipped: [], conflicts: [] })
}

/** A set of units; rising when it is read. */
class UnitSet implements ToggleSet {
  readonly #has: Uint8Array
  size = 0

  constructor(count: number) {
    this.#has = new Uint8Array(count)
  }

  has(unit: number): boolean {
    return this.#has[unit] === 1
  }

  add(unit: number): void {
    if (!this.has(unit)) this.size++
    this.#has[unit] = 1
  }

  delete(unit: number): void {
    if (this.has(unit)) this.size--
    this.#has[unit] = 0
  }

  *[Symbol.iterator](): Generator<number> {
    for (let unit = this.#has.indexOf(1); unit >= 0; unit = this.#has.indexOf(1, unit + 1)) yield unit
  }
}

const gone = (edit_id: string, reason: HistoryGone['reason'] = 'not_kept') =>
  fail<HistoryGone>({ code: 'HISTORY_GONE', edit_ids: [edit_id], reason })

/** Of changes not all of which have their splices: which haven't. */
function notKept(changes: readonly RecordedChange[]): { ok: false; failure: HistoryGone } {
  const ids = changes.flatMap(({ edit_id, splices }) => (splices === null ? [edit_id] : []))
  // A change that there is no record of has no id.
  const unrecorded = ids.includes('') && { unrecorded: true as const }
  return fail({ code: 'HISTORY_GONE', edit_ids: ids.filter(id => id !== ''), reason: 'not_kept', ...unrecorded })
}

/** What stands after all changes. */
function standingUnits(changes: readonly RecordedChange[]): Units {
  const units = new Units(changes)
  for (const [at, { toggles = [] }] of changes.entries()) {
    const known = toggles.filter(({ edit_id }) => units.indexOf(edit_id) !== undefined)
    units.toggle(known, at)
  }
  return units
}

/** Whether a change made the text or removed it by itself, and not by toggling one that did. */
const isExistence = ({ existence, toggles }: RecordedChange): boolean =>
  existence !== undefined && toggles === undefined

/** Units of a text that was there before the present one was made; `by` is what removed it, if that is known. */
function ofEarlierTexts(changes: readonly RecordedChange[], units: Units, set: UnitSet): BlockedUnit[] {
  const made = changes.findLastIndex(change => isExistence(change) && change.existence === 'made')
  const removed = changes.findLastIndex(({ existence }, at) => existence === 'removed' && at < made)
  const by = removed === -1 ? made : removed
  return Array.from(set, unit => ({ unit, by })).filter(({ unit }) => units.changeOf[unit]! < made)
}

/**
 * The weave since the oldest change that matters: of the set, or toggled since that one. What is older has the same
 * state ever since, so it can't be in conflict.
 */
function replayFor(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  set: UnitSet
): Result<Weave, HistoryGone> {
  const unknown = changes.findLastIndex(({ splices }) => splices === null)
  const [oldest] = set
  let from = units.changeOf[oldest!]!
  for (let at = changes.length - 1; at >= from && at > unknown; at--) {
    const { edit_id, toggles = [] } = changes[at]!
    for (const { edit_id: toggled } of toggles) {
      const index = units.indexOf(toggled)
      if (index === undefined) return gone(toggled)
      if (index >= at) return gone(edit_id, 'inconsistent')
      from = Math.min(from, index)
    }
  }
  return from <= unknown ? notKept(changes.slice(from)) : replay(present, changes, units, from)
}

/** How many later changes are added to a set, and how often. Chosen, not measured. */
const MOST_LATER = 100
const ROUNDS = 20

/** The units of a set that are in conflict, and the changes in their way. */
interface InConflict {
  units: Set<number>
  by: Set<number>
}

/** For who needs no list of the conflicts. */
const UNLISTED: Pick<Conflicts, 'on' | 'addWhole'> = { on: () => () => {}, addWhole: () => {} }

/**
 * A set with all that has to be taken back with it, as `together` has it. `wanted`: its units that stand, of which `found`
 * are in conflict; later ones are added to them.
 */
function withLater(
  weave: Weave,
  changes: readonly RecordedChange[],
  standing: Units,
  { set, wanted, found }: { set: readonly Selection[]; wanted: UnitSet; found: InConflict }
): Selection[] | undefined {
  const later = new Set<string>()
  let { by } = found
  for (let round = 0; round < ROUNDS && later.size <= MOST_LATER; round++) {
    if (by.size === 0) {
      return [...set.filter(({ edit_id }) => !later.has(edit_id)), ...Array.from(later, edit_id => ({ edit_id }))]
    }
    const before = wanted.size
    for (const at of by) {
      const { edit_id, existence } = changes[at]!
      if (edit_id === '' || existence === 'removed') return undefined
      later.add(edit_id)
      const [from, to] = standing.of(at)
      for (let unit = from; unit < to; unit++) if (standing.stands(unit)) wanted.add(unit)
    }
    if (wanted.size === before) return undefined
    by = conflictsOf(weave, changes, standing, wanted, UNLISTED).by
  }
  return undefined
}

/** Tells of the conflicts of a set. */
function conflictsOf(
  weave: Weave,
  changes: readonly RecordedChange[],
  standing: Units,
  set: UnitSet,
  conflicts: Pick<Conflicts, 'on' | 'addWhole'>
): InConflict {
  const { units } = weave
  const found: InConflict = { units: new Set(), by: new Set() }
  const note = ({ unit, by }: BlockedUnit): void => {
    found.units.add(unit)
    found.by.add(by)
  }
  if (!exists(changes, standing, NONE) && !exists(changes, standing, set)) {
    const removed = changes.findLastIndex(({ existence }) => existence === 'removed')
    const by = removed === -1 ? changes.length - 1 : removed
    for (const unit of set) {
      conflicts.addWhole({ unit, by })
      note({ unit, by })
    }
    return found
  }
  const makes = (unit: number): boolean => set.has(unit) && isExistence(changes[units.changeOf[unit]!]!)
  const seen = new Set<string>()
  visitConflicts(weave, set, (pairs, line) => {
    const add = conflicts.on(line)
    for (const pair of pairs) {
      add(pair)
      note(pair)
      if (makes(pair.unit)) seen.add(`${pair.unit} ${pair.by}`)
    }
  })
  // Whether there is a text at all concerns every line of it.
  if ([...set].some(makes)) {
    const among = Array.from({ length: units.count }, (_, unit) => unit)
    for (const pair of conflictsAmong(among, set, units, makes)) {
      if (seen.has(`${pair.unit} ${pair.by}`)) continue
      conflicts.addWhole(pair)
      note(pair)
    }
  }
  return found
}

const NONE: ToggleSet = { has: () => false }

/** Whether there is a text once a set is toggled. */
function exists(changes: readonly RecordedChange[], standing: Units, set: ToggleSet): boolean {
  const first = changes.find(isExistence)
  const last = changes.findLast((change, at) => {
    const [unit] = standing.of(at)
    return isExistence(change) && standing.stands(unit) !== set.has(unit)
  })
  return last === undefined ? first?.existence !== 'made' : last.existence === 'made'
}

/** The splices that toggling a set comes to. The replay has compared what they delete with the present text. */
function carriedOut(weave: Weave, changes: readonly RecordedChange[], standing: Units, set: UnitSet) {
  const { present, spans, units } = weave
  const shown = spans.show(span => stands(span, unit => units.stands(unit) !== set.has(unit)))
  const list = shown.map(({ start, old, insert }): Splice => {
    const end = start + old.reduce((sum, { length }) => sum + length, 0)
    return { start, end, insert: Buffer.concat(insert.map(bytesOf)) }
  })
  const [before, after] = [exists(changes, standing, NONE), exists(changes, standing, set)]
  return {
    splices: new Splices(list, present.length),
    toggled: units.selection([...set], changes),
    ...(before && !after && { removes: true as const }),
    ...(!before && after && { makes: true as const })
  }
}
