// Removes the texts of a path's records where they are: each line is overwritten by one of the same length, so that other
// servers can go on appending. Does not know who asked for it.
import { join } from 'node:path'
import type { Blobs } from './blobs.ts'
import { readAt, syncData, withFile, writeAll } from './files/files.ts'
import { encodeLine, jsonOf } from './line.ts'
import type { RecordReader } from './reading.ts'
import { decodeFacts, forgottenJson } from './record-json.ts'
import type { FoundRow } from './rows.ts'
import type { Segment } from './segment-source.ts'
import type { Segments } from './segments.ts'

export interface Forgetting {
  segments: Segments
  blobs: Blobs
  reading: RecordReader
}

/** Returns of how many records there were texts. Throws the system's error. */
export async function forgetPath(path: Buffer, { segments, blobs, reading }: Forgetting): Promise<number> {
  await segments.catchUp()
  const found = await reading.rowsOf(path)
  const forgotten = new Set<string>()
  const names = new Set<string>()
  for (const segment of new Set(found.map(({ segment }) => segment))) {
    const here = found.filter(one => one.segment === segment)
    for (const id of await overwrite(segments.folder, path, here)) forgotten.add(id)
    for (const name of await forgetBlobs(segments, segment, here)) names.add(name)
  }
  for (const name of names) {
    await blobs.removeIf(name, async () => {
      await segments.catchUp()
      return !segments.known().some(({ overview }) => overview?.blobs.includes(name) === true)
    })
  }
  return forgotten.size
}

/** The ids of those that had texts. */
async function overwrite(folder: string, path: Buffer, found: readonly FoundRow[]): Promise<string[]> {
  const forgotten: string[] = []
  await withFile(join(folder, found[0]!.segment.name), 'both', async fd => {
    for (const { edit_id, offset, length } of found) {
      const json = jsonOf(await readAt(fd, offset, length))
      const said = json && decodeFacts(json)
      if (said === null || !('facts' in said) || !said.facts.path.equals(path)) continue
      const shorter = forgottenJson(json!)
      if (shorter === null) continue
      await writeAll(fd, encodeLine(shorter), offset)
      forgotten.push(edit_id)
    }
    await syncData(fd)
  })
  return forgotten
}

/** The names of blobs that these records needed. */
async function forgetBlobs(segments: Segments, segment: Segment, found: readonly FoundRow[]): Promise<string[]> {
  const index = await segments.index(segment)
  if (index === null) return []
  const names = found.flatMap(({ row }) => index.forgetBlobs(row))
  await segments.rewriteIndex(segment, index)
  return names
}
