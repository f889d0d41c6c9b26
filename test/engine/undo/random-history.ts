// Random histories of a text, and a weave of single bytes that is too simple to be wrong. Does not know any law.
import { toggle, type TogglePlan } from '../../../src/engine/undo/toggle.ts'
import type { RecordedChange, Selection } from '../../../src/engine/undo/change.ts'
import { recordedSplices } from '../../../src/engine/undo/refine.ts'
import { type Splice, Splices } from '../../../src/engine/edit/splice.ts'
import type { ToggleFailure } from '../../../src/engine/failure.ts'
import type { Result } from '../../../src/result.ts'
import type { Random } from '../../random.ts'

/** What texts are made of: line breaks of all kinds, characters of several bytes; `BYTES`: also invalid UTF-8. */
export const ALPHABET = ['a', 'b', ' ', '\n', '\r\n', '\r', 'é', '字', '<', '>'].map(text => Buffer.from(text))
export const BYTES = [...ALPHABET, Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0x80])]

/** A byte that was ever there, and the units that inserted and deleted it. */
export interface Cell {
  byte: number
  inserter: string | null
  deleters: string[]
  /** The step at which it last became invisible. */
  hiddenAt: number
}

/** A text with its changes, its agents and its earlier states. */
export class History {
  present: Buffer
  readonly base: Buffer
  readonly changes: RecordedChange[] = []
  /** The text after each change, and whether there was one. */
  readonly snapshots: Buffer[] = []
  readonly existed: boolean[] = []
  readonly agents = new Map<string, number>()
  cells: Cell[]
  readonly undone = new Set<string>()
  #step = 0

  exists: boolean

  constructor(base: Buffer, exists = true) {
    this.exists = exists
    this.present = this.base = base
    this.cells = Array.from(base, byte => ({ byte, inserter: null, deleters: [], hiddenAt: 0 }))
  }

  /** The edits of an agent, or of all. */
  edits(agent?: number): RecordedChange[] {
    return this.changes.filter(
      ({ edit_id }) => this.agents.has(edit_id) && (agent === undefined || this.agents.get(edit_id) === agent)
    )
  }

  edit(agent: number, list: readonly Splice[], existence?: 'made' | 'removed'): RecordedChange {
    const edit_id = `e${this.changes.length}`
    const splices = recordedSplices(this.present, list)
    this.agents.set(edit_id, agent)
    let shift = 0
    for (const [index, { start, old, insert }] of splices.entries()) {
      this.#replace(start + shift, old.length, insert, `${edit_id} ${index}`)
      shift += insert.length - old.length
    }
    if (existence !== undefined) this.exists = existence === 'made'
    const change = { edit_id, splices, ...(existence !== undefined && { existence }) }
    return this.#add(change, new Splices(list, this.present.length))
  }

  /** Plans an undo or redo and, if it isn't refused, carries it out. */
  toggle(set: readonly Selection[], to: 'undone' | 'applied', skip = false): Result<TogglePlan, ToggleFailure> {
    const result = toggle(this.present, this.changes, set, to, { skip })
    if (result.ok) this.carryOut(result.value)
    return result
  }

  carryOut({ splices, toggled, makes, removes }: TogglePlan): void {
    const seen = this.cells.filter(cell => this.isVisible(cell))
    for (const unit of unitsOf(toggled, this.changes)) this.undone[this.undone.has(unit) ? 'delete' : 'add'](unit)
    this.#step++
    for (const cell of seen) if (!this.isVisible(cell)) cell.hiddenAt = this.#step
    const list = recordedSplices(this.present, splices.list)
    const existence = makes === true ? 'made' : removes === true && this.exists ? 'removed' : undefined
    if (existence !== undefined) this.exists = existence === 'made'
    const edit_id = `e${this.changes.length}`
    this.#add({ edit_id, splices: list, toggles: toggled, ...(existence !== undefined && { existence }) }, splices)
  }

  /** The text as the cells have it. */
  expected(): Buffer {
    return Buffer.from(this.cells.filter(cell => this.isVisible(cell)).map(({ byte }) => byte))
  }

  isVisible({ inserter, deleters }: Cell): boolean {
    return !(inserter !== null && this.undone.has(inserter)) && deleters.every(unit => this.undone.has(unit))
  }

  #add(change: RecordedChange, splices: Splices): RecordedChange {
    this.changes.push(change)
    this.present = Buffer.concat(splices.apply(this.present))
    this.snapshots.push(this.present)
    this.existed.push(this.exists)
    return change
  }

  #replace(start: number, length: number, insert: Buffer, unit: string): void {
    let at = 0
    this.#step++
    for (let before = 0; at < this.cells.length; at++) {
      if (this.isVisible(this.cells[at]!) && before++ === start) break
    }
    if (length === 0 && BREAKS.includes(insert.at(-1) ?? -1)) at = this.#lineStart(at)
    const others = new Set<string>()
    for (let left = length; left > 0; at++) {
      if (!this.isVisible(this.cells[at]!)) continue
      others.clear()
      for (const other of this.cells[at]!.deleters) others.add(other)
      this.cells[at]!.deleters.push(unit)
      this.cells[at]!.hiddenAt = this.#step
      left--
    }
    // After the replacements that other units once inserted for the deleted bytes.
    for (; others.has(this.cells[at]?.inserter ?? ''); at++) {
      if (this.isVisible(this.cells[at]!)) break
      for (const other of this.cells[at]!.deleters) others.add(other)
    }
    this.cells.splice(at, 0, ...Array.from(insert, byte => ({ byte, inserter: unit, deleters: [], hiddenAt: 0 })))
  }

  /**
   * Where whole lines are inserted. In the middle of a line: after all hidden bytes there. At the start of a line: after
   * the deleted lines, and before the deleted start of the next line. The bytes that were hidden last decide; between
   * two of them, those that were hidden before.
   */
  #lineStart(end: number): number {
    let from = end
    while (from > 0 && !this.isVisible(this.cells[from - 1]!)) from--
    const before = this.cells.slice(0, from).filter(cell => this.isVisible(cell))
    const isMark = Buffer.from(before.slice(0, 4).map(({ byte }) => byte)).equals(MARK)
    if (before.length > 0 && !isMark && !BREAKS.includes(before.at(-1)!.byte)) return end
    for (let to = end; ;) {
      const range = this.cells.slice(from, to)
      if (range.length === 0) return to
      const newest = Math.max(...range.map(({ hiddenAt }) => hiddenAt))
      const hidden = [...range.keys()].filter(i => range[i]!.hiddenAt === newest).map(i => i + from)
      const last = hidden.findLastIndex(at => BREAKS.includes(this.cells[at]!.byte))
      to = hidden[last + 1] ?? to
      if (last !== -1) from = hidden[last]! + 1
    }
  }
}

const BREAKS = [10, 13]
const MARK = Buffer.from('\ufeff')

/** The names of the units of a selection. */
export const unitsOf = (selection: readonly Selection[], changes: readonly RecordedChange[]): string[] =>
  selection.flatMap(({ edit_id, change_indexes }) => {
    const { splices } = changes.find(change => change.edit_id === edit_id)!
    return (change_indexes ?? [...splices!.keys()]).map(index => `${edit_id} ${index}`)
  })

/** Up to three disjoint random splices of a text. */
export function randomSplices(random: Random, text: Buffer, alphabet: readonly Buffer[]): Splice[] {
  const splices: Splice[] = []
  for (let at = 0, count = 1 + random.int(3); splices.length < count && at <= text.length;) {
    const start = at + random.int(Math.min(text.length - at, 40) + 1)
    const end = Math.min(text.length, start + random.pick([0, 0, 1, 3, random.int(12)]))
    const insert = Buffer.concat(Array.from({ length: random.int(4) }, () => random.pick(alphabet)))
    splices.push({ start, end, insert })
    at = end + 1
  }
  return splices
}

/** Some of these edits, or some of their splices. */
export const someOf = (random: Random, edits: readonly RecordedChange[]): Selection[] =>
  edits
    .filter(() => random.chance(50))
    .map(({ edit_id, splices }) =>
      random.chance(70)
        ? { edit_id }
        : { edit_id, change_indexes: [...splices!.keys()].filter(() => random.chance(50)) }
    )
