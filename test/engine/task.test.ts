// When an edit takes away the byte-order mark of a file without saying so.
import t from 'tap'
import { planTask, type TaskChange } from '../../src/engine/task.ts'

function check(name: string, file: string, change: TaskChange, isDropped: boolean): void {
  const planned = planTask(
    Buffer.from(file),
    { change, max_result_size: 1 << 20, context_lines: 0, dry_run: false },
    { path: 'f', exists: true }
  )
  t.match(planned, { ok: true }, name)
  if (planned.ok) t.equal(planned.value.description.mark_dropped ?? false, isDropped, name)
}

const text = (...edits: [old_text: string, new_text: string][]): TaskChange => ({
  operation: 'edit',
  edits: edits.map(([old_text, new_text]) => ({ old_text, new_text })),
  line_endings: 'adapt'
})
const MARKED = '\ufeffa\nb\n'

check('is dropped by an edit of the text behind it', MARKED, text(['\ufeffa', 'x']), true)
check('is dropped by a deletion of the first line', MARKED, text(['\ufeffa\n', '']), true)
check('is dropped by one of several edits', MARKED, text(['b', 'c'], ['\ufeffa', '']), true)
check('is dropped by a new content', MARKED, { operation: 'create', content: 'x\n' }, true)
check('is kept by an edit without it', MARKED, text(['a', 'x']), false)
check('is kept by an edit that begins with it too', MARKED, text(['\ufeffa', '\ufeffx']), false)
check('is kept by edits that put it back', MARKED, text(['\ufeffa', 'x'], ['x', '\ufeffx']), false)
check('is meant where it is all that is deleted', MARKED, text(['\ufeff', '']), false)
check('is gone with all the text', MARKED, text(['\ufeffa\nb\n', '']), false)
check('is no mark elsewhere', 'a\ufeffb', text(['a\ufeff', 'x']), false)
check(
  'is kept by edits of lines',
  MARKED,
  { operation: 'edit_lines', edits: [{ start_line: 1, end_line: 1, new_text: 'x' }], line_endings: 'adapt' },
  false
)
check('is kept by a new content with it', MARKED, { operation: 'create', content: '\ufeffx' }, false)
