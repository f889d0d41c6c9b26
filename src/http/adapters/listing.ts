// A directory as the text editors list it: two levels, with sizes, without hidden entries. Does not know how an entry is
// read.
import type { InspectOutcome } from '../../operations/operation.ts'
import { below } from '../answers/brief/text.ts'

/** Lists a page of a directory: `path` in our names, the entries after `after`. Undefined where that fails. */
export type ListDirectory = (path: string, after?: string) => Promise<InspectOutcome | undefined>

/** Lines of one listing: more than that is noise for a model. */
export const MAX_LISTED = 1000

const UNITS = ['B', 'K', 'M', 'G', 'T'] as const

/** Bytes as the vendor's tools show them: 0B, 512B, 1.5K. */
export function sizeShown(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const size = bytes / 1024 ** power
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${UNITS[power]}`
}

const isShown = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules'

const headOf = (shown: string): string =>
  below(
    `Here're the files and directories up to 2 levels deep in ${shown}, excluding hidden items and node_modules:`,
    `-\t${shown}`
  )

/** A directory that isn't there yet. */
export const emptyDirectory = headOf

/** A directory as a model is shown it; the arguments as of `listingOf`. */
export async function directoryShown(
  first: InspectOutcome,
  names: { path: string; shown: string },
  list: ListDirectory
): Promise<string> {
  return below(headOf(names.shown), ...(await listingOf(first, names, list)))
}

/**
 * The entries below a directory, two levels deep, each as `size⇥path`; a directory has `-` for its size and ends with
 * `/`. `first`: the first page of it; `shown`: its path as it is shown. What can't be read is left out, as are links
 * and special files; after 1,000 lines the rest is counted.
 */
export async function listingOf(
  first: InspectOutcome,
  { path, shown }: { path: string; shown: string },
  list: ListDirectory
): Promise<string[]> {
  const lines: string[] = []
  let more = 0
  const add = (line: string) => {
    if (lines.length < MAX_LISTED) lines.push(line)
    else more++
  }
  for await (const { name, type, file_size = 0 } of entriesOf(first, path, list)) {
    if (type === 'file') add(`${sizeShown(file_size)}\t${shown}/${name}`)
    if (type !== 'directory') continue
    add(`-\t${shown}/${name}/`)
    const inner = await list(`${path}/${name}`)
    if (inner === undefined) continue
    for await (const below of entriesOf(inner, `${path}/${name}`, list)) {
      if (below.type === 'file') add(`${sizeShown(below.file_size ?? 0)}\t${shown}/${name}/${below.name}`)
      else if (below.type === 'directory') add(`-\t${shown}/${name}/${below.name}/`)
    }
  }
  return more === 0 ? lines : [...lines, `and ${more} more; view a directory of these for its own list`]
}

/** The entries that are listed, page by page. */
async function* entriesOf(first: InspectOutcome, path: string, list: ListDirectory) {
  for (let page: InspectOutcome | undefined = first; page !== undefined;) {
    for (const entry of page.entries ?? []) if (isShown(entry.name)) yield entry
    page = page.next_entry === undefined ? undefined : await list(path, page.next_entry)
  }
}
