// What GET /tools answers and what POST /tools/{name} takes. Knows only the wire format.
import { Type, type TSchema } from 'typebox'
import { named, ref, word } from './common.ts'

export const TOOL_FORMATS = ['openai', 'openai-chat', 'anthropic', 'mcp'] as const

export const ToolsQuery = Type.Object(
  {
    format: Type.Optional(
      word(
        [...TOOL_FORMATS],
        'Whose form: openai (if left out) for the Responses API, openai-chat for chat completions, anthropic for the Messages API, mcp as tools/list has them.'
      )
    ),
    strict: Type.Optional(
      word(
        ['true', 'false'],
        'true: schemas for the strict mode of the host, where a model can give no other arguments (false if left out).'
      )
    )
  },
  { additionalProperties: false }
)

const text = (description: string) => Type.Optional(Type.String({ description }))
const object = (description: string) => Type.Optional(Type.Unsafe<object>({ type: 'object', description }))

// Named, since a generator that names it after its field takes input_schema and inputSchema for one.
const JsonSchema = Type.Unsafe<object>({
  $id: 'JsonSchema',
  type: 'object',
  additionalProperties: true,
  description: 'A JSON Schema.'
})
const jsonSchema = Type.Optional(ref(JsonSchema))

const ToolDefinition = named(
  'ToolDefinition',
  'One tool, in the form of the host that was asked for; which fields there are depends on it. The schema of its arguments is parameters (openai), input_schema (anthropic) or inputSchema (mcp).',
  {
    type: text('openai, openai-chat: function.'),
    name: text('The name to call it by: POST /tools/{name}.'),
    title: text('mcp: a name for people.'),
    description: text('What it does and how to use it, for the model.'),
    function: object('openai-chat: name, description, parameters and strict.'),
    parameters: jsonSchema,
    input_schema: jsonSchema,
    inputSchema: jsonSchema,
    outputSchema: jsonSchema,
    annotations: object('mcp: what a call may do.'),
    strict: Type.Optional(Type.Boolean({ description: 'Whether the schema is for the strict mode of the host.' }))
  }
)

export const ToolDefinitions = Type.Array(ref(ToolDefinition), {
  $id: 'ToolDefinitions',
  description: 'The tools, ready to be pasted into a request to the host.'
})

export const ToolCall = Type.Unsafe<object>({
  $id: 'ToolCall',
  type: 'object',
  additionalProperties: true,
  description:
    'The arguments of the tool call as the model gave them: the object itself, or {"arguments": …} with the object or with its JSON in a string.'
})

/** What a tool call answers: what its operation does. */
export const toolResult = (outcomes: readonly TSchema[]) =>
  Type.Unsafe<object>({
    $id: 'ToolResult',
    description: 'What the operation of the tool answers.',
    anyOf: outcomes.map(outcome => ref(outcome))
  })

export const TOOLS_COMPONENTS = [JsonSchema, ToolDefinition, ToolDefinitions, ToolCall]
