// The review page in a real browser: what agents do over HTTP is seen, kept and taken back, with the mouse and by keys.
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { testFolder } from '../folder.ts'
import { start, type Running } from '../running.ts'
import { AXE, launchFor, skip, watch } from './browser.ts'
import { APP, editor, noticeShown, opened, openFile, press, unexpected, until } from './review-in-browser.ts'
import { bytesOf, startServer, TOKEN, type TestServer } from './test-server.ts'

/** What axe finds wrong with a page. */
interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)

  await t.test('asks for the token, and never sends it in a URL', async t => {
    const server = await startServer(t, { files: { 'app.js': APP } })
    await editor(server)('ann', '8080', '9090')
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const { errors, requests } = watch(page)
    await page.goto(server.url)
    await page.locator('#token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.locator('.token .warning').waitFor()
    await page.locator('#token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.locator('.file').first().waitFor()
    t.match(await page.locator('h1').innerText(), /^Since (?:\w{3} \d+, )?\d\d:\d\d: 1 agent, 1 file, 1 edit\.$/)
    await page.reload()
    await page.locator('.file').first().waitFor()
    await page.evaluate('sessionStorage.clear()')
    await page.goto(`${server.url}/review#token=${encodeURIComponent(TOKEN)}`)
    await page.reload()
    await page.locator('.file').first().waitFor()
    t.equal(page.url(), `${server.url}/review`, 'it is erased from the address')
    t.ok(requests.length > 10)
    t.strictSame([...new Set(requests.map(request => new URL(request.url()).host))], [`127.0.0.1:${server.port}`])
    t.notOk(
      requests.some(request => request.url().includes(TOKEN) || (request.headers().referer ?? '').includes(TOKEN))
    )
    t.strictSame(unexpected(errors), [])
    await page.close()
  })

  await t.test('takes back one hunk of one agent, and leaves the others', async t => {
    const { server, page, errors } = await opened(t, browser)
    await openFile(page, 'app.js')
    t.equal(await page.locator('.hunk').count(), 2)
    t.match(
      await page.locator('.hunk').first().innerText(),
      /ann[^]*ann says why[^]*−[^]*const port = 8080[^]*\+[^]*const port = 9090/
    )
    await page.getByRole('button', { name: 'Take back line 1 of app.js', exact: true }).click()
    await noticeShown(page, 'Took back line 1 of app.js.')
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen'))
    t.equal(await page.locator('.hunk').count(), 1)
    await page.getByRole('button', { name: 'Undo: took back line 1 of app.js' }).click()
    await noticeShown(page, 'Restored line 1 of app.js.')
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen').replace('8080', '9090'))
    t.equal(await page.locator('.hunk').count(), 2)
    t.strictSame(unexpected(errors), [])
  })

  await t.test('keeps a hunk, which then is no longer pending, and takes that back', async t => {
    const { server, page, errors } = await opened(t, browser)
    await openFile(page, 'app.js')
    const before = bytesOf(server, 'app.js')
    await page.getByRole('button', { name: 'Keep line 10 of app.js', exact: true }).click()
    await noticeShown(page, 'Kept line 10 of app.js.')
    t.equal(await page.locator('.hunk').count(), 1)
    t.equal(bytesOf(server, 'app.js'), before, 'nothing is written to the file')
    t.match(await page.locator('h1').innerText(), '1 agent, 1 file, 1 edit.')
    await press(page, 'z')
    await noticeShown(page, 'To be reviewed again: line 10 of app.js.')
    t.equal(await page.locator('.hunk').count(), 2)
    t.strictSame(unexpected(errors), [])
  })

  await t.test('undoes of a hunk that was restored no more than that', async t => {
    const { server, page } = await opened(t, browser, { 'b.js': 'one\n\n\n\n\n\n\n\n\ntwo\n' })
    const post = async (path: string, body: object) => (await server.call('POST', path, { body })).body
    const edits = [
      { old_text: 'one', new_text: 'eins' },
      { old_text: 'two', new_text: 'zwei' }
    ]
    const { edit_id } = await post('/edit', { path: 'b.js', edits })
    await post('/review', { verdict: 'keep', edit_id })
    await post('/undo', { changes: [{ edit_id, change_indexes: [1] }] })
    const [both, first] = ['zwei', 'two'].map(last => `eins\n\n\n\n\n\n\n\n\n${last}\n`)
    t.equal(bytesOf(server, 'b.js'), first)
    await press(page, 'n')
    await openFile(page, 'b.js')
    await page.getByRole('button', { name: 'Restore line 10 of b.js' }).click()
    await noticeShown(page, 'Restored line 10 of b.js.')
    t.equal(bytesOf(server, 'b.js'), both)
    await press(page, 'z')
    await noticeShown(page, 'Took back line 10 of b.js.')
    t.equal(bytesOf(server, 'b.js'), first)
  })

  await t.test('shows a conflict with both texts, and follows the way that is chosen', async t => {
    const { server, page, edit, errors } = await opened(t, browser)
    await edit('bob', 'const port = 9090', 'let port = 9090')
    await press(page, 'n')
    await openFile(page, 'app.js')
    const what = 'what ann did in line 1 of app.js'
    await page.getByRole('button', { name: `Take back ${what}`, exact: true }).click()
    const conflict = page.locator('.conflicts')
    await conflict.waitFor()
    t.match(await conflict.innerText(), /There now\s+let port = 9090\s+Would be restored\s+const port = 8080/)
    t.match(await page.locator('h1').innerText(), '1 needs you.')
    await conflict.getByRole('button', { name: /^Take back the later change too/ }).click()
    await page.locator('.conflicts').waitFor({ state: 'detached' })
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen'))
    t.strictSame(unexpected(errors), [])
  })

  await t.test('takes back a session, after it has shown what that does', async t => {
    const { server, page, edit } = await opened(t, browser, { 'b.js': 'one\n' })
    await edit('ann', 'one', 'two', 'b.js')
    await press(page, 'n')
    await page.getByRole('button', { name: 'Take back all 2 edits of ann, session ann-1' }).click()
    const dialog = page.locator('dialog')
    await dialog.waitFor()
    t.match(await dialog.innerText(), '2 files change, 1 other edit stays, no conflicts.')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    t.equal(bytesOf(server, 'b.js'), 'two\n', 'nothing was done')
    await page.getByRole('button', { name: 'Take back all 2 edits of ann, session ann-1' }).click()
    await dialog.locator('#note').fill('not what was asked for')
    await page.keyboard.press('Enter')
    await noticeShown(page, 'Took back 2 edits of ann, session ann-1.')
    t.equal(bytesOf(server, 'b.js'), 'one\n')
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen'))
    const { body } = await server.call('POST', '/history', { body: { limit: 1 } })
    t.match(body, { edits: [{ operation: 'undo', agent: 'reviewer', reason: 'not what was asked for' }] })
    await page.getByRole('button', { name: 'Taken back', exact: true }).click()
    await page.getByRole('button', { name: 'Restore all 2 edits of ann, session ann-1' }).click()
    await noticeShown(page, 'Restored 2 edits of ann, session ann-1.')
    t.equal(bytesOf(server, 'b.js'), 'two\n')
  })

  await t.test('does nothing to a file that was changed since it was shown', async t => {
    const { server, page, edit } = await opened(t, browser)
    await openFile(page, 'app.js')
    await edit('cem', "'localhost'", "'::1'")
    await page.getByRole('button', { name: 'Take back line 1 of app.js', exact: true }).click()
    await noticeShown(page, 'The file was changed meanwhile, so nothing was done.')
    t.match(bytesOf(server, 'app.js'), '9090')
    t.match(await page.locator('.hunk').first().innerText(), '::1')
  })

  await t.test('works by keys alone', async t => {
    const { server, page, edit, errors } = await opened(t, browser, { 'b.js': 'one\n' })
    await edit('ann', 'one', 'two', 'b.js')
    await press(page, 'n')
    await page.locator('.file', { hasText: 'b.js' }).waitFor()
    await press(page, 'J')
    await page.locator('.file-head', { hasText: 'b.js' }).waitFor()
    await press(page, 'J')
    await page.locator('.file-head', { hasText: 'app.js' }).waitFor()
    const label = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
    await until(page, 'document.activeElement.matches(".hunk")')
    t.match(await label(), 'Hunk 1 of 2')
    await press(page, 'j')
    t.equal(await label(), 'Hunk 2 of 2: line 10, by bob')
    await press(page, 'k', 'j', 'y')
    await noticeShown(page, 'Kept line 10')
    t.equal(await label(), 'Hunk 1 of 1: line 1, by ann', 'the focus goes to the next hunk')
    await press(page, 'u')
    await noticeShown(page, 'Took back line 1')
    t.match(bytesOf(server, 'app.js'), '8080')
    await press(page, 'z')
    await noticeShown(page, 'Restored line 1')
    await press(page, 's')
    await page.locator('.rows.side').first().waitFor()
    await press(page, 's', 'e')
    await page.locator('.edit').first().waitFor()
    await press(page, 'e')
    await page.locator('.hunk:not(.edit)').waitFor()
    await press(page, 'U')
    await page.locator('dialog').waitFor()
    await press(page, 'Enter')
    await noticeShown(page, "Took back ann's hunk in app.js")
    t.match(bytesOf(server, 'app.js'), '8080')
    await press(page, 'K')
    await page.locator('.file-head', { hasText: 'b.js' }).waitFor()
    await page.locator('.hunk').first().waitFor()
    await press(page, 'Y')
    await noticeShown(page, "Kept ann's hunk in b.js")
    t.match(await page.locator('#list').innerText(), 'All is reviewed.')
    await press(page, '/')
    await page.keyboard.type('jjuy?')
    t.equal(await page.locator('.notice', { hasText: "Kept ann's hunk" }).count(), 1, 'what is typed is no key')
    await press(page, 'Tab', '?')
    await page.locator('dialog').waitFor()
    await page.locator('#keys-on').click()
    await press(page, 'Escape', 'z')
    t.equal(await page.locator('.notice', { hasText: "Kept ann's hunk" }).count(), 1, 'the keys are off')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('shows a file over time, and goes back to a state of it', async t => {
    const { server, page, errors } = await opened(t, browser)
    await openFile(page, 'app.js')
    await press(page, 'f')
    const blame = page.locator('.blame')
    await blame.waitFor()
    t.match(
      await blame.innerText(),
      /ann (?:\w{3} \d+, )?\d\d:\d\d ann says why\s+1\s+const port = 9090\s+2\s+const host/
    )
    await page.locator('.point', { hasText: 'ann' }).click()
    await page.locator('.past', { hasText: 'after ann edited' }).waitFor()
    t.match(await blame.innerText(), /\slisten\(port, host\)/)
    t.notMatch(await blame.innerText(), 'await')
    await page.getByRole('button', { name: 'Go back to this state of app.js' }).click()
    await page.locator('dialog', { hasText: '1 file changes' }).waitFor()
    await press(page, 'Enter')
    await noticeShown(page, 'Went back to the state of app.js at ')
    t.equal(bytesOf(server, 'app.js'), APP.replace('8080', '9090'))
    await press(page, 'z')
    await noticeShown(page, 'Restored what came after the state of app.js at ')
    t.match(bytesOf(server, 'app.js'), 'await')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('goes back to the state that was shown, or to none', async t => {
    const { server, page, edit } = await opened(t, browser)
    await openFile(page, 'app.js')
    await press(page, 'f')
    await page.locator('.point', { hasText: 'ann' }).click()
    await page.getByRole('button', { name: 'Go back to this state of app.js' }).click()
    await page.locator('dialog').waitFor()
    await edit('cem', "'localhost'", "'::1'")
    await press(page, 'Enter')
    await noticeShown(page, 'The file was changed meanwhile, so nothing was done.')
    t.match(bytesOf(server, 'app.js'), '::1')
    await page.getByRole('button', { name: 'Go back to this state of app.js' }).waitFor({ state: 'detached' })
  })

  await t.test('offers what can be done where all of it is in conflict', async t => {
    const { server, page, edit } = await opened(t, browser)
    await edit('bob', 'const port = 9090', 'let port = 9191')
    await press(page, 'n')
    await openFile(page, 'app.js')
    await press(page, 'e')
    await page
      .locator('.edit', { hasText: 'ann' })
      .getByRole('button', { name: /^Take back an edit of ann/ })
      .click()
    const dialog = page.locator('dialog', { hasText: 'All of it is in conflict' })
    await dialog.getByRole('button', { name: /^Take back the later change too/ }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.notice').waitFor()
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen'))
  })

  await t.test('does once what is asked for twice', async t => {
    const { server, page } = await opened(t, browser)
    await openFile(page, 'app.js')
    await page.locator('.hunk').first().focus()
    await page.evaluate(
      "for (let i = 0; i < 3; i++) document.dispatchEvent(new KeyboardEvent('keydown', { key: 'u', bubbles: true }))"
    )
    await noticeShown(page, 'Took back line 1 of app.js.')
    t.equal(bytesOf(server, 'app.js'), APP.replace('listen', 'await listen'))
    t.equal(await page.locator('.notice', { hasText: 'changed meanwhile' }).count(), 0)
  })

  await t.test('follows again once it has the right token', async t => {
    const { page, edit } = await opened(t, browser)
    await page.locator('.live', { hasText: /^live$/ }).waitFor()
    await page.evaluate("sessionStorage.setItem('editd-token', 'wrong')")
    await page.reload()
    await page.locator('#token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.locator('.file').first().waitFor()
    await edit('cem', "'localhost'", "'::1'")
    await page.locator('#bar', { hasText: '1 new' }).waitFor()
  })

  await t.test('takes the token of an address that is opened in the same tab, and erases it', async t => {
    const { server, page } = await opened(t, browser)
    await page.evaluate("sessionStorage.setItem('editd-token', 'of a server before')")
    await page.reload()
    await page.locator('#token').waitFor()
    await page.goto(`${server.url}/#token=${TOKEN}`)
    await page.locator('.file').first().waitFor()
    t.equal(page.url(), `${server.url}/`)
  })

  await t.test('says what needs a person', async t => {
    const { server, page, edit } = await opened(t, browser, { '.env': 'A=1\n' })
    await edit('ann', 'A=1', 'A=2', '.env')
    writeFileSync(join(server.root, 'app.js'), bytesOf(server, 'app.js').replace('localhost', 'outside'))
    await edit('ann', '9090', '9191')
    await press(page, 'n')
    const needs = page.locator('.needs')
    await needs.locator('li', { hasText: 'Another program changed it, and not one of the agents.' }).waitFor()
    await needs.locator('li', { hasText: "Its texts aren't kept" }).waitFor()
    t.match(await page.locator('h1').innerText(), '2 need you.')
    await needs.getByRole('button', { name: 'Keep this change of .env' }).click()
    await noticeShown(page, 'Kept a change of .env.')
    t.match(await page.locator('h1').innerText(), '1 needs you.')
  })

  await t.test('keeps a batch as a whole, also what of it is not listed', async t => {
    const { server, page, edit } = await opened(t, browser, { 'a.js': 'one\n', 'b.js': 'one\n' })
    const operations = ['a.js', 'b.js'].map(path => ({ operation: 'edit', path, old_text: 'one', new_text: 'two' }))
    const headers = { 'editd-agent': 'cem' }
    t.equal((await server.call('POST', '/batch', { body: { operations }, headers })).status, 200)
    // So that only one of the batch's edits is among those that the list has.
    await server.call('POST', '/review', { body: { verdict: 'keep', path: 'b.js' } })
    for (let i = 0; i < 200; i++) await edit('dan', i === 0 ? 'const host' : `host${i}`, `host${i + 1}`)
    await page.reload()
    await openFile(page, 'a.js')
    await press(page, 'e')
    await page.locator('.edit', { hasText: 'One of 2 files that were changed together' }).waitFor()
    await page.getByRole('button', { name: 'Keep 1 of 2 files of a batch', exact: true }).click()
    await noticeShown(page, 'Kept 1 of 2 files of a batch.')
    await page.getByRole('button', { name: 'Review again all 2 files of a batch', exact: true }).click()
    await noticeShown(page, 'To be reviewed again: 2 files of a batch.')
    const { body } = await server.call('POST', '/history', { body: { review: 'pending', agent: 'cem' } })
    t.match(body, { edits: [{ path: 'b.js' }, { path: 'a.js' }] })
    await page.getByRole('button', { name: 'Take back all 2 files of a batch', exact: true }).click()
    await page.locator('dialog', { hasText: '2 files change' }).waitFor()
    await press(page, 'Enter')
    await noticeShown(page, 'Took back 2 files of a batch.')
    t.strictSame([bytesOf(server, 'a.js'), bytesOf(server, 'b.js')], ['one\n', 'one\n'])
  })

  await t.test('shows what was moved and deleted, and takes it back', async t => {
    const files = { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\ntwo\n', 'gone.txt': 'going\n' }
    const { server, page, errors } = await opened(t, browser, files, 1280, {}, { allowDelete: true })
    mkdirSync(join(server.root, 'd'))
    for (const name of ['x', 'y']) writeFileSync(join(server.root, `d/${name}.txt`), `${name}\n`)
    const call = async (agent: string, route: string, body: object) => {
      const { status, text } = await server.call('POST', route, { body, headers: { 'editd-agent': agent } })
      t.equal(status, 200, text)
    }
    await call('mia', '/move', { path: 'a.txt', to: 'n/a.txt', reason: 'where it belongs' })
    const patch = '*** Update File: b.txt\n*** Move to: n/b.txt\n@@\n one\n-two\n+TWO'
    await call('pat', '/adapters/codex-apply-patch', { input: `*** Begin Patch\n${patch}\n*** End Patch` })
    await call('fay', '/move', { path: 'd', to: 'e' })
    await call('del', '/delete', { path: 'gone.txt' })
    await page.reload()
    /** Opens the row of a file, says what its edits are, and takes one back. */
    const check = async (path: string, row: RegExp, shown: RegExp, button: string, after: Record<string, string>) => {
      const file = page.locator('.file', { hasText: path }).first()
      await file.waitFor()
      t.match(await file.innerText(), row)
      await openFile(page, path)
      await page.locator('.hunk').first().waitFor()
      await press(page, 'e')
      await page.locator('.edit').first().waitFor()
      t.match(await page.locator('.edit').first().innerText(), shown)
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.locator('dialog').waitFor()
      await press(page, 'Enter')
      await noticeShown(page, `Took back ${button.replace(/^Take back (?:all )?/, '')}.`)
      for (const [path, text] of Object.entries(after)) t.equal(bytesOf(server, path), text)
    }
    await check(
      'n/a.txt',
      /Moved from a.txt: where it belongs/,
      /mia moved it from a.txt to n\/a.txt[^]*Its text stayed the same/,
      'Take back an edit of mia in n/a.txt',
      { 'a.txt': 'one\ntwo\n' }
    )
    await check(
      'n/b.txt',
      /Moved from b.txt/,
      /pat moved it from b.txt to n\/b.txt/,
      'Take back an edit of pat in n/b.txt',
      { 'b.txt': 'one\ntwo\n' }
    )
    await check(
      'e/y.txt',
      /Moved from d\/y.txt/,
      /fay moved it from d\/y.txt to e\/y.txt/,
      'Take back all 2 files of a batch',
      { 'd/x.txt': 'x\n', 'd/y.txt': 'y\n' }
    )
    await check('gone.txt', /gone.txt/, /del deleted it/, 'Take back an edit of del in gone.txt', {
      'gone.txt': 'going\n'
    })
    t.strictSame(unexpected(errors), [])
  })

  await t.test('says that the history cannot be written, as soon as it is so', async t => {
    const { server, page, edit, errors } = await opened(t, browser, {}, 1280, { heartbeat: 50 })
    const folder = join(server.stateDir, 'history')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    await edit('cem', "'localhost'", "'::1'")
    const warning = page.locator('#bar', { hasText: 'The history cannot be written' })
    await warning.waitFor()
    rmSync(folder)
    await edit('cem', "'::1'", "'::2'")
    await warning.waitFor({ state: 'detached' })
    t.strictSame(unexpected(errors), [])
  })

  await t.test('misses no edit that is made while the lists are read', async t => {
    // The list of what is pending, and that of all: both are read before the edit, and answered after its event.
    let reads = 0
    let answer = (): void => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const server: TestServer = await startServer(t, {
      files: { 'app.js': APP },
      replace: {
        async history(query) {
          const found = await server.opened.history(query)
          if (++reads === 2) {
            await edit('bob', '9090', '9191')
            await sleep(500)
            answer()
          }
          await answered
          return found
        }
      }
    })
    const edit = editor(server)
    await edit('ann', '8080', '9090')
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    await page.goto(`${server.url}/#token=${TOKEN}`)
    await page.locator('#bar', { hasText: '1 new' }).waitFor()
    t.equal(reads, 2)
  })

  await t.test('goes on where the server starts again, and reads all where its history is gone', async t => {
    const base = testFolder(t, { root: { 'app.js': APP } })
    const [root, state] = [join(base, 'root'), join(base, 'state')]
    const first = await start(root, state)
    const { port } = new URL(first.url)
    const edit = async ({ post }: Running, old_text: string, new_text: string, agent: string) =>
      t.equal((await post('/edit', { path: 'app.js', old_text, new_text, agent })).status, 200)
    await edit(first, '8080', '8081', 'ann')
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    await page.goto(`${first.url}/#token=a-token-for-tests`)
    await page.locator('.live', { hasText: /^live$/ }).waitFor()
    await first.stop()
    await page.locator('.live', { hasText: 'connecting' }).waitFor()
    const second = await start(root, state, '--port', port)
    await edit(second, '8081', '8082', 'bob')
    await page.locator('#bar', { hasText: '1 new' }).waitFor()
    await second.stop()
    rmSync(join(state, 'history'), { recursive: true })
    const third = await start(root, state, '--port', port)
    t.teardown(() => third.stop())
    await edit(third, '8082', '8083', 'cem')
    await page.locator('.session', { hasText: 'cem' }).waitFor()
    t.equal(await page.locator('.session').count(), 1, 'what was forgotten is no longer listed')
    t.equal(await page.locator('#bar').innerText(), '')
  })

  await t.test('shows what there is again once the server is back', async t => {
    const base = testFolder(t, { root: { 'app.js': APP } })
    const [root, state] = [join(base, 'root'), join(base, 'state')]
    const first = await start(root, state)
    const { port } = new URL(first.url)
    await first.post('/edit', { path: 'app.js', old_text: '8080', new_text: '8081', agent: 'ann' })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    await page.goto(`${first.url}/#token=a-token-for-tests`)
    await openFile(page, 'app.js')
    await first.stop()
    await page.locator('.live', { hasText: 'connecting' }).waitFor()
    await press(page, 'n')
    await page.locator('#main', { hasText: 'The server gives no answer.' }).waitFor()
    // Something in front of the server answers for it.
    const proxy = createServer((_, response) => {
      response.writeHead(502, { 'content-type': 'application/json' }).end('{"message":"Bad Gateway"}')
    })
    await once(proxy.listen(Number(port), '127.0.0.1'), 'listening')
    await page.getByRole('button', { name: 'Try again' }).click()
    await press(page, 'y')
    await page.locator('#main', { hasText: 'The server gives no answer.' }).waitFor()
    t.equal(await page.locator('.notice').count(), 0, 'nothing is done to what is not shown')
    proxy.closeAllConnections()
    await once(proxy.close(), 'close')
    const second = await start(root, state, '--port', port)
    t.teardown(() => second.stop())
    await page.locator('.hunk', { hasText: '8081' }).waitFor()
  })

  await t.test('shows hostile names, reasons and texts as text', async t => {
    const name = '<img src=x onerror=alert(1)>\u202egnp.js'
    const { server, page, errors } = await opened(t, browser, { [name]: 'a\n' })
    const body = {
      path: name,
      old_text: 'a',
      new_text: '</script><script>document.title="hit"</script>\u200b\u202e\u0007\ud83d\ude00',
      agent: 'eve\u202e<b>\n',
      session: '\u2066s\u0001"',
      reason: '<svg onload=alert(1)>\r\nKeep'
    }
    const { status, text } = await server.call('POST', '/edit', { body })
    t.equal(status, 200, text)
    await press(page, 'n')
    await page.locator('.file', { hasText: '<img src=x onerror=alert(1)>U+202Egnp.js' }).click()
    await page.locator('.hunk', { hasText: '<script>document.title="hit"</script>U+200BU+202EU+0007😀' }).waitFor()
    t.match(await page.locator('.session', { hasText: 'eveU+202E<b>\\n' }).innerText(), 'U+2066sU+0001"')
    t.match(await page.locator('.hunk').innerText(), '<svg onload=alert(1)>\\r\\nKeep')
    await page
      .getByRole('button', { name: /^Keep line 1 of <img src=x onerror=alert\(1\)>\[U\+202E\]gnp\.js$/ })
      .click()
    await noticeShown(page, 'Kept line 1 of <img src=x onerror=alert(1)>U+202Egnp.js')
    t.equal(await page.locator('img, svg, main b').count(), 0)
    t.notMatch(await page.title(), 'hit')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('does not let text become HTML', async t => {
    const { page, errors } = await opened(t, browser)
    t.match(
      await page.evaluate(
        '(() => { try { document.body.innerHTML = "<p>" } catch (error) { return String(error) } })()'
      ),
      /TrustedHTML/
    )
    t.match(errors.join('\n'), /TrustedHTML/)
  })

  await t.test('lists a thousand edits', async t => {
    const { server, page, errors } = await opened(t, browser)
    for (let batch = 0; batch < 10; batch++) {
      const path = (i: number) => `made/${batch}/${i}.txt`
      const operations = Array.from({ length: 100 }, (_, i) => ({ operation: 'create', path: path(i), content: 'a\n' }))
      const headers = { 'editd-agent': `agent ${batch}` }
      t.equal((await server.call('POST', '/batch', { body: { operations }, headers })).status, 200)
    }
    await press(page, 'n')
    await page.locator('.session', { hasText: 'agent 9' }).waitFor()
    t.equal(await page.locator('.file').count(), 1002)
    t.match(await page.locator('h1').innerText(), /: 12 agents, 1,001 files, 1,002 edits\.$/)
    const OLDER = page.getByRole('button', { name: 'Load older edits' })
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await OLDER.waitFor()
    t.equal(await page.locator('.file').count(), 200)
    await page.evaluate("globalThis.sends = fetch; globalThis.fetch = () => Promise.reject(new Error('no way'))")
    await OLDER.click()
    await noticeShown(page, 'The server gives no answer.')
    await page.evaluate("document.querySelector('[data-key=older]').id = 'before'; globalThis.fetch = globalThis.sends")
    await page.locator('[data-key=older]:not(#before)').waitFor()
    await OLDER.click()
    await until(page, "document.querySelectorAll('.file').length === 400")
    await page.getByRole('button', { name: 'To review' }).click()
    await until(page, "document.querySelectorAll('.file').length === 1002")
    const took = await page.evaluate(
      '(async () => { const start = performance.now(); document.querySelector("[data-key=show-all]").click(); ' +
        'await new Promise(done => requestAnimationFrame(() => setTimeout(done))); return performance.now() - start })()'
    )
    t.comment(`drawing all of it took ${Math.round(Number(took))} ms`)
    t.strictSame(unexpected(errors), [])
  })

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 320]
  ] as const) {
    await t.test(`keeps nobody out, ${scheme} at ${width} px`, async t => {
      const { page, edit } = await opened(t, browser, {}, width)
      await page.emulateMedia({ colorScheme: scheme })
      await edit('bob', 'const port = 9090', 'let port = 9090')
      await press(page, 'n')
      const look = async (where: string) => {
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${where} is no wider`)
        await page.evaluate(readFileSync(AXE, 'utf8'))
        const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[]
        const found = violations
          .filter(({ impact }) => ['serious', 'critical'].includes(impact))
          .map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)])
        t.strictSame(found, [], where)
      }
      await look('the list')
      await openFile(page, 'app.js')
      await page.getByRole('button', { name: 'Take back what ann did in line 1 of app.js', exact: true }).click()
      await page.locator('.conflicts').waitFor()
      await look('a conflict')
      for (const [key, selector] of [
        ['e', '.edit'],
        ['f', '.blame'],
        ['?', 'dialog']
      ] as const) {
        await press(page, key)
        await page.locator(selector).first().waitFor()
        await look(selector)
      }
    })
  }
})
