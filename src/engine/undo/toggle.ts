// Undo and redo: computes the splices that toggle some changes of a text while others stay, or why that isn't possible.
import { fail, ok, type Result } from '../../result.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import type { HistoryGone, NothingToUndo, ToggleFailure, UndoConflict } from '../failure.ts'
import { askableId, isRecordedId, type RecordedChange, type Selection, spliceOf } from './change.ts'
import { Conflicts, visitConflicts } from './conflicts.ts'
import { Existence } from './existence.ts'
import { conflictsAmong, conflictsWith, type BlockedUnit } from './judge.ts'
import type { ToggleSet } from './touched-lines.ts'
import { withBreaksIn } from './layout.ts'
import { differing, textBefore } from './refine.ts'
import { bytesOf } from './spans.ts'
import { Units } from './units.ts'
import { relaidBy, replay, isVisibleIf, type Weave } from './weave.ts'

/** The effect of an undo or redo. */
export interface TogglePlan {
  /** Splices of the present text. */
  splices: Splices
  /** The changes toggled: those of the set that weren't in the wanted state. Recorded as `toggles`. */
  toggled: Selection[]
  /** With `skip`: the conflicting changes, and why. */
  skipped: Selection[]
  conflicts: UndoConflict[]
  more_conflicts?: number
  /** The text doesn't exist afterwards, whether or not it exists now; or it is created again. */
  removes?: true
  makes?: true
}

/**
 * Undoes (`undone`) or redoes (`applied`) those changes of a set that aren't in that state yet. `changes`: all known
 * changes of the text, oldest first; they end in `present`, which is empty if the text is removed. Undos and redos in
 * the set have no effect: name the changes they toggled. With `skip`, conflicting changes stay as they are. If another
 * program changed only line breaks or trailing white space, that causes no conflict, and restored lines get the breaks
 * that the text has now.
 *
 * Fails with UNDO_CONFLICT; with NOTHING_TO_UNDO if everything is already in that state, or everything else was
 * skipped; with HISTORY_GONE if the set has an unknown change, or reaches back to or beyond a change without splices.
 */
export function toggle(
  present: Buffer,
  changes: readonly RecordedChange[],
  set: readonly Selection[],
  to: 'undone' | 'applied',
  options: { skip?: boolean } = {}
): Result<TogglePlan, ToggleFailure> {
  const units = new Units(changes)
  const unknown = set.find(({ edit_id }) => units.indexOf(edit_id) === undefined)
  if (unknown !== undefined) return gone(unknown.edit_id)
  const current = currentUnits(changes)
  const wanted = new UnitSet(units.count)
  for (const unit of units.selected(set)) if (current.isApplied(unit) !== (to === 'applied')) wanted.add(unit)
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO' })

  const conflicts = new Conflicts(present, units, changes)
  const all = [...wanted]
  const existence = new Existence(changes, current)
  const judge = judgeOf(present, changes, { units, current, existence, set: wanted })
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
      const later = to === 'undone' ? withLater(changes, current, { set, wanted, found, judge }) : undefined
      const isFree = later?.isSure === true || (later && toggle(present, changes, later.together, to).ok)
      return fail({ code: 'UNDO_CONFLICT', ...listed, ...(isFree === true && { together: later!.together }) })
    }
    for (const unit of found.units) wanted.delete(unit)
  }
  return fail({ code: 'NOTHING_TO_UNDO', ...conflicts.list(wanted) })
}

/**
 * Restores the text as it was after the change `edit_id`, which may be an undo or redo: undoes later changes, and
 * redoes what was undone later. Fails with NOTHING_TO_UNDO if the text is in that state, with HISTORY_GONE as
 * `toggle` does; never with a conflict.
 */
export function stateAfter(
  present: Buffer,
  changes: readonly RecordedChange[],
  edit_id: string
): Result<TogglePlan, NothingToUndo | HistoryGone> {
  const units = new Units(changes)
  const at = units.indexOf(edit_id)
  if (at === undefined) return gone(edit_id)
  const current = currentUnits(changes)
  const wanted = new UnitSet(units.count)
  for (let unit = 0; unit < units.count; unit++) {
    const wasApplied = units.changeOf[unit]! <= at && current.wasAppliedAfter(unit, at)
    if (current.isApplied(unit) !== wasApplied) wanted.add(unit)
  }
  if (wanted.size === 0) return fail({ code: 'NOTHING_TO_UNDO' })
  const weave = replayFor(present, changes, units, wanted, { current, first: 'recorded' })
  if (!weave.ok) return weave
  const existence = new Existence(changes, current)
  const done = carriedOut(weave.value, changes, existence, wanted)
  // The remembered text has another layout than it had at that time.
  const splices = weave.value.layout.isMended ? splicesBackTo(present, changes, at) : done.splices
  return ok({ ...done, splices, skipped: [], conflicts: [] })
}

/** The splices that restore the text after the change with index `at`. */
function splicesBackTo(present: Buffer, changes: readonly RecordedChange[], at: number): Splices {
  let text = present
  for (const { splices } of changes.slice(at + 1).reverse()) {
    text = textBefore(text, splices!)!
  }
  return new Splices(differing(present, text).map(spliceOf), present.length)
}

/** A set of units; iterates in ascending order. */
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

/** The failure that names the changes without splices. */
function notKept(changes: readonly RecordedChange[]): { ok: false; failure: HistoryGone } {
  const ids = changes.flatMap(({ edit_id, splices }) => (splices === null ? [edit_id] : []))
  // An unrecorded change has no id.
  const unrecorded = ids.includes('') && { unrecorded: true as const }
  return fail({ code: 'HISTORY_GONE', edit_ids: ids.filter(id => id !== ''), reason: 'not_kept', ...unrecorded })
}

/** Which units are applied after all changes. */
function currentUnits(changes: readonly RecordedChange[]): Units {
  const units = new Units(changes)
  for (const [at, { toggles = [] }] of changes.entries()) {
    const known = toggles.filter(({ edit_id }) => units.indexOf(edit_id) !== undefined)
    units.toggle(known, at)
  }
  return units
}

/**
 * Replays from the oldest change that matters: one of the set, or one toggled since. Older changes have kept their
 * state all the time, so they can't be in conflict.
 */
function replayFor(
  present: Buffer,
  changes: readonly RecordedChange[],
  units: Units,
  set: UnitSet,
  { current, first }: { current: Units; first: 'recorded' | 'relaid' }
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
  return replay(present, changes, units, from, { relaid: isRelaying(changes, current, set), first })
}

/**
 * Whether the layout changes of a change can be ignored in conflicts: another program made it, it isn't in the set, and
 * no part of it was ever toggled.
 */
function isRelaying(changes: readonly RecordedChange[], current: Units, set: UnitSet): (at: number) => boolean {
  const isRelaid = relaidBy(changes)
  return at => {
    const [from, to] = current.of(at)
    for (let unit = from; unit < to; unit++) if (set.has(unit)) return false
    return isRelaid(at)
  }
}

/** How many later changes may be added to a set, and in how many rounds. Chosen, not measured. */
const MOST_LATER = 100
const ROUNDS = 20

/** The conflicting units of a set, and the changes they conflict with. */
class Found {
  readonly units = new Set<number>()
  readonly by = new Set<number>()

  add({ unit, by }: BlockedUnit): void {
    this.units.add(unit)
    this.by.add(by)
  }
}

/** Receives conflicts. */
type Listener = Pick<Conflicts, 'on' | 'addWhole'>

/** Ignores conflicts. */
const UNLISTED: Listener = { on: () => () => {}, addWhole: () => {} }

/** The conflicts of a set; if there are none, the weave from which to toggle it. */
type Judged = { found: Found } | { found: null; weave: Weave }
type Judge = (conflicts: Listener) => Result<Judged, HistoryGone>

/**
 * Judges the set in its current state on each call; the set may not gain units older than at first. Replays the texts
 * when they are first needed: HISTORY_GONE if they are unknown.
 */
function judgeOf(
  present: Buffer,
  changes: readonly RecordedChange[],
  { units, current, existence, set }: { units: Units; current: Units; existence: Existence; set: UnitSet }
): Judge {
  let weave: Result<Weave, HistoryGone> | undefined
  return conflicts => {
    const earlier = new Found()
    for (const pair of existence.ofEarlierTexts(set)) {
      conflicts.addWhole(pair, 'replaced')
      earlier.add(pair)
    }
    if (earlier.units.size > 0) return ok({ found: earlier })
    weave ??= replayFor(present, changes, units, set, { current, first: 'relaid' })
    if (!weave.ok) return weave
    const found = conflictsOf(weave.value, existence, set, conflicts)
    return ok(found.units.size > 0 ? { found } : { found: null, weave: weave.value })
  }
}

/**
 * Extends a set by all changes that have to be undone with it (`together`). `isSure`: `together` can certainly be
 * undone; false if it includes a change whose layout was ignored only because it wasn't in the set. `wanted`: the
 * applied units of the set, with conflicts in `found`; later units are added to it. `judge`: judges `wanted`.
 */
function withLater(
  changes: readonly RecordedChange[],
  current: Units,
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
      const [from, to] = current.of(at)
      for (let unit = from; unit < to; unit++) if (current.isApplied(unit)) wanted.add(unit)
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

/** Reports the conflicts of a set. */
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
  // Whether the text exists concerns every line of it.
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

/** The splices that toggle a set. The replay has already compared what they delete with the present text. */
function carriedOut(weave: Weave, changes: readonly RecordedChange[], existence: Existence, set: UnitSet) {
  const { present, spans, units, layout } = weave
  const withBreaks = layout.breaks ? withBreaksIn(present) : undefined
  const shown = spans.show(span => isVisibleIf(span, unit => units.isApplied(unit) !== set.has(unit)))
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
