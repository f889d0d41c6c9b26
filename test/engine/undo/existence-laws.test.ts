// Laws of undo and redo of a file that is made, removed and made anew by several agents. The truth is a weave of single
// bytes.
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { stateAfter, toggle } from '../../../src/engine/undo/toggle.ts'
import { undoStates } from '../../../src/engine/undo/units.ts'
import { often } from '../../often.ts'
import type { Random } from '../../random.ts'
import { checkLaw } from './check-law.ts'
import { ALPHABET, History, randomSplices, someOf } from './random-history.ts'

const AGENTS = 3

/** Edits, makings, removals, undos and redos; `said`: what is wrong, or null. */
function live(random: Random): { history: History; said: string | null } {
  const exists = random.chance(30)
  const base = exists ? textOf(random) : Buffer.alloc(0)
  const history = new History(base, exists)
  for (let step = 1 + random.int(16); step > 0; step--) {
    const agent = random.int(AGENTS)
    const said = random.chance(40) ? toggleSome(random, history) : change(random, history, agent)
    if (said !== null) return { history, said }
  }
  return { history, said: null }
}

const textOf = (random: Random): Buffer =>
  Buffer.concat(Array.from({ length: random.int(20) }, () => random.pick(ALPHABET)))

function change(random: Random, history: History, agent: number): string | null {
  const { exists, present } = history
  if (!exists) {
    const insert = textOf(random)
    history.edit(agent, insert.length > 0 ? [{ start: 0, end: 0, insert }] : [], 'made')
  } else if (random.chance(40)) {
    const end = present.length
    history.edit(agent, end > 0 ? [{ start: 0, end, insert: Buffer.alloc(0) }] : [], 'removed')
  } else history.edit(agent, randomSplices(random, present, ALPHABET))
  return isAsItShould(history)
}

function toggleSome(random: Random, history: History): string | null {
  const to = random.chance(60) ? 'undone' : 'applied'
  const { present, exists } = history
  const set = someOf(random, history.edits(random.chance(50) ? random.int(AGENTS) : undefined))
  const result = history.toggle(set, to, random.chance(30))
  if (!result.ok) {
    if (result.failure.code === 'HISTORY_GONE') return 'history gone'
    if (result.failure.code !== 'UNDO_CONFLICT' || result.failure.together === undefined) return null
    const { conflicts, together } = result.failure
    if (conflicts.length === 0) return 'refused without a conflict'
    if (!toggle(present, history.changes, together, to).ok) return "what is named can't be taken back together"
    return null
  }
  const said = isAsItShould(history)
  if (said !== null || random.chance(50)) return said
  const back = history.toggle(result.value.toggled, to === 'undone' ? 'applied' : 'undone')
  if (!back.ok) return `can't be toggled back: ${back.failure.code}`
  if (!history.present.equals(present) || history.exists !== exists) return 'is not the same after being toggled back'
  return isAsItShould(history)
}

const isOwn = ({ existence, toggles }: RecordedChange): boolean => existence !== undefined && toggles === undefined

/** The last applied change that made or removed the text, and isn't an undo, decides whether there is one. */
function isAsItShould(history: History): string | null {
  const { changes, exists, present } = history
  if (!history.expected().equals(present)) return 'the text is not what the cells say'
  if (!exists) return present.length > 0 ? 'a text that is no more has bytes' : null
  const standing = undoStates(changes)
  const last = changes.findLastIndex(one => isOwn(one) && standing.get(one.edit_id)!.state === 'applied')
  if (last !== -1 && changes[last]!.existence === 'removed') return 'a removal stands, and the text is there'
  const at = new Map(changes.map(({ edit_id }, index) => [edit_id, index]))
  const isEarlier = (inserter: string | null) => (inserter === null ? -1 : at.get(inserter.split(' ')[0]!)!) < last
  return history.cells.some(cell => history.isVisible(cell) && isEarlier(cell.inserter))
    ? 'bytes of an earlier text are in a later one'
    : null
}

const check = (law: string, full: number, holds: (random: Random) => string | null): void =>
  checkLaw(law, { count: often(full, Math.ceil(full / 40), Math.ceil(full / 120)), series: 70_003 }, holds)

check('never mixes a text with one that was made after it was removed', 60_000, random => live(random).said)

check('has each state back, the text and whether there is one', 20_000, random => {
  const { history, said } = live(random)
  if (said !== null) return said
  const { changes, present } = history
  if (changes.length === 0) return null
  const at = random.int(changes.length)
  const back = stateAfter(present, changes, changes[at]!.edit_id)
  if (back.ok) history.carryOut(back.value)
  else if (back.failure.code !== 'NOTHING_TO_UNDO') return back.failure.code
  if (history.exists !== history.existed[at]) return 'the text is there, or is not'
  return history.present.equals(history.snapshots[at]!) ? null : 'another text'
})

check('takes a removal back where none of what was made in its place stands', 20_000, random => {
  const { history, said } = live(random)
  if (said !== null) return said
  const { changes, present } = history
  const standing = undoStates(changes)
  const last = changes.findLast(one => isOwn(one) && standing.get(one.edit_id)!.state === 'applied')
  if (last?.existence !== 'removed') return null
  const back = toggle(present, changes, [{ edit_id: last.edit_id }], 'undone')
  return back.ok && back.value.makes === true ? null : `refused`
})

check('takes all back at once, whoever made it, whether the text is there or not', 20_000, random => {
  const { history, said } = live(random)
  if (said !== null) return said
  const edits = history.edits()
  const { base } = history
  if (edits.length === 0) return null
  const existed = edits[0]!.existence !== 'made'
  const back = history.toggle(edits, 'undone')
  if (!back.ok) return back.failure.code === 'NOTHING_TO_UNDO' ? null : back.failure.code
  if (!history.present.equals(base) || history.exists !== existed) return 'is not as it was before all'
  return isAsItShould(history)
})
