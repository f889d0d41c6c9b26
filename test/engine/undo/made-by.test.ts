// Which change made an edit that is asked for once more.
import t from 'tap'
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { changeThatMade } from '../../../src/engine/undo/made-by.ts'
import { differing } from '../../../src/engine/undo/refine.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

/** The changes that make each text of the one before. */
const changesOf = (texts: readonly string[]): RecordedChange[] =>
  texts.slice(1).map((text, i) => ({
    edit_id: String(i + 1),
    splices: differing(Buffer.from(texts[i]!), Buffer.from(text))
  }))

type Resent = [old_text: string, new_text: string, first: number, last: number]

/** Which of the changes of these texts, from 1 on, made the edit whose new_text is on these lines of the last one. */
function check(
  name: string,
  texts: readonly string[],
  [old_text, new_text, first, last]: Resent,
  expected: number | null,
  as: (change: RecordedChange) => RecordedChange = change => change
): void {
  const found = changeThatMade(
    Buffer.from(texts.at(-1)!),
    { old_text, new_text, lines: [first, last] },
    changesOf(texts).map(as)
  )
  t.equal(found?.edit_id ?? null, expected === null ? null : String(expected), name)
}

check('names the change of a word', ['a\nb 30\nc\n', 'a\nb 45\nc\n'], ['b 30', 'b 45', 2, 2], 1)
check('names one of several', ['a\nb\nc\n', 'A\nb\nc\n', 'A\nB\nc\n', 'A\nB\nC\n'], ['b', 'B', 2, 2], 2)
check('names that of which the lines were moved', ['a\nb\n', 'a\nB\n', 'x\ny\na\nB\n'], ['b', 'B', 4, 4], 1)
check('names that before which lines went', ['x\ny\nb\n', 'x\ny\nB\n', 'y\nB\n'], ['b', 'B', 2, 2], 1)
check('names that of added lines', ['a\nb\n', 'a\nx\nb\n'], ['a', 'a\nx', 1, 2], 1)
check('names that of lines before', ['a\nb\n', 'a\nx\nb\n'], ['b', 'x\nb', 2, 3], 1)
check('names that of lines at the end', ['a', 'a\nx'], ['a', 'a\nx', 1, 2], 1)
check('names that of deleted lines', ['a\nb\nc\nd\n', 'a\nc\nd\n'], ['a\nb\nc', 'a\nc', 1, 2], 1)
check('names that of a last line that went', ['a\nb\nc\n', 'a\nc\n'], ['a\nb\n', 'a\n', 1, 1], 1)
check('names that of a first line that went', ['a\nb\nc\n', 'a\nc\n'], ['b\nc', 'c', 2, 2], 1)
check('names that of lines that went at both ends', ['a\nb\nc\nd\n', 'b\nd\n'], ['a\nb\nc\n', 'b\n', 1, 1], 1)
check('passes over lines that went beside it', ['a\nb\nc\n', 'a\nB\nc\n', 'a\nB\n'], ['b', 'B', 2, 2], 1)
check('passes over lines that came behind it', ['b\n', 'B\n', 'B\nx\n'], ['b', 'B', 1, 1], 1)
check('takes one kind of line break for another', ['a\r\nb\r\n', 'a\r\nx\r\nb\r\n'], ['a\nb', 'a\nx\nb', 1, 3], 1)
check('names none where the edit was another', ['a\nc 30\n', 'a\nb 45\n'], ['b 30', 'b 45', 2, 2], null)
check('names none where more of the lines changed', ['b 30 x\n', 'b 45 y\n'], ['b 30', 'b 45', 1, 1], null)
check('names none that changed lines beyond', ['a 1\nb\n', 'X\n'], ['b', 'X', 1, 1], null)
check('names none where the text was there', ['a\nB\n', 'A\nB\n'], ['b', 'B', 2, 2], null)
check('names none where it was made in two steps', ['a b\n', 'A b\n', 'A B\n'], ['a b', 'A B', 1, 1], null)
check('names none before a change that is not known', ['b\n', 'B\n', 'x\nB\n'], ['b', 'B', 2, 2], null, change =>
  change.edit_id === '2' ? { ...change, splices: null } : change
)
check('names no undo', ['b\n', 'B\n'], ['b', 'B', 1, 1], null, change => ({ ...change, toggles: [] }))
check('names nothing done by others', ['b\n', 'B\n'], ['b', 'B', 1, 1], null, change => ({ ...change, outside: true }))
check('names one that changed other lines too', ['a\nx\nb\n', 'A\nx\nB\n'], ['b', 'B', 3, 3], 1)
check('names none that changed the lines beside it', ['a\n{\nb\n}\n', 'a\n(\nB\n)\n'], ['b', 'B', 3, 3], null)

t.test('law: names the edit of lines, wherever other changes have put them', t => {
  for (let round = 0; round < often(5000, 200); round++) {
    const random = new Random(SEED * 31 + round)
    let count = 0
    const lines = (most: number) => Array.from({ length: random.int(most + 1) }, () => `line ${count++}`)
    const [above, old, below] = [lines(3), [...lines(2), 'old', ...lines(1)], lines(3)]
    // It keeps some lines, leaves some out and puts some in.
    const now = [...old.filter(line => line !== 'old' && random.chance(70)).flatMap(line => [line, ...lines(1)]), 'new']
    const text = (...parts: string[][]) => `${parts.flat().join('\n')}\n`
    const [first, last] = [lines(2), lines(2)]
    const texts = [text(above, old, below), text(above, now, below), text(first, above, now, below, last)]
    const start = first.length + above.length + 1
    const resent = { old_text: old.join('\n'), new_text: now.join('\n') }
    const at: [number, number] = [start, start + now.length - 1]
    const made = changeThatMade(Buffer.from(texts.at(-1)!), { ...resent, lines: at }, changesOf(texts))
    if (made?.edit_id !== '1') {
      t.fail(`SEED=${SEED}: round ${round}: ${JSON.stringify({ ...resent, texts })}`)
      return t.end()
    }
  }
  t.end()
})
