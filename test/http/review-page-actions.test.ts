// The review page in a real browser: on whose changes a press acts, and how it is undone.
import t from 'tap'
import { launchFor, skip } from './browser.ts'
import { opened, openFile, press, noticeShown, unexpected } from './review-in-browser.ts'
import { bytesOf } from './test-server.ts'

/** A file of 60 lines, each with its number. */
const LINES = Array.from({ length: 60 }, (_, i) => `line ${i + 1};\n`).join('')

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)

  /** `c.txt` with three hunks by claude and one by ann, each a line that was made upper case. */
  const openedMixed = async () => {
    const all = await opened(t, browser, { 'c.txt': LINES })
    const shout = (agent: string, line: number) => all.edit(agent, `line ${line};`, `LINE ${line};`, 'c.txt')
    await shout('ann', 50)
    for (const line of [10, 20, 30]) await shout('claude', line)
    await press(all.page, 'n')
    await all.page.locator('.session', { hasText: 'claude' }).waitFor()
    const upper = (...lines: number[]) =>
      lines.reduce((text, line) => text.replace(`line ${line};`, `LINE ${line};`), LINES)
    return { ...all, upper }
  }
  const button = (page: Awaited<ReturnType<typeof openedMixed>>['page'], name: string) =>
    page.getByRole('button', { name, exact: true })

  await t.test('takes back what the list shows of a file, and names it', async t => {
    const { server, page, errors, upper } = await openedMixed()
    await page.locator('.session', { hasText: 'claude' }).locator('.file').click()
    await page.locator('.hunk').first().waitFor()
    const names = await page.evaluate("[...document.querySelectorAll('.whole button')].map(one => one.textContent)")
    t.strictSame(names, [
      "Keep claude's 3 hunks",
      "Take back claude's 3 hunks",
      "Keep ann's hunk",
      "Take back ann's hunk",
      'Keep 4 hunks: claude 3, ann 1',
      'Take back 4 hunks: claude 3, ann 1'
    ])
    await press(page, 'U')
    await page.locator('dialog', { hasText: "Take back claude's 3 hunks in c.txt?" }).waitFor()
    await press(page, 'Enter')
    await noticeShown(page, "Took back claude's 3 hunks in c.txt.")
    t.equal(bytesOf(server, 'c.txt'), upper(50))
    await press(page, 'z')
    await noticeShown(page, "Restored claude's 3 hunks in c.txt.")
    t.equal(bytesOf(server, 'c.txt'), upper(10, 20, 30, 50))
    t.strictSame(unexpected(errors), [])
  })

  await t.test('follows the filter of the list, and offers all agents apart', async t => {
    const { server, page } = await openedMixed()
    await press(page, 'J')
    await page.locator('.file-head', { hasText: 'c.txt' }).waitFor()
    await button(page, 'Keep 4 hunks: claude 3, ann 1 in c.txt').waitFor()
    await page.locator('input[type=search]').fill('ann')
    await page.locator('.session', { hasText: 'claude-1' }).waitFor({ state: 'detached' })
    await button(page, 'Keep 4 hunks: claude 3, ann 1 in c.txt').waitFor()
    await page.locator('.hunk').first().focus()
    await press(page, 'Y')
    await noticeShown(page, "Kept ann's hunk in c.txt.")
    await button(page, "Keep claude's 3 hunks in c.txt").waitFor()
    await press(page, 'Y')
    await noticeShown(page, 'The list shows nothing of this file.')
    await page.locator('input[type=search]').fill('claude-1')
    await button(page, "Keep claude's 3 hunks in c.txt").click()
    await noticeShown(page, "Kept claude's 3 hunks in c.txt.")
    const { body } = await server.call('POST', '/history', { body: { review: 'pending' } })
    t.strictSame(
      (body.edits as { path: string }[]).map(({ path }) => path),
      ['app.js', 'app.js']
    )
  })

  await t.test('says of how many edits of a session a button is', async t => {
    const { server, page, edit } = await opened(t, browser, { 'b.js': 'one\n', 'c.js': 'one\n' })
    for (const path of ['b.js', 'c.js']) await edit('ann', 'one', 'two', path)
    await server.call('POST', '/review', { body: { verdict: 'keep', path: 'b.js' } })
    await page.reload()
    await openFile(page, 'app.js')
    await button(page, 'All').click()
    await button(page, 'Keep 2 of 3 edits of ann, session ann-1').click()
    await noticeShown(page, 'Kept 2 of 3 edits of ann, session ann-1.')
  })

  await t.test('undoes what was done to a whole session where it was done, without a time limit', async t => {
    const { server, page, edit, errors } = await opened(t, browser, { 'b.js': 'one\n' })
    await edit('ann', 'one', 'two', 'b.js')
    await press(page, 'n')
    const session = page.locator('.session', { hasText: 'ann-1' })
    await button(page, 'Keep all 2 edits of ann, session ann-1').click()
    const done = page.locator('#list .done', { hasText: 'Kept 2 edits of ann, session ann-1.' })
    await done.waitFor()
    await session.waitFor({ state: 'detached' })
    await button(page, 'Close this message').click()
    await edit('ann', 'two', 'three', 'b.js')
    await press(page, 'n')
    await session.locator('.done').waitFor()
    await done.getByRole('button', { name: /^Undo here: / }).click()
    await noticeShown(page, 'To be reviewed again: 2 edits of ann, session ann-1.')
    await done.waitFor({ state: 'detached' })
    await button(page, 'Take back all 3 edits of ann, session ann-1').click()
    await page.locator('dialog').waitFor()
    await press(page, 'Enter')
    await page.locator('#list .done', { hasText: 'Took back 3 edits' }).waitFor()
    t.equal(bytesOf(server, 'b.js'), 'one\n')
    await page
      .locator('#list .done')
      .getByRole('button', { name: /^Hide / })
      .click()
    await page.locator('#list .done').waitFor({ state: 'detached' })
    await press(page, 'z')
    await noticeShown(page, 'Restored 3 edits of ann, session ann-1.')
    t.equal(bytesOf(server, 'b.js'), 'three\n')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('undoes what was done to much of a file in that file', async t => {
    const { server, page, upper } = await openedMixed()
    await page.locator('.session', { hasText: 'claude' }).locator('.file').click()
    await button(page, "Take back claude's 3 hunks in c.txt").click()
    await page.locator('dialog').waitFor()
    await press(page, 'Enter')
    const done = page.locator('#main .done')
    await done.waitFor()
    t.equal(bytesOf(server, 'c.txt'), upper(50))
    await button(page, "Keep ann's hunk in c.txt").click()
    await noticeShown(page, "Kept ann's hunk in c.txt.")
    await openFile(page, 'app.js')
    await done.waitFor({ state: 'detached' })
    await button(page, 'Taken back').click()
    await openFile(page, 'c.txt')
    await done.getByRole('button', { name: "Undo here: took back claude's 3 hunks in c.txt" }).click()
    await noticeShown(page, "Restored claude's 3 hunks in c.txt.")
    t.equal(bytesOf(server, 'c.txt'), upper(10, 20, 30, 50))
  })

  await t.test('shows a conflict of going back on a take-back in a dialog, without ids or routes', async t => {
    const { server, page, edit, errors } = await opened(t, browser)
    await openFile(page, 'app.js')
    await button(page, 'Take back line 1 of app.js').click()
    await noticeShown(page, 'Took back line 1 of app.js.')
    await edit('bob', 'const port = 8080', 'let port = 8080')
    const conflict = page.locator('dialog .conflicts')
    const words = /[0-9A-Z]{26}|suggested_fixes|\/edit|\/redo|\/undo|edit_ids?/
    const check = async () => {
      t.match(await conflict.innerText(), /There now\s+let port = 8080\s+Would be restored\s+const port = 9090/)
      t.notMatch(await page.locator('body').innerText(), words)
      const names =
        "[...document.querySelectorAll('[aria-label], [title]')].map(one => one.ariaLabel + one.title).join()"
      t.notMatch(await page.evaluate(names), words)
    }
    await press(page, 'z')
    await check()
    await button(page, 'Cancel').click()
    await button(page, 'Taken back').click()
    await button(page, 'Restore 1 edit of ann, session ann-1').click()
    await check()
    await conflict.getByRole('button', { name: 'Make the change again over the later one' }).click()
    await noticeShown(page, 'Made the change again over the later one.')
    t.match(bytesOf(server, 'app.js'), /^const port = 9090\n/)
    await press(page, 'z')
    await noticeShown(page, 'Undone.')
    t.match(bytesOf(server, 'app.js'), /^let port = 8080\n/)
    t.strictSame(unexpected(errors), [])
  })
})
