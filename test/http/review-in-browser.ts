// The review page for tests: a server with edits by two agents, and a tab in which it is open. Does not know any test.
import type { Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
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

/** Opens a file from the list. */
export async function openFile(page: Page, path: string): Promise<void> {
  await page.locator('.file', { hasText: path }).first().click()
  await page.locator('.file-head', { hasText: path }).waitFor()
}

/** Presses keys, one after the other. */
export const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
/** Waits until the page shows a notice with this text. */
export const noticeShown = (page: Page, text: string | RegExp) => page.locator('.notice', { hasText: text }).waitFor()
