// The files of the review page, as they are sent: read and compressed when the first is asked for. Does not know what
// is in them.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NOT_MODIFIED } from './answers/problem.ts'
import { late } from './late.ts'

/** All that the page may do: load its own files and call its own server; no text ever becomes HTML. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join('; ')

const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': CSP,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff'
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml'
}

interface PageFile {
  type: string
  content: Buffer
  compressed: Buffer
  etag: string
}

export interface ReviewPage {
  /** Answers with the page itself. */
  home(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
  /** Answers with a file of the page. Resolves with whether there is one of that name. */
  file(name: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean>
}

/** Found by package.json, since this file runs from here and from dist/. */
const FOLDERS = [
  new URL('.', import.meta.resolve('#page/review/index.html')),
  new URL('.', import.meta.resolve('#page/built/main.js'))
]

async function readFiles(): Promise<Map<string, PageFile>> {
  const lists = await Promise.all(
    FOLDERS.map(async folder => {
      const names = (await readdir(folder)).filter(name => TYPES[extname(name)] !== undefined)
      return Promise.all(names.map(async name => [name, await pageFile(new URL(name, folder), extname(name))] as const))
    })
  )
  return new Map(lists.flat())
}

async function pageFile(url: URL, extension: string): Promise<PageFile> {
  const content = await readFile(url)
  return {
    type: TYPES[extension]!,
    content,
    compressed: await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
    etag: `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`
  }
}

export function makeReviewPage(): ReviewPage {
  const files = late(readFiles)
  /** Not with the reply, as whoever waits for one is given nothing. */
  const send = async (name: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const file = (await files()).get(name)
    if (file === undefined) return false
    reply.headers({ ...HEADERS, 'content-type': file.type, etag: file.etag })
    reply.header('vary', request.routeOptions.url === undefined ? 'accept, accept-encoding' : 'accept-encoding')
    if (tagsIn(request.headers['if-none-match']).includes(file.etag)) reply.code(NOT_MODIFIED).send()
    else if (!acceptsGzip(request.headers['accept-encoding'])) reply.send(file.content)
    else reply.header('content-encoding', 'gzip').send(file.compressed)
    return true
  }
  return {
    home: async (request, reply) => {
      await send('index.html', request, reply)
      return reply
    },
    file: async (name, request, reply) => name !== 'index.html' && send(name, request, reply)
  }
}

/** The tags of a header, weak ones as strong ones: what was compressed on the way is the same file. */
const tagsIn = (header = ''): string[] => header.split(',').map(tag => tag.trim().replace(/^W\//, ''))

function acceptsGzip(header: string | string[] = ''): boolean {
  const [, rank = '1'] = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?=,|$)/i.exec(String(header)) ?? ['', '0']
  return Number(rank) > 0
}
