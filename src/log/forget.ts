// Removes the texts of a path's records in place: overwrites each line by one of the same length, so that other servers
// can go on appending. Does not know where lines are kept.
import type { Blobs } from './blobs.ts'
import { encodeLine, jsonOf } from './line.ts'
import type { RecordReader } from './reading.ts'
import { decodeFacts, forgottenJson } from './record-json.ts'
import type { Without } from './segment.ts'
import type { Segments } from './segments.ts'

interface Forgetting {
  segments: Segments
  blobs: Pick<Blobs, 'removeIf'>
  reading: RecordReader
}

/** Returns how many records had texts. Rejects with an error that has a code. */
export async function forgetPath(path: Buffer, { segments, blobs, reading }: Forgetting): Promise<number> {
  await segments.catchUp()
  const found = await reading.rowsOf(path)
  const forgotten = new Set<string>()
  const names = new Set<string>()
  const without: Without = line => {
    const json = jsonOf(line)
    const entry = json && decodeFacts(json)
    if (entry === null || !('facts' in entry) || !entry.facts.path.equals(path)) return null
    const shorter = forgottenJson(json!)
    if (shorter === null) return null
    forgotten.add(entry.facts.edit_id)
    for (const name of entry.facts.blobs) names.add(name)
    return encodeLine(shorter)
  }
  for (const segment of new Set(found.map(({ segment }) => segment))) {
    const here = found.filter(one => one.segment === segment)
    await segments.overwrite(segment, here, without)
  }
  await segments.catchUp()
  for (const name of names) {
    await blobs.removeIf(name, async () => {
      await segments.catchUp()
      return !segments.known().some(({ overview }) => overview?.blobs.includes(name) === true)
    })
  }
  return forgotten.size
}
