// How files are got at where looking again fails. What else this does is shown by the tests of the workspace.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, ok } from '../../src/result.ts'
import type { FileFailure } from '../../src/workspace/failure.ts'
import { changeFile } from '../../src/change/change.ts'
import { FileAccess } from '../../src/folder/file-access.ts'
import { FolderStore, type FolderPlace, type FolderStoreOptions } from '../../src/folder/folder-store.ts'
import type { Snapshot } from '../../src/folder/snapshot.ts'
import { Locks } from '../../src/folder/locks/lock.ts'
import { PresentHashes } from '../../src/folder/present-hashes.ts'
import { makePolicy } from '../../src/workspace/policy.ts'
import { openRoot } from '../../src/folder/root/root.ts'
import { Running } from '../../src/workspace/running.ts'
import { makeFolders, OPTIONS, removeFolders } from './support/open.ts'

t.test('answers FILE_LOCKED without a hash where the file can’t be looked at again', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a'), 'text')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const locks = new Locks({
    root: null,
    secret: Buffer.from('secret'),
    timeout: 20,
    socket: false,
    files: null,
    fence() {}
  })
  const options = { ...OPTIONS, root: folders.root, stateDir: folders.state }
  const running = new Running()
  const files = new FileAccess({
    options,
    root,
    policy: makePolicy({ ...OPTIONS, stateDir: Buffer.from(folders.state) }),
    running,
    hashes: new PresentHashes(OPTIONS.maxFileSize),
    checkState: () => null
  })
  const unused = {} as Pick<FolderStoreOptions, 'recorder' | 'intents' | 'batches' | 'journal' | 'buffers'>
  const mayBeLeft = (): boolean => true
  const recover = async (): Promise<boolean> => true
  const store = new FolderStore({ ...unused, options, root, locks, files, running, mayBeLeft, recover })
  const held = await locks.acquire(Buffer.from('a'))
  const change = (): Promise<unknown> =>
    files.run<null, FileFailure>({ path: 'a' }, 'edit', asked =>
      changeFile<null, FileFailure, FolderPlace, Snapshot>(
        store,
        { operation: 'edit', target: { path: 'a' }, plan: () => fail({ code: 'PRECONDITION_REQUIRED' }) },
        asked,
        { dry_run: false }
      ).then(done => (done.ok ? ok(null) : done))
    )
  const locked = { ...fail({ code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 }), path: 'a' }
  t.match(await change(), { ...locked, file_hash: /^[0-9a-f]+$/ })

  const { pin } = root
  let calls = 0
  Object.assign(root, {
    pin(path: Buffer) {
      if (++calls > 1) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
      return pin.call(root, path)
    }
  })
  t.strictSame(await change(), locked)
  if (held.ok) await held.value.release()
})
