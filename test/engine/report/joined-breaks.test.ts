// Breaks that come of a \\r and a \\n that stood apart: examples, and a look at every byte.
import t from 'tap'
import { joinedBreaks } from '../../../src/engine/report/joined-breaks.ts'
import { Splices } from '../../../src/engine/edit/splice.ts'
import { planTask, type TaskChange } from '../../../src/engine/task.ts'
import { Random, SEED } from '../../random.ts'

/** The change of a file makes these lines of the result end with a break that was two. */
function check(name: string, file: string, change: TaskChange, lines: number[] | undefined): void {
  const planned = planTask(
    Buffer.from(file),
    { change, max_result_size: 1 << 20, context_lines: 0, dry_run: false },
    { path: 'f', exists: true }
  )
  t.match(planned, { ok: true }, name)
  if (planned.ok) t.strictSame(planned.value.description.joined_breaks, lines && { count: lines.length, lines }, name)
}

const text = (
  old_text: string,
  new_text: string,
  line_endings: 'adapt' | 'exact' = 'adapt',
  more: object = { replace_all: true }
): TaskChange => ({ operation: 'edit', edits: [{ old_text, new_text, ...more }], line_endings })
const lines = (
  start_line: number,
  end_line: number,
  new_text: string,
  line_endings: 'adapt' | 'exact' = 'adapt'
): TaskChange => ({ operation: 'edit_lines', edits: [{ start_line, end_line, new_text }], line_endings })

check('reports a text that is deleted between them', 'a\rX\nb\n', text('X', ''), [1])
check('reports all of them', 'a\rX\nb\rX\nc\n', text('X', ''), [1, 2])
check('reports lines that are deleted between them', 'a\rb\n\nc\n', lines(2, 2, ''), [1])
check('reports a text in exact bytes that begins with \\n', 'a\rb\n', text('b', '\nb', 'exact'), [1])
check('reports a text in exact bytes that ends with \\r', 'a\nb\n', text('b', 'b\r', 'exact'), [2])
check('reports lines in exact bytes that end with \\r', 'a\n\nb\n', lines(1, 1, 'a\r', 'exact'), [1])
check('says nothing of a deletion that leaves them apart', 'a\rXY\nb\n', text('X', ''), undefined)
check('says nothing of a \\r\\n that stays', 'a\r\nX\r\nb\n', text('X', ''), undefined)
check('says nothing of a break that was replaced by another', 'a\rb\n', text('\r', '\r\n', 'exact'), undefined)
check('says nothing where half of a \\r\\n went with the text', 'a\r\nX\nb', text('\nX', '', 'exact'), undefined)
check('says nothing where half of one went with the text before it', 'a\rX\r\nb', text('X\r', '', 'exact'), undefined)
check(
  'says nothing of a break that is put in, which is written so that it stays one',
  'a\rX\nb\n',
  text('X', '\n'),
  undefined
)
check('says nothing of a new content', 'a\rX\n', { operation: 'create', content: 'a\r\n' }, undefined)

t.test('lists the first twenty', async t => {
  const original = Buffer.from('\rX\n'.repeat(50))
  const splices = new Splices(
    Array.from({ length: 50 }, (_, i) => ({ start: 3 * i + 1, end: 3 * i + 2, insert: Buffer.alloc(0) })),
    original.length
  )
  t.strictSame(joinedBreaks(original, splices, splices.apply(original)), {
    count: 50,
    lines: Array.from({ length: 20 }, (_, i) => i + 1)
  })
})

t.test('finds what a look at every byte finds', async t => {
  let found = 0
  for (let round = 0; round < 5000; round++) {
    const random = new Random(SEED * 80_021 + round)
    const alphabet = ['\r', '\n', '\r\n', 'a']
    const original = Buffer.from(random.text(alphabet, 12))
    const list = []
    for (let at = 0; at <= original.length; at += 1 + random.int(4)) {
      const end = Math.min(original.length, at + random.int(4))
      list.push({ start: at, end, insert: Buffer.from(random.text(alphabet, 3)) })
      at = end
    }
    const splices = new Splices(list, original.length)
    const result: { bytes: Buffer; at: number }[] = []
    const put = (bytes: Buffer, from: number, to: number) => {
      for (let at = from; at < to; at++) result.push({ bytes, at })
    }
    let at = 0
    for (const { start, end, insert } of splices.list) {
      put(original, at, start)
      put(insert, 0, insert.length)
      at = end
    }
    put(original, at, original.length)
    // A \r without a \n after it, or a \n without a \r before it, where it came from.
    const isLone = ({ bytes, at }: (typeof result)[0]) =>
      bytes[at] === 13 ? bytes[at + 1] !== 10 : bytes[at] === 10 && bytes[at - 1] !== 13
    const expected: number[] = []
    let line = 1
    for (const [i, byte] of result.entries()) {
      const next = result[i + 1]
      const [value, after] = [byte.bytes[byte.at], next?.bytes[next.at]]
      if (value === 13 && after === 10 && isLone(byte) && isLone(next!)) expected.push(line)
      if (value === 10 || (value === 13 && after !== 10)) line++
    }
    const joined = joinedBreaks(original, splices, splices.apply(original))
    found += expected.length
    if (
      JSON.stringify(joined ?? null) !==
      JSON.stringify(expected.length === 0 ? null : { count: expected.length, lines: expected.slice(0, 20) })
    ) {
      t.fail(
        JSON.stringify({
          seed: SEED,
          round,
          original: original.toString(),
          list: list.map(splice => ({ ...splice, insert: splice.insert.toString() })),
          expected,
          joined
        })
      )
      break
    }
  }
  t.ok(found > 250, `${found} breaks`)
})
