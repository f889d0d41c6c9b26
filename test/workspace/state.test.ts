// The state folder: its secret. What else is in it, those test who use it.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openState } from '../../src/workspace/state.ts'
import { testFolder } from '../folder.ts'

t.test('reads the secret that it made, and makes none where something that can’t be read stands', async t => {
  const base = testFolder(t)
  const made = openState(join(base, 'new')).secret
  t.equal(made.length, 32)
  t.strictSame(openState(join(base, 'new')).secret, made)
  mkdirSync(join(base, 'linked'), { mode: 0o700 })
  symlinkSync('nowhere', join(base, 'linked/secret'))
  t.throws(() => openState(join(base, 'linked')), { message: /ENOENT/ })
})
