// Which units of each change are applied; undos and redos toggle units.
import type { RecordedChange, Selection } from './change.ts'
import { IndexSet } from './index-set.ts'

/** A selection with its own array of indexes. */
export interface ListedSelection extends Selection {
  change_indexes?: number[]
}

/** The changes of a text as units, without their texts. Units are numbered in the order of their changes. */
export class Units {
  /** The index of each unit's change. */
  readonly changeOf: readonly number[]
  readonly #first: readonly number[]
  readonly #indexes = new Map<string, number>()
  readonly #applied: Uint8Array
  /** The undos and redos that toggled each unit, as ascending indexes of changes. */
  #toggledAt: (number[] | undefined)[]

  /**
   * No unit is toggled yet. A change without known splices still has one unit. An undo or redo has none; a change that
   * created or removed the text has at least one.
   */
  constructor(changes: readonly RecordedChange[]) {
    const changeOf: number[] = []
    this.#first = changes.map(({ edit_id, splices, toggles, existence }, at) => {
      const first = changeOf.length
      const least = splices === null || existence !== undefined ? 1 : 0
      const count = toggles === undefined ? Math.max(least, splices?.length ?? 0) : 0
      for (let i = 0; i < count; i++) changeOf.push(at)
      this.#indexes.set(edit_id, at)
      return first
    })
    this.changeOf = changeOf
    this.#applied = new Uint8Array(changeOf.length).fill(1)
    this.#toggledAt = new Array<number[] | undefined>(changeOf.length)
  }

  /** The number of units. */
  get count(): number {
    return this.changeOf.length
  }

  /** The index of a change; undefined if no change has that id. */
  indexOf(edit_id: string): number | undefined {
    return this.#indexes.get(edit_id)
  }

  /** The units of the change with index `at`, end exclusive. */
  of(at: number): [from: number, to: number] {
    return [this.#first[at]!, this.#first[at + 1] ?? this.count]
  }

  /** The units of a selection of existing changes; indexes that a change doesn't have select nothing. */
  *selected(selection: readonly Selection[]): Generator<number> {
    for (const { edit_id, change_indexes } of selection) {
      const [from, to] = this.of(this.#indexes.get(edit_id)!)
      if (change_indexes === undefined) for (let unit = from; unit < to; unit++) yield unit
      else for (const index of change_indexes) if (from + index < to) yield from + index
    }
  }

  /** Units (ascending, without duplicates) as a selection. */
  selection(units: readonly number[], changes: readonly RecordedChange[]): ListedSelection[] {
    const selections: ListedSelection[] = []
    for (let i = 0; i < units.length;) {
      const at = this.changeOf[units[i]!]!
      const [from, to] = this.of(at)
      const change_indexes: number[] = []
      for (; i < units.length && units[i]! < to; i++) change_indexes.push(units[i]! - from)
      const { edit_id } = changes[at]!
      selections.push(change_indexes.length === to - from ? { edit_id } : { edit_id, change_indexes })
    }
    return selections
  }

  /** Toggles units; `at` is the index of the undo or redo. */
  toggle(selection: readonly Selection[], at: number): void {
    for (const unit of this.selected(selection)) {
      this.#applied[unit] = 1 - this.#applied[unit]!
      const toggledAt = (this.#toggledAt[unit] ??= [])
      toggledAt.push(at)
    }
  }

  /** Resets all units to applied, as if none had ever been toggled. */
  untoggle(): void {
    this.#applied.fill(1)
    this.#toggledAt = new Array<number[] | undefined>(this.count)
  }

  isApplied(unit: number): boolean {
    return this.#applied[unit] === 1
  }

  /** The undos and redos that toggled a unit, as ascending indexes of changes. */
  toggledAt(unit: number): readonly number[] {
    return this.#toggledAt[unit] ?? NEVER
  }

  /** Whether a unit was applied after the change with index `at`, which may not be before the unit's own change. */
  wasAppliedAfter(unit: number, at: number): boolean {
    let isApplied = true
    for (const toggled of this.toggledAt(unit)) {
      if (toggled > at) break
      isApplied = !isApplied
    }
    return isApplied
  }
}

const NEVER: readonly number[] = []

/** The state of a change after all changes: `by` is the last undo or redo that toggled any of it. */
interface UndoState {
  state: 'applied' | 'undone' | 'partly_undone'
  by?: string
  undone: IndexSet
  /** The number of its changes, at least 1; Infinity if unknown. */
  count: number
}

/**
 * The state of each change that isn't an undo or redo itself, by id, oldest first. Needs no texts; ignores toggles of
 * missing changes. If the number of splices is unknown, toggling single ones counts as a part.
 */
export function undoStates(changes: readonly RecordedChange[]): Map<string, UndoState> {
  const own = new Map<string, UndoState>()
  for (const { edit_id, splices, change_count = Infinity, toggles } of changes) {
    if (toggles === undefined) {
      // A change that created an empty text has a unit too.
      const count = Math.max(1, splices?.length ?? change_count)
      own.set(edit_id, { state: 'applied', undone: new IndexSet(count), count })
    }
    for (const selection of toggles ?? []) {
      const change = own.get(selection.edit_id)
      if (change === undefined) continue
      change.by = edit_id
      change.undone.toggle(selection.change_indexes)
    }
  }
  for (const change of own.values()) {
    const { undone } = change
    change.state = undone.listed.size > 0 ? 'partly_undone' : undone.has(0) ? 'undone' : 'applied'
  }
  return own
}
