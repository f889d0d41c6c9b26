import t from 'tap'
import type { LineRange } from '../../../src/engine/edit/request.ts'
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { linesNow, type LinesNow } from '../../../src/engine/undo/lines-now.ts'
import { differing } from '../../../src/engine/undo/refine.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { ALPHABET, type Cell, History, randomSplices, someOf } from './random-history.ts'

const bytes = (text: string) => Buffer.from(text)

/** Lines as `3-5`; `4-3` is the place before line 4. With `!` they are changed. */
const rangeOf = (lines: string): LineRange => {
  const [start_line, end_line] = lines.split('-').map(Number) as [number, number]
  return { start_line, end_line }
}
const shown = (lines: LinesNow[] | undefined): string | undefined =>
  lines?.map(({ start_line, end_line, changed }) => `${start_line}-${end_line}${changed ? '!' : ''}`).join(' ')

/** `texts`: the states of a text; the lines in `cases` are those of the first. */
function check(name: string, texts: readonly [string, ...string[]], cases: Record<string, string | undefined>): void {
  t.test(name, t => {
    const changes = texts.slice(1).map((text, i): RecordedChange => ({
      edit_id: `e${i}`,
      splices: differing(bytes(texts[i]!), bytes(text))
    }))
    for (const [lines, expected] of Object.entries(cases)) {
      const found = linesNow(bytes(texts.at(-1)!), { changes, at: -1 }, lines.split(' ').map(rangeOf))
      t.equal(shown(found), expected, lines)
    }
    t.end()
  })
}

check('counts on by what was put in and taken out above', ['a\nb\nc\nd\n', 'x\ny\na\nb\nc\nd\n', 'x\ny\nb\nc\nd\n'], {
  '2-2': '3-3',
  '2-4': '3-5',
  '3-2': '4-3',
  '5-4': '6-5',
  '2-2 4-4': '3-3 5-5',
  '1-1': '1-2!',
  '1-2': '1-3!',
  '1-0': '1-2!'
})
check('leaves lines where they are that nothing above has moved', ['a\nb\nc\n', 'a\nb\nC\n'], {
  '1-2': '1-2',
  '1-0': '1-0',
  '2-1': '2-1',
  '3-3': '3-3!',
  '3-2': '3-3!',
  '4-3': '4-3'
})
check('calls lines changed that others stand between now', ['a\nb\n', 'a\nx\nb\n'], {
  '1-2': '1-3!',
  '2-1': '2-2!',
  '1-1': '1-1',
  '2-2': '3-3'
})
check('calls lines changed that got more text on the same line', ['a\nb\nd\nc', 'a\n  b\nd\nc;'], {
  '2-2': '2-2!',
  '4-4': '4-4!',
  '1-1 3-3': '1-1 3-3'
})
check('shows what stands in the place of lines that were replaced', ['a\nb\nc\nd\n', 'a\nx\ny\nz\nd\n'], {
  '2-3': '2-4!',
  '2-2': '2-4!'
})
check('names the place of lines that are gone', ['a\nb\nc\n', 'a\nc\n'], { '2-2': '2-1!', '1-3': '1-2!' })
check('knows a last line that was ended since, and one that was not', ['a\nb', 'a\nb\nc'], {
  '2-2': '2-2',
  '3-2': '2-3!',
  '1-1': '1-1'
})
check('knows the end of a text that nothing was added to', ['a\nb', 'x\na\nb'], { '3-2': '4-3', '2-2': '3-3' })
check('goes by the breaks of a text with a byte-order mark', ['\ufeffa\r\nb\rc\n', '\ufeffx\r\na\r\nb\rc\n'], {
  '1-1': '2-2',
  '2-2': '3-3',
  '1-0': '1-1!'
})
check('calls a line changed whose break is another one', ['a\rb\n', 'a\r\nb\n'], { '1-1': '1-1!', '2-2': '2-2' })
check('says what is in an empty text now', ['', 'a\n'], { '1-0': '1-1!' })
check('knows no lines that the text did not have', ['a\n', 'b\na\n'], {
  '2-2': undefined,
  '3-2': undefined,
  '1-2': undefined,
  '0-0': undefined
})

t.test('follows lines that were changed, and then changed back by an undo', t => {
  const changes: RecordedChange[] = [
    { edit_id: 'a', splices: differing(bytes('1\n2\n'), bytes('1\nx\n')) },
    { edit_id: 'b', splices: differing(bytes('1\nx\n'), bytes('0\n1\nx\n')) },
    { edit_id: 'c', splices: differing(bytes('0\n1\nx\n'), bytes('0\n1\n2\n')), toggles: [{ edit_id: 'a' }] }
  ]
  const now = (at: number) => shown(linesNow(bytes('0\n1\n2\n'), { changes, at }, [rangeOf('2-2')]))
  t.equal(now(-1), '3-3', 'as it was before the edit')
  t.equal(now(0), '3-3!', 'what the edit put there is gone')
  t.equal(now(2), '2-2', 'as it is')
  t.end()
})

t.test('says nothing where what is recorded does not reach back, or does not fit', t => {
  const splices = differing(bytes('a\n'), bytes('b\na\n'))
  const now = (present: string, changes: readonly RecordedChange[], at: number) =>
    linesNow(bytes(present), { changes, at }, [rangeOf('1-1')])
  const unknown: RecordedChange = { edit_id: 'x', splices: null }
  t.equal(shown(now('b\na\n', [unknown, { edit_id: 'a', splices }], 0)), '2-2')
  t.equal(now('b\na\n', [unknown, { edit_id: 'a', splices }], -1), undefined)
  t.equal(now('c\na\n', [{ edit_id: 'a', splices }], -1), undefined)
  t.end()
})

const isBreak = (cells: readonly Cell[], at: number): boolean =>
  cells[at]!.byte === 10 || (cells[at]!.byte === 13 && cells[at + 1]?.byte !== 10)

/** Where each line begins, and the end. */
const startsOf = (cells: readonly Cell[]): number[] => {
  const starts = cells.length === 0 ? [] : [0]
  for (let i = 0; i < cells.length; i++) if (isBreak(cells, i) && i + 1 < cells.length) starts.push(i + 1)
  return [...starts, cells.length]
}

/** What the cells say of lines of an earlier text: the lines where they are now; undefined where they are changed. */
function expectedOf(
  then: readonly Cell[],
  now: readonly Cell[],
  { start_line, end_line }: LineRange
): LineRange | undefined {
  const starts = startsOf(then)
  const [from, to] = [starts[start_line - 1]!, starts[end_line]!]
  const nowStarts = startsOf(now)
  if (end_line < start_line) {
    const before = from === 0 ? -1 : now.indexOf(then[from - 1]!)
    const behind = from === then.length ? now.length : now.indexOf(then[from]!)
    if ((from > 0 && before === -1) || behind !== before + 1) return undefined
    const line = nowStarts.indexOf(behind)
    return line === -1 ? undefined : { start_line: line + 1, end_line: line }
  }
  const at = now.indexOf(then[from]!)
  if (at === -1 || then.slice(from, to).some((cell, i) => now[at + i] !== cell)) return undefined
  const end = at + to - from
  const isEnded =
    nowStarts.includes(end) || (now[end] !== undefined && [10, 13].includes(now[end].byte) && !isBreak(then, to - 1))
  const line = nowStarts.indexOf(at)
  return line === -1 || !isEnded ? undefined : { start_line: line + 1, end_line: line + end_line - start_line + 1 }
}

t.test('finds lines where the bytes are that they were made of, whatever was changed and taken back', t => {
  const count = often(6000)
  let unchanged = 0
  for (let round = 0; round < count; round++) {
    const random = new Random(SEED * 70_001 + round)
    const history = new History(Buffer.concat(Array.from({ length: random.int(30) }, () => random.pick(ALPHABET))))
    const states: Cell[][] = []
    const seen = () => states.push(history.cells.filter(cell => history.isVisible(cell)))
    seen()
    for (let i = 1 + random.int(6); i > 0; i--) {
      const before = history.changes.length
      if (random.chance(70)) history.edit(0, randomSplices(random, history.present, ALPHABET))
      else history.toggle(someOf(random, history.edits()), random.pick(['undone', 'applied']))
      if (history.changes.length > before) seen()
    }
    const at = random.int(states.length) - 1
    const [then, now] = [states[at + 1]!, states.at(-1)!]
    const total = startsOf(then).length - 1
    const start_line = 1 + random.int(total + 1)
    const end_line = start_line > total ? total : start_line - 1 + random.int(total - start_line + 2)
    const asked = { start_line, end_line }
    const [found] = linesNow(history.present, { changes: history.changes, at }, [asked]) ?? []
    const expected = expectedOf(then, now, asked)
    if (expected !== undefined) unchanged++
    const { changed, ...lines } = found ?? { changed: undefined }
    const holds = found !== undefined && (expected === undefined ? changed === true : changed === undefined)
    if (holds && (expected === undefined || shown([expected]) === shown([lines as LineRange]))) continue
    t.strictSame(
      found,
      expected,
      `round ${round} of SEED ${SEED}, ${at} of ${history.changes.length}, ${shown([asked])}`
    )
    break
  }
  t.ok(unchanged > count / 5, `${unchanged} of ${count} were unchanged`)
  t.end()
})
