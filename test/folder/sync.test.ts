// What a folder's fsync says when the file system has given up: row 23 of docs/threats.md, without chance.
import { closeSync, constants, fstatSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DiskCalls } from '../../src/folder/root/disk-calls.ts'
import { FolderSyncs, syncFile, syncFolder } from '../../src/folder/sync.ts'
import { testFolder } from '../folder.ts'
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
  const fd = openSync(testFolder(t, { file: '' }), constants.O_RDONLY | constants.O_DIRECTORY)
  t.teardown(() => {
    closeSync(fd)
  })
  await syncFolder(fd)
})

t.test('syncs a folder once for all who ask while it is being synced', async t => {
  const path = testFolder(t, { one: {}, two: {} })
  const [one, two] = ['one', 'two'].map(name => openSync(join(path, name), constants.O_RDONLY | constants.O_DIRECTORY))
  t.teardown(() => {
    closeSync(one!)
    closeSync(two!)
  })
  const stats = { one: fstatSync(one!, { bigint: true }), two: fstatSync(two!, { bigint: true }) }
  const syncs = new FolderSyncs(new DiskCalls())
  const first = syncs.sync(one!, stats.one)
  const second = syncs.sync(one!, stats.one)
  t.not(second, first, 'who comes later isn’t answered by one that has begun')
  t.equal(syncs.sync(one!, stats.one), second, 'but by the next, with all others who wait')
  const other = syncs.sync(two!, stats.two)
  t.not(other, second, 'another folder has syncs of its own')
  await Promise.all([first, second, other])
  const later = syncs.sync(one!, stats.one)
  t.not(later, second, 'and when nobody waits any more, one begins at once')
  await later
})

t.test('tells all who wait for a sync that it failed, and only them', async t => {
  const fd = openSync(testFolder(t), constants.O_RDONLY | constants.O_DIRECTORY)
  const stat = fstatSync(fd, { bigint: true })
  const syncs = new FolderSyncs(new DiskCalls())
  const first = syncs.sync(fd, stat)
  await first
  closeSync(fd)
  const failing = [syncs.sync(-1, stat), syncs.sync(-1, stat), syncs.sync(-1, stat)]
  for (const sync of failing) await t.rejects(sync, { code: 'ERR_OUT_OF_RANGE' })
  const again = openSync(testFolder(t), constants.O_RDONLY | constants.O_DIRECTORY)
  t.teardown(() => {
    closeSync(again)
  })
  await syncs.sync(again, stat)
})
