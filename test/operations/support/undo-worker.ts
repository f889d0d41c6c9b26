// A second process for the tests of undo: inserts, undoes and redoes lines, one step after the other, until it is
// killed, and prints the result of each step. Does not know any test.
import { makeRedo } from '../../../src/operations/redo.ts'
import { makeUndo } from '../../../src/operations/undo.ts'
import type { CallResult, CallContext, Operation } from '../../../src/operations/operation.ts'
import { SyntaxChecker } from '../../../src/workers/syntax.ts'
import { PlanMaker } from '../../../src/workers/plan.ts'
import type { Key, WorkspaceOptions } from '../../../src/workspace/api.ts'
import { append, open } from '../../folder/support/open.ts'
import { FILES, fileOf, isKeyed, stepsOf } from './undo-steps.ts'
import { Reads } from '../../../src/workspace/reads.ts'

export interface UndoOrder extends Partial<WorkspaceOptions> {
  root: string
  state: string
  name: string
  /** The next line and step; `made`: the edit or batch that inserted the line, unless that is the next step. */
  line: number
  step: number
  made?: string
}

const order: UndoOrder = JSON.parse(process.argv[2] ?? '{}')
const { root, state, name, line: _line, step: _step, made: _made, ...options } = order
const workspace = await open({ base: '', root, state }, { lockTimeout: 20_000, history: 'full', ...options })
process.stdout.write('ready\n')
const planning = {
  workspace,
  limits: { max_edits: 100, max_file_size: 1e8 },
  planMaker: new PlanMaker(),
  syntaxChecker: new SyntaxChecker(),
  reads: new Reads()
}
const undo = makeUndo(planning)
const redo = makeRedo(planning)

/** How the step ended, and the id of the edit or batch, or what failed. */
type StepResult = readonly [how: 'done' | 'replayed' | 'failed', what: string]

async function keyed<T>(
  { keyed = workspace.keyed.bind(workspace) }: Pick<Operation, 'keyed'>,
  key: string,
  work: (key?: Key) => Promise<T>,
  say: (done: unknown) => StepResult
): Promise<StepResult> {
  const answer = await keyed({ scope: 'test', key, fingerprint: key }, work)
  if (!answer.ok) return ['failed', answer.failure.code]
  if ('done' in answer.value) return say(answer.value.done)
  const [how, what] = say({ ok: true, value: answer.value.replayed })
  return how === 'done' ? ['replayed', what] : [how, what]
}

/** Inserts a line into one file or into both. */
async function make(operation: 'edit' | 'batch', path: string, text: string, key?: Key): Promise<unknown> {
  const origin = { operation, agent: name, ...(key !== undefined && { key }) }
  if (operation === 'edit') {
    const outcome = ({ edit_id }: { edit_id?: string }) => edit_id
    const done = await workspace.edit({ path }, { dry_run: false, origin, outcome }, append(text))
    return done.ok ? { ok: true, value: done.value.edit_id } : done
  }
  const outcome = ({ batch_id }: { batch_id?: string }) => batch_id
  const steps = FILES.map(path => ({ operation: 'edit' as const, target: { path }, plan: append(text) }))
  const done = await workspace.batch<string, never>(steps, { dry_run: false, origin, outcome })
  return done.ok ? { ok: true, value: done.value.batch_id } : done
}

const resultOfMake = (done: unknown): StepResult => {
  const result = done as { ok: true; value: string } | { ok: false; failure: { code: string } }
  return result.ok ? ['done', result.value] : ['failed', result.failure.code]
}
const resultOfCall = (called: unknown): StepResult => {
  const result = called as CallResult
  if (!result.ok) return ['failed', `${result.failure.code} ${JSON.stringify(result)}`]
  if (!('results' in result.value.outcome)) return ['failed', 'no results']
  return ['done', result.value.outcome.results.map(result => ('edit_id' in result ? result.edit_id : '-')).join()]
}

async function carryOut(line: number, step: number, made: string): Promise<StepResult> {
  const text = `${name}.${line}`
  const what = stepsOf(line)[step]!
  const key = isKeyed(line) ? `${text}.${step}` : undefined
  if (what === 'edit' || what === 'batch') {
    const work = (key?: Key) => make(what, fileOf(line), text + '\n', key)
    return key === undefined ? resultOfMake(await work()) : keyed({}, key, work, resultOfMake)
  }
  const operation = what === 'undo' ? undo : redo
  const target = stepsOf(line)[0] === 'batch' ? { batch_id: made } : { edit_id: made }
  const work = (key?: Key) => {
    const context: CallContext = { caller: { agent: name }, ...(key !== undefined && { key }) }
    return operation.call(target, context)
  }
  return key === undefined ? resultOfCall(await work()) : keyed(operation, key, work, resultOfCall)
}

for (let { line, step, made = '' } = order; ; line++, step = 0) {
  for (; step < stepsOf(line).length; step++) {
    process.stdout.write(`begin ${line} ${step}\n`)
    const [how, what] = await carryOut(line, step, made)
    process.stdout.write(`${how} ${line} ${step} ${what}\n`)
    if (how === 'failed') break
    if (step === 0) made = what
  }
}
