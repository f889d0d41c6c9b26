// The names of calls and fields for a model that uses Anthropic's text editor or memory tool: commands of one tool,
// with its own fields. Does not know answers.
import { BY_TOOL, type CallSyntax } from '../answers/call-names.ts'
import { jsonShown } from '../answers/invisible.ts'

/** A command that can express some of our calls. */
type EditorCommand = 'view' | 'str_replace' | 'create' | 'insert'

/** What differs between versions of the tool. */
interface EditorTool {
  /** The name of `insert`'s text field; older models say `new_str`. */
  inserted?: 'insert_text' | 'new_str'
  /** See `CallSyntax.pathShown`; without it, paths are shown unchanged. */
  pathShown?(path: string): string | undefined
}

type Args = Readonly<Record<string, unknown>>

/** Fields of an edit that the tool can't express. */
const ONLY_OURS = ['edits', 'occurrence', 'occurrences', 'replace_all', 'expected_text', 'overwrite']

/** Fields of a view that shows something other than lines. */
const OTHER_VIEWS = ['structure', 'search', 'facts', 'after', 'start_item']

const hasAny = (args: Args, fields: readonly string[]): boolean =>
  fields.some(field => args[field] !== undefined && args[field] !== false && args[field] !== '')

/** The `end_line` that shows everything from the first requested line on; the tool has -1 for it. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER

/** A third number is the column at which a long line continues. */
function viewRange({ start_line, end_line = TO_THE_END, start_column }: Args): object {
  if (start_line === undefined && end_line === TO_THE_END) return {}
  const column = start_column === undefined ? [] : [start_column]
  return { view_range: [start_line ?? 1, end_line === TO_THE_END ? -1 : end_line, ...column] }
}

/** The names of the tool's commands and fields. */
export function textEditorNames({ inserted = 'insert_text', pathShown = path => path }: EditorTool = {}): CallSyntax {
  const commandOf = (name: string, args: Args): ({ command: EditorCommand } & Args) | undefined => {
    const path = typeof args.path === 'string' ? pathShown(args.path) : undefined
    if (path === undefined || hasAny(args, ONLY_OURS)) return undefined
    const { old_text, new_text, content, start_line, end_line } = args
    switch (name) {
      case BY_TOOL.edit:
        return { command: 'str_replace', path, old_str: old_text, new_str: new_text }
      case BY_TOOL.edit_lines:
        // An empty range inserts whole lines before start_line; `insert` names the line above.
        return end_line === Number(start_line) - 1
          ? { command: 'insert', path, insert_line: end_line, [inserted]: new_text }
          : undefined
      case BY_TOOL.create:
        return { command: 'create', path, file_text: content }
      case BY_TOOL.inspect:
        return hasAny(args, OTHER_VIEWS) ? undefined : { command: 'view', path, ...viewRange(args) }
      default:
        return undefined
    }
  }
  const write = (name: string, args: object): string | undefined => {
    const command = commandOf(name, args as Args)
    return command === undefined ? undefined : jsonShown(command)
  }
  return {
    edit: 'str_replace',
    create: 'create',
    inspect: 'view',
    inspectWith: args => write(BY_TOOL.inspect, args),
    field(name, of) {
      if (name === 'old_text') return 'old_str'
      if (name === 'new_text') return of === 'edit_lines' ? inserted : 'new_str'
      return of === 'inspect' ? 'the view' : 'file_text'
    },
    takes: () => false,
    write,
    pathShown
  }
}

/** Names for the text editor, which sends our paths unchanged. */
export const BY_TEXT_EDITOR = textEditorNames()
