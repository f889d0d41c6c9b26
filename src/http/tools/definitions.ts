// The definitions of the tools for each host, ready to paste. Does not know any operation by name; the limits of hosts
// are checked in test/http/tool-rules.ts.
import type { TOOL_FORMATS } from '../../../schemas/tools.ts'
import type { Operation } from '../../operations/operation.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import type { JsonSchema } from '../requests/json-schema.ts'
import {
  asOpenApi,
  brief,
  inlined,
  inputsOf,
  lean,
  open,
  optionalFields,
  withNulls,
  type Components
} from './schema.ts'
import { annotationsOf, wordsOf, type Tool } from './tool.ts'

type Format = (typeof TOOL_FORMATS)[number]

/** The tested revisions of MCP, newest first. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25'] as const

/** Anthropic accepts this many optional fields in all strict tools of one request together. */
const OPTIONAL_MAX = 24

const NULLS = 'Send null for every field that you would leave out.'

/**
 * `output_schema`: whether the MCP form includes the schema of a tool's answer, which is three times as long as all the
 * rest.
 */
interface Form {
  format: Format
  strict: boolean
  output_schema: boolean
}

const briefOf = (operation: Operation, components: Components) =>
  brief(inputsOf(operation, components), operation.hints)

/** A tool for MCP, as in tools/list. */
export const mcpTool = (
  operation: Operation,
  components: Components,
  { output_schema }: Pick<Form, 'output_schema'>,
  inputSchema = briefOf(operation, components)
) => ({
  name: operation.id,
  title: operation.summary,
  description: wordsOf(operation),
  inputSchema: { ...inputSchema, type: 'object' as const },
  ...(output_schema && { outputSchema: { ...inlined(operation.outcome, components), type: 'object' as const } }),
  annotations: annotationsOf(operation)
})

/** The definitions of tools in one form. Fails if the strict form is requested for a host that has none. */
export function definitions(
  tools: readonly Tool[],
  components: Components,
  form: Form
): Result<object[], RequestFailure> {
  const { format, strict } = form
  const operations = tools.map(({ operation }) => operation)
  if (format === 'gemini') return strict ? NOT_STRICT : ok(gemini(operations, components))
  if (format === 'bedrock') return ok(bedrock(operations, components, strict))
  if (format === 'anthropic') return ok(anthropic(operations, components, strict))
  return ok(
    operations.map(operation => {
      const inputs = briefOf(operation, components)
      const schema = strict ? withNulls(inputs) : inputs
      const words = { name: operation.id, description: strict ? `${wordsOf(operation)} ${NULLS}` : wordsOf(operation) }
      // Without `strict: false`, the Responses API makes schemas strict itself.
      if (format === 'openai') return { type: 'function', ...words, parameters: schema, strict }
      if (format === 'openai-chat') return { type: 'function', function: { ...words, parameters: schema, strict } }
      return { ...mcpTool(operation, components, form, schema), ...words }
    })
  )
}

const NOT_STRICT = fail<RequestFailure>({
  code: 'INVALID_REQUEST',
  errors: [
    {
      pointer: '/strict',
      message:
        'is not for gemini, whose tools have no strict form: leave it out, ' +
        'and send the model functionCallingConfig with the mode VALIDATED'
    }
  ]
})

/** A tool for Anthropic. */
interface Plain {
  name: string
  description: string
  input_schema: JsonSchema
  strict?: true
}

/**
 * Makes the tools that fit strict, in the order of the table. A tool that stands for others never is, since it has all
 * their fields.
 */
function anthropic(operations: readonly Operation[], components: Components, strict: boolean): Plain[] {
  let left = OPTIONAL_MAX
  return operations.map(operation => {
    const inputs = briefOf(operation, components)
    const words = { name: operation.id, description: wordsOf(operation) }
    const small: JsonSchema = lean(inputs, Object.keys(operation.items))
    if (!strict || operation.stands_for !== undefined || optionalFields(small) > left) {
      return { ...words, input_schema: inputs }
    }
    left -= optionalFields(small)
    return { ...words, input_schema: small, strict: true }
  })
}

/**
 * Uses `parameters`, not `parametersJsonSchema`, which would take our schemas unchanged: models of the Live API call
 * tools with such schemas without arguments (github.com/googleapis/python-genai/issues/1147). `parameters` takes only
 * what the SDK's type Schema has, so no additionalProperties, and on Vertex AI nothing beside anyOf
 * (github.com/anomalyco/opencode/issues/14788; all read 2026-11-29).
 */
const gemini = (operations: readonly Operation[], components: Components): object[] => [
  {
    functionDeclarations: operations.map(operation => ({
      name: operation.id,
      description: wordsOf(operation),
      parameters: asOpenApi(briefOf(operation, components))
    }))
  }
]

/**
 * Amazon's models ignore tools whose schema has top-level keywords other than type, properties and required
 * (docs.aws.amazon.com/nova/latest/userguide/prompting-tool-troubleshooting.html). The strict form has the same limits
 * as Anthropic's (github.com/strands-agents/harness-sdk/issues/2664), whose models accept it (all read 2026-11-29).
 */
function bedrock(operations: readonly Operation[], components: Components, strict: boolean): object[] {
  return anthropic(operations, components, strict).map(({ name, description, input_schema, strict: isStrict }) => ({
    toolSpec: {
      name,
      description,
      inputSchema: { json: isStrict ? input_schema : open(input_schema) },
      ...(isStrict && { strict: isStrict })
    }
  }))
}
