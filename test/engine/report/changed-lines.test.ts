// Which of the changed lines an answer shows, and what it says of the others.
import t from 'tap'
import { changedSplices } from '../../../src/engine/edit/changed-splices.ts'
import { changedLines, removedLines } from '../../../src/engine/report/changed-lines.ts'
import { placeLines } from '../../../src/engine/report/place-lines.ts'
import { spread } from '../../../src/engine/report/spread.ts'
import { planOfSplices } from '../../../src/engine/edit/plan-of-splices.ts'
import { Splices } from '../../../src/engine/edit/splice.ts'

const TEXT = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`)

/** Replaces stretches of `count` lines, beginning at these lines, by as many lines, or by none. */
function linesOf(starts: readonly number[], count: number, isDeleted = false) {
  const original = Buffer.from(TEXT.join(''))
  const offsetOf = (line: number): number => TEXT.slice(0, line - 1).join('').length
  const insert = (line: number): Buffer =>
    Buffer.from(isDeleted ? '' : Array.from({ length: count }, (_, i) => `new ${line + i}\n`).join(''))
  const list = starts.map(line => ({ start: offsetOf(line), end: offsetOf(line + count), insert: insert(line) }))
  const plan = planOfSplices(original, new Splices(list, original.length))
  const lines = placeLines(original, plan, changedSplices(original, list))
  return { now: changedLines(lines), before: removedLines(lines)! }
}

const numbers = ({ lines }: { lines: readonly { line_number: number }[] }): number[] =>
  lines.map(({ line_number }) => line_number)

t.test('shows places spread over the text, and counts those that are left out', async t => {
  const eight = [1, 21, 41, 61, 81, 101, 121, 141]
  for (const [starts, count, shown, more_places] of [
    [eight.slice(0, 5), 1, [1, 2, 20, 21, 22, 40, 41, 42, 60, 61, 62, 80, 81, 82], 0],
    [eight, 1, [1, 2, 40, 41, 42, 80, 81, 82, 100, 101, 102, 140, 141, 142], 3],
    // Of long places only the ends: of five the first and the last line, of one the first and last three.
    [eight, 9, [1, 9, 10, 40, 41, 49, 50, 80, 81, 89, 90, 100, 101, 109, 110, 140, 141, 149, 150], 3],
    [[21], 9, [20, 21, 22, 23, 27, 28, 29, 30], 0],
    [[21, 41, 61], 9, [20, 21, 22, 28, 29, 30, 40, 41, 42, 48, 49, 50, 60, 61, 62, 68, 69, 70], 0],
    // A place beside one that is shown is shown with it.
    [[1, 3, 4, 7, 9, 11], 1, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12], 0]
  ] as const) {
    const { now } = linesOf(starts, count)
    t.strictSame({ numbers: numbers(now), more_places: now.more_places }, { numbers: shown, more_places })
  }
})

t.test('shows the lines around what was deleted, and the deleted ones as they were', async t => {
  const { now, before } = linesOf([1, 21, 41, 61, 81, 101, 121, 141], 9, true)
  t.strictSame(numbers(now).slice(0, 3), [1, 22, 23])
  t.equal(now.more_places, 3)
  t.equal(before.total, 72)
  t.strictSame(numbers(before), [1, 2, 8, 9, 41, 42, 48, 49, 81, 82, 88, 89, 101, 102, 108, 109, 141, 142, 148, 149])
})

t.test('chooses the first, the last, and some between', async t => {
  for (const [count, most, chosen] of [
    [0, 5, []],
    [1, 5, [0]],
    [5, 5, [0, 1, 2, 3, 4]],
    [6, 5, [0, 1, 3, 4, 5]],
    [100, 3, [0, 50, 99]]
  ] as const) {
    t.strictSame(spread(count, most), chosen)
  }
})
