// What the routes under /adapters accept and answer: calls of the editors that models were trained on, as their vendors
// define them. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { named, ref, requestPath, word } from './common.ts'
import { type Problem, ProblemSchema } from './problem.ts'

const path = (description: string) => Type.Unsafe<string>({ ...requestPath, description })
const text = (description: string) => Type.String({ description })

const ofFile = path('The file.')
const viewRange = Type.Unsafe<[number, number] | [number, number, number]>({
  type: 'array',
  items: { type: 'integer' },
  minItems: 2,
  maxItems: 3,
  description:
    'view: first and last line, counted from 1; -1 as the last is the end of the file. ' +
    'A third number is the column at which to go on in a long first line.'
})
const oldText = text('str_replace: the text to replace, which must be in the file exactly once.')
const newText = text('str_replace: the text to put in its place.')
const fileText = text('create: the content of the new file.')
const insertLine = Type.Integer({ description: 'insert: the line after which the text is put; 0 is the start.' })
const insertText = text('insert: the lines to put in.')

const view = { path: path('The file or directory.'), view_range: Type.Optional(viewRange) }
const create = { path: ofFile, file_text: fileText }
const strReplace = { path: ofFile, old_str: oldText, new_str: newText }
const insert = { path: ofFile, insert_line: insertLine, insert_text: insertText }

const command = <const C extends string, P extends object>(name: C, fields: P) =>
  Type.Object({ command: word([name], 'The command.'), ...fields }, { additionalProperties: false })

/**
 * The fields of each command of Anthropic's text editor tool, by command name; includes those of its earlier versions.
 */
export const TEXT_EDITOR_COMMANDS = {
  view: command('view', view),
  create: command('create', create),
  // Without new_str, the vendor's own editor deletes the text. Here a model that wants a deletion must say so.
  str_replace: command('str_replace', strReplace),
  // Before 2025-07-28 the text to insert was in new_str.
  insert: command('insert', { ...insert, insert_text: Type.Optional(insertText), new_str: Type.Optional(newText) }),
  undo_edit: command('undo_edit', { path: ofFile })
}

/** The fields of each command of Anthropic's memory tool, by command name. */
export const MEMORY_COMMANDS = {
  view: command('view', view),
  create: command('create', create),
  str_replace: command('str_replace', strReplace),
  insert: command('insert', insert),
  delete: command('delete', { path: path('The file or directory.') }),
  rename: command('rename', { old_path: path('The file.'), new_path: path('Its new path, where no file may be.') })
}

const everyField = {
  path: Type.Optional(path('The file or directory.')),
  view_range: Type.Optional(viewRange),
  old_str: Type.Optional(oldText),
  new_str: Type.Optional(newText),
  file_text: Type.Optional(fileText),
  insert_line: Type.Optional(insertLine),
  insert_text: Type.Optional(insertText)
}

export const TextEditorCall = named(
  'TextEditorCall',
  "The input of a call of Anthropic's text editor tool (str_replace_based_edit_tool), as the model gave it.",
  { command: word(Object.keys(TEXT_EDITOR_COMMANDS), 'What to do.'), ...everyField }
)

export const MemoryCall = named(
  'MemoryCall',
  "The input of a call of Anthropic's memory tool, as the model gave it. Paths begin with /memories.",
  {
    command: word(Object.keys(MEMORY_COMMANDS), 'What to do.'),
    ...everyField,
    old_path: Type.Optional(path('rename: the file.')),
    new_path: Type.Optional(path('rename: its new path, where no file may be.'))
  }
)

export const ApplyPatchOperation = named('ApplyPatchOperation', 'What is done to one file.', {
  type: word(['create_file', 'update_file', 'delete_file'], 'What is done.'),
  path: ofFile,
  diff: Type.Optional(text('create_file, update_file: the change in V4A.'))
})

export const ApplyPatchCall = Type.Object(
  {
    type: Type.Optional(word(['apply_patch_call'], 'The type of the item.')),
    call_id: Type.Optional(text('Given again in the answer.')),
    operation: ref(ApplyPatchOperation)
  },
  {
    $id: 'ApplyPatchCall',
    // The API adds other fields to the item.
    additionalProperties: true,
    description: "An apply_patch_call of OpenAI's Responses API: the whole item as it came."
  }
)

export const CodexPatch = named('CodexPatch', "A patch in the format of codex's apply_patch.", {
  input: text('From *** Begin Patch to *** End Patch.')
})

export const AdapterResultSchema = named('AdapterResult', 'What to give back to the model.', {
  status: word(['completed', 'failed'], 'failed: nothing was changed.'),
  output: text('The text for the model: what was done or found; or what went wrong, and a call to send instead.'),
  is_error: Type.Optional(Type.Boolean({ description: 'Anthropic: is_error of the tool_result.' })),
  call_id: Type.Optional(text('OpenAI: call_id of the apply_patch_call_output.')),
  result: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'The answer of the route that does the same, for programs: hashes, edit_id, batch_id, changes.'
    })
  ),
  problem: Type.Optional(Type.Unsafe<Problem>({ ...ref(ProblemSchema) }))
})
export type AdapterResult = Static<typeof AdapterResultSchema>

export const ADAPTER_COMPONENTS = [
  TextEditorCall,
  MemoryCall,
  ApplyPatchOperation,
  ApplyPatchCall,
  CodexPatch,
  AdapterResultSchema
]
