// What an adapter is: it takes calls of an editor that models know from its vendor, runs our operations, and answers in
// the vendor's way. Does not know any vendor.
import type { TSchema } from 'typebox'
import type { AdapterResult } from '../../../schemas/adapters.ts'
import type { Callable } from '../../operations/operation.ts'
import type { CallSyntax } from '../answers/call-names.ts'
import { SUCCESS, toProblem, type Answer } from '../answers/problem.ts'
import { caller, type Call, type CallAnswer, type Done } from '../call.ts'
import type { Failure } from '../request-failure.ts'
import type { SentNames } from '../requests/field-aliases.ts'

export const TEXT_TYPE = 'text/plain'

/** What a call takes from its request besides the body. */
export type AdapterContext = Omit<Call, 'body' | 'naming' | 'agent' | 'defaults' | 'sentNames' | 'understood'>

/** The answer: the operation's status, the text for the model, and data for programs. */
export interface AdapterAnswer {
  status: number
  headers: Record<string, string>
  body: AdapterResult
  /** The problem's code. */
  code?: string
}

export interface Adapter {
  /** The name of the published operation. */
  readonly id: string
  readonly route: `/adapters/${string}`
  readonly summary: string
  readonly description: string
  readonly request: TSchema
  /** Turns a text into the body it stands for, if the call may be sent as text/plain. */
  readonly bodyOfText?: (text: string) => unknown
  /** The fields that every answer to this body has, even if the body is invalid. */
  readonly echo?: (body: unknown) => Partial<AdapterResult>
  /** `body` is strict JSON. */
  answer(body: unknown, context: AdapterContext): Promise<AdapterAnswer>
}

/**
 * A call of one of our operations. `sentNames`: pointers to our fields → pointers to what was sent; `understood`: how
 * what was sent was understood, for the answer's warnings.
 */
export interface OwnCall {
  operation: Callable
  body: object
  sentNames?: SentNames
  understood?: readonly string[]
}

/** The defaults for a model: it should learn when it breaks a file's syntax. */
const DEFAULTS = { syntax: 'warn' }

/** Runs a call. Its problems use the names of `naming`. */
export const carryOutOwn = (
  { operation, ...call }: OwnCall,
  naming: CallSyntax,
  context: AdapterContext
): Promise<CallAnswer> => caller(operation)({ ...context, ...call, naming, defaults: DEFAULTS })

/** The answer to a call that couldn't be read, in the names of `naming`. */
export function refusedCall(failure: Failure, naming: CallSyntax, context: AdapterContext): Answer {
  const problem = toProblem(failure, { instance: context.instance, request_id: context.request_id, naming })
  context.onAnswer?.({ code: problem.body.code }, { request: null, answer: problem })
  return problem
}

export const isDone = (answer: CallAnswer): answer is Done => !('code' in answer.body)

export const completed = ({ body, headers }: Done, output: string): AdapterAnswer => ({
  status: SUCCESS,
  headers,
  body: { status: 'completed', output, result: body }
})

export const failed = ({ body, headers }: Answer, output: string): AdapterAnswer => ({
  status: body.status,
  code: body.code,
  headers,
  body: { status: 'failed', output, problem: body }
})
