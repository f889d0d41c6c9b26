// Laws of what is pending of a text, and of who wrote its lines, on random histories of three agents. The truth is a weave
// of single bytes.
import { blameOf } from '../../../src/engine/blame.ts'
import { baselineOf, type Verdict } from '../../../src/engine/undo/baseline.ts'
import type { RecordedChange, Selection } from '../../../src/engine/undo/change.ts'
import type { ListedHunk, ListedLine } from '../../../src/engine/undo/listed-hunks.ts'
import { netOf } from '../../../src/engine/undo/pending-diff.ts'
import { Units } from '../../../src/engine/undo/units.ts'
import { replay } from '../../../src/engine/undo/weave.ts'
import { pendingOf, type PendingText } from '../../../src/engine/pending.ts'
import { breakEndIn, isBreakByte } from '../../../src/engine/text/lines.ts'
import { often } from '../../often.ts'
import type { Random } from '../../random.ts'
import { checkLaw } from './check-law.ts'
import { type Cell, History, randomSplices, unitsOf } from './random-history.ts'

const TEXTS = ['a', 'b', ' ', '\n', '\r\n', '\r', 'é', '字'].map(text => Buffer.from(text))
const BYTES = [...TEXTS, Buffer.from('\ufeff'), Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0x80])]

/** A history, the verdicts on it, and which units they keep. */
interface Reviewed {
  history: History
  verdicts: Verdict[]
  kept: Set<string>
  /** After each change: the text's lines, and who wrote each. */
  written: WrittenLine[][]
}

interface WrittenLine {
  text: string
  edit_ids: string[]
}

function reviewed(random: Random, alphabet: readonly Buffer[]): Reviewed {
  const mark = Buffer.from(random.chance(15) ? '\ufeff' : '')
  const parts = Array.from({ length: random.int(40) }, () => random.pick(alphabet))
  const history = new History(Buffer.concat([mark, ...parts]))
  const made: Reviewed = { history, verdicts: [], kept: new Set(), written: [] }
  for (let step = 1 + random.int(15); step > 0; step--) {
    const agent = random.int(3)
    if (random.chance(70) || history.edits(agent).length === 0) {
      history.edit(agent, randomSplices(random, history.present, alphabet))
    } else history.toggle(some(random, history.edits(agent)), random.chance(60) ? 'undone' : 'applied', true)
    while (made.written.length < history.changes.length) made.written.push(writtenLines(history))
    if (random.chance(25)) judge(random, made)
  }
  return made
}

const some = (random: Random, edits: readonly RecordedChange[]): Selection[] =>
  edits.filter(() => random.chance(50)).map(({ edit_id }) => ({ edit_id }))

/** A verdict on some changes. */
function judge(random: Random, { history, verdicts, kept }: Reviewed): void {
  const verdict = random.chance(75) ? 'kept' : 'pending'
  const of = history
    .edits()
    .flatMap(({ edit_id, splices }) =>
      [...splices!.keys()]
        .filter(() => random.chance(40))
        .map(index => ({ edit_id, change_indexes: [index], stood: !history.undone.has(`${edit_id} ${index}`) }))
    )
  for (const { edit_id, change_indexes, stood } of of) {
    kept[verdict === 'kept' && stood ? 'add' : 'delete'](`${edit_id} ${change_indexes[0]}`)
  }
  verdicts.push({ verdict, of })
}

/** The baseline, byte for byte. */
const baselineText = ({ history, kept }: Reviewed): Buffer =>
  Buffer.from(history.cells.filter(cell => isKept(cell, kept)).map(({ byte }) => byte))

const isKept = ({ inserter, deleters }: Cell, kept: ReadonlySet<string>): boolean =>
  (inserter === null || kept.has(inserter)) && deleters.every(unit => !kept.has(unit))

/** The lines of bytes with their breaks; a byte-order mark, as long as `mark`, is on none. */
const linesOf = (bytes: Buffer, mark: number): Buffer[] =>
  (
    bytes
      .toString('latin1')
      .slice(mark)
      .match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
  ).map(line => Buffer.from(line, 'latin1'))

const markOf = (bytes: Buffer): number => (bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0)

/** The cells of a line without those of its break that begin what was put in behind its text, with more behind them. */
function withoutBehind(history: History, line: readonly Cell[]): readonly Cell[] {
  const end = line.findIndex(({ byte }) => isBreakByte(byte))
  const inserter = line[end]?.inserter ?? null
  if (end < 1 || inserter === null) return line
  const insert = history.cells.filter(cell => cell.inserter === inserter)
  const bytes = Buffer.from(insert.map(({ byte }) => byte))
  if (line[end] !== insert[0] || breakEndIn(bytes, 0) === bytes.length) return line
  return line.filter((cell, i) => i < end || cell.inserter !== inserter)
}

function writtenLines(history: History): WrittenLine[] {
  const cells = history.cells.filter(cell => history.isVisible(cell))
  const bytes = Buffer.from(cells.map(({ byte }) => byte))
  let at = markOf(bytes)
  return linesOf(bytes, at).map(line => {
    const own = withoutBehind(history, cells.slice(at, (at += line.length)))
    const numbers = new Set(
      own.flatMap(({ inserter }) => (inserter === null ? [] : [Number(/\d+/.exec(inserter)![0])]))
    )
    return { text: line.toString(), edit_ids: [...numbers].sort((a, b) => a - b).map(number => `e${number}`) }
  })
}

const BREAKS = { crlf: '\r\n', cr: '\r' }
/** A listed line with its break. */
const wholeOf = ({ text, line_ending, no_break }: Pick<ListedLine, 'text' | 'line_ending' | 'no_break'>): string => {
  const end = line_ending !== undefined ? BREAKS[line_ending] : no_break === true ? '' : '\n'
  return text + end
}

const pendingIn = ({ history, verdicts }: Reviewed, context_lines: number): PendingText => {
  const result = pendingOf(history.present, { changes: history.changes, verdicts, context_lines, max_lines: 1e6 })
  if (!result.ok) throw new Error(`it failed: ${result.failure.reason}`)
  return result.value
}

const check = (law: string, full: number, holds: (random: Random) => string | null): void =>
  checkLaw(law, { count: often(full, Math.ceil(full / 10), Math.ceil(full / 40)), series: 70_001 }, holds)

/** A hunk behind all others, without lines. */
const ends = (a: Buffer, b: Buffer) => ({ from: a.length, to: a.length, otherFrom: b.length, otherTo: b.length })

check('gives the baseline byte for byte, and hunks that make the present text of it', 10_000, random => {
  const made = reviewed(random, BYTES)
  const { present, changes } = made.history
  const units = new Units(changes)
  const weave = replay(present, changes, units, 0)
  if (!weave.ok) return 'no weave'
  const isIn = baselineOf(made.verdicts)
  const net = netOf(weave.value, 0, unit => {
    const at = units.changeOf[unit]!
    return isIn(changes[at]!.edit_id, unit - units.of(at)[0])
  })
  const baseline = baselineText(made)
  if (net.hunks.length > 0 && !net.baseline.equals(baseline)) return 'the baseline is another text'
  if (net.hunks.length === 0 && !baseline.equals(present)) return 'a difference is missing'
  let [at, now] = [0, 0]
  for (const { from, to, otherFrom, otherTo } of [...net.hunks, ends(baseline, present)]) {
    if (from < at || to < from || otherTo < otherFrom) return 'hunks overlap'
    if (!baseline.subarray(at, from).equals(present.subarray(now, otherFrom))) return 'what is between isn’t the same'
    if (at > 0 && from === at && from < baseline.length) return 'hunks touch'
    ;[at, now] = [to, otherTo]
  }
  return null
})

check('lists the lines that make the present text of the baseline, each with who made it', 10_000, random => {
  const made = reviewed(random, TEXTS)
  const { present } = made.history
  const context_lines = random.int(4)
  const { hunks } = pendingIn(made, context_lines)
  const baseline = baselineText(made)
  const mark = Math.min(markOf(baseline), markOf(present))
  const [lines, now] = [baseline, present].map(bytes => linesOf(bytes, mark).map(String)) as [string[], string[]]
  const result: string[] = []
  const seen = new Set<number>()
  let at = 0
  for (const hunk of hunks) {
    const { start_line, end_line, base_start_line, base_end_line, changes } = hunk
    const of = (kind: ListedLine['kind']): ListedLine[] => hunk.lines.filter(line => line.kind === kind)
    const [removed, added] = [of('removed'), of('added')]
    if (removed.length !== base_end_line - base_start_line + 1) return 'removed lines are missing'
    if (added.length !== end_line - start_line + 1) return 'added lines are missing'
    if (removed.some(({ base_line }, i) => base_line !== base_start_line + i)) return 'wrong numbers of removed lines'
    if (added.some(({ line }, i) => line !== start_line + i)) return 'wrong numbers of added lines'
    if (removed.some((line, i) => wholeOf(line) !== lines[base_start_line - 1 + i])) return 'wrong removed lines'
    if (added.some((line, i) => wholeOf(line) !== now[start_line - 1 + i])) return 'wrong added lines'
    const ids = new Set(changes.map(({ edit_id }) => edit_id))
    if ([...removed, ...added].some(({ edit_ids = [] }) => edit_ids.length === 0)) return 'a line is nobody’s'
    if ([...removed, ...added].some(({ edit_ids = [] }) => edit_ids.some(id => !ids.has(id)))) return 'unnamed changes'
    for (const same of of('same')) {
      const { line = 0, base_line = 0 } = same
      if (seen.has(line)) return 'a line is listed twice'
      seen.add(line)
      if (wholeOf(same) !== now[line - 1] || wholeOf(same) !== lines[base_line - 1]) return 'a wrong line around it'
    }
    result.push(...lines.slice(at, base_start_line - 1), ...added.map(wholeOf))
    at = base_end_line
  }
  result.push(...lines.slice(at))
  return result.join('') === now.join('') ? null : 'the hunks make another text'
})

const textsOf = ({ lines, changes }: ListedHunk): string =>
  JSON.stringify([changes, lines.map(({ kind, text, edit_ids }) => [kind, text, edit_ids])])

check('takes one hunk back, and touches no other that shares no change with it', 15_000, random => {
  const made = reviewed(random, TEXTS)
  const { history } = made
  const { hunks, unseen } = pendingIn(made, 0)
  // All that differs is of a hunk, or not to be seen.
  const differing = history
    .edits()
    .flatMap(({ edit_id, splices }) => [...splices!.keys()].map(index => `${edit_id} ${index}`))
    .filter(unit => made.kept.has(unit) === history.undone.has(unit))
  const named = new Set([
    ...hunks.flatMap(({ changes }) => unitsOf(changes, history.changes)),
    ...unitsOf(unseen, history.changes)
  ])
  if (differing.some(unit => !named.has(unit)) || named.size !== differing.length) return 'changes are missing'
  if (hunks.length === 0) return null
  const hunk = random.pick(hunks)
  const own = new Set(unitsOf(hunk.changes, history.changes))
  const undone = new Set(unitsOf(hunk.undone ?? [], history.changes))
  const standing = [...own].filter(unit => !undone.has(unit))
  for (const [units, to] of [
    [standing, 'undone'],
    [[...undone], 'applied']
  ] as const) {
    const set = units.map(unit => ({ edit_id: unit.split(' ')[0]!, change_indexes: [Number(unit.split(' ')[1])] }))
    if (set.length > 0 && !history.toggle(set, to).ok) return null
  }
  const after = pendingIn(made, 0).hunks
  if (after.some(({ changes }) => unitsOf(changes, history.changes).some(unit => own.has(unit)))) {
    return 'it is there still'
  }
  const others = hunks
    .filter(({ changes }) => unitsOf(changes, history.changes).every(unit => !own.has(unit)))
    .map(textsOf)
  const left = after.map(textsOf)
  return others.every(text => left.includes(text)) ? null : 'another hunk is touched'
})

check('says who wrote each line, now and after each change', 5_000, random => {
  const { history, written } = reviewed(random, TEXTS)
  const { present, changes } = history
  for (const at of [undefined, changes[random.int(changes.length)]!.edit_id]) {
    const task = { changes, ...(at !== undefined && { at }), limit: 1e6 }
    const blamed = blameOf(present, task)
    if (!blamed.ok) return blamed.failure.code
    const lines = blamed.value.lines.map(line => ({ text: wholeOf(line), edit_ids: line.edit_ids }))
    const wanted = at === undefined ? written.at(-1) : written[changes.findIndex(({ edit_id }) => edit_id === at)]
    if (JSON.stringify(lines) !== JSON.stringify(wanted)) return 'other lines, or others wrote them'
    if (blamed.value.total_lines !== wanted!.length) return 'another number of lines'
  }
  return null
})

check('reaches back to the oldest change since which all texts are known', 5_000, random => {
  const { history, verdicts } = reviewed(random, TEXTS)
  const { present } = history
  const lost = random.int(history.changes.length)
  const changes = history.changes.map((change, at) => (at === lost ? { ...change, splices: null } : change))
  const result = pendingOf(present, { changes, verdicts, context_lines: 0, max_lines: 1e6 })
  const blamed = blameOf(present, { changes, limit: 1e6 })
  if (!result.ok || !blamed.ok) return 'it failed'
  const { incomplete, reaches_back_to, hunks } = result.value
  if (incomplete !== true || blamed.value.incomplete !== true) return 'it doesn’t say so'
  const since = reaches_back_to === undefined ? changes.length : changes.findIndex(c => c.edit_id === reaches_back_to)
  if (since <= lost) return 'it reaches too far'
  const isKnown = (edit_id: string): boolean => changes.findIndex(change => change.edit_id === edit_id) >= since
  if (!hunks.every(hunk => hunk.changes.every(({ edit_id }) => isKnown(edit_id)))) return 'it names older changes'
  if (!blamed.value.lines.every(({ edit_ids }) => edit_ids.every(isKnown))) return 'older changes wrote a line'
  // Nothing but a toggle of what is older keeps it from reaching back to the next change.
  const isBarred = changes.slice(lost + 1, since).some(({ toggles }) => toggles !== undefined)
  return since === lost + 1 || isBarred ? null : 'it doesn’t reach far enough'
})
