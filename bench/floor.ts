// The floor: the least that replacing a file can cost. Reads it, writes the same bytes beside it, renames; all
// synchronous.
import { closeSync, fsync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const fsyncLater = promisify(fsync)

/** `change` makes the new bytes of the old. */
export function floorEdit(path: string, synced: boolean, change: (bytes: Buffer) => Buffer = bytes => bytes): void {
  const temp = `${path}.tmp`
  const bytes = change(readFileSync(path))
  if (!synced) writeFileSync(temp, bytes)
  else {
    const fd = openSync(temp, 'w')
    writeFileSync(fd, bytes)
    fsyncSync(fd)
    closeSync(fd)
  }
  renameSync(temp, path)
  if (!synced) return
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** Synced as a server should: other requests go on meanwhile. */
export async function floorEditSynced(path: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const temp = `${path}.tmp`
  const fd = openSync(temp, 'w')
  try {
    writeFileSync(fd, change(readFileSync(path)))
    await fsyncLater(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(temp, path)
  const folder = openSync(dirname(path), 'r')
  try {
    await fsyncLater(folder)
  } finally {
    closeSync(folder)
  }
}
