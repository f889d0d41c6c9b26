// The index of a closed segment as a file beside it. It can always be rebuilt, so a damaged one is ignored.
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readAt, readStart, withFile, writeWhole } from './files.ts'
import type { Settlement } from '../record.ts'
import { figuresOf, overviewFrom } from '../overview.ts'
import { SegmentIndex, type Overview } from '../segment-index.ts'
import { indexName } from '../segment-name.ts'

/** Four numbers of four bytes: length and CRC-32 of the summary, then of the rows. */
const HEADER = 16
/** Version of the file format; increased with each change of it. */
const FORM = 6
/** How many bytes are read first, so that most summaries take one read. */
const FIRST = 16 * 1024

interface SummaryJson extends Omit<Overview, 'loose' | 'looseAt' | 'mayHavePath' | 'mayHaveKey'> {
  form: number
  size: number
  mtime: number
  loose: [string, Settlement][]
  looseAt: [string, number][]
  paths: string
  keys: string
}

const listJson = (list: Float64Array): string =>
  Buffer.from(list.buffer, list.byteOffset, list.byteLength).toString('base64')
const listOf = (json: string): Float64Array => new Float64Array(new Uint8Array(Buffer.from(json, 'base64')).buffer)

/** Writes the index file; `stats` are the segment's. Throws the system's error. */
export async function writeIndex(folder: string, segment: string, stats: Stats, index: SegmentIndex): Promise<void> {
  const { paths, keys } = index.hashes()
  const json: SummaryJson = {
    ...figuresOf(index),
    form: FORM,
    size: stats.size,
    mtime: stats.mtimeMs,
    loose: [...index.loose],
    looseAt: [...index.looseAt],
    paths: listJson(paths),
    keys: listJson(keys)
  }
  const [head, body] = [Buffer.from(JSON.stringify(json)), index.toBytes()]
  const header = Buffer.alloc(HEADER)
  for (const [i, value] of [head.length, crc32(head), body.length, crc32(body)].entries()) {
    header.writeUInt32LE(value, 4 * i)
  }
  const path = join(folder, indexName(segment))
  // Two servers may write it at the same time.
  const temp = `${path}.${randomBytes(6).toString('hex')}.tmp`
  await writeWhole(path, temp, Buffer.concat([header, head, body]), false)
}

/** Null: there is no index file that matches the segment. */
export async function readSummary(folder: string, segment: string, stats: Stats): Promise<Overview | null> {
  try {
    const path = join(folder, indexName(segment))
    const { bytes: first, size } = readStart(path, FIRST)
    const end = HEADER + first.readUInt32LE(0)
    if (end > size) return null
    const bytes = end <= first.length ? first : await withFile(path, 'read', fd => readAt(fd, 0, end))
    const head = bytes.subarray(HEADER, end)
    if (crc32(head) !== first.readUInt32LE(4)) return null
    const json: SummaryJson = JSON.parse(head.toString())
    if (json.form !== FORM || json.size !== stats.size || json.mtime !== stats.mtimeMs) return null
    return overviewFrom({
      lowest: json.lowest,
      highest: json.highest,
      seen: json.seen,
      oldestAt: json.oldestAt,
      keyedAt: json.keyedAt,
      unsettled: json.unsettled,
      loose: new Map(json.loose),
      looseAt: new Map(json.looseAt),
      gaps: json.gaps,
      blobs: json.blobs,
      paths: listOf(json.paths),
      keys: listOf(json.keys)
    })
  } catch {
    return null
  }
}

/** Null: there is none, or it is damaged. */
export async function readRows(folder: string, segment: string): Promise<SegmentIndex | null> {
  try {
    return await withFile(join(folder, indexName(segment)), 'read', async (fd, { size }) => {
      const header = await readAt(fd, 0, HEADER)
      const start = HEADER + header.readUInt32LE(0)
      const length = header.readUInt32LE(8)
      if (start + length > size) return null
      const body = await readAt(fd, start, length)
      return crc32(body) === header.readUInt32LE(12) ? SegmentIndex.from(body) : null
    })
  } catch {
    return null
  }
}
