// What is answered to a caller whose calls can't be written as ours, and who has none of our optional fields.
import t from 'tap'
import { BY_PATCH } from '../../../src/http/adapters/apply-patch.ts'
import { BY_TEXT_EDITOR } from '../../../src/http/adapters/text-editor-names.ts'
import { BY_TOOL, type CallSyntax } from '../../../src/http/answers/call-names.ts'
import { toProblem, type Context } from '../../../src/http/answers/problem.ts'
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

/** Checks the answer to each failure in this context. */
function check(name: string, about: Partial<Context>): void {
  t.test(name, async t => {
    for (const { failure, context } of FAILURES) {
      const { body, text } = toProblem(failure, {
        instance: '/',
        request_id: 'r',
        path: 'src/app.ts',
        ...context,
        ...about
      })
      t.notMatch(body.detail, /undefined|\[object| $/, body.detail)
      t.notMatch(text(), /undefined|\[object|\n\n|\n$|^\{|\n\{|:$/, text())
      for (const { call, example } of body.suggested_fixes ?? []) t.notOk(call ?? example, body.detail)
    }
  })
}

const OF_ONE = { path: 'src/app.ts', old_text: 'foo', new_text: 'bar' }
check('says in sentences what happened, and proposes no call', {
  made: { name: BY_TOOL.edit, arguments: OF_ONE },
  naming: BY_NONE
})
check('says the same of one file of a patch', {
  made: { name: 'apply_patch', arguments: { files: [OF_ONE, { ...OF_ONE, path: 'src/b.ts' }] } },
  part: { list: 'files', operation_index: 1, operation: 'update', after: [0] },
  naming: BY_PATCH
})
