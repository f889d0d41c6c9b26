// A file read together with what is known of its changes, without a lock, on real files.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ok } from '../../src/result.ts'
import type { FileWithPast } from '../../src/workspace/api.ts'
import type { Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { append, makeFolders, OPTIONS, removeFolders, type Folders } from './support/open.ts'

async function fresh(t: Test, options: Partial<WorkspaceOptions> = {}): Promise<Folders & { workspace: Workspace }> {
  const folders = makeFolders()
  const workspace = await openWorkspace({
    ...OPTIONS,
    root: folders.root,
    stateDir: folders.state,
    history: 'full',
    ...options
  })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  writeFileSync(join(folders.root, 'a.txt'), 'a\n')
  return { ...folders, workspace }
}

const recall = (workspace: Workspace) =>
  workspace.recall({ path: 'a.txt' }, async ({ bytes, changes, ...file }: FileWithPast) =>
    ok({ ...file, text: bytes.toString(), ids: changes.map(({ edit_id }) => edit_id) })
  )

t.test('is given a file and the changes that end in it', async t => {
  const { workspace } = await fresh(t)
  const { ok: isDone, ...edited } = await workspace.edit({ path: 'a.txt' }, { dry_run: false }, append('b\n'))
  const { edit_id } = (edited as unknown as { value: { edit_id: string } }).value
  t.ok(isDone)
  t.match(await recall(workspace), { ok: true, value: { path: 'a.txt', text: 'a\nb\n', ids: [edit_id], verdicts: [] } })
})

t.test('gives up where the file is another one each time that it is read', async t => {
  const { workspace, root } = await fresh(t)
  await workspace.edit({ path: 'a.txt' }, { dry_run: false }, append('b\n'))
  const until = new AbortController()
  const saves = (async () => {
    for (let i = 0; !until.signal.aborted; i++) {
      writeFileSync(join(root, 'new.txt'), `${i}\n`)
      renameSync(join(root, 'new.txt'), join(root, 'a.txt'))
      await setImmediate()
    }
  })()
  const found = await recall(workspace)
  until.abort()
  await saves
  t.match(found, { ok: false, failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' }, path: 'a.txt' })
  t.match(await recall(workspace), { ok: true, value: { ids: [String, ''] } })
})

t.test('never takes an edit for a change by another program', async t => {
  const { workspace } = await fresh(t)
  const until = new AbortController()
  const edits = (async () => {
    for (let i = 0; !until.signal.aborted; i++) {
      await workspace.edit({ path: 'a.txt' }, { dry_run: false }, append(`${i}\n`))
    }
  })()
  for (let i = 0; i < 20; i++) {
    const found = await recall(workspace)
    t.match(found, { ok: true })
    if (!found.ok) continue
    const { ids, text } = found.value
    if (ids.includes('')) t.fail('a change by others')
    if (ids.length !== text.split('\n').length - 2) t.fail('the changes are those of another text')
  }
  until.abort()
  await edits
})

t.test('waits until there is memory for a large file, and reads no larger one', async t => {
  const { workspace, root } = await fresh(t, { maxFileSize: 3e6, lockTimeout: 50 })
  writeFileSync(join(root, 'a.txt'), Buffer.alloc(4e6, 'x\n'))
  t.match(await recall(workspace), { failure: { code: 'FILE_TOO_LARGE' } })
  writeFileSync(join(root, 'a.txt'), Buffer.alloc(2e6, 'x\n'))
  // More than the memory of 256 MB.
  const all = await Promise.all(
    Array.from({ length: 150 }, () =>
      workspace.recall({ path: 'a.txt' }, async () => {
        await new Promise(resolve => setTimeout(resolve, 200))
        return ok(null)
      })
    )
  )
  t.ok(all.some(done => done.ok))
  t.match(
    all.find(done => !done.ok),
    { failure: { code: 'NOT_READY', reason: 'large_files' } }
  )
})
