// The published document, OpenAPI 3.1: what routes accept and answer with which status, components, examples. Does not
// know any handler.
import { STATUS_CODES } from 'node:http'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { TSchema } from 'typebox'
import { ADAPTER_COMPONENTS, AdapterResultSchema } from '../../schemas/adapters.ts'
import { BATCH_COMPONENTS } from '../../schemas/batch.ts'
import { BLAME_COMPONENTS } from '../../schemas/blame.ts'
import { CAPABILITIES_COMPONENTS } from '../../schemas/capabilities.ts'
import { CHANGES_COMPONENTS, ChangesResultSchema } from '../../schemas/changes.ts'
import { ref } from '../../schemas/common.ts'
import { Health, Readiness } from '../../schemas/health.ts'
import { HISTORY_COMPONENTS } from '../../schemas/history.ts'
import { FIND_COMPONENTS } from '../../schemas/find.ts'
import { INSPECT_COMPONENTS } from '../../schemas/inspect.ts'
import { OUTCOME_COMPONENTS } from '../../schemas/outcome.ts'
import { PENDING_COMPONENTS } from '../../schemas/pending.ts'
import { ProblemSchema, PROBLEM_COMPONENTS, type ProblemCode } from '../../schemas/problem.ts'
import { ToolCall, toolResult, TOOLS_COMPONENTS } from '../../schemas/tools.ts'
import { REPLACE_COMPONENTS } from '../../schemas/replace.ts'
import { REVIEW_COMPONENTS } from '../../schemas/review.ts'
import { UNDO_COMPONENTS } from '../../schemas/undo.ts'
import { operationsIn, toolsIn, type Operations, type RoutedOperations } from '../operations.ts'
import type { Operation } from '../operations/operation.ts'
import { TEXT_TYPE, type Adapter } from './adapters/adapter.ts'
import { BY_ROUTE } from './answers/call-names.ts'
import { JSON_TYPE } from './requests/json.ts'
import type { Takes } from './requests/preconditions.ts'
import { exampleOf, PRECONDITION_FAILED, SUCCESS } from './answers/problem.ts'
import { PROBLEMS } from './answers/problems/table.ts'
import { ADAPTER_EXAMPLES, REQUEST_EXAMPLES } from './request-examples.ts'

const DESCRIPTION =
  'Edits text files safely for agents that are not on the machine where the files are. ' +
  'Inspect a file, then edit it: /edit with exact text is the default, /edit-section for a whole section or symbol, ' +
  "/edit-lines when you have just read the line numbers. Send the answer's file_hash as expected_hash, " +
  'and check the changes in the answer to the edit. ' +
  '/preview shows what an edit would do, /create creates a file, /batch changes many, all or nothing, and /replace ' +
  'replaces a text in all files that hold it; ' +
  '/history lists what was done, /undo takes it back. ' +
  'Every change of a file is made in full or not at all; the detail of every problem says what to do next.'

/** The codes that any request may be answered with. */
const EVERYWHERE: ProblemCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'NOT_READY'
]
const BEHIND_TOKEN: ProblemCode[] = [
  ...EVERYWHERE,
  'UNAUTHORIZED',
  'FORBIDDEN_SCOPE',
  'RATE_LIMITED',
  'FORBIDDEN_HOST',
  'FORBIDDEN_ORIGIN',
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED'
]
const WITH_BODY: ProblemCode[] = [
  ...BEHIND_TOKEN,
  'INVALID_JSON',
  'INVALID_UNICODE',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE'
]
const REQUEST_ID = {
  'X-Request-Id': { type: 'string', description: 'Identifies this request in the log of the server.' }
}
const RETRY_AFTER = { 'Retry-After': { type: 'integer', description: 'Seconds to wait.' } }
/** The headers that a client can't continue without. The headers of other statuses, and the ETag, repeat the body. */
const PROBLEM_HEADERS: Partial<Record<number, object>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'The challenge.' } },
  423: RETRY_AFTER,
  429: RETRY_AFTER,
  503: RETRY_AFTER
}
const ETAG = { ETag: { type: 'string', description: 'The whole SHA-256 of the file, quoted.' } }
const IF_MATCH = {
  'If-Match': {
    type: 'string',
    maxLength: 1000,
    description: 'The ETag of an earlier answer: the same as expected_hash, but answered with 412. Never needed.'
  }
}
const IF_NONE_MATCH = {
  'If-None-Match': {
    type: 'string',
    maxLength: 1000,
    description: 'Only *: the file to create must not exist, else 412. Never needed.'
  }
}

const IDEMPOTENCY_KEY = {
  'Idempotency-Key': {
    type: 'string',
    maxLength: 1000,
    description: 'The same as idempotency_key: plain, or as a quoted string.'
  }
}
const CALLER = {
  'Editd-Agent': { type: 'string', maxLength: 1000, description: 'Who makes the change, for the history.' },
  'Editd-Session': { type: 'string', maxLength: 1000, description: 'In which session or task, for the history.' }
}
const REPLAYED = {
  'Idempotency-Replayed': {
    type: 'string',
    enum: ['true'],
    description: 'Only with an answer that was given before, to a request with the same idempotency key.'
  }
}
/** The codes that a request with an idempotency key adds. */
const KEYED_CODES: ProblemCode[] = ['IDEMPOTENCY_KEY_REUSED', 'REQUEST_IN_FLIGHT', 'HISTORY_GONE']

/** Every status, with its codes. */
function statuses(codes: readonly ProblemCode[], takes: Takes): Map<number, ProblemCode[]> {
  const all = new Map<number, ProblemCode[]>()
  const add = (status: number, code: ProblemCode) => {
    all.set(status, [...(all.get(status) ?? []), code])
  }
  for (const code of new Set(codes)) {
    add(PROBLEMS[code].kind[0], code)
    if ((code === 'STALE_FILE' && takes.expects_hash) || (code === 'ALREADY_EXISTS' && takes.expects_none)) {
      add(PRECONDITION_FAILED, code)
    }
  }
  return new Map([...all].sort(([a], [b]) => a - b))
}

const DONE = 'Done; message says what.'

const titlesOf = (codes: readonly ProblemCode[]): string => `${codes.map(code => PROBLEMS[code].kind[1]).join('. ')}.`

function responses(
  instance: string,
  { outcome, description }: { outcome: TSchema; description: string },
  codes: readonly ProblemCode[],
  options: Partial<Takes> & { hashed?: boolean; forModels?: boolean; keyed?: boolean } = {}
) {
  const text = options.forModels === true && { 'text/plain': { schema: { type: 'string' } } }
  const problems = [...statuses(codes, { expects_hash: false, expects_none: false, ...options })].map(
    ([status, list]) => [
      status,
      {
        // X-Request-Id is also in the body, as request_id.
        ...described(status, list),
        content: {
          'application/problem+json': {
            schema: ref(ProblemSchema),
            // The operations' own routes have the same examples.
            ...(options.forModels !== true && { examples: examplesOf(list, instance, status) })
          },
          ...text
        }
      }
    ]
  )
  return {
    [SUCCESS]: {
      description,
      headers: { ...REQUEST_ID, ...(options.hashed && ETAG), ...(options.keyed && REPLAYED) },
      content: { 'application/json': { schema: ref(outcome) }, ...text }
    },
    ...Object.fromEntries(problems)
  }
}

/** The description and headers of the problems of one status, whatever form their bodies have. */
const described = (status: number, codes: readonly ProblemCode[]) => ({
  description: titlesOf(codes),
  ...(PROBLEM_HEADERS[status] && { headers: PROBLEM_HEADERS[status] })
})

const examplesOf = (codes: readonly ProblemCode[], instance: string, status: number) =>
  Object.fromEntries(
    codes.map(code => [code, { value: exampleOf(code, { instance, by_header: status === PRECONDITION_FAILED }) }])
  )

const codesOf = ({ codes, keyed }: Pick<Operation, 'codes' | 'keyed'>): readonly ProblemCode[] => [
  ...codes,
  ...(keyed === undefined ? [] : KEYED_CODES)
]

/** The published schema of an operation. */
export const operationSchema = (operation: Operation) => {
  const { id, route, summary, description, request, outcome, expects_hash, expects_none, effect, keyed } = operation
  return {
    operationId: id,
    summary,
    description: description(BY_ROUTE),
    tags: ['files'],
    body: ref(request),
    ...(effect !== 'looks' && {
      headers: {
        type: 'object',
        properties: {
          ...(expects_hash && IF_MATCH),
          ...(expects_none && IF_NONE_MATCH),
          ...(keyed !== undefined && IDEMPOTENCY_KEY),
          ...CALLER
        }
      }
    }),
    response: responses(route, { outcome, description: DONE }, [...WITH_BODY, ...codesOf(operation)], {
      hashed: true,
      keyed: keyed !== undefined,
      expects_hash,
      expects_none
    })
  }
}

const resultOf = (operations: Operations) => toolResult(toolsIn(operations).map(({ outcome }) => outcome))

/** The codes of all tools; those of inspect come first, since all others can answer with them too. */
const codesOfAll = (operations: Operations) => [codesOf(operations.inspect), ...toolsIn(operations).map(codesOf)].flat()

/** The published schema of the route that takes tool calls. */
export const toolCallSchema = (operations: Operations) => ({
  operationId: 'call_tool',
  summary: 'Call an operation with the arguments of a tool call',
  description:
    'Carries out the tool call of a model. Takes the arguments as the model sent them, and answers with the status ' +
    'of the operation itself, also for a problem. The body is a short text for the model: return it as the result of ' +
    'the call. Accept: application/json asks for the body of the operation.',
  tags: ['tools'],
  params: {
    type: 'object',
    properties: {
      name: {
        type: 'string',
        enum: toolsIn(operations).map(({ id }) => id),
        description: 'The name of the tool, as GET /tools has it.'
      }
    }
  },
  headers: { type: 'object', properties: { ...IDEMPOTENCY_KEY, ...CALLER } },
  body: ref(ToolCall),
  response: responses(
    '/tools/edit_file',
    { outcome: resultOf(operations), description: DONE },
    [...WITH_BODY, ...codesOfAll(operations)],
    { hashed: true, keyed: true, expects_hash: true, expects_none: true, forModels: true }
  )
})

/** The published schema of an adapter's route, which answers with the statuses of the operations behind it. */
export const adapterSchema = ({ id, summary, description, request, bodyOfText }: Adapter, operations: Operations) => {
  const output = { [JSON_TYPE]: { schema: ref(AdapterResultSchema) } }
  // Problems that aren't for the model have their usual form.
  const content = { ...output, 'application/problem+json': { schema: ref(ProblemSchema) } }
  const codes = [...WITH_BODY, ...codesOfAll(operations), ...codesOf(operations.apply_patch)]
  const problems = [...statuses(codes, { expects_hash: true, expects_none: true })].map(([status, list]) => [
    status,
    { ...described(status, list), content }
  ])
  return {
    operationId: id,
    summary,
    description,
    tags: ['adapters'],
    headers: { type: 'object', properties: { ...IDEMPOTENCY_KEY, ...CALLER } },
    body:
      bodyOfText === undefined
        ? ref(request)
        : { content: { [JSON_TYPE]: { schema: ref(request) }, [TEXT_TYPE]: { schema: { type: 'string' } } } },
    response: {
      [SUCCESS]: { description: 'Done; output says what.', headers: { ...REQUEST_ID, ...REPLAYED }, content: output },
      ...Object.fromEntries(problems)
    }
  }
}

const LAST_EVENT_ID = {
  'Last-Event-ID': {
    type: 'string',
    maxLength: 12_000,
    description: 'The id of the last event that is known: those after it are told. Without it: those from now on.'
  }
}

/** The published schema of the stream of changes. */
export const eventsSchema = () => {
  const codes: ProblemCode[] = [...BEHIND_TOKEN, 'HISTORY_GONE', 'CURSOR_GONE']
  const description =
    'Server-sent events: first ready, then edit or review for each change, with the data of POST /changes and an id ' +
    'to go on from. A comment every 15 seconds keeps the connection open.'
  const { [SUCCESS]: success, ...problems } = responses('/events', { outcome: ChangesResultSchema, description }, codes)
  return {
    operationId: 'get_events',
    summary: 'A stream of what is changed',
    description,
    tags: ['files'],
    headers: { type: 'object', properties: LAST_EVENT_ID },
    response: {
      [SUCCESS]: { ...success, content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...problems
    }
  }
}

/** A route that answers with facts about the service. `access`: whether it needs a token. */
interface FactsRoute {
  url: `/${string}`
  operationId: string
  summary: string
  description: string
  outcome: TSchema
  access: 'token' | 'open'
  tags?: string[]
  querystring?: TSchema
}

/** Everything but the handler of a facts route. */
export const factsRoute = ({ url, outcome, access, ...others }: FactsRoute) => ({
  method: 'GET' as const,
  url,
  config: {
    published: () => ({
      tags: ['service'],
      ...others,
      ...(access === 'open' && { security: [] }),
      response: responses(
        url,
        { outcome, description: others.description },
        access === 'open' ? EVERYWHERE : BEHIND_TOKEN
      )
    })
  }
})

/** Every named schema. */
export const components = (operations: Operations): TSchema[] => [
  ...new Set(operationsIn(operations).flatMap(({ items }) => Object.values(items))),
  ...operationsIn(operations).map(({ request }) => request),
  ...INSPECT_COMPONENTS,
  ...FIND_COMPONENTS,
  ...OUTCOME_COMPONENTS,
  ...HISTORY_COMPONENTS,
  ...UNDO_COMPONENTS,
  ...REVIEW_COMPONENTS,
  ...PENDING_COMPONENTS,
  ...BLAME_COMPONENTS,
  ...CHANGES_COMPONENTS,
  ...BATCH_COMPONENTS,
  ...REPLACE_COMPONENTS,
  ...PROBLEM_COMPONENTS,
  ...CAPABILITIES_COMPONENTS,
  Health,
  Readiness,
  ...TOOLS_COMPONENTS,
  ...ADAPTER_COMPONENTS,
  resultOf(operations)
]

/** The parts of the document that are changed after the plugin has assembled it. */
interface Document {
  paths: Record<string, Record<string, PublishedRoute>>
  components: Record<string, Record<string, unknown>>
}
interface PublishedRoute {
  requestBody?: { content: Content }
  parameters?: ({ in: string; name: string } | Reference)[]
  responses: Record<string, ResponseObject | Reference>
}
type Content = Record<string, { examples?: Record<string, object> }>
interface ResponseObject {
  headers?: Record<string, unknown>
  content: Content
}
interface Reference {
  $ref: string
}

/** Adds request examples, for which the plugin has no place if the schema of a body is a reference. */
function addRequestExamples({ paths }: Document, operations: Operations): void {
  const ofOperations = Object.entries(REQUEST_EXAMPLES).map(
    ([name, examples]) => [operations[name as keyof RoutedOperations].route, examples] as const
  )
  for (const [route, examples] of [...ofOperations, ...Object.entries(ADAPTER_EXAMPLES)]) {
    const { content } = paths[route]?.post?.requestBody ?? {}
    // Plain text isn't one of these examples.
    for (const [type, media] of Object.entries(content ?? {})) if (type === JSON_TYPE) media.examples = examples
  }
}

/**
 * Makes components of the problems in examples, of headers (also of requests), and of answers that several routes
 * share: repeated at every route, they would be more than half of the document.
 */
function shareComponents({ paths, components }: Document): void {
  const share = (
    kind: 'examples' | 'headers' | 'parameters' | 'responses',
    name: string,
    value: unknown
  ): Reference => {
    const all = (components[kind] ??= {})
    all[name] ??= value
    return { $ref: `#/components/${kind}/${name}` }
  }
  const names = new Map<string, string>()
  for (const { parameters = [], responses } of Object.values(paths).flatMap(path => Object.values(path))) {
    for (const [i, parameter] of parameters.entries()) {
      if ('in' in parameter && parameter.in === 'header') parameters[i] = share('parameters', parameter.name, parameter)
    }
    for (const [status, response] of Object.entries(responses)) {
      if ('$ref' in response) continue
      for (const [name, header] of Object.entries(response.headers ?? {})) {
        response.headers![name] = share('headers', name, header)
      }
      for (const media of Object.values(response.content)) {
        for (const [code, example] of Object.entries(media.examples ?? {})) {
          const name = status === String(PRECONDITION_FAILED) ? `${code}_${status}` : code
          media.examples![code] = share('examples', name, example)
        }
      }
      if (status === String(SUCCESS)) continue
      const text = JSON.stringify(response)
      const words = (STATUS_CODES[status] ?? status).replaceAll(' ', '')
      const alike = [...names.values()].filter(name => name.replace(/\d+$/, '') === words).length
      const name = names.get(text) ?? (alike === 0 ? words : `${words}${alike + 1}`)
      names.set(text, name)
      responses[status] = share('responses', name, response)
    }
  }
}

const finished =
  (operations: Operations): NonNullable<FastifyDynamicSwaggerOptions['transformObject']> =>
  documents => {
    const document = 'openapiObject' in documents ? documents.openapiObject : documents.swaggerObject
    addRequestExamples(document as Document, operations)
    shareComponents(document as Document)
    return document
  }

export const swaggerOptions = (version: string, operations: Operations): FastifyDynamicSwaggerOptions => ({
  transformObject: finished(operations),
  // Otherwise it would remove the server URL's path from the routes, and ours has none.
  stripBasePath: false,
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'editd',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The editd project' }
    },
    // Relative to the document, since all routes also exist below a proxy's path or a workspace's.
    servers: [{ url: '.', description: 'This server.' }],
    tags: [
      { name: 'files', description: 'Look at files and edit them.' },
      { name: 'tools', description: 'The same operations for the tool calls of models.' },
      { name: 'adapters', description: 'The same for calls of editors that models know from their vendors.' },
      { name: 'service', description: 'Facts about the service.' }
    ],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token that was configured, or printed when the server started.'
        }
      }
    },
    security: [{ bearer: [] }]
  },
  refResolver: {
    buildLocalReference: (json, _base, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `schema-${i}`)
  }
})
