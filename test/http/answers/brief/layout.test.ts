// The lines that a failure shows have the numbers that they have in the file, whatever is left out between them.
import t from 'tap'
import { previewOf } from '../../../../src/engine/explain/preview.ts'
import { LineIndex } from '../../../../src/engine/text/line-index.ts'
import { excerptNumbered, preview } from '../../../../src/http/answers/brief/layout.ts'

/** Lines `first` to `last`, each with its number and `length` letters. */
const lines = (first: number, last: number, length: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, i) => `${first + i}: ${'x'.repeat(length)}`)

/** The lines of a text of 30, around those in question, are shown as this, and each with its own number. */
function check(
  name: string,
  length: number,
  [first, last]: [number, number],
  expected: RegExp,
  isLeftOut = false
): void {
  t.test(name, async t => {
    const bytes = Buffer.from(`${lines(1, 30, length).join('\n')}\n`)
    const content = lines(first, last, length).join('\n')
    const start = bytes.indexOf(content)
    const shown = previewOf(bytes, new LineIndex(bytes), { start, end: start + content.length }, isLeftOut)
    const text = preview(shown, isLeftOut ? { content } : undefined)
    t.match(text, expected)
    for (const [, number, own] of text.matchAll(/^(\d+)\t(\d+):/gm)) t.equal(number, own, text)
  })
}

check('numbers all lines where none is left out', 9, [5, 6], /^2\t2: x+\n3\t(.+\n){6}9\t9: x+$/)
check('numbers the lines below a cut as in the file', 300, [5, 20], /^4\t4: x+\n…\n18\t18: x+\n19\t/m)
check('numbers them below a cut in a line', 2100, [5, 20], /^2\t2: x+…\n…\n\d+\t…x+$/m)
check('says how much is cut out of one line', 300, [5, 6], /^6\t6: x+…\[\d+ characters left out\]…x+$/m)
check('puts back the lines that are in similar_content', 9, [5, 8], /^4\t4: x+\n5\t5: x+\n(.+\n){3}9\t9: x+\n/m, true)

t.equal(
  excerptNumbered('a\n…[5000 characters left out]…b', 1, 9),
  '1\ta\n…\n9\t…b',
  'numbers the end of a line below whole lines'
)
