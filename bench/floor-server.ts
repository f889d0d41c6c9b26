// The floor of HTTP: a bare Fastify route that reads, replaces, writes beside and renames. No checks, no lock, no hash,
// no log.
import Fastify from 'fastify'
import { join } from 'node:path'
import type { Edit } from './corpora.ts'
import { floorEdit, floorEditSynced } from './floor.ts'
import { concatReplace } from './naive.ts'

const [root = '', durability] = process.argv.slice(2)
const app = Fastify()
const text = { type: 'string' }
const schema = {
  body: {
    type: 'object',
    required: ['path', 'old_text', 'new_text'],
    properties: { path: text, old_text: text, new_text: text }
  }
}

app.post<{ Body: Edit & { path: string } }>('/edit', { schema }, async ({ body }) => {
  const path = join(root, body.path)
  const change = (bytes: Buffer): Buffer => concatReplace(bytes, [body])
  if (durability === 'full') await floorEditSynced(path, change)
  else floorEdit(path, false, change)
  return { ok: true }
})

process.stdout.write(`floor listening on ${await app.listen({ port: 0, host: '127.0.0.1' })} root=${root}\n`)
