// The review page for tests: a server with edits by two agents, and a tab in which it is open. Does not know any test.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
import { testFolder } from '../folder.ts'
import { COMMAND } from '../running.ts'
import { watch, type Browser, type Page, type Watched } from './browser.ts'
import { startServer, TOKEN, type TestServer } from './test-server.ts'

export const APP = "const port = 8080\nconst host = 'localhost'\n\n\n\n\n\n\n\nlisten(port, host)\n"

/** The product's timeouts, in ms. */
const TIMEOUTS = { request: 30_000, headers: 10_000, check: 1000 }

interface Opened extends Watched {
  server: TestServer
  page: Page
  /** An edit by an agent, made now. */
  edit(agent: string, old_text: string, new_text: string, path?: string): Promise<void>
}

/** Console errors that report a problem, which the page shows as well. */
const ANSWERS = /^Failed to load resource: .* status of (401|404|409|410|412|422|503)/
/** The other errors. */
export const unexpected = (errors: readonly string[]) => errors.filter(text => !ANSWERS.test(text))

/** Makes edits by agents. */
export const editor =
  (server: TestServer): Opened['edit'] =>
  async (agent, old_text, new_text, path = 'app.js') => {
    const headers = { 'editd-agent': agent, 'editd-session': `${agent}-1` }
    const body = { path, old_text, new_text, reason: `${agent} says why` }
    const { status, text } = await server.call('POST', '/edit', { body, headers })
    if (status !== 200) throw new Error(text)
  }

/** A server with edits by two agents, and the page open in a tab. */
export async function opened(
  t: Test,
  browser: Browser,
  files: Record<string, string> = {},
  width = 1280,
  timeouts: { heartbeat?: number } = {},
  settings: Partial<Config> = {}
): Promise<Opened> {
  const server = await startServer(t, {
    files: { 'app.js': APP, ...files },
    timeouts: { ...TIMEOUTS, ...timeouts },
    settings
  })
  const edit = editor(server)
  await edit('ann', '8080', '9090')
  await edit('bob', 'listen(port, host)', 'await listen(port, host)')
  const page = await browser.newPage({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
  t.teardown(() => page.close())
  const watched = watch(page)
  await page.goto(`${server.url}/#token=${TOKEN}`)
  await page.locator('.file').first().waitFor()
  return { server, page, edit, ...watched }
}

interface Served {
  url: string
  /** Sends a request with a token. Resolves with the body of the answer. */
  post(token: string, route: string, body: object): Promise<Record<string, unknown>>
  takeAway(token: string): void
  giveBack(): void
}

/**
 * A server with two workspaces, `ants` and `bees`, each with one file, `a.txt`. Their names are tokens for them, until
 * they are taken away; for `ants` there are `looker` and `worker` too, who may not review.
 */
export async function serveTwo(t: Test): Promise<Served> {
  const scopes = { ants: 'review', bees: 'review', looker: 'read', worker: 'edit' }
  const dir = testFolder(t, { ants: { 'a.txt': 'one\n' }, bees: { 'a.txt': 'one\n' } })
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const workspaces = { ants: { root: 'ants' }, bees: { root: 'bees' } }
  const allow = (gone?: string) => {
    const tokens = Object.entries(scopes)
      .filter(([name]) => name !== gone)
      .map(([name, scope]) => ({ name, sha256: sha256(name), workspace: name === 'bees' ? name : 'ants', scope }))
    // JSON is YAML.
    writeFileSync(join(dir, 'access.yaml'), JSON.stringify({ workspaces, tokens }))
  }
  allow()
  const [program = '', ...own] = COMMAND
  const flags = ['--access', 'access.yaml', '--port', '0', '--state-dir', join(dir, 'state')]
  const child = spawn(program, [...own, ...flags], { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill()
    await exited
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = / listening on (\S+)/.exec(line.toString())![1]!
  const reread = (gone?: string) => {
    allow(gone)
    child.kill('SIGHUP')
  }
  return {
    url,
    async post(token, route, body) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' }
      const answer = await fetch(url + route, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await answer.json()) as Record<string, unknown>
    },
    takeAway: reread,
    giveBack: () => reread()
  }
}

/** Opens a file from the list. */
export async function openFile(page: Page, path: string): Promise<void> {
  await page.locator('.file', { hasText: path }).first().click()
  await page.locator('.file-head', { hasText: path }).waitFor()
}

/** Presses keys, one after the other. */
export const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
/** Waits until an expression is true in the page. The driver's own wait is an `eval`, which the page forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  while ((await page.evaluate(expression)) !== true) await sleep(20)
}

/** Waits until the page shows a notice with this text. */
export const noticeShown = (page: Page, text: string | RegExp) => page.locator('.notice', { hasText: text }).waitFor()
