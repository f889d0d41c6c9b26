// Checks where the audit file may be: outside every root, so that no caller can edit it.
import { closeSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../error-code.ts'
import { NotAFile, openAuditFile } from './audit-file.ts'

/** Returns what is wrong with an audit file, as sentences; creates it if it is missing. `roots` may not exist yet. */
export function auditFaults(file: string, roots: readonly string[]): string[] {
  let folders
  try {
    folders = foldersAbove(realpathSync(dirname(file)))
  } catch (error) {
    return [`--audit "${file}" is in no folder that can be used: ${codeOf(error)}.`]
  }
  const inside = roots.find(root => {
    const is = statSync(root, { bigint: true, throwIfNoEntry: false })
    return is !== undefined && folders.some(({ dev, ino }) => dev === is.dev && ino === is.ino)
  })
  if (inside !== undefined) {
    return [`--audit "${file}" is in the root ${inside}, where it could be edited: name a file outside it.`]
  }
  try {
    closeSync(openAuditFile(file))
    return []
  } catch (error) {
    return [`--audit "${file}" can't be written: ${whyNot(error)}.`]
  }
}

function whyNot(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ELOOP') return 'it is a symbolic link'
  return error instanceof NotAFile || ['EISDIR', 'ENXIO'].includes(code) ? 'it is not a file' : code
}

/** This folder and its parents, by device and inode: a root may be mounted or linked in several places. */
const foldersAbove = (folder: string): { dev: bigint; ino: bigint }[] => [
  statSync(folder, { bigint: true }),
  ...(dirname(folder) === folder ? [] : foldersAbove(dirname(folder)))
]
