// Whether changes are told apart by their times, where editd says that they are: on this machine's file systems.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hasFineTimes } from '../../../src/folder/root/fine-times.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { readWhole } from '../../../src/folder/snapshot.ts'
import { testFolder } from '../../folder.ts'
import { often } from '../../often.ts'
import { hasLoop, loop } from '../support/machine.ts'

const file = join(testFolder(t, { file: 'text' }), 'file')
for (const [folder, why] of [
  [join(file, 'none'), 'below a file'],
  [file, 'a file'],
  [`${file}-none`, 'nothing'],
  ['/proc', 'where no file can be made']
] as const) {
  t.equal(hasFineTimes(folder), false, why)
}

/** On a folder of its own there: what `hasFineTimes` says of it is true, and what is written after a look is seen. */
function check(t: Test, place: string, fine: boolean | undefined): void {
  const folder = mkdtempSync(join(place, 'editd-fine-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const found = hasFineTimes(folder)
  if (fine !== undefined) t.equal(found, fine)

  if (fine !== false) {
    const skip = found
      ? false
      : 'two changes may have the same time here: Linux tells them apart from 6.13 on, on ext4, XFS, btrfs and tmpfs'
    t.test('gives each change after a look another time', { skip }, t => {
      const path = join(folder, 'changed')
      writeFileSync(path, 'text')
      const [looking, writing] = [openSync(path, 'r'), openSync(path, 'r+')]
      let alike = 0
      for (let i = 0; i < often(20_000); i++) {
        const before = fstatSync(looking, { bigint: true })
        if (i % 3 === 0) utimesSync(path, 1, 1)
        else writeSync(writing, 'x', 0)
        if (fstatSync(looking, { bigint: true }).ctimeNs === before.ctimeNs) alike++
      }
      closeSync(looking)
      closeSync(writing)
      t.equal(alike, 0)
      t.end()
    })
  }

  for (const confinement of [undefined, 'portable'] as const) {
    t.test(`sees what is written right after it was read (${confinement ?? 'proc'})`, async t => {
      const root = openRoot(folder, confinement)
      t.teardown(() => root.close())
      const path = join(folder, 'read')
      for (let i = 0; i < often(400); i++) {
        // Of the same size, and with the same time of its change as far as that can be set.
        writeFileSync(path, `old ${i % 10}`)
        utimesSync(path, 1, 1)
        const pinned = root.pin(Buffer.from('read'))
        if (!pinned.ok) return t.fail(pinned.failure.code)
        const read = await readWhole(pinned.value, 100)
        if (!read.ok) return t.fail(read.failure.code)
        const isChanged = i % 2 === 0
        if (isChanged) {
          writeFileSync(path, `new ${i % 10}`)
          utimesSync(path, 1, 1)
        }
        if (read.value.unchanged() === isChanged) t.fail(`${i}: ${isChanged ? 'changed' : 'unchanged'}`)
        read.value.close()
        pinned.value.close()
      }
      t.pass('each time')
    })
  }
}

for (const place of [tmpdir(), '/dev/shm'].filter(folder => existsSync(folder))) {
  t.test(place, t => {
    check(t, place, undefined)
    t.end()
  })
}

const noLoop = hasLoop('ext2') ? false : 'needs loop devices, mkfs.ext2 and xfs_io'
t.test('a file system whose clock ticks', { skip: noLoop }, t => {
  const base = mkdtempSync(join(tmpdir(), 'editd-ticks-'))
  t.teardown(() => rmSync(base, { recursive: true }))
  check(t, loop(t, base, 'ext2').mounted, false)
  t.end()
})
