// What is kept in memory of a segment without its index.
import { includes, keyHash, type Overview, type SegmentIndex } from './segment-index.ts'

/** The parts of an overview that are computed from a whole index. */
interface OverviewData extends Omit<Overview, 'mayHavePath' | 'mayHaveKey'> {
  /** Short hashes, ascending. */
  paths: Float64Array
  keys: Float64Array
}

/** Takes some 8 bytes for each path and key, plus what isn't settled in the segment of its record. */
export function overviewFrom({ paths, keys, ...facts }: OverviewData): Overview {
  return {
    ...facts,
    mayHavePath: path => includes(paths, keyHash(path)),
    mayHaveKey: digest => includes(keys, keyHash(digest))
  }
}

/** The members of an index that an overview keeps unchanged, besides its lists. */
export const figuresOf = ({ lowest, highest, seen, oldestAt, keyedAt, unsettled, gaps, blobs }: SegmentIndex) => ({
  lowest,
  highest,
  seen,
  oldestAt,
  keyedAt,
  unsettled,
  gaps,
  blobs
})

export function overviewOf(index: SegmentIndex): Overview {
  const [loose, looseAt] = [new Map(index.loose), new Map(index.looseAt)]
  return overviewFrom({ ...figuresOf(index), loose, looseAt, gaps: [...index.gaps], ...index.hashes() })
}
