// The review page in a real browser: the server filters, and what is to be reviewed is never left out.
import t from 'tap'
import { check } from './test-server.ts'
import { launchFor, skip } from './browser.ts'
import { opened, press, unexpected, until } from './review-in-browser.ts'

t.test('in a browser', { skip }, async t => {
  const browser = await launchFor(t)
  const { page, server, errors } = await opened(t, browser, { src: { 'old.ts': 'one\n' } } as never)
  const old = { path: 'src/old.ts', old_text: 'one', new_text: 'two', agent: 'claude', reason: 'the port' }
  await check(t, server, '/edit', old, 200, {})
  for (let i = 0; i < 12; i++) {
    const create = (_: unknown, k: number) => ({ operation: 'create', path: `busy/${i}-${k}.txt`, content: 'x\n' })
    await check(t, server, '/batch', { operations: Array.from({ length: 100 }, create), agent: 'busy' }, 200, {})
  }
  await page.reload()
  const summary = (text: string) => page.locator('h1', { hasText: text }).waitFor()
  await summary('1,203 edits')
  const search = page.locator('input[type=search]')

  await t.test('shows what fits, however old, and counts only that', async t => {
    for (const filter of ['agent:claude', 'path:src/** since:1h', 'PORT claude', 'path:src']) {
      await search.fill(filter)
      await summary('1 agent, 1 file, 1 edit.')
      t.strictSame(
        await page.evaluate("[...document.querySelectorAll('.file')].map(one => one.dataset.key.split(' ').at(-1))"),
        ['src/old.ts']
      )
    }
    await search.fill('agent:nobody')
    await page.locator('.empty', { hasText: 'No edit fits the filter.' }).waitFor()
  })

  await t.test('says what is wrong with a filter, and goes on when it is mended', async t => {
    await search.fill('since:yesterday')
    await page.locator('.warning', { hasText: 'since: takes an age such as 10m' }).waitFor()
    await until(page, "location.hash.includes('yesterday')")
    await page.reload()
    await page.locator('.warning', { hasText: 'since: takes an age such as 10m' }).waitFor()
    await search.fill('agent:ann')
    await summary('1 agent, 1 file, 1 edit.')
    await press(page, 'Escape')
    await search.fill('')
    await summary('1,203 edits')
    t.strictSame(unexpected(errors), [])
  })

  await t.test('finds what was kept or taken back behind newer edits', async t => {
    const { body } = await check(t, server, '/history', { agent: 'claude' }, 200, {})
    const [{ edit_id }] = body.edits as [{ edit_id: string }]
    await check(t, server, '/undo', { edit_id }, 200, {})
    await page.getByRole('button', { name: 'Taken back' }).click()
    await page.locator('.file', { hasText: 'src/old.ts' }).waitFor()
    await check(t, server, '/redo', { edit_id }, 200, {})
    await check(t, server, '/review', { edit_id, verdict: 'keep' }, 200, {})
    await page.getByRole('button', { name: 'Kept', exact: true }).click()
    await page.locator('.file', { hasText: 'src/old.ts' }).waitFor()
    t.strictSame(unexpected(errors), [])
  })
})
