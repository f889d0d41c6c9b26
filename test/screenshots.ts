// Takes the screenshots in the documents: `npm run screenshots`. A server, edits by three agents, the page in a
// browser.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, skip } from './http/browser.ts'
import { startBare } from './running.ts'

const DOCS = join(import.meta.dirname, '../docs/images')
const TOKEN = 'a-token-for-tests'
/** The most bytes of a picture. */
const MOST = 100_000

const SERVER = `import { createServer } from 'node:http'

const port = 8080
const host = 'localhost'

export function start(handler) {
  const server = createServer(handler)
  server.listen(port, host)
  return server
}

export function stop(server) {
  server.close()
}
`
const README = '# Hello\n\nStart it with `npm start`, then open port 8080.\n'

/** Agent, reason, path, old and new text. */
const EDITS = [
  ['ann', 'the proxy has 8080', 'src/server.js', 'port = 8080', 'port = 9090'],
  ['ann', 'the proxy has 8080', 'README.md', 'port 8080', 'port 9090'],
  ['bob', 'wait until it listens', 'src/server.js', 'export function start', 'export async function start'],
  [
    'bob',
    'wait until it listens',
    'src/server.js',
    '  server.listen(port, host)\n',
    "  server.listen(port, host)\n  await once(server, 'listening')\n"
  ],
  [
    'bob',
    'wait until it listens',
    'src/server.js',
    "import { createServer } from 'node:http'\n",
    "import { once } from 'node:events'\nimport { createServer } from 'node:http'\n"
  ],
  [
    'cleo',
    'close what is idle too',
    'src/server.js',
    '  server.close()',
    '  server.close()\n  server.closeIdleConnections()'
  ]
] as const

async function run(): Promise<void> {
  if (skip !== false) throw new Error(skip)
  const folder = mkdtempSync(join(tmpdir(), 'editd-screenshots-'))
  const root = join(folder, 'root')
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, 'src/server.js'), SERVER)
  writeFileSync(join(root, 'README.md'), README)
  mkdirSync(DOCS, { recursive: true })
  const server = await startBare(root, join(folder, 'state'), '--log-level', 'silent')
  const browser = await launch()
  try {
    for (const [agent, reason, path, old_text, new_text] of EDITS) {
      const headers = { 'editd-agent': agent, 'editd-session': 'issue-20' }
      const { status, text } = await server.post('/edit', { path, old_text, new_text, reason }, headers)
      if (status !== 200) throw new Error(text)
    }
    const take = async (name: string, width: number, height: number, colorScheme: 'light' | 'dark', keys: string[]) => {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
      await page.goto(`${server.url}/#token=${TOKEN}`)
      await page.locator('.file', { hasText: 'server.js' }).first().click()
      await page.locator('.hunk').first().waitFor()
      await page.locator('.live.is-live').waitFor()
      for (const key of keys) await page.keyboard.press(key)
      if (keys.includes('f')) await page.locator('.blame').waitFor()
      const path = join(DOCS, name)
      await page.screenshot({ path })
      const { size } = statSync(path)
      if (size > MOST) throw new Error(`${name} has ${size} bytes`)
      process.stdout.write(`${name}: ${size} bytes\n`)
      await page.close()
    }
    await take('review.png', 880, 540, 'light', [])
    await take('review-file.png', 880, 480, 'dark', ['f'])
    await take('review-narrow.png', 390, 700, 'light', [])
  } finally {
    await browser.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

await run()
