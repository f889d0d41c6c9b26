// What callers who may see only some files learn from their cursors: nothing.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sealCursor, unsealCursor } from '../../src/recording/sealed-cursor.ts'
import { become, makeFolders, open, REAL, removeFolders } from '../folder/support/open.ts'

const SECRET = Buffer.alloc(32, 1)

t.test('gives a cursor back that it sealed, and any other text as it is', async t => {
  for (const cursor of ['1.', '1.1-one.1-one-a', `1.${'2-two.'.repeat(60)}2-two-zz`]) {
    const sealed = sealCursor(cursor, SECRET)
    t.equal(unsealCursor(sealed, SECRET), cursor)
    t.match(sealed, /^2\.[\w-]+$/)
    t.not(sealCursor(cursor, SECRET), sealed)
    t.equal(sealed.length, sealCursor(cursor + 'x', SECRET).length)
    const changed = `${sealed.slice(0, 9)}${sealed[9] === 'A' ? 'B' : 'A'}${sealed.slice(10)}`
    for (const text of [cursor, changed, '2.', '2.AAAA', 'nonsense!']) t.equal(unsealCursor(text, SECRET), text)
    t.equal(unsealCursor(sealed, Buffer.alloc(32, 2)), sealed)
  }
})

t.test('gives limited callers cursors that work, and say nothing of other files', async t => {
  const folders = makeFolders()
  const workspace = await open(folders, { history: 'full' })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  for (const name of ['docs', 'secret']) mkdirSync(join(folders.root, name))
  const limited = workspace.limitedTo(['docs/**'])
  const create = (path: string, text: string) =>
    workspace.create({ path, overwrite: false, create_parents: false }, REAL, become(text))
  const changes = async (after?: string) => {
    const page = await limited.changes({ limit: 10, wait_ms: 0, ...(after !== undefined && { after }) })
    if (!page.ok) throw new Error(page.failure.code)
    return { paths: page.value.events.map(({ facts }) => facts.path.toString()), after: page.value.next_after }
  }
  const begin = await changes()
  await create('secret/a', 'x'.repeat(3000))
  const hidden = await changes(begin.after)
  t.strictSame(hidden.paths, [])
  await create('docs/a', 'one\n')
  const seen = await changes(hidden.after)
  t.strictSame(seen.paths, ['docs/a'])
  t.strictSame((await changes(seen.after)).paths, [])
  for (const { after } of [begin, hidden, seen]) t.match(after, /^2\./)
  t.equal(begin.after.length, hidden.after.length)
  const whole = await workspace.changes({ limit: 10, wait_ms: 0 })
  t.match(whole, { value: { next_after: /^1\./ } })
  t.match(await limited.changes({ limit: 10, wait_ms: 0, after: '2.nonsense' }), {
    failure: { code: 'INVALID_CURSOR' }
  })
})
