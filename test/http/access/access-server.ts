// A server with an access file for tests, in this process: real files, a real port. Does not know any test.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pino from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../../../src/app.ts'
import { loadAccess } from '../../../src/config/access-file.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { openSpaces } from '../../../src/open-spaces.ts'
import { testFolder } from '../../folder.ts'

export interface AccessServer {
  url: string
  port: number
  log: Record<string, unknown>[]
  /** Serves another access file. */
  take(access: object): Promise<void>
  read(path: string): string
  send(token: string, path: string, body?: object, headers?: Record<string, string>): Promise<AccessReply>
}

export interface AccessReply {
  status: number
  headers: Headers
  body: Record<string, unknown>
  text: string
}

/** Starts a server with this access file, whose workspaces are `acme` and `beta`, each with `a.txt`. */
export async function startAccessServer(t: Test, access: object, ...flags: string[]): Promise<AccessServer> {
  const dir = testFolder(t, { 'a.txt': '' })
  for (const name of ['acme', 'beta']) {
    mkdirSync(join(dir, name))
    writeFileSync(join(dir, name, 'a.txt'), 'end\n')
  }
  const file = join(dir, 'access.yaml')
  const given = ['--access', file, '--state-dir', join(dir, 'state'), '--durability', 'fast', ...flags]
  const loaded = loadConfig(given, { HOME: dir })
  if (!loaded.ok) throw new Error(loaded.failure.join(' '))
  const config = loaded.value
  const workspaces = { acme: { root: 'acme' }, beta: { root: 'beta' } }
  const declare = async (declared: object) => {
    writeFileSync(file, JSON.stringify({ workspaces, ...declared }))
    const read = await loadAccess(config)
    if (!read.ok) throw new Error(read.failure.join(' '))
    return read.value
  }
  const log: AccessServer['log'] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log.push(JSON.parse(String(chunk)))
      done()
    }
  })
  const logger = pino({ base: null }, stream)
  const spaces = await openSpaces({ config, report: event => logger.warn(event) }, await declare(access))
  const { app, endStreams } = await buildApp({ spaces, logger })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
    await spaces.close()
  })
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    log,
    async take(declared) {
      await spaces.replace(await declare(declared))
      endStreams()
    },
    read: path => readFileSync(join(dir, path), 'utf8'),
    async send(token, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
    }
  }
}
