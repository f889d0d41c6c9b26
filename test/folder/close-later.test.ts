// Descriptors are closed in another thread: all of them, and a caller that opens more can wait for that.
import { fstatSync, openSync } from 'node:fs'
import t from 'tap'
import { closeLater, untilFewAreClosing } from '../../src/folder/close-later.ts'

t.test('closes everything, and lets those wait who would have too many open', async t => {
  const fds = Array.from({ length: 200 }, () => openSync('/dev/null', 'r'))
  for (const fd of fds) closeLater(fd)
  const isOpen = (fd: number): boolean => {
    try {
      fstatSync(fd)
      return true
    } catch {
      return false
    }
  }
  await Promise.all([untilFewAreClosing(), untilFewAreClosing()])
  t.ok(fds.filter(isOpen).length < 100)
  await untilFewAreClosing()
  while (fds.some(isOpen)) await new Promise(resolve => setImmediate(resolve))
})
