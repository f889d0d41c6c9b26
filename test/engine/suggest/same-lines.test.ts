// The change of an edit, made to lines that the file has as old_text has them, whatever else differs.
import t from 'tap'
import { inSameLines } from '../../../src/engine/suggest/same-lines.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

/** `expected`: the merged text, or undefined if the change isn't made. */
const check = (name: string, base: string, mine: string, theirs: string, expected: string | undefined): void => {
  t.equal(inSameLines(base, mine, theirs, 100), expected, name)
}

check('replaces a line between others', 'a\nb\nc', 'a\nx\nc', 'A\nb\nC', 'A\nx\nC')
check('replaces lines by more of them', 'a\nb\nc', 'a\nx\ny\nc', 'A\nb\nC', 'A\nx\ny\nC')
check('takes lines out', 'a\nb\n\nc\nd', 'a\nd', 'A\nb\n\nc\nD', 'A\nD')
check('takes the last line out', 'a\nb', 'a', 'A\nb', 'A')
check('makes several changes', 'a\nb\nc\nd\ne', 'a\nx\nc\ny\ne', 'A\nb\nC\nd\nE', 'A\nx\nC\ny\nE')
check('finds a line that was moved', 'a\nb\nc', 'x\nb\nc', 'B\nC\na', 'B\nC\nx')
check('makes no changes in another order', 'a\nb\nc', 'x\nb\ny', 'c\nB\na', undefined)
check('keeps white space around a line', 'a\n b', 'a\n x', 'A\n\tb  ', 'A\n\tx  ')
check('leaves a line that is there twice', 'a\nb', 'a\nx', 'b\nA\nb', undefined)
check('leaves a line that old_text has twice', 'a\nb\nc\nb', 'a\nb\nc\nx', 'A\nb\nC', undefined)
check('leaves a line that differs', 'a\nb', 'a\nx', 'A\nb c', undefined)
check('leaves signs alone', 'a\n}\nc', 'a\n]\nc', 'A\n}\nC', undefined)
check('adds no line between others', 'a\nb', 'a\nx\nb', 'A\nb', undefined)
check('knows no depth of lines that are added', 'a\n b', 'a\n x\n y', 'A\n   b', undefined)
check('knows no depth where others are indented otherwise', 'a\nb\nc', 'a\nx\ny\nc', 'A\nb\n  c', undefined)
check('ignores the depth of lines that are there twice', 'a\nb\nc', 'a\nx\ny\nc', '  a\n a\nb\nC', '  a\n a\nx\ny\nC')
check('adds no word that the file has renamed', 'a(q)\nb', 'a(q)\nx(q)', 'a(r)\nb', undefined)

t.equal(inSameLines('a\n'.repeat(200), 'b\n'.repeat(200), 'a', 100), undefined, 'ends at so many changes')
t.test('asks whether the file has the lines just once', async t => {
  const asked: string[] = []
  const isOnce = (lines: string) => asked.push(lines) > 9
  t.equal(inSameLines('a\nb\nc\nd', 'a\nx\nd', 'A\nb\n c\nD', 100, isOnce), undefined)
  t.equal(inSameLines('a\nb\nc', 'a\nx\nc', 'A\n  b\nC', 100, isOnce), undefined)
  t.equal(inSameLines('a\nb\nc\nd\ne', 'a\nb\nx\nd\ne', 'A\n  b\nc\nd', 100, isOnce), undefined)
  t.strictSame(asked, ['  b', '  b\nc\nd'])
})

t.test('law: changes nothing but the lines that the edit changes', async t => {
  let made = 0
  for (let round = 0; round < often(2000, 200); round++) {
    const random = new Random(SEED * 70_021 + round)
    const lines = Array.from({ length: 9 }, (_, i) => `${'  '.repeat(random.int(2))}line${i % 7}(${i % 3})`)
    const other = lines.map(line => (random.chance(30) ? line.replace('line', 'other') : line))
    const at = random.int(9)
    const isOnce = lines.filter(line => line.trim() === lines[at]!.trim()).length === 1
    const isThere = other.filter(line => line.trim() === lines[at]!.trim()).length === 1
    const merged = inSameLines(lines.join('\n'), lines.with(at, 'new()').join('\n'), other.join('\n'), 100)
    const about = JSON.stringify({ seed: SEED, round, lines, other, at })
    if (merged === undefined) t.ok(!isOnce || !isThere, about)
    else if (merged !== other.with(at, 'new()').join('\n')) t.fail(`${merged}: ${about}`)
    else made++
  }
  t.ok(made > 20, `${made} were made`)
})
