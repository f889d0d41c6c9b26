// A write whose hashing fails at the same time: the caller gets the error, the file stays as it was, and the process
// goes on. Row 45 of docs/threats.md has the reads.
// runs in .ci/run
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import t from 'tap'
import { ONLY_CI } from '../../often.ts'
import { ok } from '../../../src/result.ts'
import type { Planner } from '../../../src/workspace/api.ts'
import { append, makeFolders, open, REAL, removeFolders } from '../support/open.ts'

const MIB = 1 << 20

/** A plan with a piece that can be written but not hashed, which shows while what comes before it is being written. */
const gone = (): Planner<null, never> => () => {
  const unhashable = Object.assign(Buffer.allocUnsafeSlow(MIB), {
    subarray() {
      throw new TypeError('gone')
    }
  })
  return ok({ pieces: [Buffer.allocUnsafeSlow(64 * MIB), unhashable], description: null })
}

t.test('answers a request whose digest fails while its bytes are written', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  const workspace = await open(folders, { maxFileSize: 200e6 })
  const unheard: unknown[] = []
  const hear = (error: unknown) => {
    unheard.push(error)
  }
  process.on('unhandledRejection', hear)
  t.teardown(() => process.off('unhandledRejection', hear))
  writeFileSync(join(folders.root, 'a'), 'a')
  await t.rejects(workspace.edit({ path: 'a' }, REAL, gone()), TypeError)
  await t.rejects(workspace.create({ path: 'b', overwrite: false, create_parents: true }, REAL, gone()), TypeError)
  await yieldToOthers()
  t.strictSame(unheard, [])
  t.strictSame(readdirSync(folders.root), ['a'])
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'a')
  t.match(await workspace.edit({ path: 'a' }, REAL, append('b')), { ok: true })
  await workspace.close()
  removeFolders(folders)
})
