// /docs in a real browser: it loads, asks for the token, edits a file, tells a problem and takes its fix. And the
// requests that it offers.
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { REQUEST_EXAMPLES } from '../../src/http/request-examples.ts'
import { makeOperations } from '../../src/operations.ts'
import { bytesOf, startServer, TOKEN } from './test-server.ts'

const HELLO = "for (const name of process.argv.slice(2)) {\n  console.log('Hello, ' + name)\n}\n"

/** playwright-core is in a list of its own, which isn't installed everywhere: of its types what is used here. */
interface Locator {
  locator(selector: string, options?: { hasText: string }): Locator
  first(): Locator
  getByRole(role: 'button', options: { name: string }): Locator
  click(): Promise<void>
  fill(value: string): Promise<void>
  selectOption(value: string): Promise<unknown>
  waitFor(): Promise<void>
  innerText(): Promise<string>
  isVisible(): Promise<boolean>
}
interface Page {
  setDefaultTimeout(ms: number): void
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown
  on(event: 'pageerror', listener: (error: Error) => void): unknown
  on(event: 'request' | 'requestfailed', listener: (request: { url(): string }) => void): unknown
  locator(selector: string): Locator
  goto(url: string): Promise<unknown>
  title(): Promise<string>
  setViewportSize(size: { width: number; height: number }): Promise<void>
  evaluate(script: string): Promise<unknown>
}
interface Driver {
  chromium: {
    launch(options: {
      executablePath: string
      args: string[]
    }): Promise<{ newPage(options: object): Promise<Page>; close(): Promise<void> }>
  }
}

const DRIVER = join(import.meta.dirname, '../../.ci/tools/node_modules/playwright-core/index.mjs')

const isThere = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
const browser = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap(folder => ['chromium', 'chromium-browser', 'google-chrome'].map(name => join(folder, name)))
  .find(isThere)

t.test('offers requests that work one after the other, and one that misses', async t => {
  const server = await startServer(t)
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  for (const name of ['create', 'inspect', 'edit', 'edit_lines', 'edit_section', 'preview'] as const) {
    for (const [key, { summary, value }] of Object.entries(REQUEST_EXAMPLES[name])) {
      const { status, text } = await server.call('POST', operations[name].route, { body: value })
      t.equal(status, key === 'miss' ? 422 : 200, `${name}, ${summary}: ${text.slice(0, 300)}`)
    }
  }
  t.same(Object.keys(REQUEST_EXAMPLES).sort(), Object.keys(operations).sort(), 'every operation has some')
})

t.test('offers first what works in an empty workspace, where no file is needed', async t => {
  const server = await startServer(t)
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  for (const name of ['inspect', 'preview', 'create'] as const) {
    const [first] = Object.values(REQUEST_EXAMPLES[name])
    const { status, text } = await server.call('POST', operations[name].route, { body: first?.value })
    t.equal(status, 200, `${name}: ${text.slice(0, 300)}`)
  }
})

const skip =
  browser === undefined
    ? 'no Chromium is installed (apt-get install chromium)'
    : existsSync(DRIVER)
      ? false
      : 'its driver is not installed (npm ci --prefix .ci/tools)'

t.test('in a browser', { skip }, async t => {
  const server = await startServer(t, { files: { examples: { 'hello.js': HELLO } } })
  const { chromium } = (await import(pathToFileURL(DRIVER).href)) as Driver
  const launched = await chromium.launch({
    executablePath: browser!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  })
  t.teardown(() => launched.close())
  const page: Page = await launched.newPage({ viewport: { width: 1280, height: 900 } })
  page.setDefaultTimeout(30_000)
  const errors: string[] = []
  const hosts = new Set<string>()
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  page.on('pageerror', error => {
    errors.push(String(error))
  })
  page.on('requestfailed', request => {
    errors.push(request.url())
  })
  page.on('request', request => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host)
  })
  const files = () => bytesOf(server, 'examples/hello.js')

  const edit = page.locator('#operations-files-edit_file')
  const token = page.locator('.modal-ux input')
  const give = async (value: string) => {
    await token.fill(value)
    await page.locator('.modal-ux .authorize').click()
  }
  const execute = () => edit.locator('.execute').click()
  const textOf = async (what: Locator) => (await what.innerText()).replace(/\s+/g, ' ')

  await t.test('loads without an error, all of it from here', async t => {
    await page.goto(`${server.url}/docs`)
    await edit.locator('.opblock-summary').click()
    await edit.locator('.execute').waitFor()
    t.equal(await page.title(), 'editd')
    t.strictSame(errors, [])
    t.strictSame([...hosts], [`127.0.0.1:${server.port}`])
  })

  await t.test('asks for the token when a request needs it, and sends the request with it', async t => {
    await execute()
    await give('wrong')
    await edit.locator('.problem', { hasText: 'UNAUTHORIZED' }).waitFor()
    await give(TOKEN)
    t.match(
      await textOf(edit.locator('.done')),
      /Successfully replaced 1 occurrence in examples\/hello\.js \(line 2\).* \+ console\.log\('Hello, ' \+ name\.trim\(\)\)/
    )
    t.notOk(await token.isVisible())
    t.equal(files(), HELLO.replace('+ name', '+ name.trim()'))
  })

  await t.test('shows a problem in words, and puts its fix into the request', async t => {
    await edit.locator('.examples-select select').first().selectOption('miss')
    await execute()
    const problem = edit.locator('.problem', { hasText: 'NO_MATCH' })
    const { body } = await server.call('POST', '/edit', { body: REQUEST_EXAMPLES.edit.miss!.value })
    t.ok((await textOf(problem)).includes(String(body.detail).replace(/\s+/g, ' ')), 'the detail is there')
    await problem.getByRole('button', { name: 'Put into the request' }).first().click()
    await execute()
    await edit.locator('.done', { hasText: 'line 1' }).waitFor()
    t.match(files(), 'for (const name of Deno.args.slice(2)) {')
  })

  await t.test('is no wider than a narrow window', async t => {
    await page.setViewportSize({ width: 360, height: 800 })
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      360,
      String(
        await page.evaluate(
          '[...document.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80))'
        )
      )
    )
  })

  t.strictSame(
    errors.filter(text => !/^Failed to load resource: .* status of (401|422)/.test(text)),
    [],
    'no other error'
  )
})
