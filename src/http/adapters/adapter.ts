// What an adapter is: calls of an editor that models know from its vendor, carried out by our operations and answered
// in the vendor's way. Does not know any vendor.
import type { TSchema } from 'typebox'
import type { AdapterResult } from '../../../schemas/adapters.ts'
import type { Callable } from '../../operations/operation.ts'
import type { CallSyntax } from '../answers/call-names.ts'
import { SUCCESS, toProblem, type Answer } from '../answers/problem.ts'
import { caller, type Call, type CallAnswer, type Done } from '../call.ts'
import type { Failure } from '../request-failure.ts'
import type { SentNames } from '../requests/field-aliases.ts'

export const TEXT_TYPE = 'text/plain'

/** What a call has of its request beside the body. */
export type AdapterContext = Omit<Call, 'body' | 'naming' | 'agent' | 'defaults' | 'sentNames'>

/** What is answered: the status of the operation, and the text for the model with what programs want to know. */
export interface AdapterAnswer {
  status: number
  headers: Record<string, string>
  body: AdapterResult
  /** Of the problem. */
  code?: string
}

export interface Adapter {
  /** The name of the published operation. */
  readonly id: string
  readonly route: `/adapters/${string}`
  readonly summary: string
  readonly description: string
  readonly request: TSchema
  /** The body that a text stands for, where the call may be sent as text/plain. */
  readonly bodyOfText?: (text: string) => unknown
  /** The fields that every answer to this body has, also to a body that isn't valid. */
  readonly echo?: (body: unknown) => Partial<AdapterResult>
  /** `body` is strict JSON. */
  answer(body: unknown, context: AdapterContext): Promise<AdapterAnswer>
}

/** A call in our names. `sentNames`: pointers to our fields → pointers to what was sent. */
export interface OwnCall {
  operation: Callable
  body: object
  sentNames?: SentNames
}

/** What a model gets where it doesn't say: it should hear of code that it breaks. */
const DEFAULTS = { syntax: 'warn' }

/** Carries a call out; its problems are in the names of `naming`. */
export const carryOutOwn = (
  { operation, body, sentNames }: OwnCall,
  naming: CallSyntax,
  context: AdapterContext
): Promise<CallAnswer> => caller(operation)({ ...context, body, naming, defaults: DEFAULTS, sentNames })

/** The answer to a call that couldn't be read. */
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
