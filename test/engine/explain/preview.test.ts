// The lines that a failure shows around a place: which, how they are cut, and what stands for those shown elsewhere.
import t from 'tap'
import { previewOf } from '../../../src/engine/explain/preview.ts'
import { LineIndex } from '../../../src/engine/text/line-index.ts'

/** Shows the file around the first place of a text. */
function check(name: string, file: string | Buffer, place: string, expected: object, shown = false): void {
  t.test(name, t => {
    const bytes = Buffer.from(file)
    const start = bytes.indexOf(place)
    const preview = previewOf(bytes, new LineIndex(bytes), { start, end: start + Buffer.byteLength(place) }, shown)
    t.match(preview, expected)
    t.ok(preview.content.length <= 2048)
    t.end()
  })
}

const lines = (from: number, to: number, end = '\n') =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`).join(end)
const long = (letter: string, count: number) => letter.repeat(count)

check('shows three lines on each side, with the breaks of the file', lines(1, 20, '\r\n'), 'line 9', {
  total_lines: 20,
  preview_start_line: 6,
  preview_end_line: 12,
  content: lines(6, 12, '\r\n'),
  highlights: [{ start_line: 9, end_line: 9 }]
})
check(
  'leaves out lines that are shown elsewhere',
  lines(1, 9),
  'line 5\nline 6',
  {
    preview_start_line: 2,
    preview_end_line: 9,
    content: `${lines(2, 4)}\n[lines 5 to 6 are in similar_content]\n${lines(7, 9)}`
  },
  true
)
check(
  'leaves out a line that is shown but for its blanks',
  'a\n  b  \nc',
  'b',
  {
    content: 'a\n[line 2 is in similar_content]\nc'
  },
  true
)
check('shows a line of which only a part is shown elsewhere', 'a\nlet b\nc', 'b', { content: 'a\nlet b\nc' }, true)
check(
  'cuts each of a few long lines, and the first that is meant around it',
  `${long('a', 5000)}\n${long('b', 3000)}here${long('c', 3000)}\nz`,
  'here',
  { content: /^a+…\[\d{4} characters left out\]…a+\n…\[\d{4} characters left out\]…b+herec+…\[\d{4} [a-z ]+\]…$/ }
)
check(
  'says that what is shown of a long line is not all UTF-8',
  Buffer.concat([Buffer.from(`${long('a', 3000)}here`), Buffer.from([0xff])]),
  'here',
  {
    lossy: true,
    content: /here\ufffd$/
  }
)
check('says that a short line is not UTF-8', Buffer.from([0xff, 0x0a, 0x61]), 'a', {
  lossy: true,
  content: '\ufffd\na'
})
check('cuts many lines in their middle', lines(1, 2000), lines(5, 1900), {
  preview_start_line: 2,
  preview_end_line: 1900,
  content: /^line 2\n[^…]*…\[\d+ characters left out\]…[^…]*line 1900$/
})
