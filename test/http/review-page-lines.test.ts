// The lines of hunks on the review page, in a real browser: long lines, and changes of white space.
import t from 'tap'
import { launchFor, skip } from './browser.ts'
import { opened, openFile, press, noticeShown, unexpected } from './review-in-browser.ts'

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)

  await t.test('cuts a long line around each change, and opens it with a press', async t => {
    const words = Array.from({ length: 4000 }, (_, i) => `word${i}`)
    const { page, edit, errors } = await opened(t, browser, { 'min.js': `${words.join(' ')}\n` })
    await edit('ann', 'word1000 ', 'NEEDLE ', 'min.js')
    await edit('ann', 'word3000 ', 'PIN ', 'min.js')
    await press(page, 'n')
    await openFile(page, 'min.js')
    const added = page.locator('.hunk:not(.edit) .row.added')
    await added.waitFor()
    const marked = "[...document.querySelectorAll('.row.added .differs')].map(one => one.textContent)"
    t.strictSame(await page.evaluate(marked), ['NEEDLE', 'PIN'])
    t.match(await added.innerText(), / word2999 PIN word3001 /)
    t.notMatch(await added.innerText(), 'word2000')
    t.match(await page.locator('.row.removed').innerText(), / word2999 word3000 word3001 /)
    await press(page, 'e')
    t.match(await page.locator('.edit').first().innerText(), 'It has no diff of its own')
    await press(page, 'e')
    await added
      .getByRole('button', { name: /^Show [\d,]+ characters more$/ })
      .first()
      .click()
    t.match(await added.innerText(), 'word2000')
    t.equal(await added.locator('.cut').count(), 0)
    await press(page, 's')
    await page.locator('.rows.side').waitFor()
    t.match(await page.locator('.half.added').innerText(), 'word2000', 'it stays open')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('shows white space where it differs, and leaves it out if asked to', async t => {
    const text = 'if (x) {\n\ty()  \n}\n\n\n\n\n\n\n\n\n\nend\n'
    const { server, page, errors } = await opened(t, browser, { 'w.js': text })
    const call = async (body: object) => {
      const { status, text } = await server.call('POST', '/edit', { body, headers: { 'editd-agent': 'ann' } })
      t.equal(status, 200, text)
    }
    await call({ path: 'w.js', old_text: '\ty()  \n', new_text: '    y()\n' })
    await call({ path: 'w.js', old_text: 'end\n', new_text: 'END\n' })
    await page.reload()
    await openFile(page, 'w.js')
    const hunk = page.locator('.hunk').first()
    t.equal(await hunk.locator('.removed .tab').count(), 1)
    t.equal(await hunk.locator('.removed .space:not(.tab)').count(), 2, 'at the end')
    t.equal(await hunk.locator('.added .space').count(), 4)
    const symbol = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}'), '::before').content`)
    t.strictSame([await symbol('.space.tab'), await symbol('.added .space')], ['"→"', '"·"'])
    await press(page, 'w')
    await page.locator('.unshown', { hasText: '1 hunk with changes of white space only: left out.' }).waitFor()
    t.equal(await page.locator('.hunk').count(), 1)
    await press(page, 'Y')
    await noticeShown(page, "Kept ann's hunk in w.js.")
    await page.getByRole('button', { name: 'Show changes of white space' }).click()
    await page.locator('.hunk .tab').waitFor()
    t.match((await server.call('POST', '/pending', { body: { path: 'w.js' } })).body, { total_hunks: 1 })
    t.strictSame(unexpected(errors), [])
  })

  await t.test('shows line breaks and byte-order marks that differ', async t => {
    const { server, page, errors } = await opened(t, browser, { 'b.txt': 'one\r\ntwo\r\nthree\r\n' })
    const call = async (route: string, body: object) => {
      const { status, text } = await server.call('POST', route, { body, headers: { 'editd-agent': 'ann' } })
      t.equal(status, 200, text)
    }
    const { body } = await server.call('POST', '/inspect', { body: { path: 'b.txt' } })
    await call('/create', {
      path: 'b.txt',
      content: '\ufeffone\ntwo\r\nthree\r\n',
      overwrite: true,
      line_endings: 'exact',
      expected_hash: body.file_hash
    })
    await page.reload()
    await openFile(page, 'b.txt')
    const text = async (selector: string) => (await page.locator(selector).first().innerText()).replaceAll(/\s+/g, ' ')
    t.match(await text('.hunk .removed'), /one ?CRLF/)
    t.match(await text('.hunk .added'), /U\+FEFF ?one ?LF/)
    t.strictSame(unexpected(errors), [])
  })

  await t.test('keeps the head of a long hunk in sight, and says when it was made', async t => {
    const { page, edit, errors } = await opened(t, browser, { 'long.txt': 'one\n' })
    await edit('ann', 'one\n', Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(''), 'long.txt')
    await press(page, 'n')
    await openFile(page, 'long.txt')
    const head = page.locator('.hunk > header')
    await head.waitFor()
    t.match(await head.locator('time').innerText(), /^(?:just now|\d min ago)$/)
    t.match(await page.evaluate("document.querySelector('.hunk time').title"), /\d\d:\d\d/)
    await page.evaluate("document.querySelectorAll('.row.added')[60].scrollIntoView({ block: 'center' })")
    const between = await page.evaluate(
      "document.querySelector('.hunk > header').getBoundingClientRect().top - " +
        "document.querySelector('.file-head').getBoundingClientRect().bottom"
    )
    t.ok(Math.abs(Number(between)) <= 1, `it is right below that of the file: ${String(between)}`)
    t.match(await page.title(), /^\(3\) /)
    t.equal(await page.locator('.hunk.is-current').count(), 1)
    await page.locator('input[type=search]').focus()
    await press(page, 'Escape')
    t.equal(await page.evaluate('document.activeElement.id'), 'main')
    await page.evaluate('navigator.clipboard.writeText = async text => { globalThis.copied = text }')
    await page.getByRole('button', { name: 'Copy path long.txt' }).click()
    await noticeShown(page, 'Copied long.txt.')
    t.equal(await page.evaluate('copied'), 'long.txt')
    t.strictSame(unexpected(errors), [])
  })
})
