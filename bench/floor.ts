// The floor: the least that replacing a file can cost. Reads it, writes the same bytes beside it, renames; all
// synchronous.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export function floorEdit(path: string, synced: boolean): void {
  const temp = `${path}.tmp`
  const bytes = readFileSync(path)
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
