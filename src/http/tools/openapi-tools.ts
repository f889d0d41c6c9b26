// The operations as an OpenAPI document that tool hosts can fully use: flat bodies, POST only, no references, unions or
// headers. Does not know any operation by name.
import type { Operation } from '../../operations/operation.ts'
import { BY_TOOL } from '../answers/call-names.ts'
import { SUCCESS } from '../answers/problem.ts'
import { inlined, inputsOf, withoutUnions, type Components } from './schema.ts'
import type { Tool } from './tool.ts'

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

/** The document; `url` is the server's address as the caller sees it. */
export const toolsDocument = (tools: readonly Tool[], components: Components, version: string, url: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'editd',
    version,
    description:
      'Edits text files exactly as asked, or not at all. ' +
      'Inspect a file first, then edit it and pass its file_hash on as expected_hash.'
  },
  servers: [{ url }],
  security: [{ bearer: [] }],
  paths: Object.fromEntries(tools.map(({ operation }) => [operation.route, pathItem(operation, components)])),
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }
})
