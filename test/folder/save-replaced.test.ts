// A program that saves the file between the last look at it and the rename.
import fs, { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ok } from '../../src/result.ts'
import type { FileHistory } from '../../src/workspace/api.ts'
import { append, makeFolders, open, REAL, removeFolders } from './support/open.ts'

/** Edits a.txt ("one\n") while `save` changes that file at the same moment. */
async function editedWhile(t: Test, save: (path: string, state: string) => void) {
  const folders = makeFolders()
  const events: string[] = []
  const workspace = await open(folders, { history: 'full', report: ({ event }) => events.push(event) })
  const path = join(folders.root, 'a.txt')
  writeFileSync(path, 'one\n')
  const real = fs.renameSync
  const restore = (): void => {
    fs.renameSync = real
    syncBuiltinESMExports()
  }
  t.teardown(async () => {
    restore()
    await workspace.close()
    removeFolders(folders)
  })
  fs.renameSync = (from, to) => {
    if (to.toString().endsWith('/a.txt')) {
      restore()
      save(path, folders.state)
    }
    real(from, to)
  }
  syncBuiltinESMExports()
  const done = await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  t.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
  return { workspace, done, events }
}

t.test('keeps what it replaced, which is no change of the file for those that come after', async t => {
  const { workspace, done, events } = await editedWhile(t, path => writeFileSync(path, 'saved\n'))
  t.match(done, { ok: true, value: { warnings: ['save_replaced'] } })
  t.strictSame(events, ['save_replaced'])
  const page = await workspace.history({ limit: 9, texts: true })
  t.match(page.ok && page.value.edits, [
    { state: 'uncertain', record: { operation: 'outside', splices: [{ insert: Buffer.from('saved') }] } },
    { state: 'applied', record: { operation: 'edit' } }
  ])
  const seen: FileHistory[] = []
  await workspace.edit({ path: 'a.txt' }, REAL, async (original, { history }) => {
    seen.push(await history())
    return ok({ pieces: [original, Buffer.from('three\n')], description: null })
  })
  t.strictSame(
    seen[0]?.records.map(({ operation }) => operation),
    ['edit']
  )
  t.equal(seen[0]?.changes.length, 1, 'nothing unknown lies between')
})

t.test('is done all the same where that is too large to be kept', async t => {
  const { workspace, done, events } = await editedWhile(t, path => truncateSync(path, 2 ** 42))
  t.match(done, { ok: true, value: { warnings: ['save_replaced'] } })
  t.strictSame(events, ['save_lost'])
  const page = await workspace.history({ limit: 9 })
  t.match(page.ok && page.value.edits, [{ state: 'applied', record: { operation: 'edit' } }])
})

t.test('is done all the same where the history can take no more', async t => {
  const { done, events } = await editedWhile(t, (path, state) => {
    writeFileSync(path, 'saved\n')
    rmSync(join(state, 'history'), { recursive: true })
    writeFileSync(join(state, 'history'), '')
  })
  t.match(done, { ok: true, value: { warnings: ['save_replaced'] } })
  t.ok(events.includes('unrecorded'), events.join())
})
