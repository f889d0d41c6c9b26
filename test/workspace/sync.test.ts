// What a folder's fsync says when the file system has given up: row 23 of the threats, without chance.
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { syncFile, syncFolder } from '../../src/workspace/sync.ts'
import { canMount } from '../threats/row.ts'

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

for (const type of ['ext4', 'xfs']) {
  const skip = canMount && has('xfs_io') && has(`mkfs.${type}`) && spawnSync('losetup', ['-f']).status === 0 ? false : `needs loop devices, xfs_io and mkfs.${type}`
  t.test(`says that a rename isn’t on a disk that is gone (${type})`, { skip }, async t => {
    const base = mkdtempSync(join(tmpdir(), 'editd-sync-'))
    t.teardown(() => rmSync(base, { recursive: true }))
    const [image, folder] = [join(base, 'image'), join(base, 'folder')]
    mkdirSync(folder)
    execFileSync('truncate', ['-s', '320M', image])
    execFileSync(`mkfs.${type}`, ['-q', image])
    execFileSync('mount', ['-o', 'loop', image, folder])
    t.teardown(() => spawnSync('umount', ['-l', folder]))
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    t.teardown(() => { closeSync(fd) })
    await syncFolder(fd)
    writeFileSync(join(folder, 'temp'), 'new')
    const file = openSync(join(folder, 'temp'), 'r')
    await syncFile(file)
    closeSync(file)
    renameSync(join(folder, 'temp'), join(folder, 'file'))
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', folder])
    await t.rejects(syncFolder(fd), { code: 'EIO' })
  })
}

t.test('syncs where nothing is wrong', async t => {
  const fd = openSync(t.testdir({ file: '' }), constants.O_RDONLY | constants.O_DIRECTORY)
  t.teardown(() => { closeSync(fd) })
  await syncFolder(fd)
})
