import { closeSync, mkdirSync, openSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Folder } from '../../../src/folder/root/pin.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { SharedFolders } from '../../../src/folder/root/shared-folders.ts'
import { testFolder } from '../../folder.ts'

const D = Buffer.from('d')

/** Real folders of a root, opened through `use`; `opened` and `closed` say how often that was really done. */
function sharing(t: Test) {
  const path = testFolder(t, { d: {}, e: {} })
  const root = openRoot(path)
  t.teardown(() => root.close())
  const shared = new SharedFolders()
  const counts = { opened: 0, closed: 0 }
  const use = (relative = D): Folder =>
    shared.use(relative, () => {
      const folder = root.openFolder(relative)
      counts.opened++
      return {
        ...folder,
        close: () => {
          counts.closed++
          folder.close()
        }
      }
    })
  return { path, use, counts }
}

t.test('opens a folder once for all who use it at the same time, and closes it with the last', async t => {
  const { use, counts } = sharing(t)
  const [one, two] = [use(), use()]
  const other = use(Buffer.from('e'))
  t.strictSame(counts, { opened: 2, closed: 0 })
  one.close()
  t.ok(two.inPlace(), 'the other can go on')
  closeSync(openSync(two.at('new'), 'w'))
  await two.sync()
  two.close()
  t.strictSame(counts, { opened: 2, closed: 1 })
  use().close()
  other.close()
  t.strictSame(counts, { opened: 3, closed: 3 }, 'who comes later opens it again')
})

t.test('opens it again where another has its place, or it was opened too long ago', async t => {
  const { path, use, counts } = sharing(t)
  const old = use()
  renameSync(join(path, 'd'), join(path, 'moved'))
  t.throws(() => use(), { code: 'ENOENT' })
  mkdirSync(join(path, 'd'))
  const now = use()
  t.not(now.stat.ino, old.stat.ino)
  old.close()
  use().close()
  t.strictSame(counts, { opened: 2, closed: 1 }, 'that the old one is closed is nothing to the new one')
  await sleep(120)
  const later = use()
  t.strictSame(counts, { opened: 3, closed: 1 })
  now.close()
  later.close()
  t.strictSame(counts, { opened: 3, closed: 3 })
})
