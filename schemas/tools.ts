// What GET /tools answers and what POST /tools/{name} accepts. Knows only the wire format.
import type { TSchema } from 'typebox'
import { Type } from './type.ts'
import { named, ref, word } from './common.ts'

/** The names of all tools, in the order in which we offer them. */
export const TOOL_NAMES = [
  'edit_file',
  'edit_lines',
  'edit_section',
  'preview_edit',
  'batch_edit',
  'replace_in_files',
  'create_file',
  'delete_file',
  'move_file',
  'inspect_file',
  'find',
  'edit_history',
  'undo_edit',
  'redo_edit'
] as const
export type ToolName = (typeof TOOL_NAMES)[number]

export const TOOL_FORMATS = ['openai', 'openai-chat', 'anthropic', 'gemini', 'bedrock', 'mcp'] as const

export const ToolsQuery = Type.Object(
  {
    format: Type.Optional(
      word(
        [...TOOL_FORMATS],
        'openai (default): for the Responses API. openai-chat: for Chat Completions. ' +
          'anthropic: for the Messages API. gemini: for the Gemini API. ' +
          'bedrock: for Converse. mcp: as in tools/list.'
      )
    ),
    strict: Type.Optional(
      word(
        ['true', 'false'],
        'true: schemas for strict mode, in which a model can give only valid arguments (default: false). ' +
          'Not for gemini.'
      )
    ),
    names: Type.Optional(
      Type.String({
        description:
          'The tools to define, comma-separated, such as edit_file,inspect_file. ' +
          'Default: those that the server offers; preview_edit and some others only where they are named.'
      })
    )
  },
  { additionalProperties: false }
)

const text = (description: string) => Type.Optional(Type.String({ description }))
const object = (description: string) => Type.Optional(Type.Unsafe<object>({ type: 'object', description }))

// Named, since a generator that names types after fields would confuse input_schema and inputSchema.
const JsonSchema = Type.Unsafe<object>({
  $id: 'JsonSchema',
  type: 'object',
  additionalProperties: true,
  description: 'A JSON Schema.'
})
const jsonSchema = Type.Optional(ref(JsonSchema))

const ToolDefinition = named(
  'ToolDefinition',
  'One tool. Its fields depend on the format: the schema of the arguments is in parameters (openai), ' +
    'input_schema (anthropic) or inputSchema (mcp).',
  {
    type: text('openai, openai-chat: always function.'),
    name: text('Its name, as in POST /tools/{name}.'),
    title: text('mcp: its name for people.'),
    description: text('What it does and how to use it, for the model.'),
    function: object('openai-chat: name, description, parameters and strict.'),
    parameters: jsonSchema,
    input_schema: jsonSchema,
    inputSchema: jsonSchema,
    outputSchema: jsonSchema,
    annotations: object('mcp: hints about what a call does.'),
    toolSpec: object('bedrock: name, description, inputSchema, strict.'),
    functionDeclarations: Type.Optional(
      Type.Array(Type.Unsafe<object>({ type: 'object' }), { description: 'gemini: all tools.' })
    ),
    strict: Type.Optional(Type.Boolean({ description: 'Whether the schema is for strict mode.' }))
  }
)

export const ToolDefinitions = Type.Array(ref(ToolDefinition), {
  $id: 'ToolDefinitions',
  description: 'The tools, ready for a request to the model.'
})

export const ToolCall = Type.Unsafe<object>({
  $id: 'ToolCall',
  type: 'object',
  additionalProperties: true,
  description:
    'The arguments of the tool call as the model gave them: the object itself, ' +
    'or {"arguments": …} with the object or its JSON in a string.'
})

/** The answer to a tool call: its operation's answer. */
export const toolResult = (outcomes: readonly TSchema[]) =>
  Type.Unsafe<object>({
    $id: 'ToolResult',
    description: 'The answer of the operation behind the tool.',
    anyOf: outcomes.map(outcome => ref(outcome))
  })

export const TOOLS_COMPONENTS = [JsonSchema, ToolDefinition, ToolDefinitions, ToolCall]
