// UTF-8 put into a file that isn't UTF-8: by each planner, and what doesn't count.
import t from 'tap'
import { planTask, type TaskChange } from '../../../src/engine/task.ts'

/** The change of a file, whose characters are its bytes, puts UTF-8 beside what seems to be this encoding. */
function check(name: string, file: string, change: TaskChange, expected: [string, string] | undefined): void {
  const planned = planTask(
    Buffer.from(file, 'latin1'),
    { change, max_result_size: 1 << 20, context_lines: 0, dry_run: false },
    { path: 'f', exists: true }
  )
  t.match(planned, { ok: true }, name)
  if (!planned.ok) return
  const { encoding_mismatch } = planned.value.description
  t.strictSame(encoding_mismatch, expected && { encoding: expected[0], character: expected[1] }, name)
}

const text = (old_text: string, new_text: string): TaskChange => ({
  operation: 'edit',
  edits: [{ old_text, new_text, replace_all: true }],
  line_endings: 'adapt'
})
const lines = (start_line: number, end_line: number, new_text: string): TaskChange => ({
  operation: 'edit_lines',
  edits: [{ start_line, end_line, new_text }],
  line_endings: 'adapt'
})
const utf8 = (text: string): string => Buffer.from(text).toString('latin1')

check('names Latin-1 and the first character', 'a caf\xe9\nb\n', text('b', 'x \u20ac \xfc'), ['latin-1', '\u20ac'])
check('names a character of four bytes', 'a caf\xe9\nb\n', text('b', 'x \u{1f600}'), ['latin-1', '\u{1f600}'])
check('finds it in lines that are put in', 'a caf\xe9\nb\n', lines(2, 2, 'xyz\n\xfc\n'), ['latin-1', '\xfc'])
check('finds it at one of several places', 'b\xe9\nb\n', text('b', '\xfc'), ['latin-1', '\xfc'])
check('claims no encoding with bytes that Latin-1 does not use', '\x93a\x94 b\n', text('b', '\xfc'), [
  'unknown-8bit',
  '\xfc'
])
check('claims none where some of it is UTF-8', `\xe9 \xe8 ${utf8('\xe9')} b`, text('b', '\xfc'), [
  'unknown-8bit',
  '\xfc'
])
check('says nothing where most of it is UTF-8', `\xe9 ${utf8('\xe9\xe8')} b`, text('b', '\xfc'), undefined)
check('says nothing of UTF-8', utf8('caf\xe9 b'), text('b', '\xfc'), undefined)
check('says nothing of ASCII that is put in', 'caf\xe9 b', text('b', 'c'), undefined)
check('says nothing where all other bytes go', 'caf\xe9\nb\n', lines(1, 1, 'caf\xe9\n'), undefined)
check('says nothing of a whole new content', 'caf\xe9\n', { operation: 'create', content: 'caf\xe9\n' }, undefined)
