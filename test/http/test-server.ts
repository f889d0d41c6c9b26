// A server for tests: its own workspace, a real port, and every answer checked against the published document.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import pino from 'pino'
import type { Test } from 'tap'
import { buildApp, type AppOptions } from '../../src/app.ts'
import type { Audit } from '../../src/audit/audit.ts'
import { loadConfig, type Config } from '../../src/config/config.ts'
import { oneSpace } from '../../src/spaces.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { testFolder } from '../folder.ts'

export const TOKEN = 'test-token'

export interface Reply {
  status: number
  headers: Headers
  body: Record<string, unknown>
  text: string
}

export interface TestServer {
  url: string
  port: number
  /** The workspace's folder. */
  root: string
  stateDir: string
  workspace: Workspace
  /** The workspace without the replaced methods. */
  opened: Workspace
  /** The records of the log. */
  log: Record<string, unknown>[]
  drain(): Promise<void>
  endStreams(): void
  call(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Reply>
  /** Sends bytes as they are; resolves with all bytes received until the server closes, or within `wait` ms. */
  raw(bytes: string | Buffer, wait?: number): Promise<string>
}

/** What a test server serves: the test's folder, or something that is kept equal to it. */
export interface Served {
  config: Config
  workspace: Workspace
  /** Copies the test's changes of its folder to what is served. */
  take(): Promise<void>
  /** Copies changes of what is served to the test's folder. */
  give(): Promise<void>
}

/** `root`: the test's folder; servers with the same `stateDir` serve the same files and history. */
export type Serve = (
  t: Test,
  place: { root: string; stateDir: string },
  settings: Partial<Config>,
  audit: Audit | undefined
) => Promise<Served>

const folderConfig = ({ root, stateDir }: { root: string; stateDir: string }): Config =>
  settingsOf([root, '--token', TOKEN, '--state-dir', stateDir, '--durability', 'fast'])

const served = (config: Config, workspace: Workspace): Served => ({
  config,
  workspace,
  take: async () => {},
  give: async () => {}
})

let serve: Serve = async (_, place, settings, audit) => {
  const config = { ...folderConfig(place), ...settings }
  return served(config, await openWorkspace({ ...config, ...(audit !== undefined && { audit }) }))
}

/** Makes all later test servers of this process serve something else, so the same tests run against that. */
export const serveBy = (other: Serve): void => {
  serve = other
}

export function settingsOf(flags: string[]): Config {
  const loaded = loadConfig(flags, {})
  if (!loaded.ok) throw new Error(loaded.failure.join())
  return loaded.value
}

interface Response {
  content: Record<string, { schema: { $ref: string } }>
}
interface Document {
  components: { schemas: Record<string, object>; responses?: Record<string, Response> }
  paths: Record<string, Record<string, { responses: Record<string, Response | { $ref: string }> }>>
}

/** An operation's response with this status in the document, whether inline or a reference. */
export function responseOf(
  { components }: Document,
  operation: Document['paths'][string][string],
  status: number | string
): Response | undefined {
  const response = operation.responses[status]
  if (response === undefined || !('$ref' in response)) return response
  return components.responses?.[response.$ref.split('/').at(-1) ?? '']
}

type Validator = (component: string, body: unknown) => string[]

// Made and compiled once in each process, not for each server, which would double the CPU of a test of a route.
const documents = new Map<string, Document>()
const validators = new Map<string, Validator>()
const ofDocuments = new WeakMap<Document, Validator>()

/** The document of a server with these settings; it doesn't depend on where the files are. */
async function documentOf(config: Config, make: () => Promise<object>): Promise<Document> {
  const settings = JSON.stringify({ ...config, root: '', stateDir: '' })
  const document = documents.get(settings) ?? ((await make()) as Document)
  documents.set(settings, document)
  return document
}

/** Checks a body against a component of a document. */
export function validator(document: Document): Validator {
  const seen = ofDocuments.get(document)
  if (seen !== undefined) return seen
  const made = validatorOf(document)
  ofDocuments.set(document, made)
  return made
}

/** Documents with equal text share a validator. */
function validatorOf(document: Document): Validator {
  const text = JSON.stringify(document)
  const known = validators.get(text)
  if (known !== undefined) return known
  // Without optimisation, compiling takes half a second less in each test file.
  const quick = { code: { optimize: false }, inlineRefs: false }
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, ...quick })
  ajv.addSchema(document, 'doc')
  const compiled = new Map<string, ValidateFunction>()
  const made: Validator = (component, body) => {
    const validate = compiled.get(component) ?? ajv.compile({ $ref: `doc#/components/schemas/${component}` })
    compiled.set(component, validate)
    return validate(body)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`
        )
  }
  validators.set(text, made)
  return made
}

/** A text as the name of an assertion: short, printable, on one line. */
const shown = (text: string) => text.slice(0, 500).replace(/[^\x20-\x7e]/g, '?')

/** Checks that the answer to this request has this status and these members. */
export async function check(
  t: Test,
  server: TestServer,
  route: string,
  body: object,
  status: number,
  expected: Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<Reply> {
  const reply = await server.call('POST', route, { body, headers })
  t.equal(reply.status, status, shown(reply.text))
  t.match(reply.body, expected, shown(JSON.stringify(body)))
  return reply
}

/** The content of a file. */
export const bytesOf = ({ root }: TestServer, path: string): string => readFileSync(join(root, path), 'utf8')

/** Starts a server on a fresh root; every answer to `call` is checked against the published document. */
export async function startServer(
  t: Test,
  options: {
    settings?: Partial<Config>
    files?: Parameters<Test['testdir']>[0]
    replace?: Partial<Workspace>
    /** Served instead of a folder, and closed with the server. */
    workspace?: Workspace
    timeouts?: AppOptions['timeouts']
    audit?: Audit
  } = {}
): Promise<TestServer> {
  const root = testFolder(t, options.files ?? {})
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-state-'))
  const log: TestServer['log'] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log.push(JSON.parse(String(chunk)))
      done()
    }
  })
  const { settings = {}, audit } = options
  const place = { root: settings.root ?? root, stateDir: settings.stateDir ?? stateDir }
  const {
    config,
    workspace: opened,
    take,
    give
  } = options.workspace === undefined
    ? await serve(t, place, settings, audit)
    : served({ ...folderConfig(place), ...settings }, options.workspace)
  const workspace: Workspace = {
    kind: opened.kind,
    root: opened.root,
    confinement: opened.confinement,
    canFind: opened.canFind,
    audit: opened.audit,
    edit: opened.edit.bind(opened),
    create: opened.create.bind(opened),
    batch: opened.batch.bind(opened),
    filesBelow: opened.filesBelow.bind(opened),
    removeFolder: opened.removeFolder.bind(opened),
    look: opened.look.bind(opened),
    find: opened.find.bind(opened),
    recall: opened.recall.bind(opened),
    movedText: opened.movedText.bind(opened),
    history: opened.history.bind(opened),
    hasSwept: opened.hasSwept.bind(opened),
    review: opened.review.bind(opened),
    changes: opened.changes.bind(opened),
    follow: opened.follow.bind(opened),
    endFollowing: opened.endFollowing.bind(opened),
    keyed: opened.keyed.bind(opened),
    ready: opened.ready.bind(opened),
    degraded: opened.degraded.bind(opened),
    limitedTo: opened.limitedTo.bind(opened),
    close: opened.close.bind(opened),
    ...options.replace
  }
  const {
    app,
    drain,
    endStreams,
    document: makeDocument
  } = await buildApp({
    spaces: oneSpace(config, workspace, () => {}),
    logger: pino({ base: null }, stream),
    ...(options.timeouts && { timeouts: options.timeouts })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
    await opened.close()
    rmSync(stateDir, { recursive: true })
  })
  const document = await documentOf(config, makeDocument)
  const faultsOf = validator(document)

  const check = (method: string, path: string, { status, headers, body, text }: Reply) => {
    t.match(headers.get('x-request-id'), /^[A-Za-z0-9._-]{1,64}$/)
    const published = document.paths[path]?.[method.toLowerCase()]
    if (/^text\/plain/.test(headers.get('content-type') ?? '')) {
      t.match(path, /^\/tools\/./)
      t.equal(headers.get('vary'), 'accept')
      return
    }
    // An answer for a model contains its problem; a request that is refused before the adapter reads it gets a bare one.
    const forModel = path.startsWith('/adapters/') && /^application\/json/.test(headers.get('content-type') ?? '')
    if (forModel) {
      const { status: state, problem } = body as { status?: string; problem?: Record<string, unknown> }
      t.equal(state, status < 400 ? 'completed' : 'failed', shown(text))
      t.equal(problem?.status, status < 400 ? undefined : status)
      t.equal(problem?.request_id, status < 400 ? undefined : headers.get('x-request-id'))
      if (problem !== undefined) t.strictSame(faultsOf('Problem', problem), [], shown(text))
    } else if (status >= 400) {
      t.match(headers.get('content-type'), 'application/problem+json')
      t.strictSame(faultsOf('Problem', body), [], shown(text))
      t.equal(body.status, status)
      t.equal(body.request_id, headers.get('x-request-id'))
      if (body.file_hash !== undefined) t.match(headers.get('etag'), new RegExp(`^"${body.file_hash}[0-9a-f]{48}"$`))
    } else if (body.file_hash !== undefined) {
      t.equal(headers.get('etag'), `"${body.sha256}"`)
      t.equal(body.file_hash, String(body.sha256).slice(0, 16))
    }
    if (published === undefined) return
    const response = responseOf(document, published, status)
    const contents = Object.entries(response?.content ?? {})
    const media = contents.find(([type]) => headers.get('content-type')?.startsWith(type)) ?? contents[0]
    if (media === undefined) {
      t.fail(`${method} ${path} answers ${status}, which is not published`)
      return
    }
    t.match(headers.get('content-type'), media[0])
    t.strictSame(faultsOf(media[1].schema.$ref.split('/').at(-1) ?? '', body), [], shown(text))
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    root,
    stateDir,
    workspace,
    opened,
    log,
    drain,
    endStreams,
    async call(method, path, { body, headers = {} } = {}) {
      await take()
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          // By default tools answer with text.
          ...(path.startsWith('/tools/') && { accept: 'application/json' }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers
        },
        ...(body !== undefined && {
          body: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body)
        })
      })
      const text = await response.text()
      await give()
      const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '')
      const reply: Reply = {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? JSON.parse(text) : {}
      }
      if (method !== 'HEAD' && method !== 'OPTIONS') check(method, path, reply)
      return reply
    },
    async raw(bytes, wait = 5000) {
      await take()
      const received = await exchange(port, bytes, wait)
      await give()
      return received
    }
  }
}

const exchange = (port: number, bytes: string | Buffer, wait: number): Promise<string> =>
  new Promise(resolve => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes)
    })
    const timer = setTimeout(() => {
      socket.destroy()
    }, wait)
    socket.on('data', data => {
      received += data
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(received)
    })
  })
