// The review page in a real browser while agents work: all tabs show new changes, over one stream.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { launchFor, skip, watch, type Watched } from './browser.ts'
import { opened, openFile, press, serveTwo, unexpected } from './review-in-browser.ts'
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

  await t.test('moves nothing while edits come in, and keeps what is read where it is when they are shown', async t => {
    const lines = (word: (line: number) => string) =>
      Array.from({ length: 200 }, (_, i) => `${word(i + 1)};\n`).join('')
    const { page, edit, errors } = await opened(t, browser, { 'c.txt': lines(line => `line ${line}`) })
    const shout = (agent: string, line: number) => edit(agent, `line ${line};`, `LINE ${line};`, 'c.txt')
    for (let line = 40; line <= 200; line += 20) await shout('ann', line)
    await press(page, 'n')
    await openFile(page, 'c.txt')
    await page.locator('.hunk').nth(8).waitFor()
    await page.locator('.live.is-live').waitFor()
    const placeOf = (text: string) =>
      page.evaluate(
        `Math.round([...document.querySelectorAll('.hunk')].find(one => one.textContent.includes('${text}')).getBoundingClientRect().top)`
      )
    await page.evaluate(
      "(() => { const hunks = document.querySelectorAll('.hunk'); hunks[4].scrollIntoView({ block: 'center' }) })()"
    )
    const before = await placeOf('LINE 120;')
    await page.evaluate(
      '(() => { globalThis.shifts = []; new PerformanceObserver(list => { for (const entry of list.getEntries()) ' +
        "shifts.push(entry.value) }).observe({ type: 'layout-shift' }) })()"
    )
    for (let i = 0; i < 40; i++) await edit('bob', i === 0 ? 'const host' : `host${i}`, `host${i + 1}`)
    for (const line of [5, 15, 25]) await shout('bob', line)
    await page.locator('#bar', { hasText: '43 new, 3 in this file' }).waitFor()
    await page.evaluate('new Promise(done => requestAnimationFrame(() => setTimeout(done)))')
    t.strictSame(await page.evaluate('shifts'), [])
    t.equal(await placeOf('LINE 120;'), before)
    await press(page, 'n')
    await page.locator('.hunk', { hasText: 'LINE 25;' }).waitFor()
    t.equal(await placeOf('LINE 120;'), before, 'three hunks above it are new')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('passes what comes in on to other tabs, over one stream', async t => {
    const { server, page, edit, requests } = await opened(t, browser)
    await page.locator('.live.is-live').waitFor()
    t.ok(requests.length <= 10, `a first look takes ${requests.length} requests`)
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

  await t.test('tells each tab what its own token may see, and follows anew with another one', async t => {
    const { url, post, takeAway } = await serveTwo(t)
    const edit = async (token: string, old_text: string, new_text: string) =>
      t.match(await post(token, '/edit', { path: 'a.txt', old_text, new_text, agent: token }), { changed: true })
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const open = async (token: string) => {
      await edit(token, 'one', 'two')
      const tab = await context.newPage()
      watch(tab)
      await tab.goto(`${url}/#token=${token}`)
      await tab.locator('.session', { hasText: token }).waitFor()
      return tab
    }
    const [ants, bees] = [await open('ants'), await open('bees')]
    await edit('bees', 'two', 'three')
    await bees.locator('#bar', { hasText: '1 new' }).waitFor()
    await edit('bees', 'three', 'four')
    await bees.locator('#bar', { hasText: '2 new' }).waitFor()
    t.equal(await ants.locator('#bar').innerText(), '')
    await edit('ants', 'two', 'three')
    await ants.locator('#bar', { hasText: '1 new' }).waitFor()
    t.equal(await bees.locator('#bar').innerText(), '2 new\nShow')

    takeAway('ants')
    await ants.locator('.live', { hasText: 'not live' }).waitFor()
    await ants.locator('#token').fill('bees')
    await press(ants, 'Enter')
    await ants.locator('.session', { hasText: 'bees' }).waitFor()
    await edit('bees', 'four', 'five')
    await ants.locator('#bar', { hasText: '1 new' }).waitFor()
  })

  await t.test('asks for another token wherever one is refused, and keeps what was typed', async t => {
    const { url, post, takeAway, giveBack } = await serveTwo(t)
    await post('ants', '/edit', { path: 'a.txt', old_text: 'one', new_text: 'two', agent: 'ann' })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    watch(page)
    await page.goto(`${url}/#token=ants`)
    await page.locator('input[type=search]').fill('a.txt')
    await openFile(page, 'a.txt')
    await press(page, 'U')
    await page.locator('#note').fill('not what was asked for')
    takeAway('ants')
    await page.locator('#token').waitFor()
    await page.locator('#token').fill('wrong')
    await press(page, 'Enter')
    await page.locator('.token .warning', { hasText: 'The server does not accept this token.' }).waitFor()
    giveBack()
    while ('code' in (await post('ants', '/history', {}))) await sleep(50)
    await page.locator('#token').fill('ants')
    await press(page, 'Enter')
    await page.locator('#token').waitFor({ state: 'detached' })
    await page.locator('.live.is-live').waitFor()
    await page.locator('dialog').getByRole('button', { name: 'Take back', exact: true }).click()
    await page.locator('.notice', { hasText: 'Took back' }).waitFor()
    t.equal(await page.evaluate("document.querySelector('input[type=search]').value"), 'a.txt')
    t.match(await post('ants', '/history', { limit: 1 }), {
      edits: [{ operation: 'undo', reason: 'not what was asked for' }]
    })
  })

  await t.test('is not live while calls fail, looks again by itself, and takes its message back', async t => {
    const { page, edit } = await opened(t, browser)
    await page.locator('.live.is-live').waitFor()
    await openFile(page, 'app.js')
    await page.evaluate(
      'globalThis.sends = fetch; globalThis.fetch = (url, ...more) => ' +
        "String(url).endsWith('/events') ? sends(url, ...more) : Promise.reject(new Error('no way'))"
    )
    await page.locator('.hunk').first().focus()
    await press(page, 'y')
    await page.locator('.notice', { hasText: 'The server gives no answer.' }).waitFor()
    await page.locator('.live', { hasText: 'connecting' }).waitFor()
    t.equal(await page.locator('.hunk').count(), 2, 'what was shown stays')
    await edit('cem', "'localhost'", "'::1'")
    await page.evaluate('globalThis.fetch = sends')
    await page.locator('.live.is-live').waitFor()
    await page.locator('.notice').waitFor({ state: 'detached' })
    await page.locator('.session', { hasText: 'cem' }).waitFor()
  })
})
