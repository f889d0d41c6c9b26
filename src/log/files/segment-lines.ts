// Reads single lines of segments again.
import { join } from 'node:path'
import { jsonIn } from '../line.ts'
import type { LinePlace } from '../segment.ts'
import { readAt, withFile } from './files.ts'

/** In bytes: lines no further apart than this are read at once, up to TOGETHER. */
const APART = 4096
const TOGETHER = 128 * 1024

/**
 * Applies `use` to the JSON of each line, in their order; null: it isn't (or no longer is) a line of editd. Throws the
 * system's error.
 */
export async function readLines<T>(
  folder: string,
  segment: string,
  places: readonly LinePlace[],
  use: (json: Buffer) => T | null
): Promise<(T | null)[]> {
  return withFile(join(folder, segment), 'read', async fd => {
    const found = new Map<LinePlace, T | null>()
    for (const { offset: start, end, lines } of runsOf(places)) {
      const bytes = await readAt(fd, start, end - start)
      for (const line of lines) {
        const { offset, length } = line
        const read = bytes.subarray(offset - start, offset - start + length)
        const json = await jsonIn(read, () => readAt(fd, offset, length))
        found.set(line, json && use(json))
      }
    }
    return places.map(place => found.get(place)!)
  })
}

interface Run {
  offset: number
  end: number
  lines: LinePlace[]
}

/** Groups lines to be read together, in the order of the file. */
function runsOf(places: readonly LinePlace[]): Run[] {
  const runs: Run[] = []
  for (const line of places.toSorted((a, b) => a.offset - b.offset)) {
    const { offset, length } = line
    const last = runs.at(-1)
    const end = offset + length
    if (last !== undefined && offset - last.end <= APART && end - last.offset <= TOGETHER) {
      last.end = Math.max(last.end, end)
      last.lines.push(line)
    } else runs.push({ offset, end, lines: [line] })
  }
  return runs
}
