// How calls, their fields and paths are named to who asked: tools to those who called one, routes to all others, and
// to a model that uses another editor its commands. Does not know any failure.
import type { CallNames } from '../../operations/operation.ts'

/** Texts of a request that sentences name. Every caller sends them, under some name. */
type TextField = 'old_text' | 'new_text' | 'content'

/** Fields that sentences advise to send. Some callers have no such fields. */
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
  | 'start_line'

type Always = 'edit' | 'create'

/**
 * Names for one kind of caller, with those of the operations that it has; each caller who changes files can edit and
 * create.
 */
export interface CallSyntax extends Partial<Omit<CallNames, Always>>, Pick<CallNames, Always> {
  /** The call that looks, with these arguments in our names; undefined where the caller has none that does. */
  inspectWith(args: object): string | undefined
  /** What the caller calls a text: in a call of `of`, or, with `inspect`, in what that answers. */
  field(name: TextField, of?: 'edit' | 'edit_lines' | 'create' | 'inspect'): string
  /** Whether the caller can send this field; it then has our name. */
  takes(field: OptionalField): boolean
  /**
   * A call as one line, ready to send. `name` is that of our tool, and `args` are in our names; `made` is the call that
   * is answered. Undefined where the caller has no call that does the same.
   */
  write(name: string, args: object, made?: ToolCall): string | undefined
  /** A path of ours as the caller writes it, `.` for the root; undefined for a file that it can't name. */
  pathShown(path: string): string | undefined
}

/** For a caller who knows our operations and fields. */
const ourNames = (names: CallNames, inspectWith: (args: object) => string) =>
  ({
    ...names,
    inspectWith,
    field: (name: TextField) => name,
    takes: () => true,
    /** Texts are for models, and these call tools: the arguments alone for the one that was called, else its name too. */
    write: (name: string, args: object, made?: ToolCall) =>
      JSON.stringify(name === made?.name ? args : { name, arguments: args }),
    pathShown: (path: string) => path
  }) satisfies CallSyntax

export const BY_ROUTE = ourNames(
  {
    edit: '/edit',
    edit_lines: '/edit-lines',
    edit_section: '/edit-section',
    create: '/create',
    inspect: '/inspect',
    history: '/history',
    undo: '/undo',
    redo: '/redo'
  },
  args => `POST /inspect ${JSON.stringify(args)}`
)

export const BY_TOOL = ourNames(
  {
    edit: 'edit_file',
    edit_lines: 'edit_lines',
    edit_section: 'edit_section',
    create: 'create_file',
    inspect: 'inspect_file',
    history: 'edit_history',
    undo: 'undo_edit',
    redo: 'redo_edit'
  },
  args => `inspect_file with ${JSON.stringify(args)}`
)

/** A call of a tool, with arguments in our names. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A path as the caller writes it, if it can. */
export const pathShown = (naming: CallSyntax, path: string): string => naming.pathShown(path) ?? path

/** Those of these paths that the caller can name, as it writes them. */
export const pathsShown = (naming: CallSyntax, paths: readonly string[]): string[] =>
  paths.flatMap(path => naming.pathShown(path) ?? [])

/** The call that looks, as the `example` of a fix; nothing where there is none. */
export const lookedAtWith = (naming: CallSyntax, args: object): { example?: string } => ({
  example: naming.inspectWith(args)
})

/** The file that a request is about, and how calls are named to who sent it. */
export interface NamedFile {
  path: string
  naming: CallSyntax
}
