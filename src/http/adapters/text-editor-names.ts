// How calls and fields are named to a model that uses Anthropic's text editor or memory tool: commands of one tool, with
// fields of its own. Does not know what is answered.
import { BY_TOOL, type CallSyntax } from '../answers/call-names.ts'

/** A command that some of our calls can be written as. */
type EditorCommand = 'view' | 'str_replace' | 'create' | 'insert'

/** What one version of the tool has. */
interface EditorTool {
  /** What `insert` calls its text; older models say `new_str`. */
  inserted?: 'insert_text' | 'new_str'
  /** As `CallSyntax.pathShown`; without it, paths are written as they are. */
  pathShown?(path: string): string | undefined
}

type Args = Readonly<Record<string, unknown>>

/** Fields by which an edit asks for what the tool has no words for. */
const ONLY_OURS = ['edits', 'occurrence', 'occurrences', 'replace_all', 'expected_text', 'overwrite']

/** Fields of a view that show something else than lines. */
const OTHER_VIEWS = ['structure', 'search', 'facts', 'after', 'start_column', 'start_item']

const hasAny = (args: Args, fields: readonly string[]): boolean =>
  fields.some(field => args[field] !== undefined && args[field] !== false && args[field] !== '')

/** `end_line` of a view of every line from the first one that is asked for, for which the tool has -1. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER

function viewRange({ start_line, end_line = TO_THE_END }: Args): object {
  if (start_line === undefined && end_line === TO_THE_END) return {}
  return { view_range: [start_line ?? 1, end_line === TO_THE_END ? -1 : end_line] }
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
        // Whole lines are put in before start_line; `insert` names the line above.
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
    return command === undefined ? undefined : JSON.stringify(command)
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

/** Of the text editor: paths as they were sent. */
export const BY_TEXT_EDITOR = textEditorNames()
