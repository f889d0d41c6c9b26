// Writes a file of the state folder, whole or not at all. Does not know what is in it.
import { closeSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFile, syncFolder } from '../sync.ts'
import { writeAll } from '../snapshot.ts'

/** Writes the bytes to the file at `path`, synced if `durable`. Throws the system's error. */
export async function writeStateFile(path: string, bytes: Buffer, durable: boolean): Promise<void> {
  const fd = openSync(path, 'w', 0o600)
  try {
    await writeAll(fd, [bytes], bytes.length)
    if (durable) await syncFile(fd)
  } finally {
    closeSync(fd)
  }
}

/** Writes the bytes to `temp`, and renames that to `path`, so that nobody sees a partial file. */
export async function replaceStateFile(path: string, temp: string, bytes: Buffer, durable: boolean): Promise<void> {
  await writeStateFile(temp, bytes, durable)
  renameSync(temp, path)
  if (durable) await syncStateFolder(dirname(path))
}

/** Resolves when the names in the folder are on the disk. */
export async function syncStateFolder(folder: string): Promise<void> {
  const fd = openSync(folder, 'r')
  try {
    await syncFolder(fd)
  } finally {
    closeSync(fd)
  }
}
