// A workspace in a folder, and its operations called by name as a tool calls them.
import type { Test } from 'tap'
import { caller } from '../../../src/http/call.ts'
import { makeValidator } from '../../../src/http/requests/validator.ts'
import { makeOperations, type Operations } from '../../../src/operations.ts'
import { BY_TOOL } from '../../../src/http/answers/call-names.ts'
import type { Workspace, WorkspaceOptions } from '../../../src/workspace/api.ts'
import { BATCH_COMPONENTS } from '../../../schemas/batch.ts'
import { OUTCOME_COMPONENTS } from '../../../schemas/outcome.ts'
import { ALLOWED, openWith, type Files } from './patched.ts'

type Body = Record<string, unknown>
type Called = Parameters<ReturnType<typeof caller>>[0]

const validate = makeValidator([...new Set([...OUTCOME_COMPONENTS, ...BATCH_COMPONENTS])])
const CHECKED: readonly string[] = ['delete', 'move', 'batch', 'preview']

/**
 * `call` checks that each success is what the operation's schema says; `callOf`: the same for another view of the
 * workspace.
 */
export async function serveOperations(t: Test, files: Files, options: Partial<WorkspaceOptions> = ALLOWED) {
  const { root, state, workspace, texts } = await openWith(t, files, options)
  const callOf = (view: Workspace) => {
    const operations = makeOperations(view, { max_edits: 1000, max_file_size: 1e6 })
    return async (name: keyof Operations, body: Body, more: Partial<Called> = {}) => {
      const made = { body, headers: {}, instance: '/x', request_id: 'r', naming: BY_TOOL, ...more }
      const answer = await caller(operations[name] as never)(made)
      // As it is sent: what is undefined isn't in JSON.
      const sent = JSON.parse(JSON.stringify(answer.body)) as Body
      if (CHECKED.includes(name) && !('code' in sent)) t.strictSame(validate(operations[name].outcome, sent), [])
      return { body: sent, text: answer.text() }
    }
  }
  return { root, state, workspace, call: callOf(workspace), callOf, texts }
}
