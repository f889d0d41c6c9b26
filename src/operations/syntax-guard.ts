// The syntax guard: checks a planned change before it is written. Does not know parsers, requests or sentences.
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { BrokenSyntax } from '../engine/failure.ts'
import type { SyntaxFault } from '../engine/outline/syntax-errors.ts'
import { CHECKED_SIZE, checkedLanguageOf } from '../engine/syntax/languages.ts'
import type { SyntaxCheck } from '../engine/syntax/new-fault.ts'
import type { Described } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type { SyntaxChecker, Unchecked } from '../workers/syntax.ts'
import type { Planned } from '../workspace/api.ts'
import { areSame } from '../workspace/content.ts'

/** What to do about a file that parsed and wouldn't any more: nothing, warn, or refuse the change. */
export type SyntaxMode = 'ignore' | 'warn' | 'refuse'

/** What an answer says about the syntax: a fault that the change introduced, or why `refuse` couldn't check it. */
export type SyntaxReport =
  | { fault: SyntaxFault; is_new: boolean }
  | { unchecked: Exclude<SyntaxCheck['found'], 'nothing' | 'fault'> | Unchecked | 'no_language' }

/** The report of a plan, with what is reported about the syntax of its result. */
export type Reported = Described & { syntax?: SyntaxReport; rebased?: ChangeResult['rebased'] }

export type PlanResult<F> = Result<Planned<Reported>, F>

/** A planned change. `path`: the real path; `is_new`: there was no file; `known`: the check, if it was already made. */
interface GuardedChange {
  mode: SyntaxMode
  path: string
  is_new: boolean
  known?: SyntaxCheck
}

/**
 * The plan, with what to report about the syntax of its result. Fails in mode `refuse` if the result has a fault that
 * wasn't there before. A plan that changes nothing isn't checked, and a check that can't be made stops nothing.
 */
export async function guardSyntax<F>(
  checker: SyntaxChecker,
  { mode, path, is_new, known }: GuardedChange,
  original: Buffer,
  planning: PlanResult<F> | Promise<PlanResult<F>>
): Promise<Result<Planned<Reported>, F | BrokenSyntax>> {
  const planned = await planning
  if (!planned.ok || mode === 'ignore') return planned
  const plan = planned.value
  const { pieces, original: before = original } = plan
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (areSame(pieces, size, before)) return planned
  const checked = known ?? (await check(checker, { path, is_new, pieces, size, before }))
  if (checked.found === 'fault') {
    const { fault } = checked
    return mode === 'refuse' ? fail({ code: 'SYNTAX_ERROR', fault, is_new }) : withSyntax({ fault, is_new })
  }
  return mode === 'warn' || checked.found === 'nothing' ? planned : withSyntax({ unchecked: checked.found })

  function withSyntax(syntax: SyntaxReport): Result<Planned<Reported>, never> {
    return ok({ ...plan, description: { ...plan.description, syntax } })
  }
}

interface Texts {
  path: string
  is_new: boolean
  pieces: readonly Buffer[]
  size: number
  before: Buffer
}

async function check(
  checker: SyntaxChecker,
  { path, is_new, pieces, size, before }: Texts
): Promise<SyntaxCheck | { found: Unchecked | 'no_language' }> {
  // Don't join the result of a large edit only to find it too large.
  if (Math.max(size, before.length) > CHECKED_SIZE) return { found: 'too_large' }
  const after = Buffer.concat(pieces)
  const language = checkedLanguageOf(path, is_new ? after : before, { isNew: is_new })
  return language === undefined ? { found: 'no_language' } : checker.check(after, is_new ? null : before, language)
}
