// What /changes and /history tell right after an edit was answered, at the server that made it and at the others. Does not
// know HTTP.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { often } from '../often.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { makeFolders, open, removeFolders } from '../folder/support/open.ts'
import { FILES, tellsOwnWrites } from '../folder/support/own-writes.ts'

for (const [what, options] of [
  ['one server', [{}]],
  ['two servers', [{}, {}]],
  ['three servers', [{}, {}, {}]]
] as const) {
  t.test(`law: an edit is told as soon as it is answered, in order, with ${what}`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    for (const name of FILES) writeFileSync(join(folders.root, name), '')
    const servers: Workspace[] = []
    for (const one of options) {
      const workspace = await open(folders, { history: 'full', ...one })
      servers.push(workspace)
      t.teardown(() => workspace.close())
    }
    await tellsOwnWrites(t, servers, often(200, 40, 15))
  })
}
