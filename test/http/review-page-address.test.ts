// The review page in a real browser: what is shown has an address, and only what the token may do is offered.
import { join } from 'node:path'
import t from 'tap'
import { testFolder } from '../folder.ts'
import { start } from '../running.ts'
import { launchFor, skip, watch } from './browser.ts'
import { noticeShown, opened, openFile, press, serveTwo, unexpected, until } from './review-in-browser.ts'
import { TOKEN } from './test-server.ts'

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)

  await t.test('shows the same after a reload and in another tab, by its address, which has no token', async t => {
    const { page, errors } = await opened(t, browser)
    await page.locator('input[type=search]').fill('ann')
    await openFile(page, 'app.js')
    await press(page, 'e')
    await page.locator('.edit').first().waitFor()
    await press(page, 's', 'w')
    await page.locator('.edit', { hasText: 'ann' }).focus()
    await until(page, "location.hash.includes('hunk=edit-') && location.hash.includes('spaces=off')")
    const url = page.url()
    t.match(url, /\/#filter=ann&file=app\.js&view=edits&group=.*&hunk=edit-.*&side=on&spaces=off$/)
    t.notMatch(url, TOKEN)
    const shows = `({
      url: location.href,
      filter: document.querySelector('input[type=search]').value,
      edits: document.querySelectorAll('.edit').length,
      side: document.querySelectorAll('.rows.side').length > 0,
      pressed: [...document.querySelectorAll('[aria-pressed=true]')].map(one => one.textContent),
      hunk: document.activeElement.dataset.key
    })`
    const first = await page.evaluate(shows)
    t.match(first, { filter: 'ann', edits: 2, side: true, hunk: /^edit-/ })
    await page.reload()
    await until(page, "document.activeElement.matches('.edit')")
    t.strictSame(await page.evaluate(shows), first)
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const other = await context.newPage()
    watch(other)
    await other.goto(url)
    await other.locator('#token').fill(TOKEN)
    await press(other, 'Enter')
    await until(other, "document.activeElement.matches('.edit')")
    t.strictSame(await other.evaluate(shows), first)
    await other.close()
    t.strictSame(unexpected(errors), [])
  })

  for (const width of [1280, 390]) {
    await t.test(`goes back and forward, at ${width} px`, async t => {
      const { page, errors } = await opened(t, browser, {}, width)
      await openFile(page, 'app.js')
      await page.locator('.hunk:not(.edit)').first().waitFor()
      await page.getByRole('button', { name: 'Edit by edit' }).click()
      await page.locator('.edit').first().waitFor()
      await page.evaluate('history.back()')
      await page.locator('.hunk:not(.edit)').first().waitFor()
      await page.evaluate('history.back()')
      await page.locator('.file').first().waitFor()
      t.equal(await page.locator('.file-head').count(), 0)
      t.equal(await page.evaluate('location.hash'), '')
      await page.evaluate('history.forward()')
      await page.locator('.hunk:not(.edit)').first().waitFor()
      if (width === 390) {
        await page.getByRole('button', { name: 'Back to the list' }).click()
        await page.locator('.file').first().waitFor()
        await page.evaluate('history.forward()')
        await page.locator('.hunk').first().waitFor()
        t.pass('that button went back')
        await page.evaluate('history.back()')
        await page.locator('.file').first().waitFor()
      }
      if (width === 1280) {
        await page.getByRole('button', { name: 'All', exact: true }).click()
        await page.evaluate('history.back()')
        await page.locator('[data-key=show-pending][aria-pressed=true]').waitFor()
      }
      t.strictSame(unexpected(errors), [])
    })
  }

  await t.test('names the workspace in the address, and says where the token is for another one', async t => {
    const { url, post } = await serveTwo(t)
    await post('ants', '/edit', { path: 'a.txt', old_text: 'one', new_text: 'two', agent: 'ann' })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    const { errors } = watch(page)
    await page.goto(`${url}/#token=ants`)
    await openFile(page, 'a.txt')
    await until(page, "location.pathname === '/w/ants/review'")
    await page.reload()
    await page.locator('.hunk').waitFor()
    await page.evaluate("sessionStorage.setItem('editd-token', 'bees')")
    await page.reload()
    await page.locator('#main', { hasText: 'The token is not for the workspace of this address.' }).waitFor()
    await page.getByRole('button', { name: 'Use another token' }).click()
    await page.locator('#token').fill('ants')
    await press(page, 'Enter')
    await page.locator('.hunk').waitFor()
    t.strictSame(unexpected(errors), [])
  })

  await t.test('offers only what may be done, and says why', async t => {
    const check = async (url: string, token: string, why: string) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      const { errors } = watch(page)
      await page.goto(`${url}/#token=${token}`)
      await page.locator('.rights', { hasText: why }).waitFor()
      await openFile(page, 'a.txt')
      await page.locator('.hunk').waitFor()
      const buttons = () =>
        page.evaluate("[...document.querySelectorAll('main button, nav button')].map(one => one.ariaLabel)")
      const none = /keep|take back|go back|restore|review again/i
      t.notMatch(String(await buttons()), none)
      await press(page, 'Y')
      await noticeShown(page, why)
      await press(page, 'e')
      await page.locator('.edit').waitFor()
      t.notMatch(String(await buttons()), none)
      await press(page, 'f')
      await page.locator('.point').first().click()
      await page.locator('.past').waitFor()
      t.notMatch(String(await buttons()), none)
      t.strictSame(unexpected(errors), [])
      await page.close()
    }
    const { url, post } = await serveTwo(t)
    await post('ants', '/edit', { path: 'a.txt', old_text: 'one', new_text: 'two', agent: 'ann' })
    await check(url, 'looker', 'This token may only look')
    await check(url, 'worker', 'This token may edit, but not review')
    const base = testFolder(t, { root: { 'a.txt': 'one\n' } })
    const [root, state] = [join(base, 'root'), join(base, 'state')]
    const open = await start(root, state)
    await open.post('/edit', { path: 'a.txt', old_text: 'one', new_text: 'two', agent: 'ann' })
    await open.stop()
    const closed = await start(root, state, '--read-only')
    t.teardown(() => closed.stop())
    await check(closed.url, 'a-token-for-tests', 'The server is read-only')
  })
})
