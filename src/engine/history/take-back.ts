// Takes changes of a text back, or makes them again, while others stay: what that comes to as splices, or why it can't
// be done. Does not know files, or whose changes they are.
import { fail, ok, type Result } from '../../result.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import type { HistoryGone, NothingToUndo, TakeBackFailure, UndoConflict } from '../failure.ts'
import { askableId, isRecordedId, type RecordedChange, type Selection, spliceOf } from './change.ts'
import { Conflicts, visitConflicts } from './conflicts.ts'
import { Existence } from './existence.ts'
import { conflictsAmong, conflictsWith, type BlockedUnit } from './judge.ts'
import type { ToggleSet } from './touched-lines.ts'
import { withBreaksIn } from './layout.ts'
import { differing, textBefore } from './refine.ts'
import { bytesOf } from './spans.ts'
import { Units } from './units.ts'
import { relaidBy, replay, stands, type Weave } from './weave.ts'

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
  /** There is no text afterwards, whether there is one now or not; or it is made again. */
  removes?: true
  makes?: true
}

/**
 * Takes back (`undone`) or makes again (`standing`) what of a set isn't in that state yet. `changes`: all that is known
 * of the text, oldest first; they end in `present`, which has no bytes where the text is removed. Undos and redos in
 * the set count for nothing: name what they toggled. With `skip`, what is in conflict stays as it is. Where another program
 * gave lines other breaks, or other white space at their ends, that is in nothing's way, and what comes back has the breaks
 * that the text has now.
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
  const existence = new Existence(changes, standing)
  const judge = judgeOf(present, changes, { units, standing, existence, set: wanted })
  while (wanted.size > 0) {
    const judged = judge(conflicts)
    if (!judged.ok) return judged
    const { found } = judged.value
    if (found === null) {
      const skipped = units.selection(
        all.filter(unit => !wanted.has(unit)),
        changes
      )
      const { weave } = judged.value
      return ok({ ...carriedOut(weave, changes, existence, wanted), skipped, ...conflicts.list(wanted) })
    }
    if (options.skip !== true) {
      const listed = conflicts.list(wanted)
      const later = to === 'undone' ? withLater(changes, standing, { set, wanted, found, judge }) : undefined
      const isFree = later?.isSure === true || (later && takeBack(present, changes, later.together, to).ok)
      return fail({ code: 'UNDO_CONFLICT', ...listed, ...(isFree === true && { together: later!.together }) })
    }
    for (const unit of found.units) wanted.delete(unit)
  }
  return fail({ code: 'NOTHING_TO_UNDO', ...conflicts.list(wanted) })
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
  const weave = replayFor(present, changes, units, wanted, { standing, first: 'recorded' })
  if (!weave.ok) return weave
  const existence = new Existence(changes, standing)
  const done = carriedOut(weave.value, changes, existence, wanted)
  // What is remembered of a text has other layout than it had then.
  const splices = weave.value.layout.isMended ? splicesBackTo(present, changes, at) : done.splices
  return ok({ ...done, splices, skipped: [], conflicts: [] })
}

/** What gives the text back as it was after the change with an index. */
function splicesBackTo(present: Buffer, changes: readonly RecordedChange[], at: number): Splices {
  let text = present
  for (const { splices } of changes.slice(at + 1).reverse()) {
    text = textBefore(text, splices!)!
  }
  return new Splices(differing(present, text).map(spliceOf), present.length)
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

/**
 * The weave since the oldest change that matters: of the set, or toggled since that one. What is older has the same
 * state ever since, so it can't be in conflict.
 */
function replayFor(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  set: UnitSet,
  { standing, first }: { standing: Units; first: 'recorded' | 'relaid' }
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
  if (from <= unknown) return notKept(changes.slice(from))
  return replay(present, changes, units, from, { relaid: isRelaying(changes, standing, set), first })
}

/**
 * Whether what a change did to the layout of lines may be in nothing's way: another program made it, and neither is it
 * in the set, nor was any of it ever toggled.
 */
function isRelaying(changes: readonly RecordedChange[], standing: Units, set: UnitSet): (at: number) => boolean {
  const isRelaid = relaidBy(changes)
  return at => {
    const [from, to] = standing.of(at)
    for (let unit = from; unit < to; unit++) if (set.has(unit)) return false
    return isRelaid(at)
  }
}

/** How many later changes are added to a set, and how often. Chosen, not measured. */
const MOST_LATER = 100
const ROUNDS = 20

/** The units of a set that are in conflict, and the changes in their way. */
class Found {
  readonly units = new Set<number>()
  readonly by = new Set<number>()

  add({ unit, by }: BlockedUnit): void {
    this.units.add(unit)
    this.by.add(by)
  }
}

/** Who hears of conflicts. */
type Listener = Pick<Conflicts, 'on' | 'addWhole'>

/** Who needs no list of them. */
const UNLISTED: Listener = { on: () => () => {}, addWhole: () => {} }

/** What is in conflict in a set; where nothing is, the weave that says what toggling it comes to. */
type Judged = { found: Found } | { found: null; weave: Weave }
type Judge = (conflicts: Listener) => Result<Judged, HistoryGone>

/**
 * Judges a set as it is each time, with nothing in it that is older than at first. The texts are replayed when they are
 * first needed: HISTORY_GONE, where they aren't known.
 */
function judgeOf(
  present: Buffer,
  changes: readonly RecordedChange[],
  { units, standing, existence, set }: { units: Units; standing: Units; existence: Existence; set: UnitSet }
): Judge {
  let weave: Result<Weave, HistoryGone> | undefined
  return conflicts => {
    const earlier = new Found()
    for (const pair of existence.ofEarlierTexts(set)) {
      conflicts.addWhole(pair, 'replaced')
      earlier.add(pair)
    }
    if (earlier.units.size > 0) return ok({ found: earlier })
    weave ??= replayFor(present, changes, units, set, { standing, first: 'relaid' })
    if (!weave.ok) return weave
    const found = conflictsOf(weave.value, existence, set, conflicts)
    return ok(found.units.size > 0 ? { found } : { found: null, weave: weave.value })
  }
}

/**
 * A set with all that has to be taken back with it, as `together` has it; `isSure`: unless a change was added whose layout
 * was in nobody's way as it wasn't in the set, that can be taken back. `wanted`: its units that stand, of which `found`
 * are in conflict; later ones are added to them. `judge`: of `wanted`.
 */
function withLater(
  changes: readonly RecordedChange[],
  standing: Units,
  { set, wanted, found, judge }: { set: readonly Selection[]; wanted: UnitSet; found: Found; judge: Judge }
): { together: Selection[]; isSure: boolean } | undefined {
  const later = new Set<string>()
  const indexes = new Set<number>()
  let { by } = found
  for (let round = 0; round < ROUNDS; round++) {
    const before = wanted.size
    for (const at of by) {
      const edit_id = askableId(changes[at]!)
      if (!isRecordedId(edit_id) || changes[at]!.existence === 'removed') return undefined
      later.add(edit_id)
      indexes.add(at)
      const [from, to] = standing.of(at)
      for (let unit = from; unit < to; unit++) if (standing.stands(unit)) wanted.add(unit)
    }
    if (wanted.size === before || later.size > MOST_LATER) return undefined
    const judged = judge(UNLISTED)
    if (!judged.ok) return undefined
    if (judged.value.found === null) {
      const together = [
        ...set.filter(({ edit_id }) => !later.has(edit_id)),
        ...Array.from(later, edit_id => ({ edit_id }))
      ]
      return { together, isSure: [...judged.value.weave.layout.changes].every(at => !indexes.has(at)) }
    }
    by = judged.value.found.by
  }
  return undefined
}

/** Tells of the conflicts of a set. */
function conflictsOf(weave: Weave, existence: Existence, set: UnitSet, conflicts: Listener): Found {
  const { units } = weave
  const found = new Found()
  for (const pair of existence.withoutText(set)) {
    conflicts.addWhole(pair)
    found.add(pair)
  }
  if (found.units.size > 0) return found
  const makes = (unit: number): boolean => set.has(unit) && existence.isTransition(units.changeOf[unit]!)
  const seen = new Set<string>()
  visitConflicts(weave, set, (pairs, line) => {
    const add = conflicts.on(line, weave)
    for (const pair of pairs) {
      add(pair)
      found.add(pair)
      if (makes(pair.unit) || existence.isTransition(pair.by)) seen.add(`${pair.unit} ${pair.by}`)
    }
  })
  // Whether there is a text at all concerns every line of it.
  const addWhole = (pairs: Iterable<BlockedUnit>): void => {
    for (const pair of pairs) {
      const key = `${pair.unit} ${pair.by}`
      if (seen.has(key)) continue
      seen.add(key)
      conflicts.addWhole(pair)
      found.add(pair)
    }
  }
  const own = [...set]
  if (own.some(makes)) {
    const among = Array.from({ length: units.count }, (_, unit) => unit)
    addWhole(conflictsAmong(among, set, units, makes))
  }
  const transitions = existence.units
  if (transitions.length > 0) addWhole(conflictsWith(transitions, own, set, units))
  return found
}

/** The splices that toggling a set comes to. The replay has compared what they delete with the present text. */
function carriedOut(weave: Weave, changes: readonly RecordedChange[], existence: Existence, set: UnitSet) {
  const { present, spans, units, layout } = weave
  const withBreaks = layout.breaks ? withBreaksIn(present) : undefined
  const shown = spans.show(span => stands(span, unit => units.stands(unit) !== set.has(unit)))
  const list = shown.map(({ start, old, insert }): Splice => {
    const end = start + old.reduce((sum, { length }) => sum + length, 0)
    const bytes = Buffer.concat(insert.map(bytesOf))
    return { start, end, insert: withBreaks === undefined ? bytes : withBreaks(bytes, { start, end }) }
  })
  const [before, after] = [existence.isThere(), existence.isThere(set)]
  return {
    splices: new Splices(list, present.length),
    toggled: units.selection([...set], changes),
    ...(!after && { removes: true as const }),
    ...(!before && after && { makes: true as const })
  }
}
