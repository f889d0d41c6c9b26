// Reads single lines of segments again. Does not know which.
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readAt, withFile } from './files.ts'
import { jsonOf } from './line.ts'

/** In ms: a line that another server is just overwriting (`forget`) is read once more after this. */
const AGAIN = 20

export interface LinePlace {
  offset: number
  length: number
}

/**
 * What `use` makes of the JSON of each line, one after the other; null: it isn't a line of editd (any more). Throws the
 * system's error.
 */
export async function readLines<T>(
  folder: string,
  segment: string,
  places: readonly LinePlace[],
  use: (json: Buffer) => T | null
): Promise<(T | null)[]> {
  return withFile(join(folder, segment), 'read', async fd => {
    const found: (T | null)[] = []
    for (const { offset, length } of places) {
      let json = jsonOf(await readAt(fd, offset, length))
      if (json === null) {
        await setTimeout(AGAIN)
        json = jsonOf(await readAt(fd, offset, length))
      }
      found.push(json && use(json))
    }
    return found
  })
}
