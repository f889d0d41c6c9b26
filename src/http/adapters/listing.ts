// Lists a directory as the vendors' text editors do: two levels, with sizes, without hidden entries. Does not know how
// an entry is read.
import type { InspectOutcome } from '../../operations/operation.ts'
import { below } from '../answers/brief/layout.ts'

/** Lists a page of a directory: `path` in our names, the entries after `after`. Returns undefined on failure. */
export type ListDirectory = (path: string, after?: string) => Promise<InspectOutcome | undefined>

/** The most lines in one listing: more would be noise for a model. */
const MAX_LISTED = 1000
const MORE = `Only the first ${MAX_LISTED} are listed; view a directory below this one for its own list.`

const UNITS = ['B', 'K', 'M', 'G', 'T'] as const

/** Bytes as the vendor's tools show them: 0B, 512B, 1.5K. */
function sizeShown(bytes: number): string {
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

/** The listing of a directory that doesn't exist yet. */
export const emptyDirectory = headOf

/**
 * The listing of a directory for a model: the entries below it, two levels deep, each as `size⇥path`; a directory has
 * `-` for its size and ends with `/`, a link is marked as one and isn't followed. `first`: the first page of its
 * entries; `shown`: its path as shown. Leaves out special files and what can't be read. Stops after 1,000 lines and says
 * that there is more.
 */
export async function directoryShown(
  first: InspectOutcome,
  { path, shown }: { path: string; shown: string },
  list: ListDirectory
): Promise<string> {
  const lines: string[] = []
  for await (const line of linesOf(first, { path, shown }, list)) {
    if (lines.length === MAX_LISTED) return below(headOf(shown), ...lines, MORE)
    lines.push(line)
  }
  return below(headOf(shown), ...lines)
}

async function* linesOf(
  first: InspectOutcome,
  { path, shown }: { path: string; shown: string },
  list: ListDirectory
): AsyncGenerator<string> {
  for await (const { name, type, file_size } of entriesOf(first, path, list)) {
    const line = lineOf(type, `${shown}/${name}`, file_size)
    if (line !== undefined) yield line
    if (type !== 'directory') continue
    const inner = await list(`${path}/${name}`)
    if (inner === undefined) continue
    for await (const below of entriesOf(inner, `${path}/${name}`, list)) {
      const line = lineOf(below.type, `${shown}/${name}/${below.name}`, below.file_size)
      if (line !== undefined) yield line
    }
  }
}

function lineOf(type: string, shown: string, file_size = 0): string | undefined {
  if (type === 'directory') return `-\t${shown}/`
  if (type === 'symlink') return `-\t${shown} (link)`
  return type === 'file' ? `${sizeShown(file_size)}\t${shown}` : undefined
}

/** The entries to list, page by page. */
async function* entriesOf(first: InspectOutcome, path: string, list: ListDirectory) {
  for (let page: InspectOutcome | undefined = first; page !== undefined;) {
    for (const entry of page.entries ?? []) if (isShown(entry.name)) yield entry
    page = page.next_entry === undefined ? undefined : await list(path, page.next_entry)
  }
}
