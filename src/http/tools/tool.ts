// The operations as tools that a model calls: name, words, what a call may do. Does not know any host or operation by
// name.
import { closest } from 'fastest-levenshtein'
import type { Operation } from '../../operations/operation.ts'
import { operationsIn, type Operations } from '../../operations.ts'
import { caller, type Caller } from '../call.ts'
import type { RequestFailure } from '../failure.ts'
import { BY_TOOL } from '../answers/call-names.ts'

/** An operation as a tool, and how it is called. */
export interface Tool {
  readonly operation: Operation
  readonly call: Caller
}

/** The tools of a server, by name. */
export interface Toolbox {
  /** The tools to offer, in the order of the table; on a read-only server only those that look. */
  readonly offered: readonly Tool[]
  /** The tool of that name, offered or not. */
  find(name: string): Tool | undefined
  /** The failure of a call of an unknown tool. */
  missing(name: string): RequestFailure
}

/** What a model that calls a tool gets where it doesn't say: it should hear of code that it breaks. */
const DEFAULTS = { syntax: 'warn' }

/** Whoever calls a tool knows other calls by the names of their tools. */
function toolCaller(operation: Operation): Caller {
  const call = caller(operation)
  return toolCall => call({ ...toolCall, naming: BY_TOOL, defaults: DEFAULTS })
}

export function toolbox(operations: Operations, { readOnly }: { readOnly: boolean }): Toolbox {
  const tools = new Map(
    operationsIn(operations).map(operation => [operation.id, { operation, call: toolCaller(operation) }])
  )
  const offered = [...tools.values()].filter(({ operation }) => !readOnly || operation.effect === 'looks')
  const names = offered.map(({ operation }) => operation.id)
  return {
    offered,
    find: name => tools.get(name),
    missing: tool => ({ code: 'ROUTE_NOT_FOUND', tool, nearest: closest(tool, names), tools: names })
  }
}

/** Everything that a tool's definition says of it in words. */
export const wordsOf = ({ description, rules }: Operation): string =>
  rules === undefined ? description(BY_TOOL) : `${description(BY_TOOL)} ${rules}`

/** What a call may do, in the terms of MCP. */
export function annotationsOf({ effect }: Operation) {
  const readOnlyHint = effect === 'looks' || effect === 'computes'
  return { readOnlyHint, destructiveHint: !readOnlyHint, idempotentHint: effect !== 'changes', openWorldHint: false }
}
