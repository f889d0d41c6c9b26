// What is answered to a caller whose calls can't be written as ours, and who has none of our optional fields.
import t from 'tap'
import { BY_TEXT_EDITOR } from '../../../src/http/adapters/text-editor-names.ts'
import { BY_TOOL, type CallSyntax } from '../../../src/http/answers/call-names.ts'
import { toProblem } from '../../../src/http/answers/problem.ts'
import { FAILURES } from './all-failures.ts'

const { edit, create, field, takes, pathShown } = BY_TEXT_EDITOR
const BY_NONE: CallSyntax = {
  edit,
  create,
  field,
  takes,
  pathShown,
  write: () => undefined,
  inspectWith: () => undefined
}

t.test('says in sentences what happened, and proposes no call', async t => {
  const made = { name: BY_TOOL.edit, arguments: { path: 'src/app.ts', old_text: 'foo', new_text: 'bar' } }
  for (const { failure, context } of FAILURES) {
    const about = { instance: '/', request_id: 'r', path: 'src/app.ts', made, ...context, naming: BY_NONE }
    const { body, text } = toProblem(failure, about)
    t.notMatch(body.detail, /undefined|\[object| $/, body.detail)
    t.notMatch(text(), /undefined|\[object|\n\n|\n$|^\{|\n\{|:$/, text())
    for (const { call, example } of body.suggested_fixes ?? []) t.notOk(call ?? example, body.detail)
  }
})
