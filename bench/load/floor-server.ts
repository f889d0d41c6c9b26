// The floor of HTTP: node:http without a framework; reads the file, replaces, writes a temp file, renames. No path
// checks, token, lock, hash or log. Does not know the product.
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Edit } from '../corpora.ts'
import { naiveReplace } from '../naive.ts'

const [root = '', durability] = process.argv.slice(2)
let temps = 0

async function edit({ path, old_text, new_text }: Edit & { path: string }): Promise<void> {
  const file = join(root, path)
  const temp = `${file}.${temps++}.tmp`
  const text = naiveReplace(await readFile(file, 'utf8'), [{ old_text, new_text }])
  if (durability === 'full') await writeSynced(temp, text)
  else await writeFile(temp, text)
  await rename(temp, file)
  if (durability === 'full') await syncFolder(dirname(file))
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function bodyOf(request: IncomingMessage): Promise<Edit & { path: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Edit & { path: string }
}

const server = createServer((request, response) => {
  const answer = (status: number, body: string): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  if (request.method === 'GET') answer(200, '{"ok":true}')
  else {
    bodyOf(request)
      .then(edit)
      .then(
        () => answer(200, '{"ok":true}'),
        (error: unknown) => answer(500, JSON.stringify({ error: String(error) }))
      )
  }
})
// Clients of the other sizes are idle for longer than Node's default of five seconds.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`floor listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
