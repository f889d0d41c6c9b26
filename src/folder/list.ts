// The entries of a folder in the order of their names, a page at a time, however many there are. Does not know
// policy: the caller says which entries to hide.
import { lstatSync, type OpenDirOptions } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { isUtf8 } from 'node:buffer'
import type { Entry, Entries, PageRequest } from '../workspace/api.ts'
import { Raced } from '../workspace/errno.ts'
import type { Folder } from './root/pin.ts'

/**
 * The sort key of a name, after which the next page continues. A UTF-8 name is its own key, so the order is that of
 * bytes. For others it is the name as shown, `/` (which no name contains) and the bytes in hex: so it sorts where it
 * seems to belong, and keys are unique.
 */
function keyOf(name: Buffer): Buffer {
  return isUtf8(name) ? name : Buffer.from(`${name.toString()}/${name.toString('hex')}`)
}

interface Found {
  key: Buffer
  name: Buffer
}
const byKey = (a: Found, b: Found): number => a.key.compare(b.key)

// Names as bytes: Node supports this, but its types don't say so.
const AS_BYTES: object = { encoding: 'buffer', bufferSize: 1024 }

/** Reads all names but keeps only those of the page. Throws the system's error, or Raced. */
export async function listFolder(
  folder: Folder,
  page: PageRequest,
  hidden: (name: Buffer, isFolder: boolean) => boolean
): Promise<Entries> {
  const { found, truncated } = await smallest(folder, page, hidden)
  const entries = found.flatMap(({ name }) => entryOf(folder, name) ?? [])
  if (!folder.inPlace()) throw new Raced('the folder was moved')
  const last = found.at(-1)
  return {
    entries,
    truncated,
    ...(truncated && last !== undefined && { next_entry: last.key.toString() }),
    ...(found.some(({ name }) => !isUtf8(name)) && { lossy: true as const })
  }
}

async function smallest(
  folder: Folder,
  { after, limit }: PageRequest,
  hidden: (name: Buffer, isFolder: boolean) => boolean
): Promise<{ found: Found[]; truncated: boolean }> {
  const start = Buffer.from(after ?? '')
  let kept: Found[] = []
  let bound: Buffer | null = null
  let dropped = false
  const trim = (): void => {
    kept = kept.sort(byKey)
    if (kept.length <= limit) return
    dropped = true
    kept.length = limit
    bound = kept.at(-1)?.key ?? null
  }
  for await (const entry of await opendir(folder.at('.'), AS_BYTES as OpenDirOptions)) {
    const name = Buffer.from(entry.name)
    const key = keyOf(name)
    if (key.compare(start) <= 0 || hidden(name, entry.isDirectory())) continue
    if (bound !== null && key.compare(bound) > 0) continue
    kept.push({ key, name })
    if (kept.length >= 2 * limit + 1000) trim()
  }
  trim()
  return { found: kept, truncated: dropped }
}

/** Null: it has gone since. */
function entryOf(folder: Folder, name: Buffer): Entry | null {
  const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (stat === undefined) return null
  const type = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'other'
  return { name: name.toString(), type, ...(type === 'file' && { file_size: stat.size }) }
}
