// Making files where the file system has no hard links, in a process for which link(2) is refused; and temp files that
// others remove.
import { existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { CreateTarget } from '../../../src/workspace/api.ts'
import { become, makeFolders, open, REAL, removeFolders } from '../support/open.ts'
import { build } from '../support/native.ts'

const folders = JSON.parse(process.env.LINKLESS ?? 'null') ?? makeFolders()
const target = (path: string): CreateTarget => ({ path, overwrite: false, create_parents: true })
const linkless = process.env.LINKLESS !== undefined
const how = linkless ? ' without links' : ''

t.test('makes files' + how, async t => {
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  const folder = join(folders.root, linkless ? 'without' : 'with')
  mkdirSync(folder)
  const check = async (
    path: string,
    text: string | Buffer,
    expected: object,
    left: string[],
    does = (): void => {}
  ): Promise<void> => {
    t.match(
      await workspace.create(target(join(folder, path)), REAL, (original, file) => {
        does()
        return become(text)(original, file)
      }),
      expected,
      path
    )
    t.strictSame(readdirSync(folder).sort(), left)
  }
  await check('new', 'text', { value: { created: true } }, ['new'])
  t.equal(readFileSync(join(folder, 'new'), 'utf8'), 'text')
  await check('taken', 'mine', { failure: { code: 'ALREADY_EXISTS' } }, ['new', 'taken'], () =>
    writeFileSync(join(folder, 'taken'), 'theirs')
  )
  t.equal(readFileSync(join(folder, 'taken'), 'utf8'), 'theirs')

  const timer = setInterval(() => {
    for (const name of readdirSync(folder)) if (name.endsWith('.tmp')) unlinkSync(join(folder, name))
  }, 0)
  await check(
    'removed',
    Buffer.alloc(30_000_000, 'x'),
    { failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } },
    ['new', 'taken']
  )
  clearInterval(timer)
})

if (linkless) {
  t.test('needs hard links in its state folder', async t => {
    await t.rejects(open({ ...folders, state: join(folders.base, 'another') }), { message: /^EPERM/ })
    t.notOk(existsSync(join(folders.base, 'another/secret')))
  })
} else {
  t.teardown(() => removeFolders(folders))
  const program = build('linkless')
  const arguments_ = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)]
  if (program === null) t.comment('needs Linux and a C compiler for the rest')
  else {
    t.spawn(
      program,
      arguments_,
      { env: { ...process.env, LINKLESS: JSON.stringify(folders) } },
      'the same for a process that can’t make links'
    )
  }
}
