// Laws of undo and redo on random histories of three agents. The truth is a weave of single bytes.
import t from 'tap'
import { stateAfter, toggle } from '../../../src/engine/undo/toggle.ts'
import { undoStates } from '../../../src/engine/undo/units.ts'
import { often } from '../../often.ts'
import type { Random } from '../../random.ts'
import { checkLaw } from './check-law.ts'
import { OwnedLines } from './owned-lines.ts'
import { ALPHABET, BYTES, type Cell, History, randomSplices, someOf, unitsOf } from './random-history.ts'

/** Edits, undos and redos of three agents; `said`: what is wrong, or null. */
function live(random: Random): { history: History; said: string | null } {
  const alphabet = random.chance(30) ? BYTES : ALPHABET
  const history = new History(Buffer.concat(Array.from({ length: random.int(60) }, () => random.pick(alphabet))))
  for (let step = 1 + random.int(20); step > 0; step--) {
    const agent = random.int(3)
    if (random.chance(65) || history.edits(agent).length === 0) {
      history.edit(agent, randomSplices(random, history.present, alphabet))
    } else {
      const said = toggleSome(random, history, agent)
      if (said !== null) return { history, said }
    }
    if (!history.expected().equals(history.present)) return { history, said: 'the text is not what the cells say' }
  }
  return { history, said: null }
}

/** Takes back, or makes again, some of an agent's edits. */
function toggleSome(random: Random, history: History, agent: number): string | null {
  const to = random.chance(60) ? 'undone' : 'applied'
  const before = history.present
  const seen = history.cells.filter(cell => history.isVisible(cell))
  const skip = random.chance(30)
  const set = someOf(random, history.edits(agent))
  const result = history.toggle(set, to, skip)
  if (!result.ok) return result.failure.code === 'HISTORY_GONE' ? 'history gone' : null
  const isOwn = (unit: string | null) => unit !== null && history.agents.get(unit.split(' ')[0]!) === agent
  if (to === 'undone') {
    const lost = seen.find(cell => !isOwn(cell.inserter) && !history.isVisible(cell))
    if (lost !== undefined) return 'a byte of others is lost'
    const taken = new Set(unitsOf(result.value.toggled, history.changes))
    const left = history.cells.find(cell => taken.has(cell.inserter ?? '') && history.isVisible(cell))
    if (left !== undefined) return 'a byte that was taken back is left'
    const wanted = unitsOf(set, history.changes)
    if (!skip && wanted.some(unit => !history.undone.has(unit))) return 'not all is taken back'
  }
  if (random.chance(30)) {
    const back = history.toggle(result.value.toggled, to === 'undone' ? 'applied' : 'undone')
    if (!back.ok) return `can't be toggled back: ${back.failure.code}`
    if (!history.present.equals(before)) return 'is not the same after being toggled back'
  }
  return null
}

/** The histories for all laws together: `npm run test:weave -- --histories N`. */
const HISTORIES = process.env.LONG_HISTORIES === undefined ? undefined : Number(process.env.LONG_HISTORIES)
t.setTimeout(0)

const check = (law: string, full: number, holds: (random: Random) => string | null): void => {
  const count = HISTORIES === undefined ? often(full / 5, full / 200) : (full * HISTORIES) / 105_000
  checkLaw(law, { count: Math.ceil(count), series: 90_001 }, holds)
}

check('keeps each text what its changes make it, whatever is taken back and made again', 60_000, random => {
  const { history, said } = live(random)
  if (said !== null) return said
  const { present, changes, snapshots } = history
  // Any state can be had back.
  const at = random.int(changes.length)
  const state = stateAfter(present, changes, changes[at]!.edit_id)
  if (!state.ok && !(state.failure.code === 'NOTHING_TO_UNDO' && present.equals(snapshots[at]!))) return 'no state'
  if (state.ok && !Buffer.concat(state.value.splices.apply(present)).equals(snapshots[at]!)) return 'wrong state'
  // What stands is known without texts.
  const standing = undoStates(
    changes.map(change => ({ ...change, ...(!change.toggles && { splices: change.splices }) }))
  )
  for (const { edit_id, splices } of history.edits()) {
    const undone = splices!.filter((_, index) => history.undone.has(`${edit_id} ${index}`)).length
    const expected = undone === 0 ? 'applied' : undone === splices!.length ? 'undone' : 'partly_undone'
    if (standing.get(edit_id)!.state !== expected && splices!.length > 0) return 'wrong standing'
  }
  // All taken back is the text that it began with.
  const all = toggle(
    present,
    changes,
    history.edits().map(({ edit_id }) => ({ edit_id })),
    'undone'
  )
  if (!all.ok) return all.failure.code === 'NOTHING_TO_UNDO' && present.equals(history.base) ? null : 'all refused'
  return Buffer.concat(all.value.splices.apply(present)).equals(history.base) ? null : 'all undone is not the base'
})

check('takes the last edits back without conflict', 5_000, random => {
  const history = new History(Buffer.concat(Array.from({ length: 40 }, () => random.pick(BYTES))))
  const count = 2 + random.int(10)
  for (let i = 0; i < count; i++) history.edit(i % 3, randomSplices(random, history.present, BYTES))
  const cut = random.int(count - 1)
  const set = history.changes.slice(cut + 1).map(({ edit_id }) => ({ edit_id }))
  const result = history.toggle(set, 'undone')
  if (!result.ok && result.failure.code !== 'NOTHING_TO_UNDO') return result.failure.code
  return history.present.equals(history.snapshots[cut]!) ? null : 'wrong text'
})

/** Whether both cells are visible, the first is no line break, and a visible one is between them. */
const isParted = (history: History, [first, second]: readonly [Cell, Cell]): boolean => {
  const { cells } = history
  if (isBreak(first) || !history.isVisible(first) || !history.isVisible(second)) return false
  return cells
    .slice(cells.indexOf(first) + 1, cells.indexOf(second))
    .some(cell => history.isVisible(cell) && isBreak(cell))
}

const isBreak = ({ byte }: Cell): boolean => byte === 10 || byte === 13
const pairsOf = (cells: readonly Cell[]): [Cell, Cell][] => cells.slice(1).map((cell, i) => [cells[i]!, cell])

check('takes the first edit back without parting a line', 40_000, random => {
  const alphabet = random.chance(50) ? ALPHABET : [...'ab', '\n'].map(text => Buffer.from(text))
  const parts = Array.from({ length: random.int(8) }, () => random.pick(alphabet))
  const mark = Buffer.from(random.chance(20) ? '\ufeff' : '')
  const history = new History(Buffer.concat([mark, ...parts, random.pick(alphabet)]))
  // A byte-order mark is on no line.
  const marks = new Set(history.cells.slice(0, mark.length))
  const atFirst = pairsOf(history.cells.slice(mark.length))
  history.edit(0, randomSplices(random, history.present, alphabet))
  for (let count = 1 + random.int(3); count > 0; count--) {
    history.edit(1, randomSplices(random, history.present, alphabet))
  }
  const own = history.changes[0]!.edit_id
  const isOwn = (unit: string | null): boolean => unit?.startsWith(`${own} `) === true
  // Of the text that there would be without it, what it had deleted is where it was.
  const restored = atFirst.filter(pair => pair.some(({ deleters }) => deleters.some(isOwn)))
  // What others inserted is where they put it.
  const seen = history.cells.filter(cell => history.isVisible(cell) && !marks.has(cell))
  const added = pairsOf(seen).filter(pair => pair.some(({ inserter }) => inserter !== null))
  if (!history.toggle([{ edit_id: own }], 'undone').ok) return null
  if (!history.expected().equals(history.present)) return 'the text is not what the cells say'
  if (restored.some(pair => isParted(history, pair))) return 'what is restored is on another line'
  return added.some(pair => isParted(history, pair)) ? 'what others inserted is on another line' : null
})

check('lets agents on lines of their own take back what they want', 40_000, random => {
  const owned = new OwnedLines(random)
  const history = new History(owned.base)
  for (let step = 0; step < 25; step++) {
    const agent = random.int(3)
    if (random.chance(65) || history.edits(agent).length === 0) {
      const planned = owned.plan(history, agent)
      if (planned.length > 0 && history.edit(agent, planned).splices!.length !== planned.length) {
        return 'not one splice a line'
      }
    } else {
      const set = someOf(random, history.edits(agent))
      const result = history.toggle(set, random.chance(60) ? 'undone' : 'applied', random.chance(30))
      const { conflicts = [] } = result.ok ? result.value : (result.failure as { conflicts?: { by: string }[] })
      if (conflicts.some(({ by }) => history.agents.get(by) !== agent)) return 'refused because of another agent'
    }
    const wrong = owned.wrong(history)
    if (wrong !== null) return wrong
  }
  return null
})

check('names with a refused undo what can be taken back together', 20_000, random => {
  const { history, said } = live(random)
  if (said !== null || history.edits().length === 0) return said
  const { present, changes } = history
  const set = someOf(random, history.edits())
  const refused = toggle(present, changes, set, 'undone')
  if (refused.ok || refused.failure.code !== 'UNDO_CONFLICT') return null
  const { together } = refused.failure
  if (together === undefined) return 'nothing can be taken back together'
  const done = toggle(present, changes, together, 'undone')
  if (!done.ok) return `refused: ${done.failure.code}`
  const named = new Set(unitsOf(together, changes))
  return unitsOf(set, changes).every(unit => named.has(unit)) ? null : 'not all of the set is named'
})
