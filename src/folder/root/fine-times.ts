// Tests whether a file system gives each change of a file a time of its own. Does not know which files there are.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Linux flag: opens a new file without a name, which is gone when it is closed. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY
/** How many changes are compared; the ones before only warm the caches. */
const CHANGES = 3
/**
 * In ns, the most between two changes: they take 10,000, and a clock that only ticks advances by 1,000,000 or more
 * (HZ=1000).
 */
const BETWEEN = 500_000n
/** How often to try, as something else may run meanwhile. */
const ATTEMPTS = 3

/**
 * Whether the file system of this folder gives a file a new time with each change, however soon after a look at it:
 * Linux does so since 6.13, on ext4, XFS, btrfs and tmpfs (multigrain timestamps). Tested with a file without a name.
 * False if that can't be made.
 */
export function hasFineTimes(folder: string): boolean {
  let fd: number
  try {
    fd = openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600)
  } catch {
    return false
  }
  try {
    return Array.from({ length: ATTEMPTS }).some(() => areFine(fd))
    /* c8 ignore next 3 -- only where the disk is full or broken */
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}

function areFine(fd: number): boolean {
  change(fd)
  let last = change(fd)
  for (let i = 0; i < CHANGES; i++) {
    const now = change(fd)
    if (now <= last || now - last > BETWEEN) return false
    last = now
  }
  return true
}

/** Changes the file; returns the time of that change in ns. */
function change(fd: number): bigint {
  writeSync(fd, 'x', 0)
  return fstatSync(fd, { bigint: true }).ctimeNs
}
