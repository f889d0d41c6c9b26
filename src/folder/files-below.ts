// The files in a folder, at every depth, for a change of all of them. Does not know the change.
import { isUtf8 } from 'node:buffer'
import { lstatSync, type OpenDirOptions } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { fail, ok } from '../result.ts'
import type { FailedAccess, FilesBelow } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { join } from '../workspace/path.ts'
import { TEMP_NAME } from '../workspace/temp-name.ts'
import { refusalOfType, type FileAccess } from './file-access.ts'
import type { Folder, Root } from './root/pin.ts'

/** No pattern has this name, so it is allowed only where every name is. */
const ANY_NAME = '\0'

// Names as bytes: Node supports this, but its types don't say so.
const AS_BYTES: object = { encoding: 'buffer' }

/** A folder at its real path; `path`: as the request names it. */
export interface FolderAt {
  path: string
  relative: Buffer
}

/**
 * Lists what is in a folder, see `Workspace.filesBelow`. To a caller who may not use every path below it, nothing is
 * revealed: PATH_NOT_ALLOWED. Throws the system's error, or Raced.
 */
export async function filesBelow(
  { root, files }: { root: Root; files: FileAccess },
  { path, relative }: FolderAt,
  most: number
): Promise<{ ok: true; value: FilesBelow } | FailedAccess<FileFailure>> {
  const refusal = refusalIn(files, join(relative, ANY_NAME), true)
  if (refusal !== null) return { ...fail(refusal), path }
  const found: Buffer[] = []
  const folders = [relative]
  // It grows meanwhile.
  for (const at of folders) {
    const folder = root.openFolder(at)
    try {
      const refused = await takeEntries(files, folder, { at, found, folders })
      if (refused !== null) return refused
    } finally {
      folder.close()
    }
  }
  const names = found.length > most ? [] : found.sort(Buffer.compare).map(name => name.toString())
  return ok({ path, total: found.length, files: names, folders })
}

/** Adds what is in the folder `at`. */
async function takeEntries(
  files: FileAccess,
  folder: Folder,
  { at, found, folders }: { at: Buffer; found: Buffer[]; folders: Buffer[] }
): Promise<FailedAccess<FileFailure> | null> {
  for await (const entry of await opendir(folder.at('.'), AS_BYTES as OpenDirOptions)) {
    const name = Buffer.from(entry.name)
    const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
    // A temp file goes when its change ends, or a sweep finds it.
    if (stat === undefined || TEMP_NAME.test(name.toString('latin1'))) continue
    const relative = join(at, name)
    const isFolder = stat.isDirectory()
    const refusal = refusalIn(files, relative, isFolder) ?? (isFolder ? null : refusalOfType(stat))
    if (refusal !== null) return { ...fail(refusal), path: relative.toString() }
    const list = isFolder ? folders : found
    list.push(relative)
  }
  return null
}

function refusalIn(files: FileAccess, relative: Buffer, isFolder: boolean): FileFailure | null {
  if (!isUtf8(relative)) return { code: 'INVALID_PATH', reason: 'not_utf8' }
  const refusal = files.refusal('edit', relative)
  const isOfExtension = refusal?.code === 'PATH_NOT_ALLOWED' && refusal.reason === 'extension'
  return isFolder && isOfExtension ? null : refusal
}
