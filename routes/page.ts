// GET /review and /page/*: the page where a person sees what agents did, and its files. Does not know what is in them.
import type { FastifyInstance } from 'fastify'
import type { ReviewPage } from '../src/http/review-page.ts'
import { sendProblem } from '../src/http/send.ts'
import type { Routes } from '../src/http/errors.ts'

export function page(app: FastifyInstance, review: ReviewPage, routes: Routes): void {
  app.get('/review', review.home)
  app.get<{ Params: { '*': string } }>('/page/*', async (request, reply) => {
    const isSent = await review.file(request.params['*'], request, reply)
    return isSent ? reply : sendProblem(reply, routes.unknown(request.method))
  })
}
