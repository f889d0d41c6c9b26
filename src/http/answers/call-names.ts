// How other calls are named to who asked: tools to those who called one, routes to all others. Does not know any
// failure.
import type { CallNames } from '../../operations/operation.ts'

/** `inspectWith`: the call that looks, with these arguments. */
export interface CallSyntax extends CallNames {
  inspectWith(args: object): string
}

export const BY_ROUTE: CallSyntax = {
  edit: '/edit',
  edit_lines: '/edit-lines',
  edit_section: '/edit-section',
  create: '/create',
  inspect: '/inspect',
  history: '/history',
  undo: '/undo',
  redo: '/redo',
  inspectWith: args => `POST /inspect ${JSON.stringify(args)}`
}

export const BY_TOOL: CallSyntax = {
  edit: 'edit_file',
  edit_lines: 'edit_lines',
  edit_section: 'edit_section',
  create: 'create_file',
  inspect: 'inspect_file',
  history: 'edit_history',
  undo: 'undo_edit',
  redo: 'redo_edit',
  inspectWith: args => `inspect_file with ${JSON.stringify(args)}`
}

/** A call of a tool, with arguments in our names. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The file that a request is about, and how calls are named to who sent it. */
export interface NamedFile {
  path: string
  naming: CallSyntax
}
