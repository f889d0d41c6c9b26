// Files that are the same for every client: made on first use, compressed once, and sent only to clients without the
// current version. Does not know their content.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NOT_MODIFIED } from './answers/problem.ts'
import type { Routes } from './errors.ts'
import { late } from './late.ts'
import { sendProblem } from './send.ts'

interface StaticFile {
  type: string
  content: Buffer
  compressed: Buffer
  etag: string
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** `type`: the media type. */
async function staticFile(type: string, text: string | Buffer): Promise<StaticFile> {
  const content = Buffer.from(text)
  return {
    type,
    content,
    compressed: await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
    etag: `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`
  }
}

/** Answers with a file. `vary`: the request headers that decide which file it is. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, content, compressed, etag }: StaticFile,
  vary: readonly string[] = []
): FastifyReply {
  // Set already if CORS is on.
  const set = [reply.getHeader('vary') ?? []].flat()
  reply.headers({
    'cache-control': 'no-cache',
    'content-type': type,
    etag,
    vary: [...set, ...vary, 'accept-encoding'].join(', ')
  })
  if (tagsIn(request.headers['if-none-match']).includes(etag)) return reply.code(NOT_MODIFIED).send()
  if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(content)
  return reply.header('content-encoding', 'gzip').send(compressed)
}

/** The tags in a header; weak ones count as strong, since a proxy that compresses the file weakens its tag. */
const tagsIn = (header = ''): string[] => header.split(',').map(tag => tag.trim().replace(/^W\//, ''))

function acceptsGzip(header: string | string[] = ''): boolean {
  const [, rank = '1'] = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?=,|$)/i.exec(String(header)) ?? ['', '0']
  return Number(rank) > 0
}

/** Answers with a text that is made on first use. */
export function textFile(type: string, make: () => Promise<string>): Handler {
  const file = late(async () => staticFile(type, await make()))
  return async (request, reply) => sendFile(request, reply, await file())
}

/** A text that depends on a key; only the text of the last key is kept. */
export function textFileBy(type: string, make: (key: string) => string): (key: string) => Promise<StaticFile> {
  let last: { key: string; file: Promise<StaticFile> } | undefined
  return key => {
    if (last?.key !== key) last = { key, file: staticFile(type, make(key)) }
    return last.file
  }
}

/** Media types by file ending. */
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml'
}

export interface WebPage {
  /** Answers with the page itself. */
  home: Handler
  /** Answers with the page's file that the route's `*` names, or that there is none. */
  file: Handler
}

/**
 * A page and its files. `urls`: where they are; files of unknown types are ignored. `home`: the file name of the page
 * itself. `headers` are sent with each file.
 */
export function makePage(
  { home, urls, headers }: { home: string; urls(): Promise<URL[]>; headers: Record<string, string> },
  { unknown }: Pick<Routes, 'unknown'>
): WebPage {
  const files = late(async () => {
    const read = (await urls()).map(async url => {
      const type = TYPES[extname(url.pathname)]
      return type === undefined ? [] : [[basename(url.pathname), await staticFile(type, await readFile(url))] as const]
    })
    return new Map((await Promise.all(read)).flat())
  })
  return {
    async home(request, reply) {
      // At /, only browsers get the page.
      const vary = request.routeOptions.url === undefined ? ['accept'] : []
      return sendFile(request, reply.headers(headers), (await files()).get(home)!, vary)
    },
    async file(request, reply) {
      const { '*': name } = request.params as { '*': string }
      const file = name === home ? undefined : (await files()).get(name)
      if (file === undefined) return sendProblem(reply, unknown(request.method))
      return sendFile(request, reply.headers(headers), file)
    }
  }
}
