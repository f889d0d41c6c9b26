// POST /tools/{name}: an operation, called with the arguments of a tool call. Does not know any tool by name.
import type { FastifyInstance } from 'fastify'
import { toolCallSchema } from '../src/http/openapi.ts'
import { callOf, jsonOf, refuseUnfit } from '../src/http/operation-route.ts'
import { sendAnswer, sendProblem } from '../src/http/send.ts'
import { argumentsIn } from '../src/http/tools/arguments.ts'
import { viewOf } from '../src/http/view.ts'
import type { Operations } from '../src/operations.ts'

export function tool(app: FastifyInstance, operations: Operations): void {
  app.post<{ Params: { name: string } }>('/tools/:name', {
    config: { forModels: true, published: () => toolCallSchema(operations) },
    onRequest: refuseUnfit,
    async handler(request, reply) {
      const { box } = viewOf(request)
      const found = box.find(request.params.name)
      if (found === undefined) return sendProblem(reply, box.missing(request.params.name))
      const body = jsonOf(request)
      const args = body.ok ? argumentsIn(body.value) : body
      return args.ok
        ? sendAnswer(reply, await found.call(callOf(request, reply, args.value)))
        : sendProblem(reply, args.failure)
    }
  })
}
