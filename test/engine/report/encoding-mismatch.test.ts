// UTF-8 that would be put into a file that isn't UTF-8: refused by each planner, and what doesn't count.
import t from 'tap'
import { planTask, type TaskChange } from '../../../src/engine/task.ts'

/** The change of a file, whose characters are its bytes, would put this character beside what isn't UTF-8. */
function check(name: string, file: string, change: TaskChange, character: string | undefined): void {
  const planned = planTask(
    Buffer.from(file, 'latin1'),
    { change, max_result_size: 1 << 20, context_lines: 0, dry_run: false },
    { path: 'f', exists: true }
  )
  const failure = { code: 'UNENCODABLE_TEXT', encoding: 'unknown-8bit', character }
  t.match(planned, character === undefined ? { ok: true } : { ok: false, failure }, name)
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

check('names the first character', 'a caf\xe9\nb\n', text('b', 'x \u20ac \xfc'), '\u20ac')
check('names a character of four bytes', 'a caf\xe9\nb\n', text('b', 'x \u{1f600}'), '\u{1f600}')
check('finds it in lines that are put in', 'a caf\xe9\nb\n', lines(2, 2, 'xyz\n\xfc\n'), '\xfc')
check('finds it at one of several places', 'b\xe9\nb\n', text('b', '\xfc'), '\xfc')
check('refuses it beside bytes that Latin-1 does not use', '\x93a\x94 b\n', text('b', '\xfc'), '\xfc')
check('refuses it where some of the file is UTF-8', `\xe9 \xe8 ${utf8('\xe9')} b`, text('b', '\xfc'), '\xfc')
check('says nothing where most of it is UTF-8', `\xe9 ${utf8('\xe9\xe8')} b`, text('b', '\xfc'), undefined)
check('says nothing of UTF-8', utf8('caf\xe9 b'), text('b', '\xfc'), undefined)
check('says nothing of ASCII that is put in', 'caf\xe9 b', text('b', 'c'), undefined)
check('says nothing where all other bytes go', 'caf\xe9\nb\n', lines(1, 1, 'caf\xe9\n'), undefined)
check('says nothing of a whole new content', 'caf\xe9\n', { operation: 'create', content: 'caf\xe9\n' }, undefined)
