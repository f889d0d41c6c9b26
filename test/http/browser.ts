// A real browser for tests of pages: its driver's types, how it is started, and its errors and warnings. Does not know
// any page.
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { ONLY_CI } from '../often.ts'

/** The used part of playwright-core's types: the package is in a separate list, which isn't installed everywhere. */
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
/** The path of axe-core, which checks a page's accessibility. */
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

/** False, or why tests that need a browser are skipped. */
export const skip: string | false = ONLY_CI || whyNot()

function whyNot(): string | false {
  // CI tries other versions of Node after this one.
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

/** Starts the browser for a test, and ends it after the test. */
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

/** Collects a page's errors, warnings and requests from now on. */
export function watch(page: Page): Watched {
  const watched: Watched = { errors: [], requests: [] }
  // The driver's default, 30 s, was too short on a busy machine.
  page.setDefaultTimeout(120_000)
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') watched.errors.push(message.text())
  })
  page.on('pageerror', error => {
    watched.errors.push(String(error))
  })
  page.on('requestfailed', request => {
    // Requests that are aborted when the page is left are no failures.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') watched.errors.push(request.url())
  })
  page.on('request', request => {
    if (!request.url().startsWith('data:')) watched.requests.push(request)
  })
  return watched
}
