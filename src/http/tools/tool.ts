// The operations as tools that a model calls: name, description, what a call may do. Does not know any host or
// operation by name.
import { reaches, type Scope } from '../../../schemas/access.ts'
import { scopeNeededBy } from '../../operations/access.ts'
import type { Operation } from '../../operations/operation.ts'
import { toolsIn, type Operations } from '../../operations.ts'
import { caller, type MakeCall } from '../call.ts'
import type { RequestFailure } from '../request-failure.ts'
import { BY_TOOL, byTools } from '../answers/call-names.ts'
import { listed, quote } from '../answers/phrases.ts'
import { fail, ok, type Result } from '../../result.ts'
import { toolMeant } from './other-names.ts'

/** An operation as a tool, and how it is called. */
export interface Tool {
  readonly operation: Operation
  readonly call: MakeCall
}

/** The tools of a server, by name. */
export interface Toolbox {
  /** The tools to offer, in the order of the table. */
  readonly offered: readonly Tool[]
  /**
   * The tools to define, in the order of the table: those in `names`, which is comma-separated, else those offered.
   * Fails on a name for which this server has no tool.
   */
  chosen(names?: string): Result<readonly Tool[], RequestFailure>
  /** The tool with this name, offered or not. */
  find(name: string): Tool | undefined
  /** The failure for a call of an unknown tool. */
  missing(name: string): RequestFailure
}

/**
 * The defaults for a model: it should learn when it breaks a file's syntax, and needn't try again because others have
 * changed other lines.
 */
const DEFAULTS = { syntax: 'warn', on_stale: 'rebase' }

/** The caller of an operation as a tool: its answers name this tool and those that are offered. */
function toolCaller(operation: Operation, offered: readonly string[]): MakeCall {
  const call = caller(operation)
  const naming = byTools([...offered, operation.id])
  return toolCall => call({ ...toolCall, naming, defaults: DEFAULTS })
}

/**
 * `readOnly`: offer only tools that look. `scope`: offer only tools that a token with this scope may use. `deletes`:
 * offer those that remove files. `tools`: offer only these; null: all except those that are offered only by name.
 */
export function toolbox(
  operations: Operations,
  {
    readOnly,
    tools: wanted,
    scope = 'review',
    deletes
  }: { readOnly: boolean; tools: readonly string[] | null; scope?: Scope; deletes: boolean }
): Toolbox {
  /** Why a tool isn't offered to this caller, worded to follow the tool's name; null: it may be. */
  const whyNotOffered = (operation: Operation): string | null => {
    if (readOnly && operation.effect !== 'looks') return 'which a read-only server does not offer'
    if (!deletes && operation.deletes === true) return 'which is offered only where files may be deleted'
    return reaches(scope, scopeNeededBy(operation, {})) ? null : `which a token with the scope ${scope} is not offered`
  }
  const isOffered = (operation: Operation): boolean =>
    whyNotOffered(operation) === null && (wanted?.includes(operation.id) ?? operation.only_by_name !== true)
  const all = toolsIn(operations)
  const ids = all.filter(isOffered).map(({ id }) => id)
  const tools = new Map<string, Tool>(
    all.map(operation => [operation.id, { operation, call: toolCaller(operation, ids) }])
  )
  const usable = [...tools.values()].filter(({ operation }) => whyNotOffered(operation) === null)
  const offered = usable.filter(({ operation }) => isOffered(operation))
  const namesOf = (some: readonly Tool[]): string[] => some.map(({ operation }) => operation.id)
  const names = namesOf(usable)
  return {
    offered,
    chosen(text) {
      if (text === undefined) return ok(offered)
      const chosen = text.split(',')
      const unknown = chosen.find(name => !names.includes(name))
      if (unknown === undefined) return ok(usable.filter(({ operation }) => chosen.includes(operation.id)))
      const tool = tools.get(unknown)
      const meant = toolMeant(unknown, names)
      const what = tool
        ? `${unknown}, ${whyNotOffered(tool.operation)}`
        : `an unknown tool ${quote(unknown)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
      const message = `has ${what}; the tools are ${listed(names)}`
      return fail({ code: 'INVALID_REQUEST', errors: [{ pointer: '/names', message }] })
    },
    find: name => tools.get(name),
    missing(tool) {
      const tools = namesOf(offered)
      return { code: 'ROUTE_NOT_FOUND', tool, meant: toolMeant(tool, tools), tools }
    }
  }
}

/** The description in a tool's definition. */
export const wordsOf = ({ description }: Operation): string => description(BY_TOOL)

/** What a call may do, in MCP's terms. */
export function annotationsOf({ effect }: Operation) {
  const readOnlyHint = effect === 'looks' || effect === 'computes'
  return { readOnlyHint, destructiveHint: !readOnlyHint, idempotentHint: effect !== 'changes', openWorldHint: false }
}
