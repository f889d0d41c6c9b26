// The files in a folder, at every depth, for a change of all of them. Does not know the change.
import { isUtf8 } from 'node:buffer'
import { lstatSync, type OpenDirOptions } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { fail, ok } from '../result.ts'
import type { EarlierStep, FailedAccess, FilesBelow } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { isIn, join } from '../workspace/path.ts'
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

/** Real paths that the earlier steps make, and those that they remove, each with the step. */
export interface LeftBySteps {
  made: ReadonlySet<string>
  removed: ReadonlyMap<string, EarlierStep>
}

/** Finds what steps leave. A path that can't be used is left out: the step will fail. */
export function leftBy(files: FileAccess, steps: readonly EarlierStep[]): LeftBySteps {
  const made = new Set<string>()
  const removed = new Map<string, EarlierStep>()
  for (const step of steps) {
    const real = files.realPath(step.target.path)
    if (!real.ok || step.operation === 'edit') continue
    const path = real.value.toString('latin1')
    if (step.operation === 'create') made.add(path)
    else {
      made.delete(path)
      removed.set(path, step)
    }
  }
  return { made, removed }
}

/** What is found in a folder and those inside it. */
type Found = Pick<FilesBelow, 'folders' | 'blocked' | 'leaves'> & { names: Set<string> }

/**
 * Lists what is in a folder, see `Workspace.filesBelow`; `isThere`: false if only earlier steps make it. To a caller
 * who may not use every path below it, nothing is revealed: PATH_NOT_ALLOWED. Throws the system's error, or Raced.
 */
export async function filesBelow(
  { root, files }: { root: Root; files: FileAccess },
  { path, relative }: FolderAt,
  { most, left, isThere }: { most: number; left: LeftBySteps; isThere: boolean }
): Promise<{ ok: true; value: FilesBelow } | FailedAccess<FileFailure>> {
  const refusal = refusalIn(files, join(relative, ANY_NAME), true)
  if (refusal !== null) return { ...fail(refusal), path }
  const found: Found = { names: new Set(madeBelow(left, relative)), folders: [relative], blocked: null, leaves: null }
  // It grows meanwhile.
  for (const at of isThere ? found.folders : []) {
    const folder = root.openFolder(at)
    try {
      await takeEntries(files, folder, { at, left, found })
    } finally {
      folder.close()
    }
  }
  const { names, ...others } = found
  const paths = names.size > most ? [] : [...names].map(name => Buffer.from(name, 'latin1')).sort(Buffer.compare)
  return ok({ path, total: names.size, files: paths.map(name => name.toString()), ...others })
}

/** The files that the steps make below a real path. */
export const madeBelow = ({ made }: LeftBySteps, relative: Buffer): string[] =>
  [...made].filter(path => isIn(Buffer.from(path, 'latin1'), relative))

/** Adds what is in the folder `at`. */
async function takeEntries(
  files: FileAccess,
  folder: Folder,
  { at, left, found }: { at: Buffer; left: LeftBySteps; found: Found }
): Promise<void> {
  for await (const entry of await opendir(folder.at('.'), AS_BYTES as OpenDirOptions)) {
    const name = Buffer.from(entry.name)
    const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
    // A temp file goes when its change ends, or a sweep finds it.
    if (stat === undefined || TEMP_NAME.test(name.toString('latin1'))) continue
    const relative = join(at, name)
    const isFolder = stat.isDirectory()
    const key = relative.toString('latin1')
    const step = left.removed.get(key)
    const refusal = refusalIn(files, relative, isFolder) ?? (isFolder ? null : refusalOfType(stat))
    if (refusal !== null) found.blocked ??= { ...fail(refusal), path: relative.toString() }
    else if (isFolder) found.folders.push(relative)
    else if (step !== undefined) found.leaves = step
    else found.names.add(key)
  }
}

function refusalIn(files: FileAccess, relative: Buffer, isFolder: boolean): FileFailure | null {
  if (!isUtf8(relative)) return { code: 'INVALID_PATH', reason: 'not_utf8' }
  const refusal = files.refusal('edit', relative)
  const isOfExtension = refusal?.code === 'PATH_NOT_ALLOWED' && refusal.reason === 'extension'
  return isFolder && isOfExtension ? null : refusal
}
