// What of each change stands: the units that an undo or redo toggles. Does not know texts.
import type { RecordedChange, Selection } from './change.ts'
import { IndexSet } from './index-set.ts'

/** A selection that nobody else has. */
export interface ListedSelection extends Selection {
  change_indexes?: number[]
}

/** What is known of the changes of a text without their texts. Units are numbered in the order of their changes. */
export class Units {
  /** Index of each unit's change. */
  readonly changeOf: readonly number[]
  readonly #first: readonly number[]
  readonly #indexes = new Map<string, number>()
  readonly #stands: Uint8Array
  /** The undos and redos that toggled a unit, as indexes of changes, rising. */
  #toggledAt: (number[] | undefined)[]

  /**
   * None is toggled yet. A change whose splices aren't known has a unit all the same. An undo or redo has none; the
   * change that made or removed the text has one at least.
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
    this.#stands = new Uint8Array(changeOf.length).fill(1)
    this.#toggledAt = new Array<number[] | undefined>(changeOf.length)
  }

  /** How many there are. */
  get count(): number {
    return this.changeOf.length
  }

  /** Index of a change; undefined where there is none of that id. */
  indexOf(edit_id: string): number | undefined {
    return this.#indexes.get(edit_id)
  }

  /** The first unit of the change with an index, and the first behind its units. */
  of(at: number): [from: number, to: number] {
    return [this.#first[at]!, this.#first[at + 1] ?? this.count]
  }

  /** The units of a selection, of changes that there are; indexes that its change doesn't have select nothing. */
  *selected(selection: readonly Selection[]): Generator<number> {
    for (const { edit_id, change_indexes } of selection) {
      const [from, to] = this.of(this.#indexes.get(edit_id)!)
      if (change_indexes === undefined) for (let unit = from; unit < to; unit++) yield unit
      else for (const index of change_indexes) if (from + index < to) yield from + index
    }
  }

  /** Units, rising and each once, as a selection. */
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

  /** Toggles units; `at` is the index of the undo or redo that does. */
  toggle(selection: readonly Selection[], at: number): void {
    for (const unit of this.selected(selection)) {
      this.#stands[unit] = 1 - this.#stands[unit]!
      const toggledAt = (this.#toggledAt[unit] ??= [])
      toggledAt.push(at)
    }
  }

  /** As if none had ever been toggled. */
  untoggle(): void {
    this.#stands.fill(1)
    this.#toggledAt = new Array<number[] | undefined>(this.count)
  }

  stands(unit: number): boolean {
    return this.#stands[unit] === 1
  }

  /** The undos and redos that toggled a unit, as indexes of changes, rising. */
  toggledAt(unit: number): readonly number[] {
    return this.#toggledAt[unit] ?? NEVER
  }

  /** Whether a unit stood after the change with an index, which may not be before its own. */
  stoodAfter(unit: number, at: number): boolean {
    let stands = true
    for (const toggled of this.toggledAt(unit)) {
      if (toggled > at) break
      stands = !stands
    }
    return stands
  }
}

const NEVER: readonly number[] = []

/** What stands of a change after all of them: `by` is the last undo or redo that toggled any of it. */
export interface Standing {
  state: 'applied' | 'undone' | 'partly_undone'
  by?: string
  undone: IndexSet
  /** Its changes, at least 1; Infinity where their number isn't known. */
  count: number
}

/**
 * What stands of each change that isn't an undo or redo itself, by its id, oldest first. Needs no texts; toggles of
 * changes that aren't there are left out. Of a change of which not even the number of splices is known, single ones count
 * as a part.
 */
export function standingOf(changes: readonly RecordedChange[]): Map<string, Standing> {
  const own = new Map<string, Standing>()
  for (const { edit_id, splices, change_count = Infinity, toggles } of changes) {
    if (toggles === undefined) {
      // One that made an empty text has a unit too.
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
