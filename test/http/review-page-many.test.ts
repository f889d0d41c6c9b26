// The review page in a real browser: a file of many hunks and a list of many edits are drawn as far as they are in sight.
import t from 'tap'
import { launchFor, skip } from './browser.ts'
import { opened, openFile, press, unexpected, until } from './review-in-browser.ts'
import { check } from './test-server.ts'

const HUNKS = 1000

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)
  const line = (i: number) => Array.from({ length: 12 }, (_, k) => `line ${i}.${k}\n`).join('')
  const text = Array.from({ length: HUNKS }, (_, i) => line(i)).join('')
  const { page, server, errors } = await opened(t, browser, { 'many.txt': text })
  const edits = Array.from({ length: HUNKS }, (_, i) => ({ old_text: `line ${i}.5\n`, new_text: `changed ${i}\n` }))
  await check(t, server, '/edit', { path: 'many.txt', edits, agent: 'ann' }, 200, {})
  await page.reload()
  await openFile(page, 'many.txt')
  await page.locator('.hunk', { hasText: 'changed 0' }).waitFor()
  const timed = async (what: string, script: string, done: string) => {
    await page.evaluate(`globalThis.start = performance.now(); ${script}`)
    await until(page, done)
    t.comment(`${what}: ${Math.round(Number(await page.evaluate('performance.now() - globalThis.start')))} ms`)
  }

  await t.test('draws hunks when they come in sight, and keeps one of them', async t => {
    t.equal(await page.locator('.hunk').count(), HUNKS)
    const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"))
    t.ok(nodes < 8000, `${nodes} elements`)
    await page.evaluate("document.querySelectorAll('.hunk')[500].scrollIntoView()")
    await page.locator('.hunk', { hasText: 'changed 500' }).waitFor()
    await page.locator('.hunk', { hasText: 'changed 500' }).focus()
    await timed(
      `to keep one of ${HUNKS} hunks`,
      "document.activeElement.querySelector('[data-shortcut=y]').click()",
      `document.querySelectorAll('.hunk').length === ${HUNKS - 1}`
    )
    await page.locator('.hunk', { hasText: 'changed 501' }).waitFor()
    await press(page, 'j', 'j')
    await until(page, '/changed 50\\d/.test(document.activeElement.textContent)')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('lists 5,000 edits', async t => {
    for (let i = 0; i < 50; i++) {
      const create = (_: unknown, k: number) => ({ operation: 'create', path: `made/${i}/${k}.txt`, content: 'x\n' })
      await check(t, server, '/batch', { operations: Array.from({ length: 100 }, create), agent: `a${i}` }, 200, {})
    }
    const start = performance.now()
    await page.goto(server.url)
    await page.locator('h1', { hasText: '5,003 edits' }).waitFor()
    t.comment(`the first list of 5,000 edits: ${Math.round(performance.now() - start)} ms`)
    t.comment(`${String(await page.evaluate("document.querySelectorAll('*').length"))} elements`)
    t.strictSame(unexpected(errors), [])
  })
})
