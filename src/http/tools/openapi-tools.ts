// The operations as an OpenAPI document that tool hosts take in full: flat bodies, POST only, no references, unions or
// headers. Does not know any operation by name.
import type { Operation } from '../../operations/operation.ts'
import { BY_TOOL } from '../answers/call-names.ts'
import { SUCCESS } from '../answers/problem.ts'
import type { JsonSchema } from '../requests/json-schema.ts'
import { inlined, inputsOf, type Components } from './schema.ts'
import type { Tool } from './tool.ts'

/** A schema without unions: a field that takes words or a number becomes text, since a number is read from text too. */
function withoutUnions(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (anyOf !== undefined) {
    return { ...rest, type: 'string', description: `${rest.description} Send a number as a string too.` }
  }
  return {
    ...rest,
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, property]) => [name, withoutUnions(property)])
      )
    }),
    ...(schema.items !== undefined && { items: withoutUnions(schema.items) })
  }
}

const pathItem = (operation: Operation, components: Components) => {
  const { id, summary, description, outcome, effect } = operation
  return {
    post: {
      operationId: id,
      summary,
      description: description(BY_TOOL),
      'x-openai-isConsequential': effect === 'changes' || effect === 'makes',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: withoutUnions(inputsOf(operation, components)) } }
      },
      responses: {
        [SUCCESS]: {
          description: 'Done; message says what.',
          content: { 'application/json': { schema: withoutUnions(inlined(outcome, components)) } }
        },
        '4XX': {
          description: 'It was not done; detail says why, and what to send instead.',
          content: {
            'application/problem+json': {
              schema: {
                type: 'object',
                properties: {
                  detail: { type: 'string', description: 'What went wrong, what is there, what to do next.' }
                }
              }
            }
          }
        }
      }
    }
  }
}

/** The document; `origin` is where the server is, as its caller knows it. */
export const toolsDocument = (tools: readonly Tool[], components: Components, version: string, origin: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'editd',
    version,
    description:
      'Edits text files exactly as asked, or not at all. ' +
      'Inspect a file first, then edit it and pass its file_hash on as expected_hash.'
  },
  servers: [{ url: origin }],
  security: [{ bearer: [] }],
  paths: Object.fromEntries(tools.map(({ operation }) => [operation.route, pathItem(operation, components)])),
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }
})
