// What a folder's fsync says when the file system has given up: row 23 of docs/threats.md, without chance.
import { closeSync, constants, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { syncFile, syncFolder } from '../../src/workspace/sync.ts'
import { cutOff, hasLoop, loop } from './support/machine.ts'

for (const type of ['ext4', 'xfs'] as const) {
  const skip = hasLoop(type) ? false : `needs loop devices, mkfs.${type} and xfs_io`
  t.test(`reports that a rename isn’t on the disk if the disk is gone (${type})`, { skip }, async t => {
    const base = mkdtempSync(join(tmpdir(), 'editd-sync-'))
    t.teardown(() => rmSync(base, { recursive: true }))
    const { mounted: folder } = loop(t, base, type)
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    t.teardown(() => {
      closeSync(fd)
    })
    await syncFolder(fd)
    writeFileSync(join(folder, 'temp'), 'new')
    const file = openSync(join(folder, 'temp'), 'r')
    await syncFile(file)
    closeSync(file)
    renameSync(join(folder, 'temp'), join(folder, 'file'))
    cutOff(folder)
    await t.rejects(syncFolder(fd), { code: 'EIO' })
  })
}

t.test('syncs if nothing is wrong', async t => {
  const fd = openSync(t.testdir({ file: '' }), constants.O_RDONLY | constants.O_DIRECTORY)
  t.teardown(() => {
    closeSync(fd)
  })
  await syncFolder(fd)
})
