// A new file where the file system has no hard links and then fails; what else commitNew does is in create.test.ts and
// linkless.test.ts.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { commitNew } from '../../../src/folder/commit/commit-new.ts'
import { Intents } from '../../../src/folder/commit/intents.ts'
import { thisOwner } from '../../../src/folder/locks/owner.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { makeFolders, ownLock, removeFolders, unrecorded } from '../support/open.ts'

/** On another file system: neither a link nor a rename leads there. */
const OTHER = '/dev/shm'
const ELSEWHERE = Buffer.from(`${OTHER}/editd-${process.pid}`)
const skip = existsSync(OTHER) && statSync(OTHER).dev !== statSync(tmpdir()).dev ? false : `needs ${OTHER}`

t.test('gives the name back where the rename fails', { skip }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const root = openRoot(folders.root)
  const intents = new Intents(openState(folders.state).intents, thisOwner())
  t.teardown(() => {
    intents.close()
    root.close()
  })
  const { openFolder } = root
  Object.assign(root, {
    openFolder(path: Buffer) {
      const folder = openFolder.call(root, path)
      const at = folder.at.bind(folder)
      // The link and the rename lead elsewhere; what makes the empty file and removes it doesn't.
      const places = [ELSEWHERE, null, ELSEWHERE, null]
      folder.at = name => (String(name) === 'new' ? (places.shift() ?? at(name)) : at(name))
      return folder
    }
  })
  const context = { root, intents, durability: 'fast', lock: ownLock() } as const
  const absent = { code: 'MISSING', relative: Buffer.from('new'), folder: Buffer.from('') } as const
  await t.rejects(commitNew(context, absent, { pieces: [Buffer.from('text')], size: 4 }, unrecorded), { code: 'EXDEV' })
  t.strictSame(readdirSync(folders.root), [])
})
