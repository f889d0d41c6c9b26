// GET /openapi.json and /openapi.yaml: the published document.
import type { FastifyInstance } from 'fastify'
import type { Documentation } from '../src/http/documentation.ts'
import { textFile } from '../src/http/static-file.ts'

export function openapi(app: FastifyInstance, { document, yaml }: Documentation): void {
  app.get(
    '/openapi.json',
    textFile('application/json; charset=utf-8', async () => JSON.stringify(await document()))
  )
  app.get('/openapi.yaml', textFile('application/yaml', yaml))
}
