// The review page in a real browser, while agents work: what comes in is told, in each tab, over one stream.
import t from 'tap'
import { launchFor, skip, watch, type Watched } from './browser.ts'
import { opened, openFile, press, unexpected } from './review-in-browser.ts'
import { TOKEN } from './test-server.ts'

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)

  await t.test('tells what comes in while it is open, and moves nothing until that is asked for', async t => {
    const { page, edit, errors } = await opened(t, browser)
    await page.locator('.live.is-live').waitFor()
    await openFile(page, 'app.js')
    await edit('cem', "'localhost'", "'::1'")
    await page.locator('.bar', { hasText: '1 new, 1 in this file' }).waitFor()
    t.equal(await page.locator('.hunk').count(), 2)
    t.equal(await page.locator('.session').count(), 2)
    await press(page, 'n')
    await page.locator('.session', { hasText: 'cem' }).waitFor()
    t.match(await page.locator('h1').innerText(), '3 agents, 1 file, 3 edits.')
    t.equal(await page.locator('.bar').innerText(), '')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('passes what comes in on to other tabs, over one stream', async t => {
    const { server, page, edit, requests } = await opened(t, browser)
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const tabs = [await context.newPage(), await context.newPage()]
    const seen = tabs.map(watch)
    for (const tab of tabs) {
      await tab.goto(`${server.url}/#token=${TOKEN}`)
      await tab.locator('.file').first().waitFor()
    }
    await page.locator('.live.is-live').waitFor()
    await tabs[1]!.locator('.live.is-live').waitFor()
    await edit('cem', "'localhost'", "'::1'")
    for (const tab of [page, ...tabs]) await tab.locator('.bar', { hasText: '1 new' }).waitFor()
    const streams = (all: Watched['requests']) => all.filter(request => request.url().endsWith('/events')).length
    t.equal(streams(requests), 1)
    t.equal(streams(seen.flatMap(({ requests }) => requests)), 1, 'two tabs of one browser')
    await tabs[0]!.close()
    await edit('cem', '9090', '9191')
    await tabs[1]!.locator('.bar', { hasText: '2 new' }).waitFor()
    await tabs[1]!.close()
  })
})
