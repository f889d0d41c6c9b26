// A real browser for tests of pages: its driver's types, how it is started, and what it complains of. Does not know any
// page.
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { ONLY_CI } from '../often.ts'

/** playwright-core is in a list of its own, which isn't installed everywhere: of its types what is used here. */
export interface Locator {
  locator(selector: string, options?: { hasText: string | RegExp }): Locator
  first(): Locator
  nth(index: number): Locator
  count(): Promise<number>
  getByRole(role: string, options?: { name: string | RegExp; exact?: boolean }): Locator
  click(): Promise<void>
  fill(value: string): Promise<void>
  focus(): Promise<void>
  selectOption(value: string): Promise<unknown>
  waitFor(options?: { state: 'visible' | 'hidden' | 'attached' | 'detached' }): Promise<void>
  innerText(): Promise<string>
  textContent(): Promise<string | null>
  isVisible(): Promise<boolean>
}

export interface PageRequest {
  url(): string
  headers(): Record<string, string>
  failure(): { errorText: string } | null
}

export interface Page extends Pick<Locator, 'getByRole' | 'locator'> {
  setDefaultTimeout(ms: number): void
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown
  on(event: 'pageerror', listener: (error: Error) => void): unknown
  on(event: 'request' | 'requestfailed', listener: (request: PageRequest) => void): unknown
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  url(): string
  title(): Promise<string>
  setViewportSize(size: { width: number; height: number }): Promise<void>
  emulateMedia(options: { colorScheme: 'light' | 'dark' }): Promise<void>
  evaluate(script: string): Promise<unknown>
  waitForFunction(script: string): Promise<unknown>
  screenshot(options: { path: string }): Promise<unknown>
  close(): Promise<void>
}

export interface Context {
  newPage(): Promise<Page>
}

export interface Browser {
  newPage(options: object): Promise<Page>
  newContext(options: object): Promise<Context>
  close(): Promise<void>
}

interface Driver {
  chromium: { launch(options: { executablePath: string; args: string[] }): Promise<Browser> }
}

const TOOLS = join(import.meta.dirname, '../../.ci/tools/node_modules')
const DRIVER = join(TOOLS, 'playwright-core/index.mjs')
/** The text of axe-core, which looks for what keeps people from using a page. */
export const AXE = join(TOOLS, 'axe-core/axe.min.js')

const isThere = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
const executable = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap(folder => ['chromium', 'chromium-browser', 'google-chrome'].map(name => join(folder, name)))
  .find(isThere)

/** Why no browser is used; false where one is. */
export const skip: string | false = ONLY_CI || whyNot()

function whyNot(): string | false {
  // In CI, where other versions of Node are tried after this.
  if (process.env.NO_BROWSER === '1') return 'NO_BROWSER=1: a page is the same on every Node'
  if (executable === undefined) return 'no Chromium is installed (apt-get install chromium)'
  return existsSync(DRIVER) ? false : 'its driver is not installed (npm ci --prefix .ci/tools)'
}

/** Starts the browser. */
export async function launch(): Promise<Browser> {
  const { chromium } = (await import(pathToFileURL(DRIVER).href)) as Driver
  return chromium.launch({
    executablePath: executable!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  })
}

/** The same for a test, which ends it. */
export async function launchFor(t: Test): Promise<Browser> {
  const browser = await launch()
  t.teardown(() => browser.close())
  return browser
}

export interface Watched {
  /** Errors and warnings of the console, of the page and of requests. */
  errors: string[]
  requests: PageRequest[]
}

/** Keeps what a page complains of and asks for from now on. */
export function watch(page: Page): Watched {
  const watched: Watched = { errors: [], requests: [] }
  // The driver waits for 30 s, which a busy machine has exceeded.
  page.setDefaultTimeout(120_000)
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') watched.errors.push(message.text())
  })
  page.on('pageerror', error => {
    watched.errors.push(String(error))
  })
  page.on('requestfailed', request => {
    // What is under way when a page is left isn't a failure.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') watched.errors.push(request.url())
  })
  page.on('request', request => {
    if (!request.url().startsWith('data:')) watched.requests.push(request)
  })
  return watched
}
