// The planner of /create.
import t from 'tap'
import { describe } from '../../../src/engine/report/describe.ts'
import { planFileContent } from '../../../src/engine/plan/replace-file.ts'

/** Plans the content; compares the result and the one change. */
function check(name: string, original: string, content: string, change: object | undefined): void {
  t.test(name, t => {
    const planned = planFileContent(Buffer.from(original), content, { max_result_size: 100 })
    t.match(planned, { ok: true })
    if (!planned.ok) return t.end()
    t.equal(Buffer.concat(planned.value.pieces).toString(), content)
    const { changes } = describe(Buffer.from(original), planned.value, { context_lines: 3, dry_run: false })
    t.equal(changes.length, change === undefined ? 0 : 1)
    if (change !== undefined) t.match(changes[0], change)
    t.end()
  })
}

check('inserts all lines of a new file', '', 'a\r\nb\n', {
  operation: 'insert',
  start_line: 1,
  end_line: 0,
  new_start_line: 1,
  new_end_line: 2,
  lines_added: 2,
  lines_removed: 0
})
check('inserts a line without break', '', 'a', { operation: 'insert', new_end_line: 1 })
check('changes nothing for an empty new file', '', '', undefined)
check('replaces what was there', 'a\nb\n', 'c\n', { operation: 'replace', lines_added: 1, lines_removed: 2 })
check('deletes what was there', 'a\n', '', { operation: 'delete', lines_added: 0, lines_removed: 1 })

t.test('refuses content that is too large', t => {
  t.match(planFileContent(Buffer.alloc(0), 'é'.repeat(51), { max_result_size: 100 }), {
    ok: false,
    failure: { code: 'RESULT_TOO_LARGE', limit: 100, actual: 102 }
  })
  t.end()
})
