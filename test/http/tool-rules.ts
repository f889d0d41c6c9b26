// A lint of tool definitions: the published rules of hosts, each with its source and when that was read. Does not know
// any tool.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../src/http/requests/json-schema.ts'

/** A tool definition in a form common to all hosts. */
export interface Defined {
  name: string
  description: string
  schema: JsonSchema
  strict: boolean
}

interface Rule {
  host: 'openai' | 'anthropic' | 'gemini' | 'bedrock' | 'gpt-actions'
  rule: string
  source: string
  /** When the source was read. */
  read: string
  /** How the definitions break the rule. Gets all of them, since some limits are for a request. */
  broken(definitions: readonly Defined[]): string[]
}

const OPENAI_REFERENCE = 'https://developers.openai.com/api/reference/resources/responses/methods/create (tools, name)'
const OPENAI_STRICT = 'https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas'
const OPENAI_1024 =
  "the API's own answer, \"Invalid 'tools[13].function.description': string too long. " +
  'Expected a string with maximum length 1024", github.com/getsentry/sentry-mcp/issues/106; ' +
  'lifted for some models since'
const ANTHROPIC_TOOLS = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools'
const ANTHROPIC_STRICT =
  'https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations'
const ACTIONS = 'https://developers.openai.com/api/docs/actions/production (Open API specification limits)'
const READ = '2026-11-22'
const GEMINI = 'types FunctionDeclaration and Schema of @google/genai, which quote the reference of the API'
const GEMINI_FIELDS =
  'the API\'s own answer, "Unknown name \\"additionalProperties\\" … Cannot find field", github.com/nanbingxyz/5ire/issues/42'
const VERTEX =
  'Vertex AI\'s own answer, "When using any_of, it must be the only field set", github.com/anomalyco/opencode/issues/14788'
const BEDROCK = 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html'
const NOVA = 'https://docs.aws.amazon.com/nova/latest/userguide/prompting-tool-troubleshooting.html'
const BEDROCK_STRICT = 'https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html'
const READ_LATER = '2026-11-29'

/** The fields of the type Schema of @google/genai, and the values of its type Type; a test compares them. */
export const GEMINI_SCHEMA = [
  ...['anyOf', 'default', 'description', 'enum', 'example', 'format', 'items', 'maxItems', 'maxLength'],
  ...['maxProperties', 'maximum', 'minItems', 'minLength', 'minProperties', 'minimum', 'nullable', 'pattern'],
  ...['properties', 'propertyOrdering', 'required', 'title', 'type']
]
export const GEMINI_TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']

/** Every schema within a schema, with its place and depth. */
export function* parts(
  schema: JsonSchema,
  at = '',
  depth = 1
): Generator<{ schema: JsonSchema; at: string; depth: number }> {
  yield { schema, at, depth }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* parts(property, `${at}/${name}`, depth + 1)
  }
  if (schema.items !== undefined) yield* parts(schema.items, `${at}[]`, depth + 1)
  for (const branch of schema.anyOf ?? []) yield* parts(branch, `${at}|`, depth)
}

const each = (test: (definition: Defined) => string[] | boolean) => (definitions: readonly Defined[]) =>
  definitions.flatMap(definition => {
    const broken = test(definition)
    return Array.isArray(broken) ? broken.map(text => `${definition.name}${text}`) : broken ? [definition.name] : []
  })
const ofParts = (test: (schema: JsonSchema) => boolean) =>
  each(({ schema }) => [...parts(schema)].filter(part => test(part.schema)).map(({ at }) => at))
const strictly =
  (broken: Rule['broken']): Rule['broken'] =>
  definitions =>
    broken(definitions.filter(({ strict }) => strict))
const sumOver =
  (max: number, count: (schema: JsonSchema) => number): Rule['broken'] =>
  definitions => {
    const sum = definitions.reduce(
      (total, { schema }) => total + [...parts(schema)].reduce((n, part) => n + count(part.schema), 0),
      0
    )
    return sum > max ? [`${sum} of ${max}`] : []
  }
const keywords = (...names: string[]) => ofParts(schema => names.some(name => name in schema))

const isObject = ({ properties, type }: JsonSchema) => properties !== undefined || [type].flat().includes('object')
const isOpen = (schema: JsonSchema) => isObject(schema) && schema.additionalProperties !== false
const optional = ({ properties = {}, required = [] }: JsonSchema) =>
  Object.keys(properties).filter(name => !required.includes(name))
const isUnion = ({ type, anyOf }: JsonSchema) => anyOf !== undefined || Array.isArray(type)
const NAME = each(({ name }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
const ROOT = each(
  ({ schema }) =>
    schema.type !== 'object' || ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some(keyword => keyword in schema)
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const INVALID = each(({ schema }) => ajv.validateSchema(schema) !== true)

export const RULES: readonly Rule[] = [
  {
    host: 'openai',
    rule: 'a name is of letters, digits, _ and -, at most 64',
    source: OPENAI_REFERENCE,
    read: READ,
    broken: NAME
  },
  {
    host: 'openai',
    rule: 'a description has at most 1024 characters',
    source: OPENAI_1024,
    read: READ,
    broken: each(({ description }) => description.length > 1024 || description === '')
  },
  {
    host: 'openai',
    rule: 'at most 128 tools',
    source: OPENAI_REFERENCE,
    read: READ,
    broken: definitions => (definitions.length > 128 ? [String(definitions.length)] : [])
  },
  {
    host: 'openai',
    rule: 'parameters are a valid JSON Schema of an object, no union at the root',
    source: OPENAI_STRICT,
    read: READ,
    broken: definitions => [...INVALID(definitions), ...ROOT(definitions)]
  },
  {
    host: 'openai',
    rule: 'strict: every field is required',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(ofParts(schema => optional(schema).length > 0))
  },
  {
    host: 'openai',
    rule: 'strict: every object has additionalProperties: false',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(ofParts(isOpen))
  },
  {
    host: 'openai',
    rule: 'strict: no allOf, not, dependentRequired, dependentSchemas, if, then, else',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(keywords('allOf', 'oneOf', 'not', 'dependentRequired', 'dependentSchemas', 'if', 'then', 'else'))
  },
  {
    host: 'openai',
    rule: "strict: no bounds and patterns, which fine-tuned models don't take",
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(
      keywords(
        'minLength',
        'maxLength',
        'pattern',
        'format',
        'minimum',
        'maximum',
        'multipleOf',
        'patternProperties',
        'unevaluatedProperties',
        'propertyNames',
        'minProperties',
        'maxProperties',
        'unevaluatedItems',
        'contains',
        'minContains',
        'maxContains',
        'minItems',
        'maxItems',
        'uniqueItems',
        'default'
      )
    )
  },
  {
    host: 'openai',
    rule: 'strict: at most 5000 fields',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(
      each(
        ({ schema }) =>
          sumOver(5000, ({ properties = {} }) => Object.keys(properties).length)([{ schema } as Defined]).length > 0
      )
    )
  },
  {
    host: 'openai',
    rule: 'strict: at most 10 levels',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(each(({ schema }) => [...parts(schema)].some(({ depth }) => depth > 10)))
  },
  {
    host: 'openai',
    rule: 'strict: at most 1000 enum values, and 120,000 characters of names and values',
    source: OPENAI_STRICT,
    read: READ,
    broken: strictly(
      each(({ schema }) => {
        const enums = [...parts(schema)].flatMap(part => part.schema.enum ?? [])
        const names = [...parts(schema)].flatMap(part => Object.keys(part.schema.properties ?? {}))
        return enums.length > 1000 || [...enums, ...names].join('').length > 120_000
      })
    )
  },
  {
    host: 'anthropic',
    rule: 'a name is of letters, digits, _ and -, at most 64',
    source: ANTHROPIC_TOOLS,
    read: READ,
    broken: NAME
  },
  {
    host: 'anthropic',
    rule: 'input_schema is a valid JSON Schema (2020-12) of an object, without oneOf, allOf or anyOf at the root',
    source: ANTHROPIC_TOOLS,
    read: READ,
    broken: definitions => [...INVALID(definitions), ...ROOT(definitions)]
  },
  {
    host: 'anthropic',
    rule: 'strict: every object has additionalProperties: false',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(ofParts(isOpen))
  },
  {
    host: 'anthropic',
    rule: 'strict: no bounds of numbers, lengths or lists, no oneOf, no patterns with what a grammar lacks',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(
      keywords(
        'minimum',
        'maximum',
        'exclusiveMinimum',
        'exclusiveMaximum',
        'multipleOf',
        'minLength',
        'maxLength',
        'pattern',
        'minItems',
        'maxItems',
        'uniqueItems',
        'oneOf',
        'not',
        'if',
        'patternProperties'
      )
    )
  },
  {
    host: 'anthropic',
    rule: 'strict: enum values are strings, numbers, booleans or null, and have a type beside them',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(
      ofParts(
        schema =>
          schema.enum !== undefined &&
          (schema.type === undefined || schema.enum.some(value => typeof value === 'object' && value !== null))
      )
    )
  },
  {
    host: 'anthropic',
    rule: 'strict: at most 20 strict tools in a request',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(definitions => (definitions.length > 20 ? [String(definitions.length)] : []))
  },
  {
    host: 'anthropic',
    rule: 'strict: at most 24 optional fields in all strict tools of a request',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(sumOver(24, schema => optional(schema).length))
  },
  {
    host: 'anthropic',
    rule: 'strict: at most 16 unions in all strict tools of a request',
    source: ANTHROPIC_STRICT,
    read: READ,
    broken: strictly(sumOver(16, schema => (isUnion(schema) ? 1 : 0)))
  },
  {
    host: 'gemini',
    rule: 'a name begins with a letter or _, is of letters, digits, _, -, . and :, at most 64',
    source: GEMINI,
    read: READ_LATER,
    broken: each(({ name }) => !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name))
  },
  {
    host: 'gemini',
    rule: 'a schema has only the fields of Schema',
    source: GEMINI_FIELDS,
    read: READ_LATER,
    broken: ofParts(schema => Object.keys(schema).some(name => !GEMINI_SCHEMA.includes(name)))
  },
  {
    host: 'gemini',
    rule: 'a schema has one type, of those of Type',
    source: GEMINI,
    read: READ_LATER,
    broken: ofParts(({ type }) => typeof type !== 'string' || !GEMINI_TYPES.includes(type))
  },
  {
    host: 'gemini',
    rule: 'nothing stands beside anyOf',
    source: VERTEX,
    read: READ_LATER,
    broken: ofParts(schema => schema.anyOf !== undefined && Object.keys(schema).length > 1)
  },
  {
    host: 'gemini',
    rule: 'enum values are texts',
    source: GEMINI,
    read: READ_LATER,
    broken: ofParts(({ type, enum: values }) => values !== undefined && type !== 'STRING')
  },
  {
    host: 'gemini',
    rule: 'an object has fields, all that it requires; an array has items',
    source: GEMINI,
    read: READ_LATER,
    broken: ofParts(({ type, properties = {}, required = [], items }) =>
      type === 'ARRAY'
        ? items === undefined
        : type === 'OBJECT' && (Object.keys(properties).length === 0 || required.some(name => !(name in properties)))
    )
  },
  {
    host: 'bedrock',
    rule: 'a name is of letters, digits, _ and -, at most 64',
    source: BEDROCK,
    read: READ_LATER,
    broken: NAME
  },
  {
    host: 'bedrock',
    rule: 'the schema is a valid JSON Schema of an object',
    source: BEDROCK,
    read: READ_LATER,
    broken: definitions => [...INVALID(definitions), ...ROOT(definitions)]
  },
  {
    host: 'bedrock',
    rule: 'a tool that is not strict has nothing but type, properties and required at the top of its schema',
    source: NOVA,
    read: READ_LATER,
    broken: definitions =>
      each(({ schema }) => Object.keys(schema).some(name => !['type', 'properties', 'required'].includes(name)))(
        definitions.filter(({ strict }) => !strict)
      )
  },
  {
    host: 'bedrock',
    rule: 'strict: every object has additionalProperties: false',
    source: BEDROCK_STRICT,
    read: READ_LATER,
    broken: strictly(ofParts(isOpen))
  },
  {
    host: 'bedrock',
    rule: 'strict: no oneOf, no maxItems',
    source: 'github.com/strands-agents/harness-sdk/issues/2664, github.com/BerriAI/litellm/pull/39115',
    read: READ_LATER,
    broken: strictly(keywords('oneOf', 'maxItems'))
  },
  {
    host: 'bedrock',
    rule: 'strict: at most 24 optional fields in all strict tools of a request',
    source: 'github.com/strands-agents/harness-sdk/issues/2664',
    read: READ_LATER,
    broken: strictly(sumOver(24, schema => optional(schema).length))
  },
  {
    host: 'gpt-actions',
    rule: 'summary and description of an endpoint have at most 300 characters',
    source: ACTIONS,
    read: READ,
    broken: each(({ description }) => description.length > 300 || description === '')
  },
  {
    host: 'gpt-actions',
    rule: 'the description of a parameter has at most 700 characters',
    source: ACTIONS,
    read: READ,
    broken: ofParts(({ description = '' }) => description.length > 700)
  },
  {
    host: 'gpt-actions',
    rule: 'an operationId is a name that a model can call',
    source: 'https://developers.openai.com/api/docs/actions/getting-started',
    read: READ,
    broken: NAME
  },
  {
    host: 'gpt-actions',
    rule: 'a schema is self-contained and has no union',
    source: 'https://developers.openai.com/api/docs/actions/getting-started',
    read: READ,
    broken: ofParts(schema => isUnion(schema) || '$ref' in schema || 'oneOf' in schema || 'allOf' in schema)
  }
]

/** A sentence for each rule of a host that the definitions break. */
export const faultsOf = (host: Rule['host'], definitions: readonly Defined[]): string[] =>
  RULES.filter(rule => rule.host === host).flatMap(({ rule, broken }) =>
    broken(definitions).map(where => `${rule}: ${where}`)
  )
