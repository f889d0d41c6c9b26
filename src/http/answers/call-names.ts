// How answers name calls, fields and paths for each kind of caller: tools for callers of tools, routes for other
// callers, and its own commands for a model that uses another editor. Does not know any failure.
import type { CallNames } from '../../operations/operation.ts'
import { jsonShown } from './invisible.ts'

/** Text fields of a request that sentences mention. Every caller sends them, under some name. */
type TextField = 'old_text' | 'new_text' | 'content'

/** Fields that sentences advise to send. Some callers don't have them. */
export type OptionalField =
  | 'edits'
  | 'occurrence'
  | 'occurrences'
  | 'expected_hash'
  | 'line_endings'
  | 'overwrite'
  | 'create_parents'
  | 'literal_path'
  | 'syntax'
  | 'to'
  | 'start_line'

/** The names for one kind of caller. Holds only operations that it has. */
export interface CallSyntax extends Partial<CallNames> {
  /** It calls tools, and their host may add fields to its calls or change their form. */
  readonly by_tools?: true
  /** The call that looks, with these arguments in our names; undefined if the caller has none that does. */
  inspectWith(args: object): string | undefined
  /** The caller's name for a text field: in a call of `of`, or for `inspect` in its answer. */
  field(name: TextField, of?: 'edit' | 'edit_lines' | 'create' | 'inspect'): string
  /** Whether the caller can send this field, under our name. */
  takes(field: OptionalField): boolean
  /**
   * A call as one line, ready to send. `name` is our tool's name, and `args` are in our names; `made` is the call being
   * answered. Undefined if the caller has no equivalent call.
   */
  write(name: string, args: object, made?: ToolCall): string | undefined
  /** Our path as the caller writes it, `.` for the root; undefined for a file that it can't name. */
  pathShown(path: string): string | undefined
}

/** Names for a caller that uses our operations and fields. */
const ourNames = <Names extends Partial<CallNames>>(names: Names, inspectWith: (args: object) => string) =>
  ({
    ...names,
    inspectWith,
    field: (name: TextField) => name,
    takes: () => true,
    /**
     * Such texts are for models, which call tools: shows only the arguments if the tool is the one just called, else
     * its name too.
     */
    write: (name: string, args: object, made?: ToolCall) =>
      jsonShown(name === made?.name ? args : { name, arguments: args }),
    pathShown: (path: string) => path
  }) satisfies CallSyntax

export const BY_ROUTE = ourNames(
  {
    edit: '/edit',
    edit_lines: '/edit-lines',
    edit_section: '/edit-section',
    create: '/create',
    replace: '/replace',
    delete: '/delete',
    move: '/move',
    inspect: '/inspect',
    find: '/find',
    history: '/history',
    undo: '/undo',
    redo: '/redo'
  },
  args => `POST /inspect ${jsonShown(args)}`
)

export const BY_TOOL = {
  by_tools: true,
  ...ourNames(
    {
      edit: 'edit_file',
      edit_lines: 'edit_lines',
      edit_section: 'edit_section',
      create: 'create_file',
      replace: 'replace_in_files',
      delete: 'delete_file',
      move: 'move_file',
      inspect: 'inspect_file',
      find: 'find',
      history: 'edit_history',
      undo: 'undo_edit',
      redo: 'redo_edit'
    },
    args => `inspect_file with ${jsonShown(args)}`
  )
} satisfies CallSyntax

/** `BY_TOOL` for a caller that has only these tools: names and proposes no other. */
export function byTools(offered: readonly string[]): CallSyntax {
  const { by_tools, inspectWith, field, takes, write, pathShown, ...names } = BY_TOOL
  const has = (name: string): boolean => offered.includes(name)
  return {
    by_tools,
    ...Object.fromEntries(Object.entries(names).filter(([, name]) => has(name))),
    inspectWith: args => (has(names.inspect) ? inspectWith(args) : undefined),
    field,
    takes,
    write: (name, args, made) => (has(name) ? write(name, args, made) : undefined),
    pathShown
  }
}

/** A call of a tool, with arguments in our names. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A path as the caller writes it; unchanged if the caller can't name it. */
export const pathShown = (naming: CallSyntax, path: string): string => naming.pathShown(path) ?? path

/** The paths that the caller can name, as it writes them. */
export const pathsShown = (naming: CallSyntax, paths: readonly string[]): string[] =>
  paths.flatMap(path => naming.pathShown(path) ?? [])

/** The call that looks, as a fix's `example`; undefined if the caller has none. */
export const lookedAtWith = (naming: CallSyntax, args: object): { example?: string } => ({
  example: naming.inspectWith(args)
})

/** A sentence that proposes a call by its name, as `to` and the name; empty if the caller doesn't have it. */
export const using = (to: string, call: string | undefined, how = ''): string =>
  call === undefined ? '' : `${to} ${call}${how}.`

/** A sentence that says with which call to undo something; empty if the caller has none. */
export const undoneWith = ({ undo }: CallSyntax, to: string, args: object): string =>
  undo === undefined ? '' : `${to}, call ${undo} with ${JSON.stringify(args)}.`

/** The file that a request is about, and its sender's names for calls. */
export interface NamedFile {
  path: string
  naming: CallSyntax
}
